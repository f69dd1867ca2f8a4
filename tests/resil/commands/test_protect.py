"""`resil protect`: the choice is written, shown, and judged."""

from __future__ import annotations

import json

import pytest

from resil.cli import main
from tests.resil import fake
from tests.resil.campaigns import TEXT, write_campaign


@pytest.fixture
def finished(tmp_path, monkeypatch, capsys):
    """A run of both kinds of storage that misses its budget."""
    fake.install(monkeypatch)
    text = TEXT.replace('["ff"]', '["ff", "sram"]').replace("fit = 0.01", "fit = 0.0005")
    main(["run", str(write_campaign(tmp_path, text)), "--out", str(tmp_path / "run")])
    capsys.readouterr()
    return tmp_path / "run"


def test_the_choice_meets_the_budget_and_is_in_all_reports(finished, capsys):
    before = (finished / "report.html").read_text()
    assert main(["protect", str(finished)]) == 0
    out = capsys.readouterr().out
    assert "PROTECTED: at most" in out
    plan = json.loads((finished / "protection.json").read_text())
    assert plan["result"] == "optimal"
    assert plan["budget_fit"] == 0.0005
    assert plan["fit_hi"] <= 0.0005
    assert plan["gap"] == 0.0
    assert {choice["block"] for choice in plan["choices"]} == {"cc", "mac", "sb", "cpm", "(no block)"}
    assert (finished / "report.html").read_text() != before
    assert main(["report", str(finished)]) == 0
    assert "PROTECTED: at most" in capsys.readouterr().out


def test_json_is_the_file(finished, capsys):
    assert main(["protect", str(finished), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((finished / "protection.json").read_text())


def test_a_budget_of_the_command_line_goes_first(finished, capsys):
    assert main(["protect", str(finished), "--budget-fit", "1e6", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["result"] == "not_needed"


def test_a_budget_that_nothing_reaches_is_exit_code_1(finished, capsys):
    assert main(["protect", str(finished), "--budget-fit", "0", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["result"] == "infeasible"


def test_a_changed_verdict_drops_the_protection(finished, tmp_path, capsys):
    main(["protect", str(finished)])
    text = TEXT.replace('["ff"]', '["ff", "sram"]').replace("fit = 0.01", "fit = 0.0004")
    main(["run", str(write_campaign(tmp_path, text)), "--out", str(finished)])
    assert not (finished / "protection.json").exists()


def test_running_again_keeps_the_protection(finished, tmp_path, capsys):
    main(["protect", str(finished)])
    before = {p: p.read_bytes() for p in finished.rglob("*") if p.is_file()}
    main(["run", str(tmp_path / "small.toml"), "--out", str(finished)])
    assert {p: p.read_bytes() for p in finished.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize(
    "arguments", [["--budget-fit", "-1"], ["--spfm-target", "99"], ["--options", "no.toml"]]
)
def test_wrong_targets_and_options(arguments, finished, capsys):
    assert main(["protect", str(finished), *arguments]) == 2
    assert capsys.readouterr().err.startswith("resil: error: ")
    assert not (finished / "protection.json").exists()


def test_without_any_target(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    main(["run", str(write_campaign(tmp_path, TEXT.split("[budget]")[0])), "--out", str(tmp_path / "run")])
    assert main(["protect", str(tmp_path / "run")]) == 2
    assert "protection needs a target" in capsys.readouterr().err
