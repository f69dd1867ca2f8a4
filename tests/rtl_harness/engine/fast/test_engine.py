# SPDX-License-Identifier: Apache-2.0
import multiprocessing
import random
from dataclasses import replace

import numpy as np
import pytest

from resil.rtl_harness.cache import NotMadeError
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.engine.contract import golden_once
from resil.rtl_harness.engine.fast import acceleration as sweeps
from resil.rtl_harness.engine.fast import golden, model, shared
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.gates.gates import read_gates
from resil.rtl_harness.engine.fast.native.injector import Ending, Shortcut
from resil.rtl_harness.engine.fast.native.sweep import (
    GatesError,
    Sweep,
    SweepEnd,
    SweepResult,
)
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.workload import OutputSpec
from resil.rtl_harness.errors import (
    AuditError,
    HarnessError,
    SimulationError,
    UnmappedSiteError,
)
from resil.rtl_harness.faults import Fault, Outcome
from testkit.awkward import awkward_target, awkward_workload
from testkit.errors import about


@pytest.fixture(scope="module")
def target():
    return awkward_target()


@pytest.fixture(scope="module")
def workload():
    return awkward_workload()


@pytest.fixture(scope="module")
def elaboration(target):
    return elaborate(target)


@pytest.fixture(scope="module")
def engine(target, workload, elaboration):
    with VerilatorEngine(target, workload, elaboration, sweep=False) as made:
        yield made


def faults_of(engine, number, seed=1, largest=1):
    """As many of each element as of any other, at random cycles, in clusters up to the largest."""
    choose = random.Random(seed)
    table, cycles = engine.elaboration.sites, engine.golden().end.end_cycle
    chosen = set()
    while len(chosen) < number:
        element = len(chosen) % len(table.elements)
        site = choose.randrange(table.offsets[element], table.offsets[element + 1])
        bits = min(choose.randint(1, largest), table.room(site))
        chosen.add(Fault(site, choose.randrange(cycles), bits))
    return sorted(chosen)


def by_fault(injections):
    return {injection.fault: injection for injection in injections}


@pytest.fixture(scope="module")
def faults(engine):
    return faults_of(engine, 600, largest=3)


@pytest.fixture(scope="module")
def plain(target, workload, elaboration, faults):
    """Every injection run to its end."""
    with VerilatorEngine(target, workload, elaboration, shortcuts=Shortcut.NONE) as made:
        injections = by_fault(made.run(faults))
        assert made.early_stops == 0
    return injections


def test_several_outputs_are_all_compared(target, workload, elaboration, faults, plain):
    """The output in three parts, of which the decision is read from one: what is seen stays the same."""
    parts = [OutputSpec("sink", start, (size,)) for start, size in ((128, 64), (0, 128), (192, 320))]
    cut = replace(workload, output=parts[0], others=tuple(parts[1:]))
    whole = by_fault(plain.values())
    with (
        VerilatorEngine(target, cut, elaboration) as made,
        CocotbEngine(target, cut, elaboration) as reference,
    ):
        golden = made.golden().end
        assert golden.output == reference.golden().end.output
        first, *_ = cut.tensors(golden.output)
        found = by_fault(made.run(faults))
        assert by_fault(reference.run(faults[::20])) == {fault: found[fault] for fault in faults[::20]}
    sdc = {Outcome.SDC_TOLERABLE, Outcome.SDC_CRITICAL}
    differ = {fault for fault, injection in whole.items() if injection.outcome in sdc}
    assert {fault for fault, injection in found.items() if injection.outcome in sdc} == differ
    assert all(found[f].outcome == whole[f].outcome for f in faults if f not in differ)
    assert {found[f].outcome for f in differ} == sdc
    assert first.tobytes() == made.golden().end.output[:64]


def test_agrees_with_the_cocotb_engine(target, workload, elaboration, engine, plain):
    chosen = list(plain)[::3]
    with CocotbEngine(target, workload, elaboration) as reference:
        assert reference.golden() == engine.golden()
        assert by_fault(reference.run(chosen)) == {fault: plain[fault] for fault in chosen}
    assert {plain[fault].outcome for fault in chosen} == set(Outcome)
    assert {fault.bits for fault in chosen if plain[fault].outcome is not Outcome.MASKED} == {1, 2, 3}


