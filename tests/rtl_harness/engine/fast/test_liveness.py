# SPDX-License-Identifier: Apache-2.0
"""What does not matter when an operation has ended is found, and nothing else: runs tell."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target, TargetMemory
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.gates.circuit import circuit_of
from resil.rtl_harness.engine.fast.gates.gates import read_gates
from resil.rtl_harness.engine.fast.native.liveness import find_dead_storage
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact

TARGET = Target(
    name="idle",
    top="idle",
    sources=(Path(__file__).parent / "idle.sv",),
    clock="clk_i",
    reset="rst_ni",
    dut="u_core",
    done="done_o",
    operation="operation_o",
    blocks={"core": ("u_core",)},
    memories={
        "data": TargetMemory("data_q", 1, "data"),
        # Too small to be taken for memories unasked.
        "rows": TargetMemory("u_core.rows_q", 1, "", observed=False),
        "spill": TargetMemory("u_core.spill_q", 1, "", observed=False),
        "halves": TargetMemory("u_core.halves_q", 2, "", observed=False),
    },
)
WORKLOAD = Workload("bytes", {"data": bytes(range(3, 35))}, OutputSpec("data", 0, (32,)), decide=exact)
OTHERS = 24  # contents of the memory that each bit is tried with


class Searched:
    """The design with what was found of it."""

    def __init__(self, engine, fixed=(), most_windows=1000):
        self.model = engine._model
        self.end = engine.golden().end.end_cycle
        self.moves = self.model.injector.cursor.operations()
        self.data = self.model.map.storage("data_q")
        circuit = circuit_of(read_gates(TARGET, engine.elaboration), self.model.origin)
        external = [(self.data.offset, self.data.size)]
        self.fixed = [(self.data.offset + first, 1) for first in fixed]
        parts = [self.fixed] * (len(self.moves) + 1)
        self.found = find_dead_storage(self.model.injector, circuit, external, parts, most_windows)

    def dead(self, place):
        """Return the mask of dead bits of each byte, by offset."""
        return dict(self.found.bits[place].tolist())

    def dead_of(self, name, place):
        """Return the mask of dead bits of a register, or of all words of a memory."""
        storage = self.model.map.storage(f"u_core.{name}")
        dead = self.dead(place)
        return [dead.get(offset, 0) for offset in range(storage.offset, storage.offset + storage.size)]

    def ended(self, place, memory, flips):
        """Return when and how a run ends with this memory, and bits inverted, at an end of an operation."""
        with self.model.start() as instance:
            instance.run_to(self.moves[place][0])
            kept = [int(instance.state[first]) for first, _ in self.fixed]
            instance.state[self.data.offset : self.data.offset + self.data.size] = memory
            for (first, _), byte in zip(self.fixed, kept, strict=True):
                instance.state[first] = byte
            for offset, mask in flips:
                instance.state[offset] ^= mask
            instance.settle()
            instance.run(3 * self.end)
            return instance.cycle, instance.operations(), instance.view(self.data).tobytes()


@pytest.fixture(scope="module")
def elaboration():
    return elaborate(TARGET)


@pytest.fixture(scope="module")
def searched(elaboration):
    with VerilatorEngine(TARGET, WORKLOAD, elaboration) as engine:
        yield Searched(engine)


def bits_of(searched):
    """Return byte and mask of each bit of the design's own storage."""
    for storage in (*searched.model.map.registers, *searched.model.map.memories):
        if storage.offset == searched.data.offset:
            continue
        for word in range(storage.depth):
            for bit in range(storage.width):
                yield storage.offset + word * storage.entry_bytes + bit // 8, 1 << bit % 8


def check_what_matters_is_not_dead(searched):
    """Invert each bit, with many contents of the memory: where anything comes of it, it may not be dead."""
    memories = np.random.default_rng(1).integers(0, 256, (OTHERS, searched.data.size), dtype=np.uint8)
    mattering = missed = 0
    for place in range(len(searched.moves)):
        plain = [searched.ended(place, memory, []) for memory in memories]
        dead = searched.dead(place)
        for offset, mask in bits_of(searched):
            differs = any(
                searched.ended(place, memory, [(offset, mask)]) != expected
                for memory, expected in zip(memories, plain, strict=True)
            )
            mattering += differs
            missed += not differs and not dead.get(offset, 0) & mask
            assert not (differs and dead.get(offset, 0) & mask), (place, offset, mask)
    return mattering, missed


