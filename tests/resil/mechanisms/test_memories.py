# SPDX-License-Identifier: Apache-2.0
"""Memories that mechanisms guard: second faults strike them, and samples of these show nothing safe."""

from __future__ import annotations

import json

import pytest

from resil.campaign.campaign import load_campaign
from resil.campaign.safety import SafetyMechanism
from resil.errors import StoreError
from resil.mechanisms.marks import marked_design, storage_without_cells
from resil.mechanisms.measure import Measurement, MechanismSizes, measure_mechanisms
from resil.mechanisms.samples import SecondFaultDraw
from resil.prepare.netlist import logic_design
from resil.progress import Progress
from resil.record.mechanism_faults import MechanismFaults
from resil.results.pair_evidence import latent_pins
from resil.rtl_harness.faults import Fault
from testkit.errors import about
from tests.resil.mechanisms.guarded_ram import ram_campaign

MEMORY = "u_dut.u_ram.mem_q"
SIZES = MechanismSizes(1, 200, 60)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    return load_campaign(ram_campaign(tmp_path_factory.mktemp("ram"), '["ram"]'))


@pytest.fixture(scope="module")
def design(campaign):
    return logic_design(campaign, Progress())


def marked(design, *blocks):
    own = SafetyMechanism("error", None, blocks, ("u_dut.u_check",))
    storage = storage_without_cells(design.target, design.elaboration, design.netlist)
    return marked_design(design.netlist, storage, (), (own,), "here")


def test_a_checker_of_a_memory_is_not_safe_without_an_upset_of_that_memory(campaign, tmp_path):
    """The fault: of a block without gates nothing was struck, and "all of it" was found to do nothing."""
    found = measure_mechanisms(campaign, tmp_path, SIZES)
    row = found.latent[0]
    assert row.quiet > 10
    assert (row.pairs, row.held, row.pulses) == (60 * row.quiet, 0, 0)
    assert row.hazardous_upsets > 0
    assert 10 < row.latent <= row.quiet
    assert (row.safe, row.open) == (0, row.quiet - row.latent)
    assert found.latent_share.estimate == found.latent_share.hi == 1.0
    assert found.latent_share.lo == pytest.approx(row.latent / row.quiet)
    assert found.examples
    assert all(own.second.startswith(f"upset of {MEMORY}[") for own in found.examples)


def test_an_alarm_that_is_held_at_0_lets_upsets_of_the_memory_through(campaign, design):
    netlist = design.netlist
    made = Measurement(campaign, design, marked(design, "ram"), SIZES, 1, Progress())
    names = {netlist.pin_name(pin): pin for pin in range(len(netlist.pins))}
    with made.engine as engine:
        (quiet,) = made._followed([Fault(names["u_dut.u_check.error_q[0]/Q"], 0, held=0)])
        shown = [own for own, flag in zip(quiet.seconds.upsets, quiet.uncovered, strict=True) if flag]
        assert shown
        number = [path for path, _ in netlist.gates.memories].index(MEMORY)
        strikes = [(engine.upset_of_memory(number, own.word, own.bit, own.cycle),) for own in shown]
        # By itself each is detected: an evaluation of all gates says so.
        alone = engine.simulator[0].judge(strikes, *engine._until())
    assert [made._class(engine._injection(Fault(0, 0), end)) for end in alone] == ["detected"] * len(shown)


def test_memories_are_struck_beside_gates_and_are_never_all_that_there_is(design):
    """The fault: a block with few gates and a memory was complete when all of its gates had been struck."""
    netlist = design.netlist
    number = [path for path, _ in netlist.gates.memories].index(MEMORY)
    shapes = [(64, 17) if place == number else (0, 0) for place in range(len(netlist.gates.memories))]
    pin = next(p for p in range(len(netlist.pins)) if netlist.pin_name(p).startswith("u_dut.u_check."))
    both, gates = (
        SecondFaultDraw(marked(design, *blocks), shapes, 5, 1, 10**6).after(pin, 0)
        for blocks in (("count", "ram"), ("count",))
    )
    assert both.held == gates.held != ()
    assert both.pulses == gates.pulses != ()
    bits = [own for own in both.upsets if own.memory == number]
    assert len(set(bits)) == 64 * 17 * 5
    assert set(both.upsets) - set(bits) == set(gates.upsets)
    assert gates.complete
    assert not both.complete
    every = marked(design).guarded(int(netlist.pins["cell"][pin]))
    assert (every.memories, every.whole) == ((number,), False)


def test_an_answer_is_taken_for_the_mechanisms_that_it_was_made_for_alone(campaign, design, tmp_path):
    """The fault: another campaign took it, whose mechanism guards more."""
    found = measure_mechanisms(campaign, tmp_path, MechanismSizes(1, 20, 2))
    assert [own.plain() for own in found.declared] == [
        {"alarm": "error", "blocks": ["ram"], "storage": ["u_dut.u_check"], "memories": [MEMORY]}
    ]
    hashes, elements = found.hashes, design.elaboration.sites.elements
    pins = latent_pins(campaign, tmp_path, hashes, elements, hashes["netlist"], 1.0)
    assert pins.latent == found.latent[0].quiet
    other = load_campaign(ram_campaign(tmp_path))
    said = f'"error" that guards all blocks .*{MEMORY}.*, found "error" that guards ram .*; run resil mech'
    with pytest.raises(StoreError, match=said, check=about("mechanism_faults")):
        latent_pins(other, tmp_path, hashes, elements, hashes["netlist"], 1.0)
    # The block map has moved the memory, and no cell with it.
    moved = [own for own in elements if own.path != MEMORY]
    with pytest.raises(StoreError, match=f"memories {MEMORY}", check=about("mechanism_faults")):
        latent_pins(campaign, tmp_path, hashes, moved, hashes["netlist"], 1.0)


def test_an_answer_of_an_older_schema_is_refused_with_what_to_do(campaign, design, tmp_path):
    found = measure_mechanisms(campaign, tmp_path, MechanismSizes(1, 20, 2))
    plain = {**found.plain(), "schema": MechanismFaults.SCHEMA - 1}
    del plain["declared"]
    (tmp_path / MechanismFaults.FILE).write_text(json.dumps(plain))
    with pytest.raises(StoreError, match="expected schema 4, found 3; make it again with: resil mechanisms"):
        latent_pins(campaign, tmp_path, found.hashes, design.elaboration.sites.elements, "", 1.0)