@pytest.mark.parametrize(
    ("shortcuts", "least"),
    [
        (Shortcut.SAME_CYCLE, 100),
        (Shortcut.SHIFTED_CYCLE, 100),
        (Shortcut.REPETITION, 0),
        (Shortcut.FORESIGHT, 300),
        (Shortcut.SEEN | Shortcut.FORESIGHT, 300),
        (Shortcut.SAME_CYCLE | Shortcut.SEEN, 100),
        (Shortcut.ALL & ~Shortcut.FORESIGHT, 100),
        (Shortcut.ALL, 300),
    ],
)
def test_each_shortcut_gives_what_a_run_to_the_end_gives(
    target, workload, elaboration, faults, plain, shortcuts, least
):
    with VerilatorEngine(target, workload, elaboration, shortcuts=shortcuts, sweep=True) as made:
        assert by_fault(made.run(faults)) == plain
        assert made.early_stops >= least
        assert (
            min(20, made.early_stops)
            <= made.audited
            == sum(found.tried for found in made.audits.values())
            <= 40
        )
        assert sum(found.answers for found in made.audits.values()) >= made.early_stops
        assert made.notes == []


def test_without_a_sweep_injections_end_the_same(engine, faults, plain):
    assert by_fault(engine.run(faults)) == plain
    assert set(engine.ends) == {"vanished", "stopped"}


@pytest.fixture(scope="module")
def sweeping(target, workload, elaboration):
    with VerilatorEngine(target, workload, elaboration, sweep=True) as made:
        yield made


def test_a_sweep_is_the_same_in_any_order_with_any_number_of_workers(sweeping, plain):
    faults = list(plain)
    shuffled = random.Random(3).sample(faults, len(faults))
    assert by_fault(sweeping.run(shuffled)) == plain
    assert by_fault(sweeping.run(faults, workers=2)) == plain
    assert by_fault(sweeping.run(faults[::7])) == {fault: plain[fault] for fault in faults[::7]}
    assert sweeping.notes == []


def test_a_wrong_answer_in_the_audit_ends_its_workers(target, workload, elaboration, plain):
    """The fault: they wait for more to do as long as somebody holds the error."""
    kept = [replace(injection, end_cycle=injection.end_cycle + 1) for injection in plain.values()]
    with VerilatorEngine(target, workload, elaboration) as made:
        with pytest.raises(AuditError) as held:
            made.audit_kept(kept, workers=2)
        assert multiprocessing.active_children() == []
        assert held.tb is not None


def test_a_sweep_saves_simulation(engine, sweeping, plain):
    def simulated(made):
        return sum(outcome.simulated for outcome in made._outcomes(list(plain), 1))

    assert simulated(sweeping) < simulated(engine)


def test_gates_that_differ_from_the_model_are_noticed(target, workload, elaboration, plain, monkeypatch):
    whole = read_gates(target, elaboration)
    gates = whole.gates.copy()
    gates[:, 0] = np.where(gates[:, 0] == 2, 4, gates[:, 0])
    monkeypatch.setattr(sweeps, "watched_gates", lambda *_: replace(whole, gates=gates))
    with VerilatorEngine(target, workload, elaboration, sweep=True) as made:
        assert by_fault(made.run(list(plain)[:50])) == {fault: plain[fault] for fault in list(plain)[:50]}
        assert "the gates and the model differ" in made.notes[0]


def broken_after(monkeypatch, results, spoil=lambda result: result):
    """Let a sweep find its gates wrong when it has given some results, the first of which may be wrong."""
    run = Sweep.run

    def broken(sweep, jobs, limit, shortcuts):
        for number, result in enumerate(run(sweep, jobs, limit, shortcuts)):
            if number == results:
                raise GatesError("the gates and the model differ, late")
            yield spoil(result) if number == 0 else result

    monkeypatch.setattr(Sweep, "run", broken)


def test_what_wrong_gates_answered_is_tried_again(target, workload, elaboration, plain, monkeypatch):
    broken_after(monkeypatch, 40)
    faults = list(plain)[:80]
    with VerilatorEngine(target, workload, elaboration, sweep=True, audit=NOTHING) as made:
        assert by_fault(made.run(faults)) == {fault: plain[fault] for fault in faults}
        assert "the gates and the model differ, late" in made.notes[0]


def test_a_wrong_answer_before_the_gates_were_found_wrong_ends_the_campaign(
    target, workload, elaboration, plain, monkeypatch
):
    """The fault: an answer that wrong gates gave stays, since it came before they were seen to be wrong."""
    broken_after(monkeypatch, 40, lambda result: replace(result, end=SweepEnd.VANISHED, end_cycle=1))
    with (
        VerilatorEngine(target, workload, elaboration, sweep=True, audit=NOTHING) as made,
        pytest.raises(AuditError, match=r"the gates and the model differ, late; the run without gates gives"),
    ):
        list(made.run(list(plain)[:80]))


