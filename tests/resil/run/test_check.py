# SPDX-License-Identifier: Apache-2.0
"""`resil check`: every step passes or fails with a remedy, and the exit code says so."""

import json
import re

import pytest

from resil.cli import main
from resil.record.campaign_check import FAILED, NOT_RUN, PASSED, STEPS
from resil.run import check as checked
from resil.run.check import check_campaign, exit_code
from testkit.recorded import copied_example


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    return copied_example("recording", tmp_path_factory.mktemp("example"))


def changed(example, tmp_path, name, old, new):
    """A copy of the example in which a file says something else."""
    folder = copied_example("recording", tmp_path)
    file = folder / name
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    return folder / "campaign.toml"


def test_all_steps_of_a_sound_campaign_pass(example, capsys):
    assert main(["check", str(example / "campaign.toml"), "--json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["passed"] is True
    assert [(step["name"], step["state"]) for step in found["steps"]] == [(name, PASSED) for name in STEPS]
    bits = {own["block"]: own["bits"]["ff"] for own in found["storage"]}
    assert bits == {"control": 3, "taps": 36, "queue": 46}
    assert found["steps"][-1]["text"].startswith("10 injections, equal on verilator and plain: ")
    assert "takes faults along the gates" in found["steps"][4]["text"]


def test_nothing_is_left_behind(example, monkeypatch, tmp_path):
    before = sorted(example.rglob("*"))
    monkeypatch.chdir(tmp_path)
    assert main(["check", str(example / "campaign.toml"), "--quiet"]) == 0
    assert sorted(example.rglob("*")) == before
    assert [*tmp_path.iterdir()] == []


WRONG = {
    "campaign": ("campaign.toml", "injections = 400", "injections = 0"),
    "design": ("target.toml", 'clock = "clk_i"', 'clock = "clock_i"'),
    "storage": ("target.toml", 'queue = "u_queue"', 'queue = "u_none"'),
    "golden run": ("rtl/smooth.sv", "(sum >> gain_q)", "(~sum >> gain_q)"),
}


@pytest.mark.parametrize("step", WRONG)
def test_the_step_that_fails_is_named_and_no_later_one_is_run(example, tmp_path, step):
    found = check_campaign(changed(example, tmp_path, *WRONG[step]))
    place = STEPS.index(step)
    states = [own.state for own in found.steps]
    assert states == [PASSED] * place + [FAILED] + [NOT_RUN] * (len(STEPS) - place - 1)
    assert exit_code(found) == 2
    assert not found.passed


def test_engines_that_disagree_fail_as_an_internal_error(example, monkeypatch):
    """The judge is made to answer otherwise of one fault."""
    real = checked._Check._injected

    def other(self, name, faults, *, sweep=False):
        rows, notes = real(self, name, faults, sweep=sweep)
        if name == checked.JUDGE:
            first, second = list(rows)[:2]
            rows[first] = rows[second]
        return rows, notes

    monkeypatch.setattr(checked._Check, "_injected", other)
    found = check_campaign(example / "campaign.toml")
    assert [own.state for own in found.steps] == [PASSED] * 5 + [FAILED]
    assert exit_code(found) == 4


def test_latches_and_unread_storage_are_named(tmp_path):
    folder = copied_example("recording", tmp_path)
    top = folder / "rtl" / "smooth.sv"
    extra = "  logic spare_q;\n  always_ff @(posedge clk_i) spare_q <= gain_we_i;\n"
    extra += "  logic held;\n  always_latch if (gain_we_i) held = take;\n"
    top.write_text(top.read_text().replace("\nendmodule", f"\n{extra}\nendmodule"))
    found = check_campaign(folder / "campaign.toml")
    remarks = " ".join(next(own for own in found.steps if own.name == "storage").remarks)
    assert re.search(r"read by nothing that matters.*spare_q", remarks)
    assert re.search(r"latches.*held", remarks)
