# SPDX-License-Identifier: Apache-2.0
"""A run that watches the wrong bytes, or that no fault can reach, is no evidence of safety: it is not met."""

from __future__ import annotations

import shutil

import pytest

from resil.cli import main
from resil.files import read_json
from testkit.campaigns import TEXT, write_campaign
from testkit.fake import install
from tests.resil.results.test_safety_rows import HEAD, SAFETY

EASY = TEXT.replace("fit = 0.01", "fit = 1000.0")
SAME = {"before": b"\5\1", "constant": True}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a campaign on the fake bench; returns its exit code and `summary.json`."""

    def carry_out(text=EASY, **bench):
        install(monkeypatch, **bench)
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        code = main(["run", str(write_campaign(tmp_path, text)), "--out", str(tmp_path / "run")])
        return code, read_json(tmp_path / "run" / "summary.json", "")

    return carry_out


def states(summary):
    return {check["name"]: check["state"] for check in summary["sanity"]["checks"]}


def test_a_sound_run_passes_every_check(run):
    code, summary = run()
    assert (code, summary["verdict"]["result"]) == (0, "met")
    assert states(summary) == {"written": "passed", "varies": "passed", "reached": "passed"}


@pytest.mark.parametrize(
    ("bench", "failed"),
    [
        ({"before": b"\5\1", "constant": True}, "written"),
        ({"constant": True}, "varies"),
        ({"deaf": True}, "reached"),
    ],
)
def test_what_measures_nothing_is_not_met(run, tmp_path, capsys, bench, failed):
    code, summary = run(**bench)
    out, err = capsys.readouterr()
    assert code == 3
    assert summary["verdict"]["result"] == "not assessed"
    assert states(summary)[failed] == "failed"
    text = next(check["text"] for check in summary["sanity"]["checks"] if check["name"] == failed)
    assert "NOT ASSESSED" in out
    assert text in err
    assert text in " ".join(out.split())
    assert text.split(";")[0] in (tmp_path / "run" / "report.html").read_text()


def test_without_a_budget_it_is_exit_3_too(run):
    code, summary = run(TEXT[: TEXT.index("[budget]")], deaf=True)
    assert (code, summary["verdict"]["result"]) == (3, "none")


def test_no_safety_row_is_assessed(run):
    code, summary = run(HEAD + SAFETY, deaf=True)
    assert (code, summary["safety"]["result"]) == (3, "not assessed")
    assert {row["state"] for row in summary["safety"]["rows"]} == {"not assessed"}


def test_an_output_written_with_the_values_that_were_there_is_written(run):
    code, summary = run(EASY.replace("[0, 3]", "[0]"), before=b"\5\1", again=b"\5\1")
    assert (code, states(summary)["written"]) == (0, "passed")


def test_one_input_is_said_to_leave_the_dependence_untested(run):
    code, summary = run(EASY.replace("[0, 3]", "[0]"))
    assert (code, states(summary)["varies"]) == (0, "not tested")
    assert "one input was run" in " ".join(summary["notes"])


def test_a_compiler_may_place_one_output_of_all_inputs(run):
    code, summary = run(constant=True, compiled=True)
    assert (code, states(summary)["varies"]) == (0, "not tested")


def test_a_stuck_bit_shows_that_faults_reach_the_output(run):
    code, summary = run(EASY.replace("= 200", "= 3").replace("= 10\n", "= 0\n"))
    assert summary["total"]["sdc_critical"] == summary["total"]["sdc_tolerable"] == 0
    assert (code, states(summary)["reached"]) == (0, "passed")


@pytest.mark.parametrize("command", [["protect"], ["learn", "-o", "model.json"]])
def test_nothing_is_built_on_such_a_run(run, tmp_path, capsys, command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, summary = run(deaf=True)
    capsys.readouterr()
    assert main([command[0], str(tmp_path / "run"), *command[1:]]) == 3
    checks = summary["sanity"]["checks"]
    failed = " ".join(check["text"] for check in checks if check["state"] == "failed")
    assert failed
    assert failed in capsys.readouterr().err
