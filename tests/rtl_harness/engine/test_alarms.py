# SPDX-License-Identifier: Apache-2.0
"""Alarms that are pulses, on both engines and by every way of knowing an end before it is reached."""

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target, TargetAlarm, TargetMemory
from resil.rtl_harness.engine.fast.audit_sample import EVERYTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.engine.fast.native.library import Stop
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.workload import OutputSpec, Workload
from resil.rtl_harness.errors import AuditError
from resil.rtl_harness.faults import Fault, Injection, Outcome, Reported, Rise, Seen
from testkit.errors import about

JUDGES = (CocotbEngine, PlainEngine)

ALARMS = {
    "parity": TargetAlarm("parity_alarm_o"),
    "sum": TargetAlarm("sum_alarm_o"),
    "table": TargetAlarm("table_alarm_o"),
    "lockstep": TargetAlarm("lockstep_alarm_o"),
    "watchdog": TargetAlarm("watchdog_alarm_o"),
    "mended": TargetAlarm("mended_o", "corrected"),
    "tick": TargetAlarm("tick_o", "corrected"),
}
TARGET = Target(
    name="watched",
    top="watched",
    sources=(Path(__file__).parent / "watched.sv",),
    clock="clk_i",
    reset="rst_ni",
    dut="u_core",
    done="done_o",
    status="status_o",
    operation="operations_o",
    blocks={"core": ("u_core",)},
    memories={
        "input": TargetMemory("in_q", 1, "input", observed=False),
        "output": TargetMemory("out_q", 4, "output"),
    },
    alarms=ALARMS,
)
END = 1350


class OutputTail:
    """The design never reads what it has written: differences of it stay as they are."""

    memory = "output"
    quiet = tuple(alarm.output for alarm in ALARMS.values())

    def prepare(self, golden, end):
        self.end = end
        return frozenset(golden)

    def unsettled(self, operation):
        return [range(124, 128)]  # the status shows the last word

    def queues(self):
        return []

    def finish(self, departures):
        images = []
        for departure in departures:
            image = np.frombuffer(self.end, np.uint8).copy()
            image[departure.offsets] ^= departure.xors
            images.append(image.tobytes())
        return images


def workload_with(tail=None):
    source = np.random.default_rng(5).integers(0, 256, 64, dtype=np.uint8)
    return Workload("random", {"input": source.tobytes()}, OutputSpec("output", 0, (128,)), tail=tail)


@pytest.fixture(scope="module")
def elaboration():
    return elaborate(TARGET)


def drawn(elaboration, number, seed):
    """Of every register alike, of one bit or two, at any time."""
    choose, table = random.Random(seed), elaboration.sites
    chosen = set()
    while len(chosen) < number:
        element = len(chosen) % len(table.elements)
        place = choose.randrange(table.offsets[element], table.offsets[element + 1])
        chosen.add(Fault(place, choose.randrange(END), min(choose.randint(1, 2), table.room(place))))
    return chosen


@pytest.fixture(scope="module")
def faults(elaboration):
    """Of every register alike; and pairs that come to the same state with other histories."""
    chosen = drawn(elaboration, 500, seed=4)
    for cycle in range(200, 1200, 25):
        bit = cycle // 25 % 8
        chosen |= {
            Fault(site(elaboration, "r_q", 7), cycle - 1),
            Fault(site(elaboration, "s0_q", 7), cycle),
            Fault(site(elaboration, "s0_q", bit), cycle),
            Fault(site(elaboration, "s1_q", bit), cycle + 1),
        }
        chosen |= {
            Fault(site(elaboration, "s2_q", bit), cycle),
            Fault(site(elaboration, "acc_q", bit), cycle + 1),
        }
    return sorted(chosen)


def site(elaboration, name, bit, word=0):
    table = elaboration.sites
    (place,) = [i for i, e in enumerate(table.elements) if e.path == f"u_core.{name}"]
    return table.offsets[place] + word * table.elements[place].width + bit


def by_fault(injections):
    return {injection.fault: injection for injection in injections}


@pytest.fixture(scope="module")
def plain(elaboration, faults):
    """Every injection run to its end."""
    with VerilatorEngine(TARGET, workload_with(), elaboration, shortcuts=Shortcut.NONE) as engine:
        return by_fault(engine.run(faults))


def test_alarms_are_kept_by_name_and_cycle_whatever_is_seen(plain):
    alarms = Counter(i.detected.alarm for i in plain.values() if i.detected)
    assert set(alarms) == {"parity", "sum", "table", "lockstep", "watchdog"}
    assert {i.corrected.alarm for i in plain.values() if i.corrected} == {"mended"}
    assert {i.seen for i in plain.values() if i.reported is Reported.DETECTED} == set(Seen) - {Seen.DUE}
    assert all(i.outcome is Outcome.DUE for i in plain.values() if i.reported is Reported.DETECTED)
    assert any(i.outcome is Outcome.MASKED and i.reported is Reported.CORRECTED for i in plain.values())


