# SPDX-License-Identifier: Apache-2.0
"""Held pins: the engine beside the netlist in an untouched simulator, and classes of equal faults."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.engine.logic.library import HeldPin, PinKind
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.errors import AuditError, HarnessError
from resil.rtl_harness.faults import Fault, Outcome
from resil.rtl_harness.logic.held_pins import PinHolder
from resil.rtl_harness.logic.netlist import NOWHERE
from resil.rtl_harness.logic.sites import pin_sites
from resil.rtl_harness.logic.stuck_engine import TOGETHER_LONG, StuckEngine
from resil.rtl_harness.logic.untestable import UntestablePins
from testkit.closed_cores import core_target
from testkit.held import compared_holds


@pytest.fixture(scope="module")
def engine(target, workload, elaboration, netlist):
    with StuckEngine(target, workload, elaboration, netlist, pin_sites(elaboration.sites, netlist)) as made:
        yield made


def faults_of(engine, pins):
    return [Fault(engine._sites.first + int(pin), 0, held=value) for pin in pins for value in (0, 1)]


def test_runs_end_as_those_of_the_netlist_in_an_untouched_simulator(target, workload, elaboration, tmp_path):
    compared = compared_holds(target, workload, elaboration, 300, 20261126, tmp_path)
    assert [compared.pins[place] for place in compared.different] == []
    assert len({injection.outcome for injection in compared.found}) >= 5


def outputs_of_flip_flops(netlist):
    pins = netlist.pins
    storing = [netlist.cell_type(int(cell)) in netlist.flip_flop_types for cell in pins["cell"]]
    return np.flatnonzero((pins["output"] == 1) & np.array(storing))


def test_a_gated_flip_flop_whose_output_is_held_stores_what_it_has_taken(tmp_path):
    """The faults: without a clock it stored its held output; then one whose feedback is a cell did not."""
    own = core_target(Path(__file__).with_name("gated.sv"))
    work = Workload("words", {}, OutputSpec("output", 0, (16,)), decide=exact)
    elaboration = with_hardware(own, elaborate(own))
    compared = compared_holds(own, work, elaboration, 10**6, 1, tmp_path, outputs_of_flip_flops)
    assert len(compared.pins) == 2 * (6 + 16 + 2)
    assert [compared.pins[place] for place in compared.different] == []
    words = [found for found, (pin, _) in zip(compared.found, compared.pins, strict=True) if "word" in pin]
    assert {found.outcome for found in words} == {Outcome.MASKED, Outcome.SDC_CRITICAL}


def test_classes_of_equal_faults_are_simulated_once_and_all_answered(engine, netlist):
    pins = np.arange(0, 1200)
    faults = faults_of(engine, pins)
    found = {injection.fault: injection for injection in engine.run(faults, workers=2)}
    assert found.keys() == set(faults)
    assert sum(engine.ends.values()) < 0.9 * len(faults)
    # Each member by itself, not as what stands for it.
    _, holder = engine.simulator
    classes = {}
    for fault in faults:
        classes.setdefault(holder.held(engine._sites.pin(fault.site), fault.held), []).append(fault)
    several = [fault for members in classes.values() if len(members) > 1 for fault in members]
    alone = [holder.along_gates(engine._sites.pin(f.site), f.held) for f in several]
    ends = engine._ends(engine.simulator[0], alone)
    assert [replace(engine._injection(f, end)) for f, end in zip(several, ends, strict=True)] == [
        found[f] for f in several
    ]
    assert {injection.outcome for injection in found.values()} >= {Outcome.MASKED, Outcome.HANG}


def test_calls_are_shorter_where_the_golden_run_is_not_kept_and_say_how_far_they_are(
    target, workload, elaboration, netlist, monkeypatch
):
    """Rows come in calls, and an interrupted one is lost: long runs make smaller ones."""
    sizes, reached = [], []

    def found(kept: bool):
        with StuckEngine(
            target, workload, elaboration, netlist, pin_sites(elaboration.sites, netlist)
        ) as own:
            monkeypatch.setattr(own.simulator[0], "keeps", lambda cycles: kept)
            inner = own._ends

            def ends(simulator, pins, note=None):
                got = inner(simulator, pins, note)
                if note is not None:
                    sizes.append(len(pins))
                    reached.append(own.under_way())
                return got

            monkeypatch.setattr(own, "_ends", ends)
            rows = {row.fault: row for row in own.run(faults_of(own, range(0, 2400)))}
            assert own.under_way() == 0.0
            return rows

    whole, in_parts = found(kept=True), found(kept=False)
    assert whole == in_parts
    assert sizes[0] > TOGETHER_LONG == max(sizes[1:])
    assert len(sizes) > 2
    assert min(reached) > 0.0


def test_a_clock_that_stands_still_keeps_what_a_flip_flop_holds(engine, netlist):
    _, holder = engine.simulator
    clocks = np.flatnonzero(netlist.pins["consumer"] == NOWHERE)
    held = {tuple(holder.held(int(pin), value) for value in (0, 1)) for pin in clocks}
    assert all(zero == one and zero[0].kind in (PinKind.DATA, PinKind.NET) for zero, one in held)


def test_what_is_no_held_pin_is_refused(engine):
    for fault in (
        Fault(engine._sites.first, 3),
        Fault(engine._sites.table.size, 0, held=1),
    ):
        with pytest.raises(HarnessError, match="expected"):
            next(engine.run([fault]))


@pytest.mark.parametrize(
    ("known", "says"), [(True, r"cannot be tested \(unexcited\)"), (False, "an evaluation of all gates")]
)
def test_a_class_that_is_none_is_found_by_the_audit(
    known, says, target, workload, elaboration, netlist, monkeypatch
):
    """Every input of a gate is said to be that gate's output: the audit holds the very pin.

    Where something comes of one that is never excited, that is found first.
    """

    def forward(self, pin):
        return HeldPin(PinKind.NET, int(self._gates[pin.at, 4]), pin.value) if pin.column else pin

    monkeypatch.setattr(PinHolder, "_forward", forward)
    if not known:
        monkeypatch.setattr(UntestablePins, "why", lambda *_: None)
    sites = pin_sites(elaboration.sites, netlist)
    with StuckEngine(target, workload, elaboration, netlist, sites) as wrong:
        with pytest.raises(AuditError, match=says):
            list(wrong.run(faults_of(wrong, np.arange(0, 2400, 2))))
        assert known or wrong.audits


def test_an_answer_of_another_session_is_audited(engine, netlist):
    (right,) = engine.run(faults_of(engine, [40])[:1])
    engine.audit_kept([right])
    with pytest.raises(AuditError, match="an earlier session"):
        engine.audit_kept([replace(right, end_cycle=right.end_cycle + 1)])


def test_a_reset_that_acts_for_ever_keeps_what_it_sets_from_the_beginning(netlist):
    pin = next(i for i, row in enumerate(netlist.pins) if row["consumer"] == 2 and row["column"] == 2)
    row = int(netlist.pins[pin]["row"])
    q, _, _, active, _ = netlist.gates.flip_flops[row].tolist()
    sets = int(netlist.reset_values[row])
    state = np.maximum(netlist.reset_values, 0).astype(np.uint8)
    data = HeldPin(PinKind.DATA, row, sets)
    assert PinHolder(netlist, state).held(pin, active) == (data,)
    # One that holds something else then takes that at once, not at the first edge.
    assert PinHolder(netlist, 1 - state).held(pin, active) == (data, HeldPin(PinKind.NET, q, sets))
