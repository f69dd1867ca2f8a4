# SPDX-License-Identifier: Apache-2.0
"""A verdict names what it counts as hazardous, and what it leaves out though it occurred."""

from __future__ import annotations

import pytest

from resil.cli import main
from resil.files import read_json
from testkit.campaigns import TEXT, write_campaign
from testkit.fake import install

EASY = TEXT.replace("fit = 0.01", "fit = 1000.0")


def run(folder, monkeypatch, text):
    install(monkeypatch)
    code = main(["run", str(write_campaign(folder, text)), "--out", str(folder / "run")])
    return code, read_json(folder / "run" / "summary.json", "")


def test_critical_sdc_that_is_not_counted_is_named_with_its_rate(tmp_path, monkeypatch, capsys):
    text = EASY.replace("fit = 1000.0", 'fit = 1000.0\nhazardous = ["hang"]')
    code, summary = run(tmp_path, monkeypatch, text)
    out = " ".join(capsys.readouterr().out.split())
    own = next(row for row in summary["verdict"]["left_out"] if row["outcome"] == "sdc_critical")
    assert code == 0
    assert own["injections"] == summary["total"]["sdc_critical"] > 0
    assert 0.0 < own["fit_lo"] < own["fit"] < own["fit_hi"]
    assert f"critical SDC at {own['fit']:.3g} FIT" in summary["verdict"]["reason"]
    assert "FIT BUDGET MET, CRITICAL SDC NOT COUNTED" in out
    assert "Counted as hazardous: hang." in out
    assert "critical SDC not counted" in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.parametrize("text", [EASY, TEXT, TEXT[: TEXT.index("[budget]")]])
def test_the_hazardous_outcomes_are_in_every_verdict(tmp_path, monkeypatch, capsys, text):
    _, summary = run(tmp_path, monkeypatch, text)
    assert "Counted as hazardous: critical SDC and hang." in summary["verdict"]["reason"]
    assert "NOT COUNTED" not in capsys.readouterr().out
    assert {row["outcome"] for row in summary["verdict"]["left_out"]} == {"sdc_tolerable", "due"}