def test_nothing_that_matters_is_dead(searched):
    mattering, missed = check_what_matters_is_not_dead(searched)
    assert mattering > 60
    # Of what never mattered here some only could: a sum of bytes, of which high bits are never carried into.
    assert missed < 0.2 * sum(1 for _ in bits_of(searched)) * len(searched.moves)


@pytest.mark.parametrize("most_windows", [0, 1])
def test_of_a_run_with_too_many_windows_less_is_found_and_nothing_wrong(elaboration, searched, most_windows):
    """The fault: what lies behind the windows that are gone through is taken for what does not matter."""
    with VerilatorEngine(TARGET, WORKLOAD, elaboration) as engine:
        part = Searched(engine, most_windows=most_windows)
        check_what_matters_is_not_dead(part)
    assert part.found.settled == searched.found.settled
    for place in range(len(searched.moves)):
        assert all(
            mask & ~searched.dead(place).get(offset, 0) == 0 for offset, mask in part.dead(place).items()
        )
    # Of the first operation's end the window with all of the second operation is gone through.
    made_anew = ("scale_q", "own_q", "first_q", "second_q", "sum_q")
    assert [part.dead_of(name, 0) for name in made_anew] == [[255 * most_windows]] * 5
    assert part.dead_of("spare_q", 0) == part.dead_of("late_q", 1) == part.dead_of("scale_q", 2) == [0]


def test_all_that_is_dead_may_change_at_once(searched):
    choose = np.random.default_rng(2)
    for place in range(len(searched.moves)):
        for _ in range(40):
            memory = choose.integers(0, 256, searched.data.size, dtype=np.uint8)
            noise = [(o, m & int(choose.integers(256))) for o, m in searched.dead(place).items()]
            assert searched.ended(place, memory, noise) == searched.ended(place, memory, [])


def test_what_waits_is_dead_from_its_last_use_to_its_next_value(searched):
    whole, none = [0xFF], [0]
    # Made anew in each operation, before it is used.
    for place in range(3):
        for name in ("scale_q", "own_q", "first_q", "second_q", "sum_q", "spare_q"):
            assert searched.dead_of(name, place) == whole, (name, place)
    # Waits for the second operation, which uses it where data say so; in the golden run they never do.
    assert [searched.dead_of("rare_q", place) for place in range(3)] == [none, whole, whole]
    # Waits for the last operation.
    assert [searched.dead_of("late_q", place) for place in range(3)] == [none, none, whole]
    # Only the first operation reads rows.
    assert searched.dead_of("rows_q", 0) == [0xFF] * 8
    # Where it is written and read depends on data: until the last operation any word may be read.
    assert [searched.dead_of("spill_q", place) for place in range(3)] == [[0] * 4, [0] * 4, [0xFF] * 4]
    # Of the word that is used the upper half alone is written anew.
    assert searched.dead_of("halves_q", 1) == [0xFF, 0xFF, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    # The counter of operations is what an observer sees.
    assert searched.dead_of("operation_q", 0) == none


def test_nothing_seen_depends_on_the_memory(searched):
    assert searched.found.settled == 0


def test_a_run_whose_course_depends_on_data_is_said_to(elaboration):
    """The fault: runs leave and take the golden run's cycles, though data decide how many it takes."""
    hasty = replace(TARGET, parameters={"Hasty": 1})
    with VerilatorEngine(hasty, WORKLOAD, elaborate(hasty)) as engine:
        found = Searched(engine).found
        assert found.settled > 0


def test_bytes_that_cannot_differ_are_known(elaboration):
    """What depends on fixed bytes alone is decided as in the golden run, though other bytes are unknown."""
    hasty = replace(TARGET, parameters={"Hasty": 1})
    with VerilatorEngine(hasty, WORKLOAD, elaborate(hasty)) as engine:
        searched = Searched(engine, fixed=range(32))
        assert searched.found.settled == 0
        check_what_matters_is_not_dead(searched)
