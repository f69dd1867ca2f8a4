# SPDX-License-Identifier: Apache-2.0
"""A time-out of each operation: the same hangs in every engine, with every shortcut, in the same cycles."""

import dataclasses
import random
import shutil
from pathlib import Path

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target, TargetMemory
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native import build
from resil.rtl_harness.engine.fast.native.injector import Flip, Shortcut
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.timeout import Timeout, operation_allowance
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault, Seen
from testkit.errors import about
from testkit.plain_runner import PlainRunner
from tests.rtl_harness.engine.fast.lanes import test_machines as crowd

JUDGES = (CocotbEngine, PlainEngine)

TARGET = Target(
    name="timed",
    top="timed",
    sources=(Path(__file__).parent / "timed.sv",),
    clock="clk_i",
    reset="rst_ni",
    dut="u_core",
    done="done_o",
    operation="operations_o",
    inferences="inferences_o",
    blocks={"core": ("u_core",)},
    memories={
        "input": TargetMemory("in_q", 1, "input", observed=False),
        "output": TargetMemory("out_q", 1, "output"),
    },
)
WORKLOAD = Workload("sum", {"input": bytes(range(40, 56))}, OutputSpec("output", 0, (48,)), decide=exact)
TWICE = dataclasses.replace(WORKLOAD, name="two sums", parameters={"Rounds": 2}, inferences=2)
MOVES = ((0, 0), (80, 1), (880, 2), (1000, 3))
CYCLES = 1201
# With the first two a run that is 32 cycles late in the longest operation, of 800 cycles, comes too late, and
# with the third just in time.
FACTORS = (1.0, 1.03, 1.04, 2.0)
PLAIN = {"shortcuts": Shortcut.NONE, "audit": NOTHING}


@pytest.fixture(scope="module")
def elaboration():
    return elaborate(TARGET)


def engine(elaboration, workload=WORKLOAD, **options):
    return VerilatorEngine(TARGET, workload, elaboration, timeout=Timeout.OPERATION, **options)


def answers(made, faults, **options):
    return {injection.fault: injection for injection in made.run(faults, **options)}


def bit(elaboration, name, number):
    table = elaboration.sites
    (place,) = [i for i, e in enumerate(table.elements) if e.path == f"u_core.{name}"]
    return table.offsets[place] + number


@pytest.fixture(scope="module")
def plain(elaboration):
    """Every bit now and then, to the end, with each time-out."""
    faults = [Fault(site, cycle) for site in range(elaboration.sites.size) for cycle in range(0, CYCLES, 37)]
    counter = bit(elaboration, "operations_q", 0)
    faults += [Fault(counter, cycles - 1, bits) for cycles, _ in MOVES[1:] for bits in (1, 2, 3)]

    def of(factor):
        with engine(elaboration, timeout_factor=factor, **PLAIN) as made:
            assert made.golden().moves == MOVES
            assert made.golden().cycles == CYCLES
            assert made.operation_cycles == round(factor * 800)
            return answers(made, faults)

    return {factor: of(factor) for factor in FACTORS}


@pytest.mark.parametrize("sweep", [False, True])
@pytest.mark.parametrize("factor", FACTORS)
def test_shortcuts_give_what_runs_to_the_end_give(elaboration, plain, factor, sweep):
    with engine(elaboration, timeout_factor=factor, sweep=sweep, audit=NOTHING) as made:
        assert answers(made, list(plain[factor])) == plain[factor]
        assert made.notes == []


@pytest.mark.parametrize("factor", [1.03, 2.0])
def test_a_watchdog_beside_the_bare_model_finds_the_same(elaboration, plain, factor):
    chosen = random.Random(8).sample(sorted(plain[factor]), 150)
    with engine(elaboration, timeout_factor=factor, **PLAIN) as made:
        runner = PlainRunner(made, 0)
        assert {fault: runner.inject(fault) for fault in chosen} == {f: plain[factor][f] for f in chosen}
        runner.close()
        with pytest.raises(HarnessError, match="checkpoints: expected 0"):
            PlainRunner(made, 4)


