# SPDX-License-Identifier: Apache-2.0
"""Runs in the same state with other alarms behind them, and alarms that rise when the golden run is over."""

import itertools
from pathlib import Path

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target, TargetAlarm, TargetMemory
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.faults import Fault, Reported, Rise, Seen

TARGET = Target(
    name="histories",
    top="histories",
    sources=(Path(__file__).parent / "histories.sv",),
    clock="clk_i",
    reset="rst_ni",
    dut="u_core",
    done="done_o",
    status="status_o",
    blocks={"core": ("u_core",)},
    memories={
        "input": TargetMemory("in_q", 1, "input", observed=False),
        "output": TargetMemory("out_q", 1, "output"),
    },
    alarms={
        "pulse": TargetAlarm("pulse_o"),
        "late": TargetAlarm("late_o"),
        "mended": TargetAlarm("mended_o", "corrected"),
        "late mended": TargetAlarm("late_mended_o", "corrected"),
    },
)
WORKLOAD = Workload("sum", {"input": bytes(range(40, 56))}, OutputSpec("output", 0, (2,)), decide=exact)
# The first flip; a window of the golden run ends between it and the judgement.
FIRST, JUDGED, END = 20, 659, 700
# What is told of a flip in each stage; then for each bit of the sum what is seen, and what is told when.
STAGES = ((), ("pulse",), ("mended",), ("pulse", "mended"), ())
FATES = (
    (Seen.MASKED, {}),
    (Seen.SDC_CRITICAL, {}),
    (Seen.LATENT, {"late": JUDGED}),
    (Seen.MASKED, {"late mended": JUDGED}),
    (Seen.LATENT, {"late": JUDGED, "late mended": JUDGED}),
    (Seen.HANG, {}),
    (Seen.LATENT, {"late": END + 7}),
    (Seen.HANG, {"late mended": END + 7, "late": END + 11}),
)


@pytest.fixture(scope="module")
def elaboration():
    return elaborate(TARGET)


@pytest.fixture(scope="module")
def engine(elaboration):
    with VerilatorEngine(TARGET, WORKLOAD, elaboration, sweep=True, audit=NOTHING) as made:
        assert made.golden().end.end_cycle == END
        yield made
        assert made.notes == []


def faults_of(elaboration, stage):
    """A flip in each bit of a stage; those of all stages in one bit come to the same state."""
    table = elaboration.sites
    (place,) = [i for i, e in enumerate(table.elements) if e.path == f"u_core.s{stage}_q"]
    return [Fault(table.offsets[place] + bit, FIRST + stage) for bit in range(len(FATES))]


def expected(stage, bit):
    """What is seen, and the first rises of something detected and of something corrected."""
    seen, later = FATES[bit]
    cycles = {**later, **dict.fromkeys(STAGES[stage], FIRST + stage)}
    kinds = {Reported.DETECTED: ("pulse", "late"), Reported.CORRECTED: ("mended", "late mended")}
    first = [
        next((Rise(name, kind, cycles[name]) for name in names if name in cycles), None)
        for kind, names in kinds.items()
    ]
    return seen, *first


def found(engine, faults):
    return {i.fault: (i.seen, i.detected, i.corrected) for i in engine.run(faults)}


@pytest.mark.parametrize("stages", list(itertools.combinations(range(len(STAGES)), 2)))
def test_of_runs_in_the_same_state_each_keeps_what_it_has_told(engine, elaboration, stages):
    """The fault: runs that have told of other kinds of alarm are merged, one takes over what another told.

    Of each two stages the run of the earlier is parked ahead of that of the later, in the same state.
    """
    merged = engine.ends["merged"]
    wanted = {
        fault: expected(stage, bit)
        for stage in stages
        for bit, fault in enumerate(faults_of(elaboration, stage))
    }
    assert found(engine, list(wanted)) == wanted
    if stages == (0, 4):
        # Of neither anything is told: these are merged, so what is parked are the same states.
        assert engine.ends["merged"] == merged + len(FATES)


@pytest.mark.parametrize("stage", range(len(STAGES)))
def test_alarms_of_the_last_stretch_are_told(engine, elaboration, stage):
    """The fault: what a run tells in its last stretch, which is simulated to the end by itself, is forgotten.

    A wrong sum is followed along the gates until the golden run has ended, and only then tells.
    """
    for bit in (6, 7):
        fault, before = faults_of(elaboration, stage)[bit], engine.simulated
        assert found(engine, [fault]) == {fault: expected(stage, bit)}
        if (stage, bit) in ((0, 6), (4, 6)):
            assert engine.simulated - before < 20


def test_what_is_expected_is_what_runs_to_the_end_give(elaboration):
    with VerilatorEngine(TARGET, WORKLOAD, elaboration, shortcuts=Shortcut.NONE) as plain:
        for stage in range(len(STAGES)):
            wanted = {fault: expected(stage, bit) for bit, fault in enumerate(faults_of(elaboration, stage))}
            assert found(plain, list(wanted)) == wanted
