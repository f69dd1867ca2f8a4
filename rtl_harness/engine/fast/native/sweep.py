# SPDX-License-Identifier: Apache-2.0
"""Many injections taken through the golden run together: along the gates, simulated where they spread."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.engine.fast.native.circuit import Circuit, PackedCircuit
from resil.rtl_harness.engine.fast.native.injector import (
    AlarmBit,
    Ending,
    Flip,
    FlippedBit,
    Injector,
    ReportedFirst,
    Shortcut,
    StatePiece,
    first_rise,
    flipped_bits,
)
from resil.rtl_harness.engine.fast.native.library import FirstRise
from resil.rtl_harness.errors import SimulationError

_FAILED = 2**64 - 1


class GatesError(SimulationError):
    """The gates do not do what the model does."""


BYTE = np.dtype([("offset", np.uint64), ("mask", np.uint32)], align=True)


class SweepEnd(IntEnum):
    """How an injection of a sweep ended.

    VANISHED: as the golden run, `shift` cycles later, but for alarms that are still up. STOPPED: the
    injector's `faulty` instance stands at its end, or where the first of two inferences has ended. LEFT: at
    the end of an operation, with nothing but memory different. MERGED: as another injection of the sweep.
    DISCARDED: it was in a lane when lane model and compiled model differed; nothing is known.
    """

    VANISHED = 1
    STOPPED = 2
    LEFT = 3
    MERGED = 4
    DISCARDED = 5


@dataclass(frozen=True, slots=True)
class MemoryDifference:
    """What differed from the golden run at the end of an operation.

    Attributes:
        operation: Value of the operation counter from that cycle on.
        offsets: Bytes of the state that differ, as `StoragePlace.offset`, (n,).
        xors: What they are XORed with, (n,).
    """

    operation: int
    offsets: npt.NDArray[np.int64]
    xors: npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class PausedRun:
    """A run at the end of the first of two inferences.

    Attributes:
        difference: From the golden run where it has ended its first inference, as `BYTE`, ascending.
        detected: Place of the first alarm that had reported a detected fault, and the cycle, None if
            none had.
        corrected: Likewise of a corrected one.
    """

    difference: npt.NDArray[np.void]
    detected: tuple[int, int] | None
    corrected: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class SweepResult:
    """What came of an injection.

    Attributes:
        job: Its number.
        end: How it ended.
        ending: Of a stopped one.
        other: Number of the injection that it was merged with.
        shift: Cycles by which it is behind the golden run.
        end_cycle: Cycles from reset to the end; not of merged ones.
        simulated: Cycles that were simulated.
        nanoseconds: Time spent on it alone.
        windows: How many windows of the golden run have been loaded.
        known: Others may still be merged with it, until the next window is loaded.
        in_lane: It was in a lane for a while.
        spent: Of one that vanished: alarms of it are still up.
        left: Of one that left, what differed.
        paused: Of one that has paused, `shift` cycles after the golden run, what is needed to go on.
        noted: What differed at the first boundary at which nothing but memory did.
        detected: Place of the first alarm that reported a detected fault, and the cycle; None if
            none did. Of a merged one, until then.
        corrected: Likewise of a corrected one.
    """

    job: int
    end: SweepEnd
    ending: Ending
    other: int
    shift: int
    end_cycle: int
    simulated: int
    nanoseconds: int
    windows: int
    known: bool
    in_lane: bool
    spent: bool
    left: MemoryDifference | None
    paused: PausedRun | None
    noted: MemoryDifference | None
    detected: tuple[int, int] | None
    corrected: tuple[int, int] | None


class QueueBytes(NamedTuple):
    """A queue between two pointers, as bytes of the state.

    Attributes:
        level: First byte of the register that counts its entries.
        level_bytes: Bytes of it.
        first: First byte of the pointer to its first entry.
        next: First byte of the pointer behind its last entry.
        pointer_bytes: Bytes of each pointer.
        values: That a pointer may have: all below this number.
    """

    level: int
    level_bytes: int
    first: int
    next: int
    pointer_bytes: int
    values: int


@dataclass(frozen=True)
class Boundaries:
    """What may differ at the end of an operation when a run leaves there.

    Attributes:
        external: First byte and bytes, in the state, of memories that whoever finishes the run is given.
        dead: For each end of an operation in the golden run, bits that no longer matter then, as `BYTE`,
            ascending.
        after_detected: Likewise in runs that have reported a detected fault, of which no more is news.
        open: For each, whether runs may leave there.
        queues: Whose pointers may differ, both by the same, where they are empty.
        unsettled: For each, first byte and bytes, ascending, of parts of `external` that may not differ.
    """

    external: Sequence[tuple[int, int]]
    dead: Sequence[npt.NDArray[np.void]]
    after_detected: Sequence[npt.NDArray[np.void]]
    open: Sequence[bool]
    queues: Sequence[QueueBytes]
    unsettled: Sequence[Sequence[tuple[int, int]]]


class _SweepEvent(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_int32),
        ("stop", ctypes.c_int32),
        ("job", ctypes.c_uint64),
        ("other", ctypes.c_uint64),
        ("shift", ctypes.c_int64),
        ("end_cycle", ctypes.c_uint64),
        ("simulated", ctypes.c_uint64),
        ("operation", ctypes.c_uint64),
        ("bytes", ctypes.c_void_p),
        ("byte_count", ctypes.c_uint64),
        ("noted_operation", ctypes.c_uint64),
        ("noted", ctypes.c_void_p),
        ("noted_count", ctypes.c_uint64),
        ("nanoseconds", ctypes.c_uint64),
        ("windows", ctypes.c_uint64),
        ("known", ctypes.c_uint64),
        ("in_lane", ctypes.c_uint64),
        ("spent", ctypes.c_uint64),
        ("reported", ReportedFirst),
    )


PLACE = np.dtype(
    [("offset", "<u8"), ("bit", "<u4"), ("width", "<u4"), ("piece", "<u4"), ("at", "<u4")], align=True
)


class LaneMemory(NamedTuple):
    """A memory that a lane model has.

    Attributes:
        offset: Its first byte in the state.
        entry_bytes: Bytes of a word.
        words: Words in use.
        shared: 1 if nothing writes it, so that all machines share one.
    """

    offset: int
    entry_bytes: int
    words: int
    shared: int


@dataclass(frozen=True)
class LaneLibrary:
    """A lane model, and where its storage lies in the state.

    Attributes:
        library: The shared library.
        places: As `PLACE`: `width` bits from bit `bit` of the byte at `offset` on are a piece's from `at` on.
        memories: In the library's order.
    """

    library: Path
    places: npt.NDArray[np.void]
    memories: Sequence[LaneMemory]

    @contextmanager
    def given(self) -> Iterator[int]:
        """Yield the address of its description, which is there meanwhile."""
        library = ctypes.CDLL(str(self.library))
        library.lanes_calls.restype = ctypes.c_void_p
        places = np.ascontiguousarray(self.places, PLACE)
        memories = np.array(self.memories, np.uint64).reshape(-1)
        fields = [library.lanes_calls(), places.ctypes.data, places.size]
        fields += [memories.ctypes.data, len(self.memories)]
        description = np.array(fields, np.uint64)
        yield description.ctypes.data


class SweepTimes(ctypes.Structure):
    """Where the time of sweeps went.

    Attributes:
        golden_cycles: Cycles of the golden run that were simulated again.
        loading: Nanoseconds of going through the golden run, with the values of all nets.
        following: Nanoseconds of following differences along the gates.
        simulating: Nanoseconds in the compiled model, and of comparing its state with the golden run.
    """

    _fields_ = tuple(
        (name, ctypes.c_uint64) for name in ("golden_cycles", "loading", "following", "simulating")
    )
    golden_cycles: int
    loading: int
    following: int
    simulating: int


class Sweep:
    """Takes injections through the golden run of a injector.

    Args:
        injector: Has had its golden pass; it stays the caller's.
        circuit: The same design as gates.
        boundaries: Where runs may leave; None if they may not.
    """

    def __init__(self, injector: Injector, circuit: Circuit, boundaries: Boundaries | None = None) -> None:
        self._calls = injector.origin.library.calls
        self._declare()
        gates = PackedCircuit(circuit)
        given = None
        if boundaries is not None:
            external = (StatePiece * len(boundaries.external))(
                *(StatePiece(*piece) for piece in boundaries.external)
            )
            kinds = (boundaries.dead, boundaries.after_detected)
            dead = [array for kind in kinds for array in _dead_bits(kind)]
            allowed = np.array(boundaries.open, np.uint8)
            starts = np.cumsum([0, *(len(parts) for parts in boundaries.unsettled)]).astype(np.uint64)
            pieces = [piece for parts in boundaries.unsettled for piece in parts]
            unsettled = np.array(pieces, np.uint64).reshape(-1)
            queues = np.array(boundaries.queues, np.uint64).reshape(-1)
            fields = [
                *(np.uint64(ctypes.addressof(external)), np.uint64(len(external))),
                *(np.uint64(array.ctypes.data) for array in (*dead, allowed, queues)),
                np.uint64(len(boundaries.queues)),
                *(np.uint64(array.ctypes.data) for array in (starts, unsettled)),
            ]
            given = np.array(fields, np.uint64)
        self._handle: int | None = self._calls.resil_sweep_create(
            injector.handle, gates.address, None if given is None else given.ctypes.data
        )
        if not self._handle:
            raise SimulationError(f"the sweep could not start: {self._error()}", "start")

    def alarm_storage(self) -> list[AlarmBit]:
        """Return the bits that do nothing but keep alarms up, found along the gates.

        Nothing but alarms can be reached from them, they keep one value for ever once they have it, and they
        have the other one throughout the golden run.
        """
        bits = ctypes.POINTER(AlarmBit)()
        count = self._calls.resil_sweep_alarm_storage(self._handle, ctypes.byref(bits))
        if count == _FAILED:
            raise SimulationError(f"the storage of alarms was not found: {self._error()}", "alarms")
        return [AlarmBit.from_buffer_copy(bits[i]) for i in range(count)]

    def add_lanes(self, lanes: LaneLibrary) -> None:
        """Let injections that are simulated for long go on in a lane model.

        Raises:
            SimulationError: If its storage is not that of the injector.
        """
        with lanes.given() as model:
            failed = self._calls.resil_sweep_lanes(self._handle, model) != 0
        if failed:
            raise SimulationError(f"the lane model does not fit: {self._error()}", "lanes")

    def close(self) -> None:
        """Free it."""
        if self._handle:
            self._calls.resil_sweep_destroy(self._handle)
            self._handle = None

    def run(
        self, jobs: Iterable[tuple[Sequence[Flip], int]], limit: int, shortcuts: Shortcut
    ) -> Iterator[SweepResult]:
        """Yield one result for each injection, in the order in which they end.

        Args:
            jobs: Bits to invert, and the cycle, of each; its number is its place. Cycles do not descend.
            limit: Cycles from reset to the time-out.
            shortcuts: What may be used.

        Raises:
            SimulationError: If gates and model differ in the golden run, a flip does not hold, or the design
                stops itself.
        """
        self._calls.resil_sweep_begin(self._handle, limit, int(shortcuts), 0)
        for number, (flips, cycle) in enumerate(jobs):
            self._calls.resil_sweep_add(self._handle, number, flipped_bits(flips), len(flips), cycle)
        return self._results()

    def resume(self, runs: Iterable[PausedRun], limit: int, shortcuts: Shortcut) -> Iterator[SweepResult]:
        """Let runs go on that have paused, and yield one result for each, as `run`.

        Cycles are counted as in the golden run: all go on from where its first inference has ended, and one
        that paused late is that much later than is said of it, with all that it reports from there on.

        Args:
            runs: The number of each is its place.
            limit: Cycles from reset to the time-out of a run that paused when the golden run did.
            shortcuts: What may be used.

        Raises:
            SimulationError: As `run`.
        """
        self._calls.resil_sweep_begin(self._handle, limit, int(shortcuts), 1)
        for number, run in enumerate(runs):
            bytes_ = np.ascontiguousarray(run.difference, BYTE)
            reported = ReportedFirst(
                *(FirstRise(*(found or (-1, 0))) for found in (run.detected, run.corrected))
            )
            self._calls.resil_sweep_resume(
                self._handle, number, bytes_.ctypes.data, bytes_.size, ctypes.byref(reported)
            )
        return self._results()

    def _results(self) -> Iterator[SweepResult]:
        event = _SweepEvent()
        while True:
            self._calls.resil_sweep_next(self._handle, ctypes.byref(event))
            if event.kind < 0:
                failure = GatesError if "the gates and the model differ" in self._error() else SimulationError
                raise failure(f"the sweep failed: {self._error()}")
            if event.kind == 0:
                return
            end, ending = SweepEnd(event.kind), Ending(event.stop)
            left = end is SweepEnd.LEFT
            paused = end is SweepEnd.STOPPED and ending is Ending.PAUSED
            detected, corrected = map(first_rise, (event.reported.detected, event.reported.corrected))
            yield SweepResult(
                job=event.job,
                end=end,
                ending=ending,
                other=event.other,
                shift=event.shift,
                end_cycle=event.end_cycle,
                simulated=event.simulated,
                nanoseconds=event.nanoseconds,
                windows=event.windows,
                known=bool(event.known),
                in_lane=bool(event.in_lane),
                spent=bool(event.spent),
                left=_difference(event.operation, event.bytes, event.byte_count) if left else None,
                paused=PausedRun(_bytes(event.bytes, event.byte_count), detected, corrected)
                if paused
                else None,
                noted=_difference(event.noted_operation, event.noted, event.noted_count),
                detected=detected,
                corrected=corrected,
            )

    @property
    def lanes_differ(self) -> bool:
        """The lane model was seen to do what the compiled model does not do; it is not used any more."""
        return bool(self._calls.resil_sweep_lanes_differ(self._handle))

    @property
    def times(self) -> SweepTimes:
        """Where time went so far."""
        found = SweepTimes()
        self._calls.resil_sweep_times(self._handle, ctypes.byref(found))
        return found

    def _error(self) -> str:
        return str(self._calls.resil_error().decode())

    def _declare(self) -> None:
        handle, number, word = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32
        signatures: dict[str, tuple[object, list[object]]] = {
            "resil_sweep_create": (handle, [handle, handle, handle]),
            "resil_sweep_destroy": (None, [handle]),
            "resil_sweep_alarm_storage": (number, [handle, ctypes.POINTER(ctypes.POINTER(AlarmBit))]),
            "resil_sweep_lanes": (ctypes.c_int32, [handle, handle]),
            "resil_sweep_lanes_differ": (ctypes.c_int32, [handle]),
            "resil_sweep_begin": (None, [handle, number, word, ctypes.c_int32]),
            "resil_sweep_add": (None, [handle, number, ctypes.POINTER(FlippedBit), number, number]),
            "resil_sweep_resume": (None, [handle, number, handle, number, ctypes.POINTER(ReportedFirst)]),
            "resil_sweep_next": (None, [handle, ctypes.POINTER(_SweepEvent)]),
            "resil_sweep_times": (None, [handle, ctypes.POINTER(SweepTimes)]),
        }
        for name, (returned, arguments) in signatures.items():
            function = getattr(self._calls, name)
            function.restype = returned
            function.argtypes = arguments


def _dead_bits(
    bits: Sequence[npt.NDArray[np.void]],
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.void]]:
    """Return where those of each end of an operation begin, and all of them."""
    first = np.cumsum([0, *map(len, bits)]).astype(np.uint64)
    return first, np.ascontiguousarray(np.concatenate([np.zeros(0, BYTE), *bits]), BYTE)


def _difference(operation: int, address: int | None, count: int) -> MemoryDifference | None:
    if not address or not count:
        return None
    raw = _bytes(address, count)
    return MemoryDifference(operation, raw["offset"].astype(np.int64), raw["mask"].astype(np.uint8))


def _bytes(address: int | None, count: int) -> npt.NDArray[np.void]:
    if not address or not count:
        return np.zeros(0, BYTE)
    return np.frombuffer(ctypes.string_at(address, count * BYTE.itemsize), BYTE)
