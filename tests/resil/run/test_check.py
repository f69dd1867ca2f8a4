# SPDX-License-Identifier: Apache-2.0
"""`resil check`: every step passes or fails with a remedy, and the exit code says so."""

import copy
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from resil.cli import main
from resil.errors import ExitCode
from resil.record.campaign_check import FAILED, NETLIST, NOT_RUN, PASSED, STEPS
from resil.rtl_harness.logic import equivalence
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


@pytest.fixture
def awkward(repository, tmp_path):
    """A campaign on a design with a memory, small enough for proofs."""
    folder = repository / "examples" / "awkward"
    text = (folder / "campaign.toml").read_text().replace('"target.toml"', f'"{folder / "target.toml"}"')
    text = text.replace('"source0.hex", "source1.hex"', f'"{folder / "source0.hex"}"')
    (tmp_path / "campaign.toml").write_text(text)
    return tmp_path / "campaign.toml"


def test_the_netlist_is_proven_block_by_block_and_what_is_not_proven_is_said(awkward, capsys):
    assert main(["check", str(awkward), "--prove", "--json"]) == ExitCode.INCONCLUSIVE
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert found["passed"] is True
    step, cycles = found["steps"][-1], found["netlist"][0]["cycles"]
    assert (step["name"], step["state"]) == (NETLIST, PASSED)
    assert f"all {cycles:,} cycles of the golden run" in step["text"]
    blocks = {own["block"]: own for own in found["netlist"]}
    assert (blocks["u_dut.u_control"]["state"], blocks["u_dut.u_control"]["text"]) == ("proven", "")
    assert blocks["u_dut.u_history"]["state"] == "compared"
    assert "$mem" in blocks["u_dut.u_history"]["text"]
    assert any(f"u_dut.u_history: compared over {cycles:,} cycles (it has" in own for own in step["remarks"])
    assert "proof of u_dut.u_control" in said.err


def test_a_gate_that_is_another_one_is_refused_where_the_golden_run_shows_it(awkward, monkeypatch):
    """The fault: a netlist that computes something else is said to be the RTL."""
    whole = checked.logic_design

    def mutant(campaign, progress):
        design = whole(campaign, progress)
        gates = design.netlist.gates.gates.copy()
        # An AND that becomes a NAND.
        gates[np.flatnonzero(gates[:, 0] == 2)[60], 0] = 4
        netlist = replace(design.netlist, gates=replace(design.netlist.gates, gates=gates))
        return replace(design, netlist=netlist)

    monkeypatch.setattr(checked, "logic_design", mutant)
    found = check_campaign(awkward, prove=True)
    step = found.steps[-1]
    assert (step.name, step.state, exit_code(found)) == (NETLIST, FAILED, ExitCode.USAGE)
    assert re.search(r"the synthesised netlist is not the RTL that runs: .* in u_dut", step.text)
    assert found.netlist == ()


def test_a_register_without_its_pair_is_named_and_its_block_is_not_proven(awkward, monkeypatch):
    """The fault: a register that nothing is compared with, and a proof that passes over it."""
    whole = equivalence.mapped_design

    def mutant(*arguments):
        mapped, library = whole(*arguments)
        mapped = copy.deepcopy(dict(mapped))
        (own,) = [module for name, module in mapped.items() if name.endswith("u_control")]
        # A register bit that is not there: what it fed has 0.
        lost = own["netnames"]["address_q"]["bits"][0]
        stored = [name for name, cell in own["cells"].items() if cell["connections"].get("Q") == [lost]]
        for name in stored:
            del own["cells"][name]
        for cell in own["cells"].values():
            for bits in cell["connections"].values():
                bits[:] = ["0" if bit == lost else bit for bit in bits]
        for wire in (*own["netnames"].values(), *own["ports"].values()):
            wire["bits"][:] = ["0" if bit == lost else bit for bit in wire["bits"]]
        assert len(stored) == 1
        return mapped, library

    monkeypatch.setattr(equivalence, "mapped_design", mutant)
    found = check_campaign(awkward, prove=True)
    (block,) = [own for own in found.netlist if own.block == "u_dut.u_control"]
    assert block.state == "open"
    assert "address_q[0]" in block.unpaired
    assert block.points
    assert exit_code(found) == ExitCode.INCONCLUSIVE
    (remark,) = [own for own in found.steps[-1].remarks if own.startswith("u_dut.u_control")]
    assert "registers without a pair: " in remark


def test_without_proof_nothing_is_said_of_the_netlist(example):
    assert check_campaign(example / "campaign.toml").netlist == ()
