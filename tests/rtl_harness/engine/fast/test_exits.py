# SPDX-License-Identifier: Apache-2.0
import random
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast import acceleration, exits, golden
from resil.rtl_harness.engine.fast.audit_sample import EVERYTHING
from resil.rtl_harness.engine.fast.concurrent_simulator import FEW
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.liveness_cache import cached_dead_storage
from resil.rtl_harness.engine.fast.native.injector import Flip, Shortcut
from resil.rtl_harness.engine.fast.native.library import Stop
from resil.rtl_harness.engine.fast.native.sweep import BYTE, Sweep, SweepEnd
from resil.rtl_harness.engine.tail import Departure, Queue
from resil.rtl_harness.errors import AuditError, HarnessError, SimulationError
from resil.rtl_harness.faults import Fault, Outcome, Seen
from resil.rtl_harness.npu import tail as npu_tail
from resil.rtl_harness.npu.workload import npu_workload
from testkit.errors import about

DATA = ("u_npu.u_ao.", "u_npu.u_mac.", "u_npu.u_dma.u_ofm.", "u_npu.u_cc.u_decode.op_q", "u_npu.u_sb.")


@pytest.fixture(scope="module")
def target():
    return load_target("ethos-u55-32")


@pytest.fixture
def workload():
    digits = zoo.load("digits")
    return npu_workload(compile_network(digits.path, "ethos-u55-32"), digits.heldout_inputs[0])


@pytest.fixture(scope="module")
def elaboration(target):
    digits = zoo.load("digits")
    compiled = compile_network(digits.path, "ethos-u55-32")
    return elaborate(target, npu_workload(compiled, digits.heldout_inputs[0]).parameters)


def data_faults(engine, number, units=DATA):
    """Faults of the units that work on data, where a run is likely to leave."""
    choose, table, cycles = random.Random(5), engine.elaboration.sites, engine.golden().end.end_cycle
    elements = [i for i, e in enumerate(table.elements) if e.path.startswith(units)]
    chosen = set()
    while len(chosen) < number:
        index = choose.choice(elements)
        site = choose.randrange(table.offsets[index], table.offsets[index + 1])
        chosen.add(Fault(site, choose.randrange(cycles)))
    return sorted(chosen)


def test_runs_that_leave_end_as_in_the_rtl(target, workload, elaboration):
    with VerilatorEngine(target, workload, elaboration, shortcuts=Shortcut.NONE) as engine:
        faults = data_faults(engine, 160)
        plain = {injection.fault: injection for injection in engine.run(faults)}
    for shortcuts in (Shortcut.ALL, Shortcut.LEAVE, Shortcut.FORESIGHT, Shortcut.ALL & ~Shortcut.LEAVE):
        with VerilatorEngine(target, workload, elaboration, shortcuts=shortcuts, sweep=True) as engine:
            found = {injection.fault: injection for injection in engine.run(faults)}
            assert found == plain
            assert engine.notes == []
            assert (engine.ends["left"] > 5) == bool(shortcuts & Shortcut.LEAVE)
            corrupted = [i for i in found.values() if i.corruption is not None]
            assert bool(corrupted) == bool(shortcuts & Shortcut.LEAVE)
    assert {i.outcome for i in corrupted} <= set(Outcome)


def test_a_corruption_is_all_that_it_takes(target, workload, elaboration):
    """Golden memory with these bytes changed, in the RTL at the end of the operation, gives the outcome."""
    with VerilatorEngine(target, workload, elaboration, sweep=True) as engine:
        ends = engine.golden().operation_ends
        memory = target.memories[workload.tail.memory]
        some = [i for i in engine.run(data_faults(engine, 160)) if i.corruption is not None]
        assert len(some) > 5
        for injection in some[:12]:
            corruption = injection.corruption
            assert corruption.truncated == 0
            with engine.start() as instance:
                instance.run_to(ends[corruption.operation - 1])
                words = instance.view(instance.find(memory.path)).reshape(-1)
                words[list(corruption.offsets)] ^= np.frombuffer(corruption.xors, np.uint8)
                instance.settle()
                assert instance.run(engine.timeout_cycles) is Stop.DONE
                found = engine.judge(injection.fault, instance, True)
            assert found.output_hash == injection.output_hash