def test_a_watchdog_bites_a_time_after_the_last_operation(elaboration, plain):
    """It is what a user could build, in plain sight: what becomes of each kind of fault, cycle by cycle."""
    flipped = {name: Fault(bit(elaboration, name, 0), 370) for name in ("turn_q", "beat_q", "operations_q")}
    late = Fault(bit(elaboration, "lag_q", 5), 370)
    ends = {name: plain[2.0][fault].end_cycle for name, fault in flipped.items()}
    assert ends == {"turn_q": 80 + 1600, "beat_q": 2 * CYCLES, "operations_q": CYCLES}
    assert plain[2.0][flipped["turn_q"]].seen is plain[2.0][flipped["beat_q"]].seen is Seen.HANG
    assert [(plain[factor][late].seen is Seen.HANG, plain[factor][late].end_cycle) for factor in FACTORS] == [
        (True, 880),
        (True, 80 + 824),
        (False, CYCLES + 32),
        (False, CYCLES + 32),
    ]


def test_the_inference_has_its_time_out_as_well(elaboration, plain):
    with VerilatorEngine(TARGET, WORKLOAD, elaboration, **PLAIN) as made:
        assert made.operation_cycles is None
        whole = answers(made, list(plain[2.0]))
    for fault, found in plain[2.0].items():
        if found.seen is Seen.HANG:
            assert found.end_cycle <= whole[fault].end_cycle
        else:
            assert found == whole[fault]
    earlier = sum(found.end_cycle < whole[fault].end_cycle for fault, found in plain[2.0].items())
    assert earlier > 50
    assert any(whole[fault].seen is not Seen.HANG for fault, i in plain[1.03].items() if i.seen is Seen.HANG)


@pytest.mark.parametrize("factor", [1.03, 2.0])
def test_pairs_of_bits(elaboration, factor, monkeypatch):
    """Runs whose counter moved at other times than the golden one's, and that fall behind as well."""
    faults = [Fault(site, cycle) for site in range(elaboration.sites.size) for cycle in range(5, CYCLES, 61)]

    def pairs(made):
        flips, size = made._model.map.flips, elaboration.sites.size
        other = bit(elaboration, "operations_q", 0)
        monkeypatch.setattr(
            made._model.map,
            "flips",
            lambda fault: [
                *flips(Fault(fault.site, 0)),
                *flips(Fault(other + fault.cycle % 8 if not other <= fault.site < other + 8 else 0, 0)),
            ],
        )
        assert size > other + 7
        return answers(made, faults)

    with engine(elaboration, timeout_factor=factor, **PLAIN) as made:
        expected = pairs(made)
    for sweep in (False, True):
        with engine(elaboration, timeout_factor=factor, sweep=sweep, audit=NOTHING) as made:
            assert pairs(made) == expected


@pytest.mark.parametrize("factor", [1.03, 2.0])
def test_stuck_bits(elaboration, factor):
    faults = [Fault(site, 0, held=value) for site in range(elaboration.sites.size) for value in (0, 1)]
    with engine(elaboration, timeout_factor=factor, **PLAIN) as made:
        expected = answers(made, faults)
    with engine(elaboration, timeout_factor=factor, audit=NOTHING) as made:
        assert answers(made, faults) == expected
        assert made.early_stops > 30
    for judge in JUDGES:
        with judge(
            TARGET, WORKLOAD, elaboration, timeout_factor=factor, timeout=Timeout.OPERATION
        ) as reference:
            assert answers(reference, faults, workers=2) == expected


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("factor", [1.03, 2.0])
def test_engines_agree(elaboration, plain, factor, judge):
    hangs = [fault for fault, i in plain[factor].items() if i.seen is Seen.HANG]
    late = [fault for fault, i in plain[factor].items() if i.seen is not Seen.HANG and i.end_cycle > CYCLES]
    choose = random.Random(3)
    chosen = {*choose.sample(hangs, 80), *choose.sample(late, 8), *choose.sample(sorted(plain[factor]), 80)}
    with judge(TARGET, WORKLOAD, elaboration, timeout_factor=factor, timeout=Timeout.OPERATION) as reference:
        assert reference.golden().moves == MOVES
        found = answers(reference, sorted(chosen), workers=2)
        assert reference.replay(hangs[0]) == plain[factor][hangs[0]]
    assert found == {fault: plain[factor][fault] for fault in chosen}


