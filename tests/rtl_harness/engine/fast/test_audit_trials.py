# SPDX-License-Identifier: Apache-2.0
"""What the audit runs ends as runs to the end do, though it stops where nothing can change any more."""

import dataclasses

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.engine.fast import audit_trials as trials
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.audit_trials import AuditTrials
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import Flip, Shortcut
from resil.rtl_harness.engine.timeout import Timeout
from resil.rtl_harness.errors import SimulationError
from resil.rtl_harness.faults import Fault, Seen
from testkit.awkward import awkward_target, awkward_workload
from tests.rtl_harness.engine import test_timeout as timed
from tests.rtl_harness.engine.fast import test_gated as gated
from tests.rtl_harness.engine.fast import test_stall as stall


def engine(target, workload, elaboration=None, **options):
    elaboration = elaboration or elaborate(target, workload.parameters)
    return VerilatorEngine(target, workload, elaboration, audit=NOTHING, **options)


def tried(made, faults, factor=2.0):
    """What the audit finds, by fault."""
    parts = made._model, made._golden, made._singles, made.operation_cycles, factor
    return {done.injection.fault: done for done in AuditTrials(*parts).outcomes(faults)}


def to_the_end(made, faults):
    return {fault: made._singles.inject(fault, Shortcut.NONE) for fault in faults}


def compared(made, faults, factor=2.0):
    """What the audit finds, if it is what runs to the end give; and of how many cycles fewer."""
    found, plain = tried(made, faults, factor), to_the_end(made, faults)
    assert {f: done.injection for f, done in found.items()} == {
        f: done.injection for f, done in plain.items()
    }
    saved = sum(done.simulated for done in plain.values()) - sum(done.simulated for done in found.values())
    assert all(found[fault].simulated <= plain[fault].simulated for fault in faults)
    return found, saved


def every_bit(made, step):
    cycles = range(3, made.golden().cycles, step)
    return [Fault(site, cycle) for site in range(made.elaboration.sites.size) for cycle in cycles]


@pytest.mark.parametrize("instances", [1, 3, 32])
@pytest.mark.parametrize("factor", [1.0, 1.05, 2.0])
def test_runs_that_are_late_or_tell_of_something(factor, instances, monkeypatch):
    monkeypatch.setattr(trials, "INSTANCES", instances)
    with engine(stall.TARGET, stall.WORKLOAD, timeout_factor=factor) as made:
        found, saved = compared(made, every_bit(made, 61), factor)
    assert saved > 0 or instances < 32
    early = [done.injection for done in found.values() if done.early]
    if instances == 32 and factor == 2.0:
        assert any(one.detected and one.seen is not Seen.HANG for one in early)
        assert any(one.end_cycle > stall.CYCLES and one.seen is not Seen.HANG for one in early)


@pytest.mark.parametrize("memory", ["out_q", "in_q"])
def test_a_memory_that_differs_is_a_difference(memory, monkeypatch):
    """The fault: the audit takes a run for the golden one by its registers."""
    with engine(stall.TARGET, stall.WORKLOAD) as made:
        storage = made._model.map.storage(memory)
        flips = [[Flip(storage, word, 5)] for word in range(16)]
        monkeypatch.setattr(made._model.map, "flips", lambda fault: flips[fault.site])
        found, _ = compared(made, [Fault(word, 1100 - word) for word in range(16)])
    assert len({done.injection.output_hash for done in found.values()}) > 2


def test_what_goes_on_in_a_memory_alone_is_no_round():
    """The fault: the audit takes a state for one that was there before by its registers."""
    with engine(stall.TARGET, stall.WORKLOAD) as made:
        faults = [Fault(stall.bit(made.elaboration, "spin_q", 0), cycle) for cycle in range(3, 901, 7)]
        found, _ = compared(made, faults)
    assert {done.injection.end_cycle for done in found.values()} == {stall.CYCLES + 256}


def test_runs_that_go_round_for_ever():
    with engine(timed.TARGET, timed.WORKLOAD, timeout_factor=20.0) as made:
        found, saved = compared(made, every_bit(made, 67), 20.0)
    hangs = [done for done in found.values() if done.injection.seen is Seen.HANG]
    assert len(hangs) > 30
    assert all(done.early for done in hangs)
    assert saved > 10_000 * len(hangs)


@pytest.mark.parametrize("timeout", Timeout)
@pytest.mark.parametrize("workload", [timed.WORKLOAD, timed.TWICE], ids=lambda workload: workload.name)
@pytest.mark.parametrize("factor", timed.FACTORS)
def test_operations_and_inferences_that_have_a_time_out(factor, workload, timeout):
    with engine(timed.TARGET, workload, timeout=timeout, timeout_factor=factor) as made:
        faults = every_bit(made, 41)
        counter = timed.bit(made.elaboration, "operations_q", 0)
        faults += [Fault(counter, cycles - 1, bits) for cycles, _ in timed.MOVES[1:] for bits in (1, 2, 3)]
        found, saved = compared(made, faults, factor)
    assert saved > 0
    assert any(done.injection.seen is Seen.HANG for done in found.values())


def test_rounds_in_which_operations_end():
    """The counter of operations moves on the way round: no operation comes too late, the inference does."""
    with engine(timed.TARGET, timed.WORKLOAD, timeout=Timeout.OPERATION, timeout_factor=9.0) as made:
        fault = Fault(timed.bit(made.elaboration, "beat_q", 0), 370)
        found, saved = compared(made, [fault], 9.0)
    assert found[fault].injection.end_cycle == 9 * timed.CYCLES
    assert saved > 7 * timed.CYCLES


@pytest.mark.parametrize("kind", gated.KINDS)
def test_clocks_of_the_design_itself_and_latches(kind):
    with engine(gated.target(kind), gated.WORKLOAD) as made:
        compared(made, every_bit(made, 3))


@pytest.fixture(scope="module")
def awkward(repository):
    target = awkward_target()
    return target, awkward_workload()


def test_registers_and_memories_of_all_kinds(awkward):
    with engine(*awkward) as made:
        sites, cycles = made.elaboration.sites, made.golden().cycles
        faults = [Fault(site, 7 * site % cycles) for site in range(0, sites.size, 5)]
        found, saved = compared(made, faults)
    assert saved > 0
    assert {done.injection.seen for done in found.values()} >= {Seen.MASKED, Seen.LATENT}


def test_stuck_bits_run_to_their_end():
    with engine(stall.TARGET, stall.WORKLOAD) as made:
        _, saved = compared(made, [Fault(site, 0, held=1) for site in range(made.elaboration.sites.size)])
    assert saved == 0


def test_another_run_without_a_fault_is_said():
    """The fault: the golden run was cut short, and so are all that it is compared with."""
    with engine(stall.TARGET, stall.WORKLOAD) as made:
        end = made.golden().end
        made._golden.run = dataclasses.replace(made.golden(), end=dataclasses.replace(end, end_cycle=1100))
        with pytest.raises(SimulationError, match="the run without a fault does not end after 1100 cycles"):
            tried(made, [Fault(stall.bit(made.elaboration, "sum_q", 0), 1000)])