def test_stale_storage_decides_where_the_memory_is_golden_again(target, monkeypatch):
    """The fault: a run that leaves and ends with golden memory counts as one with stale storage left."""
    network = zoo.load("digits_separable")
    workload = npu_workload(compile_network(network.path, "ethos-u55-32"), network.heldout_inputs[0])
    choose, kinds = random.Random(12), []
    with VerilatorEngine(
        target, workload, elaborate(target, workload.parameters), sweep=True, audit=EVERYTHING
    ) as engine:
        ends, tail, memory = engine.golden().operation_ends, workload.tail, target.memories["sram"]
        size = workload.words["sram"] * memory.word_bytes
        contents = []
        with engine.start() as instance:
            storage = instance.find(memory.path)
            for cycle in ends[:-1]:
                instance.run_to(cycle)
                contents.append(np.array(instance.view(storage).reshape(-1)[:size]))
        places = []
        for operation, (before, after) in enumerate(pairwise(contents), 2):
            unsettled = {byte for piece in tail.unsettled(operation) for byte in piece}
            places += [(operation, int(b)) for b in np.flatnonzero(before != after) if b not in unsettled]
        tried = choose.sample(places, 300)
        departures = [
            Departure(operation, np.array([byte], np.int64), np.array([1], np.uint8))
            for operation, byte in tried
        ]
        golden_end = engine._golden.exits.golden_end
        ended = zip(tried, tail.finish(departures), strict=True)
        forgotten = [place for place, end in ended if end == golden_end][:24]
        assert len(forgotten) == 24

        def flips(fault):
            word, byte = divmod(forgotten[fault.site][1], memory.word_bytes)
            return [Flip(storage, word, 8 * byte)]

        monkeypatch.setattr(engine._model.map, "flips", flips)
        engine.observer = lambda done: kinds.append(done.how)
        faults = [Fault(number, ends[operation - 1] - 1) for number, (operation, _) in enumerate(forgotten)]
        found = list(engine.run(faults))
        assert engine.audited == len(faults)
        undecided = [own.fault for own, how in zip(found, kinds, strict=True) if how.startswith("undecided")]
        assert len(undecided) > 5
        assert Seen.MASKED in {injection.seen for injection in found}
        # A few of them are simulated by themselves, without a further walk through the golden run.
        answers, walks = {own.fault: own for own in found}, []
        plain = Sweep.run
        monkeypatch.setattr(Sweep, "run", lambda *args: walks.append(True) or plain(*args))
        for number, wanted in ((FEW, 1), (FEW + 1, 2)):
            kinds.clear()
            walks.clear()
            again = list(engine.run(undecided[:number]))
            assert len(walks) == wanted
            assert all(how.startswith("undecided, then ") for how in kinds)
            assert {own.fault: own for own in again} == {own: answers[own] for own in undecided[:number]}


def test_departures_end_as_the_memory_does_in_the_rtl(target, workload, elaboration):
    choose = np.random.default_rng(2)
    with VerilatorEngine(target, workload, elaboration) as engine:
        ends = engine.golden().operation_ends
        memory = target.memories["sram"]
        departures, expected = [], []
        for operation in (1, 2, 3, 4, 1):
            with engine.start() as instance:
                instance.run_to(ends[operation - 1])
                words = instance.view(instance.find(memory.path)).reshape(-1)
                offsets = np.sort(choose.choice(workload.output.offset + 600, 40, replace=False))
                xors = choose.integers(1, 256, 40, dtype=np.uint8)
                words[offsets] ^= xors
                instance.settle()
                assert instance.run(engine.timeout_cycles) is Stop.DONE
                departures.append(Departure(operation, offsets.astype(np.int64), xors))
                size = workload.words["sram"] * memory.word_bytes
                expected.append(instance.view(instance.find(memory.path)).tobytes()[:size])
        assert list(workload.tail.finish(departures)) == expected


