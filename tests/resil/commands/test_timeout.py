# SPDX-License-Identifier: Apache-2.0
"""`[execution] timeout`: a campaign with a time-out of each operation is another one, wherever runs meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from resil.campaign.campaign import load_campaign
from resil.campaign.text import campaign_text
from resil.cli import main
from resil.errors import CampaignError
from testkit import fake
from testkit.campaigns import TEXT, write_campaign

AWKWARD = Path(__file__).parents[3] / "examples" / "awkward"
OWN = TEXT.replace("[budget]", '[execution]\ntimeout = "operation"\n[budget]')


def test_it_is_kept_in_the_resolved_campaign(tmp_path):
    campaign = load_campaign(write_campaign(tmp_path, OWN))
    assert campaign.execution.timeout == "operation"
    (tmp_path / "resolved.toml").write_text(campaign_text(campaign))
    assert load_campaign(tmp_path / "resolved.toml").execution == campaign.execution


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("operation", "second", r"timeout: expected one of inference, operation"),
        ("[execution]", '[sampling]\nplan = "predicted"\n[execution]', r'timeout: expected "inference" with'),
    ],
)
def test_what_it_may_not_be(tmp_path, old, new, message):
    with pytest.raises(CampaignError, match=message):
        load_campaign(write_campaign(tmp_path, OWN.replace(old, new)))


def test_runs_are_neither_gone_on_with_nor_joined_with_another(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    for name, text in (("one", TEXT), ("own", OWN)):
        assert main(["run", str(write_campaign(tmp_path, text)), "--out", str(tmp_path / name)]) == 0
    capsys.readouterr()
    assert main(["run", str(write_campaign(tmp_path, OWN)), "--out", str(tmp_path / "one"), "--resume"]) == 2
    assert "timeout (nothing there, operation here)" in capsys.readouterr().err
    paths = [str(tmp_path / name) for name in ("one", "own", "both")]
    assert main(["merge", paths[2], *paths[:2]]) == 2
    assert "timeout" in capsys.readouterr().err
    assert not (tmp_path / "both").exists()


def test_a_target_without_operations_is_refused_with_nothing_written(tmp_path, capsys):
    target = (AWKWARD / "target.toml").read_text().replace('operation = "ops_done_o"\n', "")
    (tmp_path / "target.toml").write_text(target.replace('"rtl/', f'"{AWKWARD}/rtl/'))
    text = (AWKWARD / "campaign.toml").read_text().replace('"source', f'"{AWKWARD}/source')
    text = text.replace("[execution]", '[execution]\ntimeout = "operation"')
    (tmp_path / "campaign.toml").write_text(text)
    assert main(["run", str(tmp_path / "campaign.toml"), "--out", str(tmp_path / "run")]) == 2
    told = capsys.readouterr().err
    assert 'target awkward: timeout = "operation": expected an output of awkward_bench that counts' in told
    assert not (tmp_path / "run").exists()
