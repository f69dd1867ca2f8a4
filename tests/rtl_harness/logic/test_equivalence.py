# SPDX-License-Identifier: Apache-2.0
"""Cells of a block are proven to be its RTL; a cell that is another one is found where it shows."""

from __future__ import annotations

import copy
import json

import pytest

from resil.rtl_harness.design.cells import cells_of
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.synthesis import DESIGN, design_netlist
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.logic.equivalence import Proof, prove_blocks, prove_module
from resil.rtl_harness.logic.synthesis import mapped_design

CONTROL = "control$awkward_bench.u_dut.u_control"


@pytest.fixture(scope="module")
def design(repository):
    target = load_target(repository / "examples" / "awkward" / "target.toml")
    return target, with_hardware(target, elaborate(target))


@pytest.fixture
def module(design, tmp_path):
    """Proves the control of the example, its netlist changed before."""
    target, elaboration = design
    mapped, library = mapped_design(target, elaboration)
    source = design_netlist(target, elaboration) / DESIGN

    def prove(change=None):
        own = copy.deepcopy(dict(mapped))
        if change is not None:
            change(own[CONTROL])
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        return prove_module(CONTROL, own, cells_of(library), source, folder)

    return prove


def test_blocks_without_memories_are_proven_and_others_say_why(design):
    found = {own.path: own for own in prove_blocks(*design)}
    assert found["u_dut.u_control"].proof is Proof.PROVEN
    assert found["u_dut"].proof is Proof.NOT_TRIED
    assert "a block of its own" in found["u_dut"].why
    assert found["u_dut.u_history"].proof is Proof.NOT_TRIED
    assert "$mem" in found["u_dut.u_history"].why


def test_a_cell_that_is_another_one_is_named_by_where_it_shows(module):
    swapped = {
        "NAND2": "NOR2",
        "NOR2": "NAND2",
        "AND2": "OR2",
        "OR2": "AND2",
        "XOR2": "XNOR2",
        "XNOR2": "XOR2",
    }
    found = set()

    def change(number):
        def swap(netlist):
            own = [cell for cell in netlist["cells"].values() if cell["type"] in swapped]
            own[number % len(own)]["type"] = swapped[own[number % len(own)]["type"]]

        return swap

    for number in (0, 19):
        proof = module(change(number))
        assert proof.proof is Proof.OPEN, number
        assert proof.points, number
        found.update(proof.points)
    assert any(point.startswith(("state_", "step_", "round_", "address_")) for point in found)


def test_a_flip_flop_that_takes_another_ones_input_is_found(module):
    def change(netlist):
        storing = [cell for cell in netlist["cells"].values() if cell["type"].startswith("DFF")]
        one, other = storing[:2]
        one["connections"]["D"], other["connections"]["D"] = (
            other["connections"]["D"],
            one["connections"]["D"],
        )

    proof = module(change)
    assert proof.proof is Proof.OPEN
    assert len(proof.points) >= 1


def test_a_flip_flop_on_another_clock_is_found(module):
    """The fault: the induction takes all clocks for one."""

    def change(netlist):
        cell = next(cell for cell in netlist["cells"].values() if cell["type"].startswith("DFF"))
        cell["connections"]["C"] = netlist["ports"]["mismatch_i"]["bits"]

    proof = module(change)
    assert proof.proof is Proof.OPEN
    assert proof.why == "of another clock or edge"
    assert len(proof.points) >= 1


def test_a_clock_gate_that_is_always_open_is_found(design, tmp_path):
    """Registers with enables, which synthesis makes clock gates of."""
    target, elaboration = design
    mapped, library = mapped_design(target, elaboration)
    source = design_netlist(target, elaboration) / DESIGN
    shown = 0
    for name, module in mapped.items():
        gates = [cell for cell in module["cells"].values() if cell["type"] == "ICG"]
        if not gates:
            continue
        (first := tmp_path / f"{len(list(tmp_path.iterdir()))}").mkdir()
        # Multipliers keep the proof open.
        if prove_module(name, mapped, cells_of(library), source, first, 20.0).proof is not Proof.PROVEN:
            continue
        own = json.loads(json.dumps(module))
        next(cell for cell in own["cells"].values() if cell["type"] == "ICG")["connections"]["E"] = ["1"]
        (second := tmp_path / f"{len(list(tmp_path.iterdir()))}").mkdir()
        proof = prove_module(name, {**mapped, name: own}, cells_of(library), source, second, 20.0)
        assert proof.proof is not Proof.PROVEN
        shown += 1
    assert shown