def check_exits_are_closed(target, workload, elaboration):
    with VerilatorEngine(target, workload, elaboration, shortcuts=Shortcut.NONE) as engine:
        faults = data_faults(engine, 40)
        plain = {injection.fault: injection for injection in engine.run(faults)}
    with VerilatorEngine(target, workload, elaboration, sweep=True) as engine:
        engine.prepare()
        count = len(engine.golden().operation_ends)
        (note,) = engine.notes
        found = re.search(
            r"was scrambled.*; that changed the run after ([\d, ]+) operations, so it does matter", note
        )
        assert {int(value) for value in found[1].split(", ")} <= set(range(1, count + 1))
        injections = list(engine.run(faults))
        assert {injection.fault: replace(injection, corruption=None) for injection in injections} == plain
        closed = {int(value) for value in found[1].split(", ")}
        assert closed.isdisjoint(i.corruption.operation for i in injections if i.corruption is not None)


@pytest.mark.parametrize(
    "register", ["u_npu.u_cc.u_decode.u_regs.regs_q", "u_npu.u_dma.u_command.u_fifo.entry_q"]
)
def test_storage_that_is_wrongly_called_dead_is_found_out(
    target, workload, elaboration, monkeypatch, register
):
    def wrong(injector, *arguments):
        """What is dead, and a register that is not."""
        found = cached_dead_storage(injector, *arguments)
        storage = injector.origin.find(register)
        whole = dict.fromkeys(range(storage.offset, storage.offset + storage.size), 0xFF)
        bits = [sorted((dict(part.tolist()) | whole).items()) for part in found.bits]
        return found._replace(bits=[np.array(part, BYTE) for part in bits])

    monkeypatch.setattr(exits, "cached_dead_storage", wrong)
    check_exits_are_closed(target, workload, elaboration)


def test_runs_leave_with_queues_that_are_turned(target, workload, elaboration, monkeypatch):
    units = (
        "u_npu.u_cc.u_decode.u_check.u_sizes.ifm_",
        "u_npu.u_dma.u_piece.u_r",
        "u_npu.u_cc.u_decode.op_q",
    )
    simulated = []
    with VerilatorEngine(target, workload, elaboration, shortcuts=Shortcut.NONE) as engine:
        faults = data_faults(engine, 150, units)
        plain = {injection.fault: injection for injection in engine.run(faults)}
    for turned in ((), npu_tail.TURNED[:-1], npu_tail.TURNED):
        monkeypatch.setattr(npu_tail, "TURNED", turned)
        with VerilatorEngine(target, workload, elaboration, sweep=True) as engine:
            assert {injection.fault: injection for injection in engine.run(faults)} == plain
            simulated.append(engine.simulated)
    assert simulated[0] > simulated[1] >= simulated[2]  # what a longer queue adds is seldom


BEATS = "u_npu.u_dma.u_ofm.u_collect.u_beats"


