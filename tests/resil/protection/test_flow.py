# SPDX-License-Identifier: Apache-2.0
"""`resil protect` over groups and several runs: kept in each, shown, and refused with nothing written."""

from __future__ import annotations

import io
import json
import shutil
from contextlib import redirect_stdout

import pytest

from resil.cli import main
from testkit import fake
from testkit.campaigns import TEXT, write_campaign

MORE = TEXT.replace('["ff"]', '["ff", "sram"]').replace("injections = 200", "injections = 4000")
OTHER = MORE.replace("zoo:digits", "zoo:digits_separable")


def run_of(folder, text=MORE):
    folder.mkdir(exist_ok=True)
    with redirect_stdout(io.StringIO()):
        code = main(["run", str(write_campaign(folder, text)), "--out", str(folder / "run"), "--quiet"])
    assert code in (0, 1, 3)
    return folder / "run"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Runs of two networks, which tests take copies of."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        fake.install(patch)
        for name, text in (("one", MORE), ("two", OTHER.replace("seed = 7", "seed = 8"))):
            run_of(folder / name, text)
    return folder


@pytest.fixture
def two(made, tmp_path, monkeypatch):
    fake.install(monkeypatch)
    for name in ("one", "two"):
        shutil.copytree(made / name, tmp_path / name)
    return [tmp_path / "one" / "run", tmp_path / "two" / "run"]


def protect(*arguments):
    return main(["protect", *map(str, arguments)])


def test_a_choice_over_two_runs_is_in_both(two, capsys):
    code = protect(*two, "--fit-share", "0.5", "--json")
    plan = json.loads(capsys.readouterr().out)
    assert code == {"optimal": 0, "infeasible": 1}[plan["result"]]
    assert plan["result"] == "optimal"
    assert plan["granularity"] == "group"
    assert [own["missed"] for own in plan["networks"]] == [[], []]
    assert len(plan["based_on"]) == 2
    kept = [json.loads((run / "protection.json").read_text()) for run in two]
    # What was built and confirmed stands beside the build.
    assert {**kept[0], "built": None, "confirmation": None} == plan
    assert kept[0]["groups"] == kept[1]["groups"]
    assert kept[0]["basis"] != kept[1]["basis"]
    for run in two:
        assert main(["report", str(run)]) == 0
        assert "PROTECTED: at most" in capsys.readouterr().out


def test_a_name_is_that_of_one_target_alone(two, capsys):
    """The fault: only budget and SPFM were compared, and a plan for another share took the name."""
    assert protect(two[0], "--fit-share", "0.7", "--name", "ours") == 0
    kept = (two[0] / "protection" / "ours.json").read_text()
    capsys.readouterr()
    for other in (["--fit-share", "0.6"], ["--fit-share", "0.7", "--due-budget", "1"]):
        assert protect(two[0], *other, "--name", "ours") == 2
        assert "is a plan for budget_fit = 0.01" in (told := capsys.readouterr().err)
        assert "fit_share_target = 0.7" in told
    assert (two[0] / "protection" / "ours.json").read_text() == kept


@pytest.mark.parametrize("granularity", ["block", "register", "group"])
def test_each_granularity_names_its_units(two, capsys, granularity):
    assert protect(two[0], "--granularity", granularity, "--fit-share", "0.05") == 0
    out = capsys.readouterr().out
    assert "judged by" in out
    plan = json.loads((two[0] / "protection.json").read_text())
    parts = {part for group in plan["groups"] for part in group["parts"]}
    known = {"block": "mac", "register": "u_npu.u_mac.acc_q[0]", "group": "u_npu.u_mac.acc_q[0][7:0]"}
    assert any(part.startswith(known[granularity]) for part in parts)
    assert plan["area_added"] == pytest.approx(
        sum(group["area_added"] for group in plan["groups"] + plan["mechanisms"])
    )


def test_fewer_bits_together_cost_no_more(two, capsys):
    areas = []
    for granularity in ("block", "register", "group"):
        protect(two[0], "--granularity", granularity, "--fit-share", "0.7", "--json")
        areas.append(json.loads(capsys.readouterr().out)["area_added"])
    assert areas == sorted(areas, reverse=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fit-share", "1.5"], "a share of the FIT is from 0 to 1, found 1.5"),
        (["--spfm-target", "2", "--granularity", "group"], "an SPFM target is from 0 to 1"),
        (["--due-budget", "-1"], "a budget of detected failures is a number of FIT >= 0"),
        (["--granularity", "bit"], "bit"),
    ],
)
def test_a_wrong_target_is_refused_with_nothing_written(two, capsys, arguments, message):
    before = sorted(path.name for run in two for path in run.rglob("*"))
    assert protect(*two, *arguments) == 2
    assert message in capsys.readouterr().err
    assert sorted(path.name for run in two for path in run.rglob("*")) == before