def test_more_answers_of_wrong_gates_than_can_be_tried_again_end_the_campaign(
    target, workload, elaboration, plain, monkeypatch
):
    broken_after(monkeypatch, 40)
    monkeypatch.setattr(sweeps, "HELD", 30)
    with (
        VerilatorEngine(target, workload, elaboration, sweep=True, audit=NOTHING) as made,
        pytest.raises(AuditError, check=about("gates")),
    ):
        list(made.run(list(plain)[:80]))


def test_a_result_of_a_sweep_that_is_wrong_is_caught_by_the_audit(
    target, workload, elaboration, plain, monkeypatch
):
    critical = [fault for fault, injection in plain.items() if injection.outcome is Outcome.SDC_CRITICAL]

    def forgetful(sweep, jobs, limit, shortcuts):
        for number, _ in enumerate(jobs):
            yield SweepResult(
                number,
                SweepEnd.VANISHED,
                Ending.NOT_APPLIED,
                0,
                0,
                limit // 2,
                *[0] * 3,
                *[False] * 3,
                *[None] * 5,
            )

    monkeypatch.setattr(Sweep, "run", forgetful)
    with (
        VerilatorEngine(target, workload, elaboration, sweep=True) as made,
        pytest.raises(SimulationError, match=r"audit of early stops: fault at site .*cannot be trusted"),
    ):
        list(made.run(critical[:5]))


def test_order_and_workers_change_nothing(engine, faults, plain):
    shuffled = random.Random(2).sample(faults, len(faults))
    assert by_fault(engine.run(shuffled, workers=3)) == plain
    assert by_fault(engine.run(faults[::-1][:50])) == {fault: plain[fault] for fault in faults[::-1][:50]}


def test_faults_that_a_sweep_loses_are_simulated_alone(sweeping, plain, monkeypatch):
    """As if each flip had been undone by the entry into its cycle."""
    chosen = list(plain)[::7]
    list(sweeping.run(chosen[:1]))
    sweep = sweeping._acceleration.made().sweep
    whole, lost = sweep.run, []

    def losing(*arguments):
        for result in whole(*arguments):
            if result.end is SweepEnd.STOPPED:
                result = replace(result, ending=Ending.NOT_APPLIED)
                lost.append(result)
            yield result

    monkeypatch.setattr(sweep, "run", losing)
    assert by_fault(sweeping.run(chosen)) == {fault: plain[fault] for fault in chosen}
    assert lost


def test_few_faults_go_through_sweeps_where_nothing_has_to_be_built_for_them(
    target, workload, elaboration, plain, monkeypatch
):
    """Gates that are there are worth a sweep from some hundred faults on, of which each input has some."""
    chosen = list(plain)[::10]
    monkeypatch.setattr(sweeps, "SWEEP_READY_FROM", len(chosen))
    read_gates(target, elaboration)

    def swept(*, engines=1, empty=False):
        with monkeypatch.context() as own, VerilatorEngine(target, workload, elaboration) as made:
            if empty:
                own.setattr(shared, "watched_gates", missing)
            made._shared.engines = engines
            assert by_fault(made.run(chosen)) == {fault: plain[fault] for fault in chosen}
            return made._acceleration.are_made

    def missing(*arguments):
        raise NotMadeError

    assert swept()
    assert not swept(engines=2)
    assert not swept(empty=True)


def test_repeated_faults_are_answered_each(engine, faults, plain):
    again = [faults[7]] * 3
    assert list(engine.run(again)) == [plain[faults[7]]] * 3


def test_replay_is_the_same(engine, plain):
    for fault in list(plain)[::60]:
        assert engine.replay(fault) == plain[fault]


def test_replay_has_no_waveforms(engine, plain, tmp_path):
    with pytest.raises(HarnessError, check=about("waves")):
        engine.replay(next(iter(plain)), tmp_path / "out.fst")


def test_every_bit_of_every_element_flips_alone(engine):
    """The read-back of the injector, from outside: what differs right after the flip is that bit."""
    table, state_map, injector = engine.elaboration.sites, engine._model.map, engine._model.injector
    everything = [*state_map.registers, *state_map.memories]
    for site in range(0, table.size, 7):
        result = injector.inject([state_map.flip(site)], 100, 101, Shortcut.NONE)
        assert result.stop == Ending.LIMIT
        changed = {}
        for storage in everything:
            faulty, golden = injector.faulty.view(storage), injector.cursor.view(storage)
            if not np.array_equal(faulty, golden):
                changed[storage.path] = int.from_bytes((faulty ^ golden).tobytes(), "little")
        found = table[site]
        location = engine.elaboration.locations[found.element.path]
        word_bits = 8 * state_map.flip(site).storage.entry_bytes
        assert list(changed.values()) == [1 << location.low + found.bit + word_bits * found.word]