def test_only_places_of_a_queue_are_pointed_to(target, workload, elaboration):
    """The fault: both pointers of an empty queue with 12 places are set to 12 to 15, and the run leaves."""
    with VerilatorEngine(target, workload, elaboration, sweep=True) as engine:
        engine.prepare()
        end = engine.golden().operation_ends[0]
        with engine.start() as instance:
            instance.run_to(end)
            pointers = [instance.find(f"{BEATS}.{name}") for name in ("head_q", "tail_q")]
            was, behind = map(instance.read, pointers)
            output = Flip(instance.find(target.memories["sram"].path), workload.output.offset // 8, 0)
        assert was == behind
        jobs = [
            (
                [
                    output,
                    *(Flip(p, 0, bit) for p in pointers for bit in range(4) if (was ^ value) >> bit & 1),
                ],
                end - 1,
            )
            for value in range(16)
        ]
        simulator = engine._acceleration.made()
        found = {r.job: r.end for r in simulator.sweep.run(jobs, simulator.limit, Shortcut.ALL)}
    assert {job for job, ended in found.items() if ended is SweepEnd.LEFT} == set(range(12))


def test_a_queue_with_fewer_places_than_its_pointers_have_values_is_found_out(
    target, workload, elaboration, monkeypatch
):
    wrong = Queue(f"{BEATS}.level_q", (f"{BEATS}.head_q", f"{BEATS}.tail_q"))
    monkeypatch.setattr(npu_tail, "TURNED", (wrong,))
    check_exits_are_closed(target, workload, elaboration)


def test_a_run_that_would_leave_and_end_too_late_is_a_hang(target, workload, elaboration):
    """The fault: a run falls behind and leaves, and its end counts though the time-out comes first."""
    units = ("u_npu.u_mac.u_sequencer.u_walk.columns_q", "u_npu.u_wd.u_pairs.owed_q")
    late = []
    with VerilatorEngine(target, workload, elaboration, sweep=True) as engine:
        cycles = engine.golden().cycles
        engine.observer = lambda done: late.append(done.injection) if done.how == "left" else None
        list(engine.run(data_faults(engine, 300, units)))
    faults = [injection.fault for injection in late if injection.end_cycle > cycles]
    assert faults
    with VerilatorEngine(target, workload, elaboration, sweep=True, timeout_factor=1.0) as engine:
        found = {injection.fault: injection for injection in engine.run(faults)}
        assert all(injection.outcome is Outcome.HANG for injection in found.values())
        assert found == {fault: engine.replay(fault) for fault in faults}


def test_runs_leave_while_a_copy_is_under_way(target):
    network = zoo.load("digits_separable")
    workload = npu_workload(compile_network(network.path, "ethos-u55-32"), network.heldout_inputs[0])
    elaboration = elaborate(target, workload.parameters)
    with VerilatorEngine(target, workload, elaboration, shortcuts=Shortcut.NONE) as engine:
        faults = data_faults(engine, 120, (*DATA, "u_npu.u_wd.", "u_npu.u_dma."))
        plain = {injection.fault: injection for injection in engine.run(faults)}
    with VerilatorEngine(target, workload, elaboration, sweep=True) as engine:
        ends = engine.golden().operation_ends
        memory = target.memories[workload.tail.memory]
        size = workload.words["sram"] * memory.word_bytes
        contents = {}
        with engine.start() as instance:
            for operation, cycle in enumerate(ends, 1):
                instance.run_to(cycle)
                contents[operation] = instance.view(instance.find(memory.path)).tobytes()[:size]
            instance.run(engine.timeout_cycles)
            end = instance.view(instance.find(memory.path)).tobytes()[:size]
        for operation in range(2, len(ends) + 1):
            under_way = workload.tail.unsettled(operation)
            settled = [i for i in range(len(end)) if not any(i in part for part in under_way)]
            wrong = bytearray(contents[operation])
            wrong[settled[-1]] ^= 1
            assert operation not in workload.tail.prepare({**contents, operation: bytes(wrong)}, end)
        assert workload.tail.prepare(contents, end) == set(contents)
        assert any(workload.tail.unsettled(operation) for operation in contents)
        nothing = (np.zeros(0, np.int64), np.zeros(0, np.uint8))
        departures = [Departure(operation, *nothing) for operation in contents]
        assert list(workload.tail.finish(departures)) == [end] * len(ends)
        assert {injection.fault: injection for injection in engine.run(faults)} == plain
        assert engine.ends["left"] > 5


def test_pointers_of_different_queues_are_found_out(target, workload, elaboration, monkeypatch):
    rows, weights = "u_npu.u_dma.u_ofm.u_collect.u_beats", "u_npu.u_dma.u_weight.u_fifo"
    wrong = Queue(f"{rows}.level_q", (f"{rows}.head_q", f"{weights}.head_q"))
    monkeypatch.setattr(npu_tail, "TURNED", (wrong,))
    check_exits_are_closed(target, workload, elaboration)


@pytest.mark.parametrize(
    "registers",
    [
        ("u_npu.no_q", "u_npu.u_ao.u_pack.tail_q"),
        ("u_npu.u_dma.u_scale.u_fifo.head_q", "u_npu.u_ao.u_pack.tail_q"),
    ],
)
def test_a_queue_that_the_design_lacks_is_named(target, workload, elaboration, monkeypatch, registers):
    monkeypatch.setattr(npu_tail, "TURNED", (Queue("u_npu.u_dma.u_ofm.level_q", registers),))
    with (
        VerilatorEngine(target, workload, elaboration) as engine,
        pytest.raises(HarnessError, check=about("tail.queue")),
    ):
        engine.golden()


def test_a_tail_that_is_wrong_is_caught_by_the_audit(target, workload, elaboration, monkeypatch):
    right = workload.tail.finish

    def wrong(departures):
        place = workload.output.offset
        return [
            image and image[:place] + bytes([image[place] ^ 1]) + image[place + 1 :]
            for image in right(departures)
        ]

    monkeypatch.setattr(workload.tail, "finish", wrong)
    audit = EVERYTHING
    with (
        VerilatorEngine(target, workload, elaboration, sweep=True, audit=audit) as engine,
        pytest.raises(SimulationError, match=r"audit of early stops: .*cannot be trusted"),
    ):
        list(engine.run(data_faults(engine, 160)))


def test_nothing_leaves_where_model_and_rtl_differ(target, workload, elaboration, monkeypatch):
    monkeypatch.setattr(workload.tail, "prepare", lambda golden, end: frozenset())
    with VerilatorEngine(target, workload, elaboration, sweep=True) as engine:
        list(engine.run(data_faults(engine, 40)))
        assert engine.ends["left"] == 0


def dead_of(engine, place, path):
    """Return the mask of dead bits of each byte of a register, at an end of an operation."""
    dead = dict(engine._golden.exits.boundaries.dead[place].tolist())
    storage = engine.start().find(path)
    return [dead.get(offset, 0) for offset in range(storage.offset, storage.offset + storage.size)]


@pytest.mark.slow
def test_what_waits_at_the_bus_when_an_operation_ends_is_not_dead():
    """Where a copy is under way when an operation ends, its words at the ports of the bus still count."""
    network, target = zoo.load("mnist_lenet"), load_target("ethos-u55-64")
    workload = npu_workload(compile_network(network.path, "ethos-u55-64"), network.heldout_inputs[0])
    port = "u_npu.u_dma.u_m1_read"
    with VerilatorEngine(target, workload, elaborate(target, workload.parameters), sweep=True) as engine:
        engine.prepare()
        assert engine.notes == []
        held, free = [], []
        with engine.start() as instance:
            for place, cycle in enumerate(engine.golden().operation_ends):
                instance.run_to(cycle)
                waits = instance.read(instance.find(f"{port}.r_valid_q"))
                (held if waits else free).append(dead_of(engine, place, f"{port}.r_data_q"))
        assert held
        assert all(mask == 0 for masks in held for mask in masks)
        assert all(mask == 0xFF for masks in free for mask in masks)


def engines_of(target, elaboration, number):
    """Engines of a campaign for so many inputs, which share what engines of one share."""
    digits = zoo.load("digits")
    compiled = compile_network(digits.path, "ethos-u55-32")
    made = []
    for place in range(number):
        workload = npu_workload(compiled, digits.heldout_inputs[place])
        made.append(VerilatorEngine(target, workload, elaboration, sweep=True))
    for engine in made:
        engine.expect(1000, made[0])
    return made


def test_what_is_said_of_the_design_is_tried_on_some_of_many_inputs(target, elaboration, monkeypatch):
    tried = {"state": [], "absent": [], "exits": []}

    def noted(module, name, where):
        plain = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args: tried[where].append(True) or plain(*args))

    noted(golden, "check_state_is_whole", "state")
    noted(golden.AbsentStorage, "check", "absent")
    noted(acceleration, "close_wrong_exits", "exits")
    found = []
    for engine in engines_of(target, elaboration, 10):
        with engine:
            engine.prepare()
        found.append([len(own) for own in tried.values()])
    assert found == [[n] * 3 for n in (1, 2, 3, 4, 4, 4, 4, 4, 5, 5)]


def test_a_trial_that_fails_after_inputs_without_one_withdraws_all_answers(target, elaboration, monkeypatch):
    """Their answers rest on what it refutes."""
    engines = engines_of(target, elaboration, 9)
    for engine in engines[:8]:
        with engine:
            engine.prepare()
    monkeypatch.setattr(acceleration, "close_wrong_exits", lambda *args: ["it does matter"])
    with (
        engines[8] as last,
        pytest.raises(AuditError, match="it does matter; 4 inputs before were not tried"),
    ):
        list(last.run([Fault(0, 0)]))


def test_a_trial_that_fails_on_an_early_input_is_a_note(target, elaboration, monkeypatch):
    engines = engines_of(target, elaboration, 4)
    monkeypatch.setattr(acceleration, "close_wrong_exits", lambda *args: ["it does matter"])
    for engine in engines:
        with engine:
            engine.prepare()
            assert engine.notes == ["it does matter"]