def test_runs_that_contradict_each_other_are_refused(two, tmp_path, capsys):
    other = run_of(tmp_path / "three", MORE.replace('kinds = ["ff", "sram"]', 'kinds = ["ff"]'))
    assert protect(two[0], other, "--fit-share", "0.5") == 2
    assert "runs contradict each other: kinds of storage" in capsys.readouterr().err
    dearer = run_of(tmp_path / "four", OTHER.replace("fit = 0.01", "fit = 0.02"))
    assert protect(two[0], dearer) == 2
    assert "targets contradict: the campaigns' budgets are 0.01, 0.02 FIT" in capsys.readouterr().err
    timed = MORE.replace("[budget]", '[execution]\ntimeout = "operation"\n[budget]')
    assert protect(two[0], run_of(tmp_path / "five", timed), "--fit-share", "0.5") == 2
    assert "runs contradict each other: time-out: operation in" in capsys.readouterr().err
    pairs = MORE.replace("[faults]", "[faults]\nclusters = { 1 = 0.8, 2 = 0.2 }")
    assert protect(two[0], run_of(tmp_path / "six", pairs), "--fit-share", "0.5") == 2
    assert "runs contradict each other: clusters of upsets: [0.8, 0.2]" in capsys.readouterr().err
    assert not (two[0] / "protection.json").exists()


def test_one_network_does_not_count_as_two(two, tmp_path, capsys):
    """The fault: two seeds of a network, a run beside itself, and its copy stood for two networks."""
    again = run_of(tmp_path / "again", MORE.replace("seed = 7", "seed = 9"))
    copied = shutil.copytree(two[0], tmp_path / "copy")
    for other in (again, two[0], copied):
        assert protect(two[0], other, "--fit-share", "0.5") == 2
        assert f"{other}: runs the network that {two[0]} runs" in capsys.readouterr().err
        assert not (two[0] / "protection.json").exists()


def limited(folder, limits=""):
    return run_of(folder, MORE.replace("fit = 0.01", "fit = 1e-6") + limits)


@pytest.mark.parametrize("granularity", ["block", "register", "group"])
def test_the_budget_of_a_campaign_stays_beside_what_is_asked(tmp_path, monkeypatch, capsys, granularity):
    """The fault: with --granularity the budget was dropped without a word, and PROTECTED was said of it."""
    fake.install(monkeypatch)
    run = limited(tmp_path / "one")
    asked = [run, "--spfm-target", "0.9", "--granularity", granularity]
    assert protect(*asked, "--json") == 1
    assert json.loads(capsys.readouterr().out)["budget_fit"] == 1e-6
    assert protect(*asked, "--waive", "budget") == 0
    out = capsys.readouterr().out
    assert "the campaign's budget of 1e-06 FIT is waived" in out
    plan = json.loads((run / "protection.json").read_text())
    assert (plan["budget_fit"], plan["waived"]) == (None, ["the campaign's budget of 1e-06 FIT is waived"])
    assert protect(*asked, "--budget-fit", "1") == 0
    assert "budget of 1 FIT in place of the campaign's budget of 1e-06 FIT" in capsys.readouterr().out


def test_the_spfm_that_a_campaign_claims_is_kept_too(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    claimed = '[safety]\nclaims = ["spfm_transient"]\nspfm = 0.9\n'
    run = run_of(tmp_path / "one", MORE + claimed)
    assert protect(run, "--json") in (0, 1)
    assert json.loads(capsys.readouterr().out)["spfm_target"] == 0.9
    assert protect(run, "--waive", "spfm", "--json") in (0, 1)
    plan = json.loads(capsys.readouterr().out)
    assert (plan["spfm_target"], plan["budget_fit"]) == (None, 0.01)
    assert plan["waived"] == ["the campaign's SPFM of at least 0.9 is waived"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--waive", "spfm"], "--waive spfm: the campaign has no such limit"),
        (["--waive", "area"], "--waive: expected budget, spfm, due, spfm_permanent, found area"),
        (["--waive", "budget", "--budget-fit", "1"], "--waive budget: expected no --budget-fit beside it"),
        (["--waive", "budget"], "protection needs a target"),
    ],
)
def test_a_waiver_of_nothing_is_refused(two, capsys, arguments, message):
    assert protect(two[0], *arguments) == 2
    assert message in capsys.readouterr().err


def test_detected_failures_that_are_hazardous_have_no_budget_of_their_own(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    run = run_of(tmp_path / "due", MORE + 'hazardous = ["sdc_critical", "hang", "due"]\n')
    assert protect(run, "--due-budget", "1") == 2
    assert "targets contradict" in capsys.readouterr().err


def test_what_no_injection_shows_is_not_reached(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    run = run_of(tmp_path / "few", TEXT)
    assert protect(run, "--granularity", "group", "--budget-fit", "1e-7") == 1
    out = capsys.readouterr().out
    *_, answer, report = out.splitlines()
    assert report == f"report: {run / 'report.html'}"
    assert answer.startswith("INFEASIBLE: no set of the known options reaches a budget of 1e-07 FIT: no ")
    assert out.count("reaches") == 1


def test_a_pilot_neither_chooses_nor_judges(tmp_path, monkeypatch, capsys):
    """It decided how much each kind of storage gets; its luck must not count with what followed."""
    fake.install(monkeypatch)
    text = MORE.replace("injections = 4000", "injections = 20000")
    run = run_of(tmp_path / "one", text + '[sampling]\nplan = "neyman"\nmargin = 0.2\n')
    summary = json.loads((run / "summary.json").read_text())
    assert summary["sampling"]["pilot"] > 1000
    assert protect(run, "--granularity", "block", "--fit-share", "0.5") in (0, 1)
    (judged,) = json.loads((run / "protection.json").read_text())["networks"]
    every = summary["total"]["injections"]
    # Each injection falls into either half by a hash: five standard deviations.
    assert judged["injections"] == pytest.approx(every / 2, abs=2.5 * every**0.5)
