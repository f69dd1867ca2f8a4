# SPDX-License-Identifier: Apache-2.0
"""What second faults strike: the copies of a register, the memory of a code, and what counts of both."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from resil.campaign.campaign import load_campaign
from resil.campaign.safety import SafetyMechanism
from resil.errors import CampaignError
from resil.mechanisms.marks import StorageWithoutCells, marked_design, storage_without_cells
from resil.mechanisms.measure import Measurement, MechanismSizes
from resil.mechanisms.samples import SecondFaultDraw, Upset, drawn_pins
from resil.prepare.netlist import logic_design
from resil.progress import Progress
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.synthesis import design_under_test
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.faults import Fault, Seen
from resil.rtl_harness.logic.fault_pairs import FaultPairs
from resil.rtl_harness.logic.pulse_engine import PulseEngine
from resil.rtl_harness.logic.sites import pin_sites, pulse_sites
from resil.rtl_harness.logic.synthesis import logic_netlist
from resil.rtl_harness.redundancy import Mechanism, ProtectionGroup, build_protection
from resil.rtl_harness.redundancy.parts import LOCKSTEP, TIMER, MechanismPart, PartRole, mechanism_parts
from testkit.once import made_once
from tests.resil.mechanisms.test_measure import HARM, campaign_file, measured
from tests.rtl_harness.redundancy.designs import CORE, core_work, target_of
from tests.rtl_harness.redundancy.test_memories import MEMORY, core

FIXTURES = (campaign_file, measured)


@pytest.fixture
def coded(tmp_path_factory):
    """The netlist of a memory with SECDED through its output latch, and its cells by mechanism."""

    def make(folder):
        target = core(folder)
        groups = [ProtectionGroup(MEMORY, Mechanism.SECDED)]
        build_protection(target, elaborate(target), groups, folder / "out")

    folder = made_once(tmp_path_factory, "coded-for-pins", make)
    target = load_target(folder / "out" / "target.toml")
    elaboration = with_hardware(target, elaborate(target))
    netlist = logic_netlist(target, elaboration)
    instances = design_under_test(target, elaboration).instances
    storage = storage_without_cells(target, elaboration, netlist)
    return target, elaboration, marked_design(netlist, storage, mechanism_parts(instances), (), "here")


def test_a_code_guards_its_memory_and_an_upset_of_it_shows_what_a_dead_decoder_hides(coded):
    target, elaboration, marked = coded
    netlist = marked.netlist
    own = [cell for cell, kind in enumerate(marked.kinds) if kind == "secded"]
    assert len(own) > 50
    places = [marked.guarded(cell) for cell in own]
    number = [path for path, _ in netlist.gates.memories].index(MEMORY)
    assert {(place.memories, place.whole) for place in places} == {((number,), False)}
    assert [own.path for own in marked.storage] == [MEMORY]
    assert all(not len(place.cells) for place in places)
    element = next(e for e in elaboration.sites.elements if e.path == MEMORY)
    sites = pin_sites(elaboration.sites, netlist)
    with FaultPairs(target, core_work(), elaboration, netlist, sites) as engine:
        cycles = engine.golden().cycles
        shapes = [(0, 0)] * number + [(element.depth, element.width)]
        draw = SecondFaultDraw(marked, shapes, cycles, 1, 400)
        seconds = draw.after(int(netlist.first_pin[own[0]]), 0)
        assert seconds.held == ()
        assert len(set(seconds.upsets)) == len(seconds.upsets) == 400
        assert {u.memory for u in seconds.upsets} == {number}
        assert not seconds.complete
        assert max(u.word for u in seconds.upsets) > 25
        assert max(u.bit for u in seconds.upsets) == element.width - 1

        def strike(upset):
            return engine.upset_of_memory(upset.memory, upset.word, upset.bit, upset.cycle)

        alone = list(engine.together([(Fault(0, u.cycle), (strike(u),)) for u in seconds.upsets]))
        # A code corrects what strikes one bit, and says so where the word is read.
        assert {found.seen for found in alone} <= {Seen.MASKED, Seen.LATENT}
        assert any(found.corrected for found in alone)
        assert not any(found.detected for found in alone)
        read = [u for u, found in zip(seconds.upsets, alone, strict=True) if found.corrected]
        # An output of a decoder that says which bit is wrong, held at 0: that bit is not corrected.
        outputs = [
            pin
            for cell in own
            for pin in range(netlist.first_pin[cell], netlist.first_pin[cell + 1])
            if netlist.pins["output"][pin] == 1
        ]
        held = [Fault(sites.first + pin, 0, held=0) for pin in outputs]
        quiet = [
            own_.fault for own_ in engine.run(held) if own_.seen is Seen.MASKED and own_.corrected is None
        ]
        pairs = [(f, u) for f in quiet for u in read[:12]]
        both = engine.together([(Fault(0, u.cycle), (*engine.held(f), strike(u))) for f, u in pairs])
        shown = [pair for pair, found in zip(pairs, both, strict=True) if found.seen in HARM]
        assert shown


def test_second_faults_of_a_triplicated_register_are_in_its_other_copies(measured):
    marked = measured.marked
    names = marked.netlist.names

    def guarded(prefix):
        cell = next(cell for cell, name in enumerate(names) if name.startswith(prefix))
        return {names[other].split(".u_")[-1][:6] for other in marked.guarded(cell).cells}

    assert guarded("u_dut.u_state_q.u_copy_b.") == {"copy_a", "copy_c"}
    assert guarded("u_dut.u_state_q.u_voter.") == {"copy_a", "copy_b", "copy_c"}
    assert guarded("u_dut.u_count_q.U") == {"copy_a"}
    assert guarded("u_dut.u_count_q.u_copy_b.") == {"copy_a"}
    of_alarms = guarded("u_dut.u_resil_alert.")
    assert of_alarms == {"copy_a", "data.q"}


def test_second_faults_are_complete_only_if_all_pins_and_all_upsets_are_there(measured):
    netlist = measured.design.netlist
    cell = next(c for c, name in enumerate(netlist.names) if name.startswith("u_dut.u_count_q.U"))
    pin = int(netlist.first_pin[cell])
    measured.sizes = dataclasses.replace(measured.sizes, seconds=60)
    some = measured._draw.after(pin, 0)
    assert (len(some.upsets), some.complete) == (60, False)
    assert (
        len(some.held)
        == 2 * int(np.isin(netlist.pins["cell"], measured.marked.guarded(cell).cells).sum())
        < 60
    )
    del measured._draw
    measured.sizes = dataclasses.replace(measured.sizes, seconds=10**6)
    every = measured._draw.after(pin, 0)
    assert every.complete
    assert set(some.upsets) < set(every.upsets)
    assert len(every.upsets) == 3 * measured.engine.golden().cycles
    assert {type(upset) for upset in every.upsets} == {Upset}


def test_a_pair_counts_only_if_its_second_fault_is_not_hazardous_by_itself(measured):
    sites = measured.sites
    every = measured.engine.run([Fault(site, 0, held=1) for site in range(sites.first, sites.table.size)])
    harmful = next(own for own in every if own.seen in HARM and own.detected is None)
    seconds = measured._draw.after(int(measured.design.netlist.first_pin[measured.of_mechanisms[0]]), 0)
    first = Fault(int(measured.design.netlist.first_pin[measured.of_mechanisms[0]]), 0, held=0)
    found = measured._quiet(
        first, seconds, [("hazardous", harmful), ("detected", harmful), ("quiet", harmful)]
    )
    assert found.uncovered == [False, True, True]


def test_mechanisms_of_the_campaign_are_cells_below_their_paths_and_guard_blocks(measured):
    netlist = measured.design.netlist
    own = SafetyMechanism("alert_major", None, ("stepper",), ("u_dut.u_count_q",))
    marked = marked_design(netlist, (), (), (own,), "here")
    cell = next(c for c, name in enumerate(netlist.names) if name.startswith("u_dut.u_count_q.u_copy_a"))
    assert marked.kinds[cell] == "alert_major"
    guarded = {netlist.names[other] for other in marked.guarded(cell).cells}
    assert guarded
    assert not any(name.startswith("u_dut.u_count_q.") for name in guarded)
    assert {netlist.block(netlist.number[name]) for name in guarded} == {"stepper"}
    wrong = dataclasses.replace(own, storage=("u_dut.u_nowhere",))
    with pytest.raises(CampaignError, match=r"expected cells below u_dut\.u_nowhere"):
        marked_design(netlist, (), (), (wrong,), "here")
    with pytest.raises(CampaignError, match="found none"):
        marked_design(netlist, (), (), (), "here")


def test_pulses_after_a_fault_are_what_evaluations_of_all_gates_give(campaign_file):
    """Pulses in what a mechanism guards: alone by the engine of pulses, with the first fault by the judge."""
    campaign = load_campaign(campaign_file)
    design = logic_design(campaign, Progress())
    netlist = design.netlist
    declared = [SafetyMechanism("alert_major", None, ("stepper",), ("u_dut.u_count_q",))]
    marked = marked_design(netlist, (), (), declared, "here")
    made = Measurement(campaign, design, marked, MechanismSizes(1, 40, 10**6), 1, Progress())
    sites = pulse_sites(design.elaboration.sites, netlist)
    of_pin = {int(pin): sites.first + place for place, pin in enumerate(sites.pins)}
    shown = 0
    with (
        made.engine as engine,
        PulseEngine(design.target, design.workload, design.elaboration, netlist, sites) as other,
    ):
        own = drawn_pins(netlist, made.of_mechanisms, 1, "mechanisms", 40)
        classes = map(made._class, made._held(own))
        quiet = [f for f, found in zip(own, classes, strict=True) if found == "quiet"][:2]
        assert len(quiet) == 2
        for first in quiet:
            seconds = made._draw.after(first.site, first.held or 0)
            guarded = marked.guarded(int(netlist.pins["cell"][first.site])).cells.tolist()
            outputs = {pin for pin in of_pin if int(netlist.pins["cell"][pin]) in guarded}
            assert seconds.complete
            assert len(set(seconds.pulses)) == len(outputs) * engine.golden().cycles
            assert {pulse.pin for pulse in seconds.pulses} == outputs
            some = seconds.pulses[::17]
            only = dataclasses.replace(seconds, held=(), upsets=(), pulses=some)
            made.__dict__["_draw"] = SimpleNamespace(after=lambda pin, value, only=only: only)
            (found,) = made._followed([first])
            del made._draw
            alone = {one.fault: one for one in other.run([Fault(of_pin[p.pin], p.cycle) for p in some])}
            held = engine.held(made._at(first))
            pairs = [(*held, engine.pulse_at(p.pin, p.cycle)) for p in some]
            both = engine.simulator[0].judge(pairs, *engine._until())
            for pulse, end, uncovered in zip(some, both, found.of_sort(2), strict=True):
                before = made._class(alone[Fault(of_pin[pulse.pin], pulse.cycle)])
                after = made._class(engine._injection(Fault(0, pulse.cycle), end))
                assert uncovered == (before != "hazardous" and after == "hazardous"), pulse
                shown += after == "hazardous"
    assert shown > 20


def test_without_pulses_second_faults_are_not_complete(measured):
    """The fault: a first fault was called safe though no pulse had followed it."""
    own = SafetyMechanism("alert_major", None, ("stepper",), ("u_dut.u_count_q",))
    marked = marked_design(measured.design.netlist, (), (), (own,), "here")
    pin = next(p for p, cell in enumerate(marked.netlist.pins["cell"]) if marked.kinds[int(cell)])
    draw = SecondFaultDraw(marked, [], 10, 1, 10**6)
    every = draw.after(pin, 0)
    assert every.complete
    most = max(len(every.held), len(every.upsets))
    assert len(every.pulses) > most
    assert not SecondFaultDraw(marked, [], 10, 1, most).after(pin, 0).complete


def declared(marked, *blocks, alarm="alert_major", storage=(), netlist=None):
    """Cells below `u_count_q` as a mechanism that guards blocks, and a pin of it."""
    own = SafetyMechanism(alarm, None, blocks, ("u_dut.u_count_q",))
    found = marked_design(netlist or marked.netlist, storage, (), (own,), "here")
    return found, next(p for p, c in enumerate(marked.netlist.pins["cell"]) if found.kinds[int(c)])


def guarded(marked, pin):
    return marked.guarded(int(marked.netlist.pins["cell"][pin]))


def test_where_nothing_is_guarded_no_fault_is_safe_but_all_are_latent(measured):
    """The fault: all of no second faults had done nothing, so every quiet fault was safe."""
    marked, pin = declared(measured.marked, "nowhere")
    seconds = SecondFaultDraw(marked, [], 10, 1, 10**6).after(pin, 0)
    assert (seconds.all, seconds.complete) == ((), False)
    row = measured._latent_row("all", [measured._quiet(Fault(pin, 0, held=0), seconds, [])])
    assert (row.quiet, row.explored, row.safe, row.open, row.pairs) == (1, 0, 0, 1, 0)
    assert measured._latent_share(row, complete=True) == (1.0, 0.0, 1.0)
    assert measured._latent_share(row, complete=False).hi == 1.0


def test_all_upsets_of_a_memory_are_not_all_of_its_faults(measured):
    storage = [StorageWithoutCells("u_dut.mem_q", "stepper", 0)]
    marked, pin = declared(measured.marked, "stepper", storage=storage)
    bare, _ = declared(measured.marked, "stepper")
    with_memory, without = (
        SecondFaultDraw(own, [(2, 3)], 4, 1, 10**6).after(pin, 0) for own in (marked, bare)
    )
    assert len(set(with_memory.upsets)) == len(without.upsets) + 2 * 3 * 4
    assert (with_memory.complete, without.complete) == (False, True)


@pytest.mark.parametrize(
    ("storage", "memories", "whole"),
    [
        (StorageWithoutCells("u_dut.mem_q", "stepper", 0), (0,), False),
        (StorageWithoutCells("u_dut.latch_l", "stepper"), (), False),
        (StorageWithoutCells("u_dut.mem_q", "other", 0), (), True),
        (StorageWithoutCells("u_dut.mem_q", "", 0), (), True),
        # Its own storage: nothing that it guards.
        (StorageWithoutCells("u_dut.u_count_q.mem_q", "stepper", 0), (), True),
    ],
)
def test_storage_without_cells_is_guarded_by_its_block(storage, memories, whole, measured):
    marked, pin = declared(measured.marked, "stepper", storage=[storage])
    assert (guarded(marked, pin).memories, guarded(marked, pin).whole) == (memories, whole)
    everything, pin = declared(measured.marked, storage=[storage])
    own = storage.path.startswith("u_dut.u_count_q.")
    assert guarded(everything, pin).memories == (() if own or storage.memory < 0 else (0,))


def test_cells_that_cannot_be_struck_keep_second_faults_from_being_complete(measured):
    marked, pin = declared(measured.marked, "stepper")
    cells = guarded(marked, pin).cells.tolist()
    outside = next(cell for cell in range(marked.netlist.cells) if cell not in cells)
    for cell, whole in ((cells[3], False), (outside, True)):
        left_out = {marked.netlist.names[cell]: "it is looked at twice"}
        netlist = dataclasses.replace(marked.netlist, left_out=left_out)
        found, pin = declared(measured.marked, "stepper", netlist=netlist)
        assert guarded(found, pin).whole == whole


@pytest.mark.parametrize("alarm", ["secded", "alarms", "watchdog"])
def test_an_alarm_of_the_campaign_may_be_named_as_a_kind_is(alarm, measured):
    """The fault: it was taken for what resil builds under that name, and guarded nothing."""
    plain, pin = declared(measured.marked, "stepper")
    named, _ = declared(measured.marked, "stepper", alarm=alarm)
    assert guarded(named, pin).cells.tolist() == guarded(plain, pin).cells.tolist() != []
    assert named.part_of.tolist() == plain.part_of.tolist()


def test_a_watchdog_guards_memories_and_so_does_what_collects_its_alarm(measured):
    netlist = measured.marked.netlist
    storage = [
        StorageWithoutCells("u_dut.mem_q", "stepper", 0),
        StorageWithoutCells("u_dut.u_round_q.mem_q", "stepper", 1),
    ]
    parts = [part for part in measured.marked.parts if not part.path.startswith("u_dut.u_round_q")]
    timer = MechanismPart("u_dut.u_round_q", "u_dut.u_round_q", TIMER, PartRole.CHECK)
    marked = marked_design(netlist, storage, [*parts, timer], (), "here")
    first = {kind: marked.kinds.index(kind) for kind in (TIMER, "alarms")}
    found = {kind: marked.guarded(cell) for kind, cell in first.items()}
    assert found[TIMER].memories == found["alarms"].memories == (0,)
    assert found[TIMER].cells.tolist() == found["alarms"].cells.tolist()
    assert not found["alarms"].whole
    assert {marked.kinds[cell] for cell in found[TIMER].cells} == {""}


def test_a_block_in_lockstep_is_guarded_with_its_memories(measured):
    netlist = measured.marked.netlist
    parts = [
        MechanismPart("u_dut.u_count_q", "u_dut.u_count_q", LOCKSTEP, PartRole.GUARDED),
        MechanismPart("u_dut.u_round_q", "u_dut.u_count_q", LOCKSTEP, PartRole.COPY),
        MechanismPart("u_dut.u_resil_alert", "u_dut.u_resil_alert", "alarms", PartRole.CHECK),
    ]
    storage = [
        StorageWithoutCells(f"u_dut.{name}.mem_q", "stepper", number)
        for number, name in enumerate(("u_count_q", "u_round_q", "u_other"))
    ]
    marked = marked_design(netlist, storage, parts, (), "here")
    for kind in (LOCKSTEP, "alarms"):
        found = marked.guarded(marked.kinds.index(kind))
        assert (found.memories, found.whole) == ((0,), False)


def test_latches_of_the_design_have_no_cells(tmp_path):
    target = target_of(tmp_path, CORE)
    elaboration = with_hardware(target, elaborate(target))
    netlist = SimpleNamespace(gates=SimpleNamespace(memories=(("gen_dut.u_core.rom", 0), ("log_q", 0))))
    found = storage_without_cells(target, elaboration, netlist)
    assert [(own.path, own.memory) for own in found] == [
        ("gen_dut.u_core.rom", 0),
        ("gen_dut.u_core.on_l", -1),
    ]
