# SPDX-License-Identifier: Apache-2.0
"""`resil protect`: the choice is written, shown, and judged."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

from resil.cli import main
from resil.protection import asked
from resil.protection.options import load_options
from resil.rtl_harness.faults import Seen
from resil.study.study_keys import TABLES
from testkit import fake
from testkit.campaigns import TEXT, write_campaign


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run of both kinds of storage that misses its budget, beside its campaign."""
    folder = tmp_path_factory.mktemp("made")
    text = TEXT.replace('["ff"]', '["ff", "sram"]').replace("fit = 0.01", "fit = 0.0005")
    with pytest.MonkeyPatch.context() as patch:
        fake.install(patch)
        main(["run", str(write_campaign(folder, text)), "--out", str(folder / "run")])
    return folder


@pytest.fixture
def finished(made, tmp_path, monkeypatch):
    """A copy of the run, to be changed."""
    fake.install(monkeypatch)
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path / "run"


def test_the_choice_meets_the_budget_and_is_in_all_reports(finished, capsys):
    before = (finished / "report.html").read_text()
    assert main(["protect", str(finished)]) == 0
    out = capsys.readouterr().out
    assert "PROTECTED: at most" in out
    assert "Outcomes by block" not in out, "the campaign's tables are those of its report"
    plan = json.loads((finished / "protection.json").read_text())
    assert plan["result"] == "optimal"
    assert plan["budget_fit"] == 0.0005
    assert plan["fit_hi"] <= 0.0005
    assert plan["gap"] == 0.0
    assert {choice["block"] for choice in plan["choices"]} == {"cc", "mac", "sb", "(no block)"}
    assert (finished / "report.html").read_text() != before
    assert main(["report", str(finished)]) == 0
    assert "PROTECTED: at most" in capsys.readouterr().out


def test_a_terminal_gets_the_same_answer(finished, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["protect", str(finished)]) == 0
    out = capsys.readouterr().out
    assert "PROTECTED: at most" in out
    assert "Outcomes by block" not in out


def test_json_is_the_file(finished, capsys):
    assert main(["protect", str(finished), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    kept = json.loads((finished / "protection.json").read_text())
    assert said == {**kept, "built": None, "confirmation": None}


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


def test_plans_are_kept_by_name(finished, capsys):
    assert main(["protect", str(finished), "--budget-fit", "0.0005"]) == 0
    assert main(["protect", str(finished), "--spfm-target", "0.99", "--name", "asil-d"]) == 0
    plans = sorted(path.name for path in (finished / "protection").iterdir())
    assert plans == ["asil-d.json", "by-block_fit-0.0005.json"]
    latest = json.loads((finished / "protection.json").read_text())
    assert latest == json.loads((finished / "protection" / "asil-d.json").read_text())
    assert latest["name"] == "asil-d"
    assert latest["basis"]["injections"] == 200


def test_an_infeasible_plan_takes_the_place_of_none_that_is_not(finished, capsys):
    assert main(["protect", str(finished), "--name", "good"]) == 0
    before = {p: p.read_bytes() for p in finished.rglob("*") if p.is_file()}
    assert main(["protect", str(finished), "--budget-fit", "0", "--name", "bad"]) == 1
    assert "INFEASIBLE" in capsys.readouterr().out
    after = {p: p.read_bytes() for p in finished.rglob("*") if p.is_file()}
    added = finished / "protection" / "bad.json"
    assert json.loads(added.read_text())["result"] == "infeasible"
    assert {p: text for p, text in after.items() if p != added} == before


def test_an_infeasible_plan_does_not_take_the_name_of_a_better_one(finished, monkeypatch, capsys):
    assert main(["protect", str(finished), "--name", "mine"]) == 0
    before = (finished / "protection" / "mine.json").read_bytes()
    known = load_options()
    only = replace(known, options={"none": known.options["none"]})
    monkeypatch.setattr("resil.protection.choosing.load_options", lambda _: only)
    assert main(["protect", str(finished), "--name", "mine"]) == 2
    assert "reaches its target on these results, which this one does not" in capsys.readouterr().err
    assert (finished / "protection" / "mine.json").read_bytes() == before


def test_a_name_stands_for_one_target(finished, capsys):
    assert main(["protect", str(finished), "--name", "mine"]) == 0
    assert main(["protect", str(finished), "--name", "mine", "--budget-fit", "1e6"]) == 2
    assert "mine.json: is a plan for budget_fit = 0.0005" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../up", ".hidden", "a/b", "x" * 65])
def test_a_name_that_is_no_file_name(name, finished, capsys):
    assert main(["protect", str(finished), "--name", name]) == 2
    assert "--name: expected 1 to 64 letters" in capsys.readouterr().err
    assert not (finished / "protection.json").exists()


def test_a_plan_for_other_results_is_not_shown(finished, capsys):
    assert main(["protect", str(finished)]) == 0
    plan = json.loads((finished / "protection.json").read_text())
    plan["basis"]["summary"] = "0" * 64
    (finished / "protection.json").write_text(json.dumps(plan))
    capsys.readouterr()
    assert main(["report", str(finished)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "rests on other results" in err


PLANS = {
    "like these": '[sampling]\ninputs = "like these"\n',
    "looks": '[sampling]\nplan = "adaptive"\nmargin = 0.5\nuntil_decided = false\n',
    "predicted": '[sampling]\nplan = "predicted"\n',
    "uniform": '[sampling]\nplan = "uniform"\n',
}


@pytest.mark.parametrize("plan", PLANS)
def test_the_unprotected_design_is_judged_as_the_run_judges_it(plan, tmp_path, monkeypatch, capsys):
    """Inputs that differ much: limits that pool them would be far below the run's own."""

    def biased(engine, fault):
        found = plain(engine, fault)
        bad = engine.position == 3 and fault.cycle % 2
        return replace(found, seen=Seen.SDC_CRITICAL, detected=None) if bad else found

    fake.install(monkeypatch)
    plain = fake.FakeEngine.outcome
    monkeypatch.setattr(fake.FakeEngine, "outcome", biased)
    text = TEXT.replace("[0, 3]", "[0, 1, 2, 3, 4]").replace("injections = 200", "injections = 2000")
    if plan == "predicted":
        text = text.replace("minimum_per_block = 10\n", "")
    main(["run", str(write_campaign(tmp_path, text + PLANS[plan])), "--out", str(tmp_path / "run")])
    whole = json.loads((tmp_path / "run" / "summary.json").read_text())["total"]["fit_hi"]
    capsys.readouterr()
    assert main(["protect", str(tmp_path / "run"), "--json", "--budget-fit", str(whole * 0.999)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["result"] == "optimal"
    assert found["fit_hi_unprotected"] == whole
    assert sum(choice["fit_hi_before"] for choice in found["choices"]) >= whole * (1 - 1e-9)


def test_the_command_and_the_study_file_ask_by_one_declaration(capsys):
    assert main(["protect", "--help"]) == 0
    said = capsys.readouterr().out
    for key in (asked.GRANULARITY, *asked.LIMITS, asked.WAIVE, asked.OPTIONS, asked.VERIFY_NETWORKS):
        assert TABLES["protection"].key(key.name) is key
        assert f"  {asked.flag(key)} " in said
    assert asked.BUDGET_FIT.meaning in " ".join(said.split())