@pytest.fixture(scope="module")
def engine(elaboration):
    with VerilatorEngine(TARGET, workload_with(), elaboration) as made:
        yield made


def told(engine, fault):
    (found,) = engine.run([fault])
    return found.outcome, found.seen, found.detected, found.corrected


def test_known_alarms(engine, elaboration):
    def rise(alarm, cycle):
        return Rise(alarm, Reported.CORRECTED if alarm == "mended" else Reported.DETECTED, cycle)

    def at(name, bit, cycle):
        return told(engine, Fault(site(elaboration, name, bit), cycle))

    # In the cycle of the fault; in the last cycle, too.
    assert at("p1_q", 0, 700) == (Outcome.DUE, Seen.MASKED, rise("parity", 700), None)
    assert at("p1_q", 0, END - 1) == (Outcome.DUE, Seen.LATENT, rise("parity", END - 1), None)
    # Later: the sum is compared when it is written, when the count is a multiple of 64.
    outcome, _, detected, _ = at("acc_q", 3, 700)
    assert (outcome, detected) == (Outcome.DUE, rise("sum", 703))
    # An alarm that is followed by a hang: the count passes its end.
    assert at("count_q", 15, 600) == (Outcome.DUE, Seen.HANG, rise("lockstep", 600), None)
    assert at("twin_q", 15, 600) == (Outcome.DUE, Seen.LATENT, rise("lockstep", 600), None)
    # A hang that goes round in circles, with the alarm in the circle.
    assert at("state_q", 1, 600) == (Outcome.DUE, Seen.HANG, rise("watchdog", 607), None)
    assert at("mode_b_q", 2, 600) == (Outcome.MASKED, Seen.MASKED, None, rise("mended", 600))


def test_an_alarm_of_the_golden_run_tells_nothing(engine, plain):
    assert engine.golden().end.alarms == (Rise("tick", Reported.CORRECTED, 99),)
    assert not any(i.corrected and i.corrected.alarm == "tick" for i in plain.values())


@pytest.mark.parametrize(
    "shortcuts",
    [
        Shortcut.SAME_CYCLE,
        Shortcut.SHIFTED_CYCLE,
        Shortcut.REPETITION,
        Shortcut.FORESIGHT,
        Shortcut.FORESIGHT | Shortcut.SEEN,
        Shortcut.ALL & ~Shortcut.FORESIGHT,
        Shortcut.LEAVE,
        Shortcut.ALL,
    ],
)
def test_every_shortcut_gives_the_alarms_of_a_run_to_the_end(elaboration, faults, plain, shortcuts):
    tail = workload_with(OutputTail())
    with VerilatorEngine(TARGET, tail, elaboration, shortcuts=shortcuts, sweep=True) as made:
        assert by_fault(made.run(faults)) == plain
        # Along the gates a difference of what was written is followed to the end.
        assert (made.ends["left"] > 20) == (
            Shortcut.LEAVE in shortcuts and Shortcut.FORESIGHT not in shortcuts
        )
        assert (made.ends["merged"] > 5) == bool(shortcuts & Shortcut.SEEN)
        assert made.notes == []


def test_injections_by_themselves_raise_the_same_alarms(engine, plain):
    assert by_fault(engine.run(list(plain)[::2])) == {f: plain[f] for f in list(plain)[::2]}


@pytest.mark.parametrize("judge", JUDGES)
def test_engines_agree(elaboration, plain, judge):
    chosen = list(plain)[::8]
    with judge(TARGET, workload_with(), elaboration) as reference:
        assert reference.golden().end.alarms == (Rise("tick", Reported.CORRECTED, 99),)
        assert by_fault(reference.run(chosen)) == {fault: plain[fault] for fault in chosen}
        assert reference.replay(chosen[0]) == plain[chosen[0]]
    assert len({plain[f].detected.alarm for f in chosen if plain[f].detected}) == 5


def ended(plain):
    """What is left of whole runs if they end where an alarm reports a detected fault."""
    return {fault: injection.until_detection() for fault, injection in plain.items()}


@pytest.mark.parametrize("sweep", [True, False])
@pytest.mark.parametrize(
    "shortcuts", [Shortcut.NONE, Shortcut.ALL & ~Shortcut.FORESIGHT, Shortcut.LEAVE, Shortcut.ALL]
)
def test_runs_end_at_detection_as_whole_runs_told(elaboration, faults, plain, shortcuts, sweep):
    """The fault: a run ends that told of nothing, goes on though it has told, or tells of another cycle."""
    tail, cycles = workload_with(OutputTail()), []
    expected = ended(plain)
    for until, wanted in ((False, plain), (True, expected)):
        options = {"shortcuts": shortcuts, "sweep": sweep, "until_detection": until}
        with VerilatorEngine(TARGET, tail, elaboration, **options) as made:
            assert by_fault(made.run(faults)) == wanted
            assert made.replay(faults[0]) == wanted[faults[0]]
            cycles.append(made.simulated)
    detected = sum(injection.detected is not None for injection in plain.values())
    assert detected - made.ends["merged"] <= made.ends["detected"] <= detected
    assert cycles[1] < 0.8 * cycles[0]


