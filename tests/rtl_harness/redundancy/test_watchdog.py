# SPDX-License-Identifier: Apache-2.0
"""A watchdog on operations tells of what stands still, of that alone, and nothing when nothing is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.operations import longest_operation
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault, Seen
from resil.rtl_harness.redundancy import Mechanism, ProtectionGroup, Watchdog, build_protection
from resil.rtl_harness.redundancy.proof import check_alarms
from resil.rtl_harness.redundancy.watchdog import LATENCY, check_watched, prove_watchdog
from testkit.errors import about
from tests.rtl_harness.redundancy.designs import (
    BENCH,
    CORE,
    awkward,
    awkward_work,
    copy_of_built,
    core_work,
    target_of,
)
from tests.rtl_harness.redundancy.stepping import stepper, stepper_work

LONGEST = 9
TIMER = "u_dut.u_resil_watchdog"


def built(target, groups, folder, limit):
    build = build_protection(target, elaborate(target), groups, folder, Watchdog(limit))
    return build, load_target(folder / "target.toml")


def injected(target, work):
    """Upsets of the states and counters of the stepper, by register, bit and cycle."""
    elaboration = elaborate(target)
    engine = VerilatorEngine(target, work, elaboration)
    sites = elaboration.sites
    faults = {
        Fault(sites.offsets[i] + bit, cycle): (element.path, bit, cycle)
        for i, element in enumerate(sites.elements)
        if element.path.endswith((".state_q", ".round_q"))
        for bit in range(element.bits)
        for cycle in range(2, 108, 7)
    }
    return engine.golden(), {faults[found.fault]: found for found in engine.run(list(faults))}


def test_hangs_that_stand_still_are_told_and_those_that_go_on_are_not(tmp_path):
    target, work = stepper(tmp_path), stepper_work()
    before, without = injected(target, work)
    assert longest_operation(before.moves, before.end.end_cycle) == LONGEST
    limit = LONGEST + 1
    build, protected = built(target, [], tmp_path / "out", limit)
    assert build.timer.limit == limit
    assert build.alarms == ("u_dut.u_resil_watchdog",)
    after, found = injected(protected, work)
    assert (after.end.output, after.end.end_cycle, after.end.alarms) == (
        before.end.output,
        before.end.end_cycle,
        (),
    )
    hangs = [key for key, own in without.items() if own.seen is Seen.HANG]
    still = [key for key in hangs if key[0].endswith("state_q")]
    on = [key for key in hangs if key[0].endswith("round_q")]
    assert len(still) > 10
    assert len(on) > 5
    for path, bit, cycle in still:
        own = found[path, bit, cycle]
        assert own.seen is Seen.HANG
        assert own.detected.alarm == "alert_major"
        assert cycle < own.detected.cycle <= cycle + limit + LATENCY + 1
    assert all(found[key].detected is None for key in on)
    assert all(found[key].seen is not Seen.HANG for key in without if key not in hangs)


@pytest.mark.parametrize(("limit", "quiet"), [(LONGEST - 1, False), (LONGEST + 1, True)])
def test_a_limit_that_an_operation_reaches_is_a_false_alarm(limit, quiet, tmp_path):
    _, protected = built(stepper(tmp_path), [], tmp_path / "out", limit)
    engine = VerilatorEngine(protected, stepper_work(), elaborate(protected))
    assert (engine.golden().end.alarms == ()) is quiet


COUNTED = BENCH.replace("status\n)", "status,\n  output logic  [2:0] finished\n)").replace(
    "assign status", "assign finished = at_q[4:2];\n  assign status"
)


@pytest.mark.parametrize(
    "groups", [[], [ProtectionGroup("core", Mechanism.TRIPLICATION)]], ids=["source", "netlist"]
)
def test_the_design_under_test_below_others_with_reset_active_high(groups, tmp_path):
    """As source, and as the netlist that takes its place."""
    target = target_of(tmp_path, CORE, COUNTED, operation="finished")
    build, protected = built(target, groups, tmp_path / "out", 6)
    elaboration = elaborate(protected)
    check_alarms(protected, elaboration, build.registers, watchdog=True)
    check_watched(protected, elaboration)
    assert protected.blocks["watchdog"] == ("gen_dut.u_core.u_resil_watchdog",)
    own = [e.path for e in elaboration.sites.elements if e.block == "watchdog"]
    assert own == ["gen_dut.u_core.u_resil_watchdog.last_q", "gen_dut.u_core.u_resil_watchdog.still_q"]
    assert VerilatorEngine(protected, core_work(), elaboration).golden().end.alarms == ()
    late, other = built(target, groups, tmp_path / "late", 3)
    assert late.timer.width == 3
    alarms = VerilatorEngine(other, core_work(), elaborate(other)).golden().end.alarms
    assert [rise.alarm for rise in alarms] == ["alert_major"]


@pytest.fixture
def made(tmp_path_factory):
    build, folder = copy_of_built(tmp_path_factory, "watchdog", [], Watchdog(40))
    return build, load_target(folder / "target.toml"), folder / "rtl"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("assign expired_o = still_q == Last;", "assign expired_o = 1'b0;"),
        ("still_q == Last", "still_q[0] && still_q[1]"),
        ("operation_i != last_q", "operation_i[3:0] != last_q[3:0]"),
        ("operation_i != last_q", "1'b1"),
        ("done_i || operation_i != last_q", "operation_i != last_q"),
        ("still_q + 1'b1", "still_q"),
        ("CountWidth'(Limit)", "CountWidth'(Limit - 1)"),
        ("if (still_q != Last) still_q", "still_q"),
    ],
)
def test_a_timer_that_does_something_else_is_found(old, new, made):
    build, _, rtl = made
    assert prove_watchdog(rtl, build.timer.width, build.timer.limit) == 1
    text = (rtl / "resil_watchdog.sv").read_text()
    assert text.count(old) == 1
    (rtl / "resil_watchdog.sv").write_text(text.replace(old, new))
    with pytest.raises(HarnessError, match="could not be proven"):
        prove_watchdog(rtl, build.timer.width, build.timer.limit)


@pytest.mark.parametrize(
    ("file", "old", "new", "pin"),
    [
        ("awkward.sv", ".done_i     (resil_done_i)", ".done_i     (1'b1)", "done_i"),
        ("awkward.sv", ".operation_i(resil_operation_i)", ".operation_i({16{clk_i}})", "operation_i"),
        ("awkward_bench.sv", ".resil_done_i(done_o)", ".resil_done_i(!done_o)", "done_i"),
        (
            "awkward_bench.sv",
            ".resil_operation_i(ops_done_o)",
            ".resil_operation_i(status_o[15:0])",
            "operation_i",
        ),
    ],
)
def test_a_timer_that_looks_at_something_else_is_found(file, old, new, pin, made):
    _, target, rtl = made
    check_watched(target, elaborate(target))
    text = (rtl / file).read_text()
    assert text.count(old) == 1
    (rtl / file).write_text(text.replace(old, new))
    with pytest.raises(HarnessError, check=about(f"{TIMER}.{pin}")):
        check_watched(target, elaborate(target))


def test_a_timer_whose_alarm_is_open_is_found(made):
    build, target, rtl = made
    check_alarms(target, elaborate(target), build.registers, watchdog=True)
    text = (rtl / "awkward.sv").read_text()
    (rtl / "awkward.sv").write_text(text.replace(".expired_o  (resil_major[0])", ".expired_o  ()"))
    with pytest.raises(HarnessError, check=about(f"{TIMER}.expired_o")):
        check_alarms(target, elaborate(target), build.registers, watchdog=True)


def test_what_cannot_have_a_watchdog(tmp_path):
    target = awkward()
    with pytest.raises(HarnessError, check=about("inferences")):
        built(replace(target, operation=""), [], tmp_path / "a", 40)
    with pytest.raises(HarnessError, check=about("watchdog.limit")):
        built(target, [], tmp_path / "b", 0)
    assert list(tmp_path.iterdir()) == []


def test_with_other_mechanisms_nothing_changes_without_a_fault(tmp_path):
    groups = [ProtectionGroup("u_dut", Mechanism.PARITY)]
    build, protected = built(awkward(), groups, tmp_path / "out", 40)
    assert build.alarms[-1] == "u_dut.u_resil_watchdog"
    elaboration = elaborate(protected)
    check_alarms(protected, elaboration, build.registers, watchdog=True)
    check_watched(protected, elaboration)
    ends = [
        VerilatorEngine(target, awkward_work(), elaborate(target)).golden().end
        for target in (awkward(), protected)
    ]
    assert ends[0].output == ends[1].output
    assert ends[0].end_cycle == ends[1].end_cycle
    assert ends[1].alarms == ()
    page = (tmp_path / "out" / "README.md").read_text()
    assert "has stood still for 40 cycles" in page
    assert "u_resil_watchdog" in (tmp_path / "out" / "constraints.tcl").read_text()