def test_every_bit_of_a_cluster_flips_and_no_other(engine):
    table, state_map, injector = engine.elaboration.sites, engine._model.map, engine._model.injector
    sites = [site for site in range(table.size) if table.room(site) >= 3]
    for site in sites[::23]:
        flips = state_map.flips(Fault(site, 100, 3))
        assert injector.inject(flips, 100, 101, Shortcut.NONE).stop == Ending.LIMIT
        storage = flips[0].storage
        faulty, golden = injector.faulty.view(storage), injector.cursor.view(storage)
        changed = int.from_bytes((faulty ^ golden).tobytes(), "little")
        first = state_map.flip(site)
        assert changed == 7 << first.bit + 8 * storage.entry_bytes * first.word


def test_state_that_elaboration_missed_is_found(target, workload, elaboration):
    elements = [e for e in elaboration.sites.elements if e.path != "u_dut.u_control.step_q"]
    damaged = replace(elaboration, sites=SiteTable.of(elements))
    with (
        VerilatorEngine(target, workload, damaged) as made,
        pytest.raises(SimulationError, check=about("transplant")),
    ):
        made.golden()


def test_a_comparison_that_skips_a_memory_is_caught(target, workload, elaboration, monkeypatch):
    class Forgetful(model.StateMap):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.memories = [m for m in self.memories if m.path != "u_dut.u_history.past_q"]

    monkeypatch.setattr(model, "StateMap", Forgetful)
    with VerilatorEngine(target, workload, elaboration) as made:
        with pytest.raises(SimulationError, check=about("transplant")):
            made.golden()
        monkeypatch.setattr(golden, "check_state_is_whole", lambda *_: None)
        index = [e.path for e in elaboration.sites.elements].index("u_dut.u_history.past_q")
        sites = range(elaboration.sites.offsets[index], elaboration.sites.offsets[index + 1], 5)
        with pytest.raises(SimulationError, match=r"audit of early stops: fault at site .*past_q"):
            list(made.run([Fault(site, 150) for site in sites]))


def test_unmapped_storage_forbids_early_stops(target, workload, elaboration, faults, plain):
    partial = replace(elaboration, unmapped=("u_dut.latch: a latch",))
    with VerilatorEngine(target, workload, partial) as made:
        assert by_fault(made.run(faults[:40])) == {fault: plain[fault] for fault in faults[:40]}
        assert made.early_stops == 0


def test_an_element_that_the_model_lacks_is_named(target, workload, elaboration):
    wrong = dict(elaboration.locations)
    path = "u_dut.u_history.guard_q"
    wrong[path] = replace(wrong[path], packed_width=15)
    with pytest.raises(UnmappedSiteError, check=about(path)):
        VerilatorEngine(target, workload, replace(elaboration, locations=wrong))


def test_bad_requests_are_refused(target, workload, elaboration, engine):
    with pytest.raises(HarnessError, check=about("timeout_factor")):
        VerilatorEngine(target, workload, elaboration, timeout_factor=0.5)
    with pytest.raises(HarnessError, check=about("parameters")):
        VerilatorEngine(target, replace(workload, parameters={"SourceWords": 128}), elaboration)
    with pytest.raises(HarnessError, check=about("fault.cycle")):
        list(engine.run([Fault(0, engine.golden().end.end_cycle)]))
    with pytest.raises(HarnessError, check=about("fault.site")):
        list(engine.run([Fault(engine.elaboration.sites.size, 0)]))
    width = engine.elaboration.sites.elements[0].width
    with pytest.raises(HarnessError, check=about("fault.bits")):
        list(engine.run([Fault(width - 1, 0, 2)]))
    with pytest.raises(HarnessError, check=about("workers")):
        list(engine.run([], workers=0))


def test_a_golden_run_that_does_not_end_is_an_error(target, workload, elaboration):
    with (
        VerilatorEngine(target, workload, elaboration, golden_limit=100) as made,
        pytest.raises(SimulationError, check=about("done")),
    ):
        made.golden()
    with (
        VerilatorEngine(target, workload, elaboration, golden_limit=100) as made,
        pytest.raises(SimulationError, check=about("done")),
    ):
        made.golden_once()


def test_one_run_without_a_fault_is_the_golden_run_with_nothing_kept_of_it(
    target, workload, elaboration, engine, monkeypatch
):
    with VerilatorEngine(target, workload, elaboration) as made:
        monkeypatch.setattr(made.model.injector, "golden", None)
        assert golden_once(made) == made.golden_once() == engine.golden()
    with CocotbEngine(target, workload, elaboration) as reference:
        assert golden_once(reference) == engine.golden()
