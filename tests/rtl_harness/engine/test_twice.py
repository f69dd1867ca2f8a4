# SPDX-License-Identifier: Apache-2.0
"""Two inferences on a small design: every bit in every cycle of the first, on both engines."""

import dataclasses
import random
from pathlib import Path

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target, TargetAlarm, TargetMemory
from resil.rtl_harness.engine.fast.audit_sample import EVERYTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.workload import OutputSpec, Workload, classify, exact
from resil.rtl_harness.errors import HarnessError, SimulationError
from resil.rtl_harness.faults import Fault, Outcome, Reported, Rise, RunEnd, Seen
from testkit.errors import about

JUDGES = (CocotbEngine, PlainEngine)

FIRST = 4 + 1 + 1 + 8 + 1 + 1
OUTPUT = OutputSpec("output", 0, (8,), "uint16")
WORKLOAD = Workload("two", {"input": bytes(range(3, 11))}, OUTPUT, inferences=2, decide=exact)


@pytest.fixture(scope="module")
def target():
    return Target(
        name="twice",
        top="twice",
        sources=(Path(__file__).parent / "twice.sv",),
        clock="clk_i",
        reset="rst_ni",
        dut="u_core",
        done="done_o",
        alarms={"parity": TargetAlarm("alarm_o")},
        inferences="inferences_o",
        blocks={"core": ("u_core",)},
        memories={
            "input": TargetMemory("in_q", 1, "input", observed=False),
            "output": TargetMemory("out_q", 2, "output"),
        },
    )


@pytest.fixture(scope="module")
def elaboration(target):
    return elaborate(target)


@pytest.fixture(scope="module")
def faults(elaboration):
    return [Fault(site, cycle) for site in range(elaboration.sites.size) for cycle in range(FIRST)]


@pytest.fixture(scope="module")
def plain(target, elaboration, faults):
    with VerilatorEngine(target, WORKLOAD, elaboration, shortcuts=Shortcut.NONE) as made:
        assert made.golden().cycles == FIRST
        assert made.golden().end.end_cycle == 2 * FIRST - 4
        assert made.golden().end.first.output == made.golden().end.output
        return {injection.fault: injection for injection in made.run(faults)}


def sites(elaboration, path):
    table = elaboration.sites
    places = [i for i, e in enumerate(table.elements) if e.variable == f"u_core.{path}"]
    return [site for i in places for site in range(table.offsets[i], table.offsets[i + 1])]


def test_shortcuts_give_what_runs_to_the_end_give(target, elaboration, faults, plain):
    with VerilatorEngine(target, WORKLOAD, elaboration, audit=EVERYTHING, sweep=True) as made:
        assert {injection.fault: injection for injection in made.run(faults)} == plain
        assert made.audited == made.early_stops > 300
        assert sum(number for how, number in made.ends.items() if how.startswith("paused, then ")) > 100


def test_what_the_second_inference_reports_is_as_late_as_the_first_was(plain):
    told = [i for i in plain.values() if i.first is Outcome.LATENT and i.detected]
    late = {
        (i.end_cycle - (2 * FIRST - 4), i.detected.cycle - FIRST) for i in told if i.detected.cycle >= FIRST
    }
    assert {(1, 1), (2, 2)} <= late


def test_the_first_inference_is_judged_where_it_ends(elaboration, plain):
    """A word that is written a cycle after the core was taken for done is missing in the first inference."""
    (skip,) = sites(elaboration, "skip_q")
    pairs = [(plain[Fault(skip, cycle)].first, plain[Fault(skip, cycle)].second) for cycle in range(FIRST)]
    assert (Outcome.SDC_CRITICAL, Outcome.MASKED) in pairs


def test_a_second_inference_has_its_own_time(elaboration, plain):
    (halt,) = sites(elaboration, "halt_q")
    found = plain[Fault(halt, FIRST - 1)]
    assert (found.first, found.second) == (Outcome.LATENT, Outcome.HANG)
    assert found.end_cycle == FIRST + 2 * (FIRST - 4) != 2 * FIRST


@pytest.mark.parametrize("judge", JUDGES)
def test_engines_agree(target, elaboration, faults, plain, judge):
    pairs = {(i.first, i.second): fault for fault, i in plain.items()}
    chosen = sorted({*random.Random(1).sample(faults, 60), *pairs.values()})
    with judge(target, WORKLOAD, elaboration) as made:
        assert {i.fault: i for i in made.run(chosen)} == {fault: plain[fault] for fault in chosen}
        assert made.replay(chosen[0]) == plain[chosen[0]]
        with VerilatorEngine(target, WORKLOAD, elaboration) as fast:
            assert made.golden() == fast.golden()