@pytest.mark.parametrize("factor", [1.03, 2.0])
def test_two_inferences(factor):
    """The watchdog goes on from the first to the second; the second has a time-out of its own besides."""
    elaboration = elaborate(TARGET, TWICE.parameters)
    faults = [Fault(site, cycle) for site in range(elaboration.sites.size) for cycle in range(9, CYCLES, 71)]
    with engine(elaboration, TWICE, timeout_factor=factor, **PLAIN) as made:
        golden = made.golden()
        assert len(golden.moves) == 7
        assert made.operation_cycles == round(factor * 800)
        expected = answers(made, faults)
    with engine(elaboration, TWICE, timeout_factor=factor, audit=NOTHING) as made:
        assert answers(made, faults) == expected
    hangs = [fault for fault, i in expected.items() if i.seen is Seen.HANG]
    second = [fault for fault in hangs if expected[fault].end_cycle > golden.cycles + 900]
    chosen = sorted({*random.Random(2).sample(faults, 60), *hangs[:20], *second[:20]})
    assert hangs
    assert second
    for judge in JUDGES:
        with judge(TARGET, TWICE, elaboration, timeout_factor=factor, timeout=Timeout.OPERATION) as reference:
            assert reference.golden() == golden
            assert answers(reference, chosen, workers=2) == {fault: expected[fault] for fault in chosen}


def stuck_later(elaboration):
    """Faults that come to the same difference, after which the design stands still, at other times."""
    return {Fault(bit(elaboration, "operations_q", 7), cycle): cycle + 1 + 1600 for cycle in (100, 120)}


def test_runs_that_differ_in_their_last_operation_alone_are_not_merged(elaboration):
    ends = stuck_later(elaboration)
    with engine(elaboration, sweep=True, audit=NOTHING) as made:
        assert {i.fault: i.end_cycle for i in made.run(list(ends))} == ends


def test_a_move_that_is_undone_in_its_cycle_is_none(elaboration, plain):
    undone = Fault(bit(elaboration, "operations_q", 0), 879, 2)
    assert plain[1.03][undone].end_cycle == 80 + 824
    assert plain[2.0][undone].seen is not Seen.HANG


def late_and_stuck(elaboration, made, monkeypatch):
    """Return in which cycle a run ends that is 64 cycles late, with a wrong byte for which it stops later."""
    flips, word = made._model.map.flips, made._model.map.storage("out_q")
    wrong = [Flip(word, 63, number) for number in (1, 2, 3, 5, 6, 7)]
    monkeypatch.setattr(made._model.map, "flips", lambda fault: [*flips(fault), *wrong])
    (found,) = made.run([Fault(bit(elaboration, "lag_q", 6), 100)])
    return found.end_cycle


@pytest.mark.parametrize("sweep", [False, True])
def test_operations_of_a_run_that_is_late_end_later(elaboration, sweep, monkeypatch):
    with engine(elaboration, timeout_factor=3.0, sweep=sweep, audit=NOTHING) as made:
        assert late_and_stuck(elaboration, made, monkeypatch) == 880 + 64 + 2400


@pytest.fixture(scope="module")
def crowded():
    """What is seen, and when runs end, of a design that keeps lanes busy and has short operations."""
    elaboration = elaborate(crowd.TARGET)
    faults = crowd.faults_of(crowd.WORKLOAD, 700)

    def run(**options):
        with VerilatorEngine(
            crowd.TARGET,
            crowd.WORKLOAD,
            elaboration,
            timeout=Timeout.OPERATION,
            timeout_factor=1.0,
            **options,
        ) as made:
            found = answers(made, faults)
            assert made.notes == []
            return {fault: (i.seen, i.end_cycle) for fault, i in found.items()}

    return run


def test_lanes(crowded):
    expected = crowded(**PLAIN)
    assert crowded(sweep=True, lanes=True, audit=NOTHING) == expected
    bitten = [end for seen, end in expected.values() if seen is Seen.HANG and end < 3965]
    assert len(bitten) > 4


