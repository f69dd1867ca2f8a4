# SPDX-License-Identifier: Apache-2.0
"""Fault injection into a compiled model: copy the golden state, flip, run on, stop when it is rejoined."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum, IntFlag

from resil.rtl_harness.engine.fast.native.library import FirstRise, ModelInstance, Stop
from resil.rtl_harness.engine.fast.native.storage import StoragePlace
from resil.rtl_harness.errors import SimulationError


class Shortcut(IntFlag):
    """Ways to know the end of an injection before it is reached, all of them exact.

    SAME_CYCLE: the state equals the golden run's in the same cycle. SHIFTED_CYCLE: it equals the golden run's
    in another cycle, so that the same end comes later. REPETITION: it equals an earlier state of the same
    injection, which therefore never ends. FORESIGHT: as long as little differs from the golden run, what
    becomes of it is evaluated along the gates of the design. LEAVE: where an operation ends and only memory
    differs, the workload's tail finishes the run. SEEN: of injections that come to the same state one goes
    on for all.
    """

    NONE = 0
    SAME_CYCLE = 1
    SHIFTED_CYCLE = 2
    REPETITION = 4
    FORESIGHT = 8
    LEAVE = 16
    SEEN = 32
    ALL = 63


class Ending(IntEnum):
    """How an injection ended."""

    BROKEN = -1
    NOT_APPLIED = 0
    DONE = 1
    LIMIT = 2
    REJOINED = 3
    FINISH = 4
    PAUSED = 5
    DETECTED = 6


@dataclass(frozen=True, slots=True)
class Flip:
    """A bit to invert: of a word of a storage element."""

    storage: StoragePlace
    word: int
    bit: int


class StatePiece(ctypes.Structure):
    """Bytes of the state that hold storage."""

    _fields_ = (("offset", ctypes.c_uint64), ("bytes", ctypes.c_uint64))


class FlippedBit(ctypes.Structure):
    """A bit of a byte of the state."""

    _fields_ = (("offset", ctypes.c_uint64), ("mask", ctypes.c_uint32))


class HeldBit(ctypes.Structure):
    """A bit of a byte of the state and the value that it is held at."""

    _fields_ = (("offset", ctypes.c_uint64), ("mask", ctypes.c_uint32), ("value", ctypes.c_uint32))


class OperationBit(ctypes.Structure):
    """A bit of a byte of the state, and of which rank it is in the counter of operations."""

    _fields_ = (("offset", ctypes.c_uint64), ("mask", ctypes.c_uint32), ("place", ctypes.c_uint32))


class AlarmBit(ctypes.Structure):
    """A bit of a byte of the state that does nothing but keep alarms up.

    Attributes:
        offset: Of the byte.
        mask: The bit.
        golden: What it is throughout the golden run: `mask` or 0.
        alarms: That it may raise: bit i is the target's alarm number i.
    """

    _fields_ = (
        ("offset", ctypes.c_uint64),
        ("mask", ctypes.c_uint32),
        ("golden", ctypes.c_uint32),
        ("alarms", ctypes.c_uint64),
    )
    offset: int
    mask: int
    golden: int
    alarms: int


class ReportedFirst(ctypes.Structure):
    """The first rises of each kind of alarm among those that the golden run does not raise."""

    _fields_ = (("detected", FirstRise), ("corrected", FirstRise))
    detected: FirstRise
    corrected: FirstRise


class InjectionResult(ctypes.Structure):
    """How an injection ended.

    Attributes:
        stop: An `Ending`.
        shift: Cycles by which a run that rejoined is behind the golden one.
        end_cycle: Active clock edges from reset to the end.
        simulated: Cycles that were simulated after the flip.
        moved: Edges after which the counter of operations moved last.
        reported: Alarms that rose until then.
        spent: Of a run that rejoined: alarms of it are still up.
    """

    _fields_ = (
        ("stop", ctypes.c_int32),
        ("shift", ctypes.c_int64),
        ("end_cycle", ctypes.c_uint64),
        ("simulated", ctypes.c_uint64),
        ("moved", ctypes.c_uint64),
        ("reported", ReportedFirst),
        ("spent", ctypes.c_int32),
    )
    stop: int
    shift: int
    end_cycle: int
    simulated: int
    moved: int
    reported: ReportedFirst
    spent: int


class Injector:
    """Injections into copies of one golden run.

    Args:
        origin: An instance that has just come out of reset; it stays as it is.
        registers: All flip-flops of the design and its bench. Whatever decides the future must be among these
            and the memories: equality of both counts as equality of state.
        memories: All memories of the design and its bench.
        large: Those of them that the origin keeps (see `ModelInstance.keep`); what is written of them is
            followed, so that nothing takes a time in proportion to them.
        detects: Alarms, by their place in the target's order, that report a detected fault.
        corrects: Likewise of a corrected one.
    """

    def __init__(
        self,
        origin: ModelInstance,
        registers: Sequence[StoragePlace],
        memories: Sequence[StoragePlace],
        detects: Iterable[int] = (),
        corrects: Iterable[int] = (),
        large: Sequence[StoragePlace] = (),
    ) -> None:
        self._calls = origin.library.calls
        self._declare()
        self.origin = origin
        self._ends_at_detection = False
        self.cursor = origin.library.create()
        self.faulty = origin.library.create()
        pieces = (_pieces(registers), _pieces([m for m in memories if m not in large]), _pieces(large))
        handles = (origin.handle, self.cursor.handle, self.faulty.handle)
        create = self._calls.resil_injector_create
        kinds = (sum(1 << place for place in places) for places in (detects, corrects))
        counted = (part for own in pieces for part in (own, len(own)))
        self._handle: int | None = create(*handles, *counted, *kinds)
        if not self._handle:
            raise SimulationError(f"the injector could not start: {self._error()}", "start")

    def close(self) -> None:
        """Free the injector and its two instances."""
        if self._handle:
            self._calls.resil_injector_destroy(self._handle)
            self._handle = None
            self.cursor.close()
            self.faulty.close()

    def golden(self, limit: int, *, several: bool = False) -> Stop:
        """Run without a fault for at most `limit` cycles and remember it; `cursor` then stands at the end.

        With `several`, injections pause where the first inference has ended; see `resume`.
        """
        code = self._calls.resil_injector_golden(self._handle, limit, several)
        if code < 0:
            raise SimulationError(
                f"the golden run failed after {self.cursor.cycle} cycles: {self._error()}", "golden"
            )
        return Stop(code)

    def inject(self, flips: Sequence[Flip], cycle: int, limit: int, shortcuts: Shortcut) -> InjectionResult:
        """Invert bits in `cycle` and run on; unless the golden run was rejoined, `faulty` stands at the end.

        Injections in the order of their cycles are fast; going back costs a run from reset.

        Raises:
            SimulationError: If the design stops itself.
        """
        array = flipped_bits(flips)
        result = InjectionResult()
        self._calls.resil_injector_inject(
            self._handle, array, len(flips), cycle, limit, int(shortcuts), ctypes.byref(result)
        )
        if result.stop == Ending.BROKEN:
            raise SimulationError(self._error())
        return result

    def allow(self, cycles: int) -> None:
        """Let runs end, as at their limit, in which the counter of operations stands still for so long.

        To be called after `golden` and before any injection.
        """
        self._calls.resil_injector_allow(self._handle, cycles)

    def end_at_detection(self) -> None:
        """Let runs end where an alarm rises that reports a detected fault.

        Those of the golden run do not count. To be called before any injection, not with `several`.
        """
        self._ends_at_detection = True
        self._calls.resil_injector_end_at_detection(self._handle, True)

    @contextmanager
    def whole_runs(self) -> Iterator[None]:
        """Let runs go on to their ends meanwhile."""
        self._calls.resil_injector_end_at_detection(self._handle, False)
        try:
            yield
        finally:
            self._calls.resil_injector_end_at_detection(self._handle, self._ends_at_detection)

    def count_operations(self, bits: Sequence[OperationBit]) -> None:
        """Say which bits of the state count operations: sweeps must know if `allow` was called."""
        array = (OperationBit * len(bits))(*bits)
        if self._calls.resil_injector_operation_bits(self._handle, array, len(bits)):
            raise SimulationError(self._error())

    def spend(self, bits: Sequence[AlarmBit]) -> None:
        """Let runs rejoin the golden one that differ in nothing but these, where they raise no alarm anew.

        To be called after `golden`, not with `several`.
        """
        array = (AlarmBit * len(bits))(*bits)
        if self._calls.resil_injector_spend(self._handle, array, len(bits)):
            raise SimulationError(self._error())

    @property
    def pause(self) -> int:
        """Edges after which the first inference of the golden run had ended; 0 if runs do not pause."""
        return int(self._calls.resil_injector_pause(self._handle))

    def seek(self, edges: int) -> ModelInstance:
        """Return an instance in the golden state after so many edges, until the next call of anything."""
        if self._calls.resil_injector_seek(self._handle, edges):
            raise SimulationError(self._error())
        return self.cursor

    def resume(self, paused: InjectionResult, limit: int, shortcuts: Shortcut) -> None:
        """Go on with the run that has just paused, for at most `limit` cycles; `paused` becomes its result.

        Raises:
            SimulationError: If the design stops itself.
        """
        self._calls.resil_injector_resume(self._handle, limit, int(shortcuts), ctypes.byref(paused))
        if paused.stop == Ending.BROKEN:
            raise SimulationError(self._error())

    def watch(self, storage: Sequence[StoragePlace]) -> None:
        """Note when each bit of `storage` has which value in the golden run, so that it can be held."""
        pieces = _pieces(storage)
        if self._calls.resil_injector_watch(self._handle, pieces, len(pieces)):
            raise SimulationError(self._error())

    def first_effect(self, bits: Sequence[Flip], value: int) -> int:
        """Return after how many edges the golden run first has another value in one of these watched bits."""
        held = held_bits(bits, value)
        return int(self._calls.resil_injector_first_effect(self._handle, held, len(held)))

    def hold(self, bits: Sequence[Flip], value: int, limit: int, shortcuts: Shortcut) -> InjectionResult:
        """Hold bits, all at `value`, from the release of reset on; else as `inject`.

        They are set after every edge of the clock once the design has settled, which then settles anew. With
        shortcuts they must be among those that were watched.

        Raises:
            SimulationError: If the design stops itself.
        """
        held, result = held_bits(bits, value), InjectionResult()
        self._calls.resil_injector_hold(
            self._handle, held, len(held), limit, int(shortcuts), ctypes.byref(result)
        )
        if result.stop == Ending.BROKEN:
            raise SimulationError(self._error())
        return result

    def recall_memories(self, edges: int) -> ModelInstance:
        """Return an instance with the golden run's memories after `edges` edges; registers aside."""
        if self._calls.resil_injector_recall(self._handle, edges):
            raise SimulationError(self._error())
        return self.faulty

    @property
    def handle(self) -> int | None:
        """Address of the C++ object."""
        return self._handle

    def bound(self, kept: int, segment: int) -> None:
        """Keep less of what the memories held in the golden run; to be called before `golden`.

        Args:
            kept: Bytes of single changes, and of those from checkpoint to checkpoint. What is more is
                simulated again from a checkpoint when it is asked for.
            segment: Cycles from checkpoint to checkpoint, at first.
        """
        self._calls.resil_injector_bound(self._handle, kept, segment)

    @property
    def recalled(self) -> int:
        """How often a part of the golden run was simulated again."""
        return int(self._calls.resil_injector_recalled(self._handle))

    @property
    def remembered_bytes(self) -> int:
        """Memory that the golden run takes."""
        return int(self._calls.resil_injector_bytes(self._handle))

    def _error(self) -> str:
        return str(self._calls.resil_error().decode())

    def _declare(self) -> None:
        handle, number, word = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32
        pieces, flips = ctypes.POINTER(StatePiece), ctypes.POINTER(FlippedBit)
        holds = ctypes.POINTER(HeldBit)
        result = ctypes.POINTER(InjectionResult)
        signatures: dict[str, tuple[object, list[object]]] = {
            "resil_injector_create": (
                handle,
                [handle, handle, handle, *(pieces, number) * 3, number, number],
            ),
            "resil_injector_destroy": (None, [handle]),
            "resil_injector_golden": (ctypes.c_int32, [handle, number, ctypes.c_int32]),
            "resil_injector_allow": (None, [handle, number]),
            "resil_injector_end_at_detection": (None, [handle, ctypes.c_int32]),
            "resil_injector_operation_bits": (
                ctypes.c_int32,
                [handle, ctypes.POINTER(OperationBit), number],
            ),
            "resil_injector_spend": (ctypes.c_int32, [handle, ctypes.POINTER(AlarmBit), number]),
            "resil_injector_pause": (number, [handle]),
            "resil_injector_seek": (ctypes.c_int32, [handle, number]),
            "resil_injector_resume": (None, [handle, number, word, result]),
            "resil_injector_inject": (None, [handle, flips, number, number, number, word, result]),
            "resil_injector_watch": (ctypes.c_int32, [handle, pieces, number]),
            "resil_injector_first_effect": (number, [handle, holds, number]),
            "resil_injector_hold": (None, [handle, holds, number, number, word, result]),
            "resil_injector_recall": (ctypes.c_int32, [handle, number]),
            "resil_injector_bound": (None, [handle, number, number]),
            "resil_injector_recalled": (number, [handle]),
            "resil_injector_bytes": (number, [handle]),
        }
        for name, (returned, arguments) in signatures.items():
            function = getattr(self._calls, name)
            function.restype = returned
            function.argtypes = arguments