def test_what_is_written_once_is_dormant_and_what_is_written_again_vanishes(elaboration, plain):
    """After its last use in the first inference, a bit of either is latent state and no more."""
    last = FIRST - 1
    for site in sites(elaboration, "table_q"):
        found = plain[Fault(site, last)]
        assert (found.first, found.second) == (Outcome.LATENT, Outcome.SDC_CRITICAL)
        assert found.outcome is Outcome.SDC_CRITICAL
    for site in sites(elaboration, "scale_q"):
        found = plain[Fault(site, last)]
        assert (found.first, found.second, found.outcome) == (
            Outcome.LATENT,
            Outcome.MASKED,
            Outcome.MASKED,
        )


def test_every_kind_of_pair_is_there(plain):
    pairs = {(i.first, i.second) for i in plain.values()}
    assert {first for first, _ in pairs} == {*Outcome} - {Outcome.SDC_TOLERABLE}
    assert (Outcome.HANG, None) in pairs
    assert (Outcome.LATENT, Outcome.LATENT) in pairs
    assert {(Outcome.SDC_CRITICAL, Outcome.SDC_CRITICAL), (Outcome.SDC_CRITICAL, Outcome.MASKED)} <= pairs


def test_faults_strike_in_the_first_inference(target, elaboration):
    for kind in (*JUDGES, VerilatorEngine):
        with kind(target, WORKLOAD, elaboration) as made:
            with pytest.raises(HarnessError, check=about("fault.cycle")):
                list(made.run([Fault(0, FIRST)]))
            with pytest.raises(HarnessError, check=about("fault.held")):
                list(made.run([Fault(0, 0, held=1)]))


def test_a_target_that_does_not_count_inferences_is_refused(target, elaboration):
    other = dataclasses.replace(target, inferences="")
    for kind in (*JUDGES, VerilatorEngine):
        with pytest.raises(HarnessError, check=about("inferences")):
            kind(other, WORKLOAD, elaboration)


def test_a_host_that_stops_after_one_inference_is_found_out(target):
    one = dataclasses.replace(WORKLOAD, parameters={"Inferences": 1})
    with (
        VerilatorEngine(target, one, elaborate(target, one.parameters)) as made,
        pytest.raises(SimulationError, check=about("inferences")),
    ):
        made.golden()


def end(output=b"\1\0", state="s", cycle=20, alarms=(), first=None, finished=True):
    return RunEnd(finished, cycle, 0, output, state, alarms, first)


GOLDEN = end(cycle=40, first=end())
ALARM = Rise("parity", Reported.DETECTED, 30)


@pytest.mark.parametrize(
    ("first", "second", "alarms", "expected"),
    [
        ({}, {}, (), ("masked", "masked", "masked")),
        ({"state": "x"}, {}, (), ("latent", "masked", "masked")),
        ({"state": "x"}, {"state": "y"}, (), ("latent", "latent", "latent")),
        ({"state": "x"}, {"output": b"\2\0"}, (), ("latent", "sdc_critical", "sdc_critical")),
        ({"output": b"\2\0"}, {}, (), ("sdc_critical", "masked", "sdc_critical")),
        ({"state": "x"}, {"finished": False}, (), ("latent", "hang", "hang")),
        ({"output": b"\2\0"}, {"finished": False}, (), ("sdc_critical", "hang", "hang")),
        ({"state": "x"}, {"output": b"\2\0"}, (ALARM,), ("latent", "due", "due")),
        # An alarm of the second inference comes too late for a wrong output of the first.
        ({"output": b"\2\0"}, {}, (ALARM,), ("sdc_critical", "due", "sdc_critical")),
    ],
)
def test_the_worse_is_seen_and_no_alarm_of_the_second_saves_the_first(first, second, alarms, expected):
    workload = Workload("two", {}, OutputSpec("output", 0, (2,), "uint8"), inferences=2, decide=exact)
    faulty = end(cycle=40, alarms=alarms, first=end(**first), **second)
    found = classify(Fault(0, 3), GOLDEN, faulty, workload)
    assert (found.first, found.second, found.outcome) == expected


def test_an_alarm_of_the_first_inference_tells_of_what_it_did():
    workload = Workload("two", {}, OutputSpec("output", 0, (2,), "uint8"), inferences=2, decide=exact)
    early = Rise("parity", Reported.DETECTED, 9)
    faulty = end(cycle=40, alarms=(early,), first=end(output=b"\2\0", alarms=(early,)))
    found = classify(Fault(0, 3), GOLDEN, faulty, workload)
    assert (found.first, found.second, found.outcome) == ("due", "masked", "due")
    assert (found.seen, found.detected) == (Seen.SDC_CRITICAL, early)
