# SPDX-License-Identifier: Apache-2.0
"""Where runs of a workload may leave the compiled model, in the terms of its state, and the trial of it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.alarms import Alarms
from resil.rtl_harness.engine.fast.liveness_cache import cached_dead_storage
from resil.rtl_harness.engine.fast.native.circuit import Circuit
from resil.rtl_harness.engine.fast.native.injector import Injector
from resil.rtl_harness.engine.fast.native.library import ModelInstance
from resil.rtl_harness.engine.fast.native.liveness import DeadStorage
from resil.rtl_harness.engine.fast.native.storage import StoragePlace
from resil.rtl_harness.engine.fast.native.sweep import (
    BYTE,
    Boundaries,
    MemoryDifference,
    QueueBytes,
)
from resil.rtl_harness.engine.fast.state_map import StateMap
from resil.rtl_harness.engine.fast.tail_names import TailNames
from resil.rtl_harness.engine.tail import Departure, Queue, Tail
from resil.rtl_harness.engine.workload import OutputSpec
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import CORRUPTION_BYTES, Corruption


class Exits:
    """The ends of operations at which runs of a workload may leave.

    Args:
        target: The design.
        tail: Finishes the runs.
        state_map: Where storage lies.
        injector: Has just had its golden pass.

    Attributes:
        boundaries: Where to leave, for a sweep; nothing is dead there before `find_dead`.
        notes: What a user should know of what the tail names.
        golden_end: The golden run's contents of the tail's memory at the end.

    Raises:
        HarnessError: If the tail names a memory that is none of the target's observed ones, or storage that
            the design has not.
    """

    def __init__(self, target: Target, tail: Tail, state_map: StateMap, injector: Injector) -> None:
        memory = target.memories.get(tail.memory)
        if memory is None or not memory.observed:
            raise HarnessError(
                f"target {target.name}: the workload's tail leaves with memory {tail.memory!r}, which is not "
                "an observed memory of the target",
                "tail.memory",
            )
        self.tail = tail
        self._state_map = state_map
        self._injector = injector
        self._word_bytes = memory.word_bytes
        self._storage = state_map.storage(memory.path)
        self._edges = injector.cursor.operations()
        self._end_cycle = injector.cursor.cycle
        self.golden_end = self._contents(self._end_cycle)
        allowed = tail.prepare(
            _Recalled({value: edges for edges, value in self._edges}, self._contents), self.golden_end
        )
        self._names = TailNames(tail, target.storage_names, state_map)
        self.notes = self._names.notes
        nothing = [np.zeros(0, BYTE) for _ in self._edges]
        self.boundaries = Boundaries(
            [(self._storage.offset, self._storage.size)],
            nothing,
            nothing,
            [value in allowed for _, value in self._edges],
            [self._queue(queue) for queue in self._names.queues],
            [
                [self._piece(part) for part in tail.unsettled(value)] if value in allowed else []
                for _, value in self._edges
            ],
        )

    def find_dead(self, circuit: Circuit, alarms: Alarms | None = None) -> None:
        """Find what no longer matters at the exits; close those after which a run may take another course.

        Args:
            circuit: The design as gates.
            alarms: Those of a design with redundancy, which compares what should be equal, whatever it is.
                What matters for nothing else does not matter any more once a detected fault was reported.
                None for a design without.

        Raises:
            GatesError: The gates do not do what the model does.
        """
        start = [self._piece(part) for part in self.tail.unsettled(0)] if any(self.boundaries.open) else []
        fixed = [start, *self.boundaries.unsettled]
        ends = [*(edges for edges, _ in self._edges), self._end_cycle]
        beginning = self._beginning(start)

        def seen_by(awaited: npt.NDArray[np.bool_]) -> DeadStorage:
            own = circuit._replace(alarms=circuit.alarms[awaited])
            external = self.boundaries.external
            return cached_dead_storage(self._injector, own, external, fixed, ends, beginning)

        every = np.ones(len(circuit.alarms), bool)
        found = detected = seen_by(every)
        settled = found.settled
        if alarms is not None:
            detected = seen_by(~np.isin(circuit.alarms["alarm"], alarms.detects))
            # That no alarm rises in a run that has left is what the tail says.
            settled = seen_by(~every).settled
        self.boundaries = replace(self.boundaries, dead=found.bits, after_detected=detected.bits)
        self.close(place for place, (edges, _) in enumerate(self._edges) if edges < settled)

    def _beginning(self, fixed: Sequence[tuple[int, int]]) -> bytes:
        """Return the state in which runs begin, but for what external memories may hold then."""
        origin = self._injector.origin
        own = [s for s in (*self._state_map.registers, *self._state_map.memories) if s is not self._storage]
        parts = [origin.view(storage).tobytes() for storage in own]
        return b"".join([*parts, *(origin.state[first : first + size].tobytes() for first, size in fixed)])

    @property
    def open(self) -> dict[int, int]:
        """Places of the exits that are open, by the number of operations that have then finished."""
        return {value: place for place, (_, value) in enumerate(self._edges) if self.boundaries.open[place]}

    def close(self, places: Iterable[int]) -> None:
        """Let no run leave at these exits."""
        closed = set(places)
        still = [o and place not in closed for place, o in enumerate(self.boundaries.open)]
        self.boundaries = replace(self.boundaries, open=still)

    def scramble(self, instance: ModelInstance, seed: int, places: Container[int]) -> None:
        """Take an instance to these exits, and at each turn queues and set what is dead to noise.

        At every other exit queues are turned to their last place: what is too few places shows there.
        """
        noise = np.random.default_rng(Random(seed).getrandbits(64))
        for place, ((edges, _), dead) in enumerate(zip(self._edges, self.boundaries.dead, strict=True)):
            if place not in places:
                continue
            instance.run_to(edges)
            for queue in self._names.queues:
                values = _values(queue, self._state_map.storage(queue.pointers[0]))
                self._turn(instance, queue, values - 1 if place % 2 else int(noise.integers(0, values)))
            random = noise.integers(0, 256, len(dead)) & dead["mask"]
            instance.state[dead["offset"]] ^= random.astype(np.uint8)
            instance.settle()

    def departure(self, difference: MemoryDifference) -> Departure:
        """Return a difference of the state as one of the tail's memory."""
        word, byte = np.divmod(difference.offsets - self._storage.offset, self._storage.entry_bytes)
        return Departure(difference.operation, word * self._word_bytes + byte, difference.xors)

    def corruption(self, difference: MemoryDifference) -> Corruption:
        """Return a difference of the state as what an injection carries."""
        found = self.departure(difference)
        return Corruption(
            operation=found.operation,
            memory=self.tail.memory,
            offsets=tuple(found.offsets[:CORRUPTION_BYTES].tolist()),
            xors=found.xors[:CORRUPTION_BYTES].tobytes(),
            total=len(found.offsets),
        )

    def output(self, image: bytes, outputs: Sequence[OutputSpec], golden: bytes) -> bytes:
        """Return the output tensors of a run that ended with these contents of the tail's memory.

        Args:
            image: The contents.
            outputs: The tensors; those in other memories are as in the golden run.
            golden: Output of the golden run.
        """
        found, start = b"", 0
        for spec in outputs:
            own = image[spec.offset : spec.offset + spec.size]
            found += own if spec.memory == self.tail.memory else golden[start : start + spec.size]
            start += spec.size
        return found

    def finished(self, corruption: Corruption) -> bytes | None:
        """Return the contents at the end of a run with a corruption kept in full, as `Tail.finish`."""
        offsets = np.array(corruption.offsets, np.int64)
        xors = np.frombuffer(corruption.xors, np.uint8)
        return next(iter(self.tail.finish([Departure(corruption.operation, offsets, xors)])))

    def _contents(self, edges: int) -> bytes:
        words = self._injector.recall_memories(edges).view(self._storage)
        return words[:, : self._word_bytes].tobytes()

    def _piece(self, part: range) -> tuple[int, int]:
        """Return first byte and bytes, in the state, of a part of the memory."""
        first, last = (
            self._storage.offset + i // self._word_bytes * self._storage.entry_bytes + i % self._word_bytes
            for i in (part.start, part.stop - 1)
        )
        return first, last - first + 1

    def _queue(self, queue: Queue) -> QueueBytes:
        """Return where a queue lies.

        Raises:
            HarnessError: If its registers are not variables of their own.
        """
        paths = (queue.level, *queue.pointers)
        places = [self._state_map.place(path) for path in paths]
        whole = all(low == 0 and width == storage.width for storage, low, width in places)
        level, first, behind = (storage for storage, _, _ in places)
        if not whole or first.width != behind.width:
            raise HarnessError(
                f"the workload's tail names a queue with the registers {', '.join(paths)}; expected three "
                "variables of their own, two pointers of the same width among them",
                "tail.queue",
            )
        pointers = first.offset, behind.offset, first.size
        return QueueBytes(level.offset, level.size, *pointers, _values(queue, first))

    def _turn(self, instance: ModelInstance, queue: Queue, to: int) -> None:
        """Turn a queue if it is empty, so that its pointers have this value."""
        level, pointers = (
            self._state_map.storage(queue.level),
            [*map(self._state_map.storage, queue.pointers)],
        )
        first, behind = (instance.read(pointer) for pointer in pointers)
        if instance.read(level) != 0 or first != behind:
            return
        for pointer in pointers:
            instance.write(pointer, to)


class _Recalled(Mapping[int, bytes]):
    """Contents of a memory by the operations that have finished: recalled when asked for, none is kept."""

    def __init__(self, edges: Mapping[int, int], contents: Callable[[int], bytes]) -> None:
        self._edges = edges
        self._contents = contents

    def __getitem__(self, operations: int) -> bytes:
        return self._contents(self._edges[operations])

    def __iter__(self) -> Iterator[int]:
        return iter(self._edges)

    def __len__(self) -> int:
        return len(self._edges)


def _values(queue: Queue, pointer: StoragePlace) -> int:
    return queue.places or 1 << pointer.width