def first_rise(found: FirstRise) -> tuple[int, int] | None:
    """Return place and cycle, None if no alarm rose."""
    return None if found.alarm < 0 else (found.alarm, found.cycle)


def flipped_bits(flips: Sequence[Flip]) -> ctypes.Array[FlippedBit]:
    """Return bits to invert, as the driver takes them."""
    return (FlippedBit * len(flips))(*(FlippedBit(_offset(flip), 1 << flip.bit % 8) for flip in flips))


def held_bits(bits: Sequence[Flip], value: int) -> ctypes.Array[HeldBit]:
    """Return bits that are held at a value, as the driver takes them."""
    masks = [1 << bit.bit % 8 for bit in bits]
    return (HeldBit * len(bits))(
        *(HeldBit(_offset(bit), mask, mask * value) for bit, mask in zip(bits, masks, strict=True))
    )


def _offset(flip: Flip) -> int:
    return flip.storage.offset + flip.word * flip.storage.entry_bytes + flip.bit // 8


def _pieces(storage: Sequence[StoragePlace]) -> ctypes.Array[StatePiece]:
    """Return the byte ranges of `storage`, in the order of addresses, without repetitions."""
    ranges: list[tuple[int, int]] = []
    for offset, size in sorted({(s.offset, s.size) for s in storage}):
        if ranges and ranges[-1][0] + ranges[-1][1] == offset:
            ranges[-1] = (ranges[-1][0], ranges[-1][1] + size)
        else:
            ranges.append((offset, size))
    return (StatePiece * len(ranges))(*(StatePiece(*r) for r in ranges))
