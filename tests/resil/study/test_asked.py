# SPDX-License-Identifier: Apache-2.0
"""What a study says it asks of protection is what protection is asked."""

from __future__ import annotations

import pytest

from resil.study.asked import asked
from resil.study.study_file import load_study

STUDY = """
[study]
name = "asked"
seed = 1
[[target]]
name = "ethos-u55-32"
[[network]]
path = "zoo:digits"
inputs = [0]
[faults]
kinds = ["ff"]
injections = 10
[sampling]
plan = "uniform"
[technology]
name = "finfet-16nm"
[budget]
fit = 0.1
rationale = "a test"
[safety]
asil = "D"
claims = ["spfm_transient"]
[protection]
"""


@pytest.mark.parametrize(
    ("keys", "budget", "spfm", "waived"),
    [
        ("", 0.1, 0.99, ()),
        ("fit_share = 0.5", 0.1, 0.99, ()),
        ("spfm_target = 0.995", 0.1, 0.995, ()),
        ('waive = ["budget"]', None, 0.99, ("the campaign's budget of 0.1 FIT is waived",)),
        (
            "spfm_target = 0.9",
            0.1,
            0.9,
            ("SPFM of at least 0.9 in place of the campaign's SPFM of at least 0.99",),
        ),
        (
            'budget_fit = 0.2\nwaive = ["spfm"]',
            0.2,
            None,
            (
                "budget of 0.2 FIT in place of the campaign's budget of 0.1 FIT",
                "the campaign's SPFM of at least 0.99 is waived",
            ),
        ),
    ],
)
def test_the_studys_own_limits_are_asked_of_protection_unless_it_is_said_that_they_are_not(
    tmp_path, keys, budget, spfm, waived
):
    (tmp_path / "study.toml").write_text(STUDY + keys)
    kept = asked(load_study(tmp_path / "study.toml")).protection
    assert (kept.budget_fit, kept.spfm_target, kept.waived) == (budget, spfm, waived)