SEEDS = {
    "the allowance is ignored where a run is as the golden one again": (
        "if (edges && !watchdog_.on_time(moved, edges, faulty_.cycle)) return 0;",
        "",
    ),
    "the last operation is left out of what runs are merged by": (
        "const Pace pace = watchdog().on() ? job.pace : Pace{};",
        "const Pace pace;",
    ),
    "a wrong counter restarts nothing": (
        "if (watchdog.value(job.cycle + 1, job.d) != job.pace.value) job.pace.moved = sweep_.now(job);",
        "",
    ),
    "a run is followed though its operation is over time": (
        "!context_.makes_edge(job) && context_.on_time(job);",
        "!context_.makes_edge(job);",
    ),
    "a loop is left out as if nothing restarted the watchdog": (
        "const bool still = faulty_.cycle - run.moved >= period;",
        "const bool still = true;",
    ),
}
RESTARTED = "if (slot.moved && !slot.undefined) slot.job.pace.moved = slot.cycle;"
LANE_SEEDS = {
    "in lanes nothing restarts it": (RESTARTED, ""),
    "in lanes each look restarts it": (RESTARTED, "slot.job.pace.moved = slot.cycle;"),
}


def seed(monkeypatch, folder, old, new):
    """Let the driver be built with other text in one place."""
    made = shutil.copytree(build.HERE, folder / "verilated")
    (file,) = (f for f in made.glob("*.[ch]*") if old in f.read_text())
    file.write_text(file.read_text().replace(old, new))
    monkeypatch.setattr(build, "SHARED", tuple(made / source.name for source in build.SHARED))
    monkeypatch.setattr(build, "HEADERS", tuple(made / header.name for header in build.HEADERS))


@pytest.mark.parametrize("what", SEEDS)
def test_what_is_wrong_with_the_watchdog_is_noticed(what, elaboration, plain, monkeypatch, tmp_path):
    seed(monkeypatch, tmp_path, *SEEDS[what])
    wrong = []
    for factor in (1.03, 2.0):
        with engine(elaboration, timeout_factor=factor, sweep=True, audit=NOTHING) as made:
            wrong += [
                fault for fault, i in answers(made, list(plain[factor])).items() if i != plain[factor][fault]
            ]
    with engine(elaboration, sweep=True, audit=NOTHING) as made:
        ends = stuck_later(elaboration)
        wrong += [i.fault for i in made.run(list(ends)) if i.end_cycle != ends[i.fault]]
    assert wrong


@pytest.mark.parametrize("what", LANE_SEEDS)
def test_what_is_wrong_in_lanes_is_noticed(what, crowded, monkeypatch, tmp_path):
    expected = crowded(**PLAIN)
    seed(monkeypatch, tmp_path, *LANE_SEEDS[what])
    assert crowded(sweep=True, lanes=True, audit=NOTHING) != expected


def test_a_counter_that_is_computed_has_no_sweeps():
    target = dataclasses.replace(TARGET, operation="both_o")
    elaboration = elaborate(target)
    faults = [Fault(site, 400) for site in range(elaboration.sites.size)]
    options = {"timeout": Timeout.OPERATION, "audit": NOTHING}
    with VerilatorEngine(target, WORKLOAD, elaboration, sweep=True, **options) as made:
        found = answers(made, faults)
        assert made.notes == [
            "simulated every fault by itself: bit 0 of both_o, which counts operations, is no flip-flop of "
            "the model, and a time-out of each operation is asked for"
        ]
    with VerilatorEngine(target, WORKLOAD, elaboration, shortcuts=Shortcut.NONE, **options) as made:
        assert answers(made, faults) == found


@pytest.mark.parametrize("kind", [VerilatorEngine, *JUDGES])
def test_without_operations_there_is_no_such_time_out(kind, elaboration):
    none = dataclasses.replace(TARGET, operation="")
    with pytest.raises(HarnessError, check=about("operation")):
        kind(none, WORKLOAD, elaboration, timeout=Timeout.OPERATION)


def test_a_counter_that_stands_still_counts_no_operations():
    with pytest.raises(HarnessError, check=about("operation.moves")):
        operation_allowance(TARGET, Timeout.OPERATION, 2.0, ((0, 3),), CYCLES)
