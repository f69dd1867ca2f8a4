# SPDX-License-Identifier: Apache-2.0
"""Injections judged under a fault-tolerant time, and told apart by what was seen and what told of it."""

import numpy as np

from resil.faults.content import Content
from resil.rtl_harness.faults import NEVER
from resil.stats.rates import OUTCOMES

SEEN = ("masked", "sdc_critical", "hang", "sdc_critical", "latent")
ALARMS = ("", "error", "parity", "error", "error")
ROSE = (NEVER, 120, 105, 100, 900)


def content():
    n = len(SEEN)
    seen = np.array([OUTCOMES.index(s) for s in SEEN], dtype=np.int8)
    due = np.array([r != NEVER for r in ROSE])
    outcomes = np.where(due, OUTCOMES.index("due"), seen).astype(np.int8)
    hundred = np.full(n, 100)
    return Content(
        np.arange(n),
        outcomes,
        seen,
        np.array(ALARMS),
        np.array(ROSE),
        np.array([""] * n),
        np.full(n, -1, dtype=np.int8),
        hundred,
        hundred + 900,
        np.zeros(n, dtype=np.int64),
    )


def names(found):
    known, place = found.classes()
    return [known[i] for i in place]


def test_classes_tell_what_was_seen_and_which_alarm():
    assert names(content()) == [
        *("masked", "due:sdc_critical:error", "due:hang:parity", "due:sdc_critical:error"),
        "due:latent:error",
    ]


def test_what_is_told_too_late_counts_as_what_is_seen():
    judged = content().within(10)
    assert [OUTCOMES[o] for o in judged.outcomes] == ["masked", "sdc_critical", "due", "due", "latent"]
    assert names(judged) == [
        *("masked", "sdc_critical:late", "due:hang:parity", "due:sdc_critical:error", "latent:late")
    ]
    assert np.array_equal(judged.within(None).outcomes, content().outcomes)


def test_the_slowest_alarm():
    assert content().slowest_alarm == 800
    assert content().at(np.array([0])).slowest_alarm == -1


def test_nothing_has_no_class():
    assert content().at(np.zeros(0, dtype=np.int64)).classes()[0] == ()