def test_what_ends_at_detection_says_no_more_than_that(plain):
    cut = [injection for injection in ended(plain).values() if injection.detected]
    assert {injection.seen for injection in cut} == {Seen.DUE}
    assert {injection.outcome for injection in cut} == {Outcome.DUE}
    assert {(i.status, i.output_hash, i.first, i.second, i.corruption) for i in cut} == {
        (0, "", None, None, None)
    }
    assert all(injection.end_cycle == injection.detected.cycle + 1 for injection in cut)
    assert all(i.corrected is None or i.corrected.cycle <= i.detected.cycle for i in cut)


@pytest.mark.parametrize("judge", JUDGES)
def test_judges_end_at_detection_too(elaboration, plain, judge):
    chosen = list(plain)[::12]
    with judge(TARGET, workload_with(), elaboration, until_detection=True) as reference:
        assert by_fault(reference.run(chosen)) == {f: ended(plain)[f] for f in chosen}
        assert reference.replay(chosen[0]) == ended(plain)[chosen[0]]


def test_the_audit_runs_to_its_end_what_is_said_to_have_told(elaboration, plain):
    """The fault: the engine ends a run although no alarm rose."""
    wrong = next(fault for fault, injection in plain.items() if injection.detected is None)
    said = Injection(wrong, Seen.DUE, wrong.cycle + 1, 0, "", Rise("sum", Reported.DETECTED, wrong.cycle))
    with (
        VerilatorEngine(TARGET, workload_with(), elaboration, sweep=True, until_detection=True) as made,
        pytest.raises(AuditError, check=about("early stops")),
    ):
        made.audit_kept([said])


def test_stuck_bits_end_at_detection_and_their_audit_does_not(elaboration, monkeypatch):
    """The fault: what ends a run too early ends the audit's run as well, and so confirms itself."""
    stuck = [Fault(site(elaboration, name, bit), 0, held=1) for name in ("p1_q", "twin_q") for bit in (0, 3)]
    with VerilatorEngine(TARGET, workload_with(), elaboration) as made:
        whole = by_fault(made.run(stuck))
    with VerilatorEngine(
        TARGET, workload_with(), elaboration, until_detection=True, audit=EVERYTHING
    ) as made:
        assert by_fault(made.run(stuck)) == ended(whole)
        detected = sum(injection.detected is not None for injection in whole.values())
        assert 0 < detected == made.ends["detected"] <= made.audited
        trials, cycles = made._made_singles, []
        inject = trials.inject
        monkeypatch.setattr(trials, "inject", lambda *given: cycles.append(inject(*given)) or cycles[-1])
        made.audit_kept(ended(whole).values())
        assert min(done.simulated for done in cycles) >= END


def test_a_bare_instance_raises_the_same_alarms(engine, plain):
    """Cycle by cycle, without anything of a campaign."""
    for fault in list(plain)[::11]:
        with engine.start() as instance:
            instance.run_to(fault.cycle + 1)
            engine.strike(instance, fault)
            finished = instance.run(engine.timeout_cycles) is Stop.DONE
            assert engine.judge(fault, instance, finished) == plain[fault]


def test_runs_with_other_alarms_come_to_the_same_state(elaboration, plain):
    """Of the pairs some have told of a fault before they meet and others have not, and each keeps its own."""
    kinds = set()
    for cycle in range(200, 1200, 25):
        bit = cycle // 25 % 8
        silent = plain[Fault(site(elaboration, "s0_q", bit), cycle)]
        pulse = plain[Fault(site(elaboration, "s1_q", bit), cycle + 1)]
        assert (silent.output_hash, silent.seen) == (pulse.output_hash, pulse.seen)
        assert pulse.detected == Rise("parity", Reported.DETECTED, cycle + 1)
        kinds.add(silent.detected)
        # Of the topmost bit nothing is carried on: the same state again, and the one that told comes first.
        silent = plain[Fault(site(elaboration, "s0_q", 7), cycle)]
        pulse = plain[Fault(site(elaboration, "r_q", 7), cycle - 1)]
        assert (silent.output_hash, silent.seen) == (pulse.output_hash, pulse.seen)
        assert pulse.detected == Rise("parity", Reported.DETECTED, cycle - 1)
        kinds.add(silent.detected)
    assert kinds == {None}


def test_nothing_leaves_if_the_tail_does_not_answer_for_an_alarm(elaboration, faults, plain):
    tail = OutputTail()
    tail.quiet = tuple(output for output in tail.quiet if output not in ("sum_alarm_o", "tick_o"))
    with VerilatorEngine(TARGET, workload_with(tail), elaboration, sweep=True) as made:
        assert by_fault(made.run(faults)) == plain
        assert made.ends["left"] == 0
        assert "cannot say whether sum would rise" in made.notes[0]
