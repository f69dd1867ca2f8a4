# SPDX-License-Identifier: Apache-2.0
"""The simulator of faulty logic, from Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.engine.fast.native.circuit import Circuit, PackedCircuit
from resil.rtl_harness.errors import SimulationError

# Cycles after which groups of machines are looked at, and as a power of 2 how many flip-flops differ of a
# machine that has gone far from the golden run.
WINDOW, FAR = 256, 7
# Bytes that may be taken by what is kept of the run without a fault.
KEPT = 1 << 30
# Cycles of the golden run that are simulated in one call.
_STEP = 4096

OUTPUT = np.dtype([("memory", np.int32), ("word", np.uint64), ("byte", np.int32)], align=True)


class How(IntEnum):
    """How a run ended.

    SAME: as the golden run, for nothing that is observed depends on the net. UNEXCITED: likewise, for the net
    has the value at which it is held. DONE, LIMIT: finished, timed out. LOOP: a state came again, so that it
    would go on like that until the time-out. DETECTED: where an alarm reported it. UNDEFINED: it used what
    the gates leave open.
    """

    SAME = 0
    UNEXCITED = 1
    DONE = 2
    LIMIT = 3
    LOOP = 4
    DETECTED = 5
    UNDEFINED = 6


@dataclass(frozen=True)
class LogicObserved:
    """What is observed of a circuit's runs.

    Attributes:
        state: Of the compiled model, just out of reset, (bytes,).
        reset: What an asynchronous load sets of each flip-flop; -1 if that is not known, (flip_flops,).
        counted: Whether each flip-flop is compared at the end, (flip_flops,).
        memories: Whether each memory is, (memories,).
        outputs: Bytes of the outputs, as `OUTPUT`.
        done: How many of the circuit's ports say that it is done; the others are the status.
        detects: Alarms that report a detected fault, a bit for each.
        corrects: Likewise a corrected one.
    """

    state: npt.NDArray[np.uint8]
    reset: npt.NDArray[np.int8]
    counted: npt.NDArray[np.uint8]
    memories: npt.NDArray[np.uint8]
    outputs: npt.NDArray[np.void]
    done: int
    detects: int
    corrects: int


class PinKind(IntEnum):
    """What a pin is.

    NET: it drives a net, all of which is held. OPERAND: an input of a gate; what else the net feeds is not
    held. DATA: what a flip-flop takes at each edge. LOAD: the asynchronous load of a flip-flop, held where it
    does not act. FLIP_FLOP_UPSET, MEMORY_UPSET: no pin, but storage that is inverted once; see `flipped` and
    `flipped_bit`. BRIDGE, WIRED: a net has what another one has, or both have what both, or either, are
    driven to; see `dominated` and `wired`. OPEN, OPEN_DATA: an input by which a net, or a flip-flop, is not
    driven any more where it decides; see `opened` and `opened_data`. PULSE: no pin, but a net that is
    inverted in one cycle; see `pulsed`.
    STORED: no fault, but what a gate takes beside one; see `stored`.
    """

    NET = 0
    OPERAND = 1
    DATA = 2
    LOAD = 3
    FLIP_FLOP_UPSET = 4
    MEMORY_UPSET = 5
    BRIDGE = 6
    WIRED = 7
    OPEN = 8
    OPEN_DATA = 9
    STORED = 10
    PULSE = 11


# Of each pin of a large design: to name a member of its enumeration takes ten times as long as a global.
NET, OPERAND, DATA, LOAD, _, _, BRIDGE, WIRED, OPEN, OPEN_DATA, STORED, _ = PinKind


class HeldPin(NamedTuple):
    """A pin that is held.

    Attributes:
        kind: See `PinKind`.
        at: Net, row of the gates, or row of the flip-flops.
        value: 0 or 1; of an upset the number of edges before it.
        column: Of an operand: 1 a, 2 b, 3 s; of an upset the memory; of a pulse the edges before it; of a
            bridge the other net; of an open pin 4 times the row of the gate that takes it plus the operand,
            -1 for a flip-flop's own input.
    """

    kind: PinKind
    at: int
    value: int
    column: int = 0


HeldPins = tuple[HeldPin, ...]
"""A fault: pins that are held from the release of reset on, and storage that is inverted once."""


def flipped(flip_flop: int, cycle: int) -> HeldPin:
    """Return the upset of a flip-flop, by its row, in a cycle as `Fault.cycle` counts them."""
    return HeldPin(PinKind.FLIP_FLOP_UPSET, flip_flop, cycle + 1)


def flipped_bit(memory: int, bit: int, cycle: int) -> HeldPin:
    """Return the upset of a bit of a memory, counted over all bytes of its words as the model keeps them."""
    return HeldPin(PinKind.MEMORY_UPSET, bit, cycle + 1, memory)


def pulsed(net: int, cycle: int) -> HeldPin:
    """Return the pulse at a net that gates drive, in a cycle as `Fault.cycle` counts them.

    The net is inverted from when all has settled after that cycle's edge until the next one takes it.
    """
    return HeldPin(PinKind.PULSE, net, 1, cycle + 1)


def dominated(victim: int, by: int) -> HeldPins:
    """Return the bridge by which a net has what another one has, which must not depend on it along gates."""
    return (HeldPin(PinKind.BRIDGE, victim, 0, by),)


def wired(one: int, other: int, value: int) -> HeldPins:
    """Return the bridge by which two nets are 0 where one is driven to 0 (value 0), or 1 likewise (1).

    Neither must depend on the other along gates.
    """
    return HeldPin(PinKind.WIRED, one, value, other), HeldPin(PinKind.WIRED, other, value, one)


def stored(flip_flop: int, row: int, column: int) -> HeldPin:
    """Return that a gate takes what a flip-flop stores, by its row, whatever a fault makes of its net.

    A flip-flop whose clock is gated takes that again where its clock does not run.
    """
    return HeldPin(PinKind.STORED, row, 0, 4 * flip_flop + column)


def opened(net: int, row: int, column: int, value: int) -> HeldPin:
    """Return an open input of the cell that drives a net, taken by operand `column` of the gate in a row.

    Where the net would be driven to something else if the input were `value`, it keeps what it had in the
    cycle before. At the release of reset it is driven.
    """
    return HeldPin(PinKind.OPEN, net, value, 4 * row + column)


def opened_data(flip_flop: int, value: int, operand: tuple[int, int] | None = None) -> HeldPin:
    """Return an open input of a flip-flop, by its row; with `operand` that of a gate behind which it lies.

    Where it would take something else if the input were `value`, it keeps what it stores.
    """
    row, column = operand or (-1, 3)
    return HeldPin(PinKind.OPEN_DATA, flip_flop, value, 4 * row + column)


@dataclass(frozen=True, slots=True)
class LogicEnd:
    """How a run with a fault ended.

    Attributes:
        how: See `How`.
        end_cycle: Edges from the release of reset.
        status: The status word then.
        output: Raw bytes of the outputs.
        differs: Storage that is compared is not as at the golden run's end; known only of runs that are done
            with equal outputs.
        detected: Place of the first alarm that reported a detected fault, and the cycle; None if none did.
        corrected: Likewise of a corrected one.
    """

    how: How
    end_cycle: int
    status: int
    output: bytes
    differs: bool
    detected: tuple[int, int] | None
    corrected: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class LogicGolden:
    """The run without a fault.

    Attributes:
        cycles: Its length.
        status: The status word at its end.
        output: Raw bytes of the outputs.
        alarms: Alarms that rise in it, a bit for each.
    """

    cycles: int
    status: int
    output: bytes
    alarms: int


@dataclass
class LogicCounts:
    """What was done for runs so far.

    Attributes:
        evaluations: Of a gate, or of a fanout-free region, for 512 machines.
        group_cycles: Cycles of 512 machines.
        lane_cycles: Cycles of machines.
        loops: Machines whose state came again.
        moved: Machines that were put together with others that had gone far from the golden run.
    """

    evaluations: int = 0
    group_cycles: int = 0
    lane_cycles: int = 0
    loops: int = 0
    moved: int = 0


class _Observed(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("state", "reset", "counted", "memories", "outputs")),
        *((name, ctypes.c_uint64) for name in ("output_count", "done", "detects", "corrects")),
    )


_RESULT = np.dtype(
    [
        *((name, np.int32) for name in ("how", "differs")),
        *((name, np.uint64) for name in ("end_cycle", "status")),
        *((name, np.int32) for name in ("detected", "corrected")),
        *((name, np.uint64) for name in ("detected_cycle", "corrected_cycle")),
    ],
    align=True,
)
_HOW = tuple(How)
_HELD = np.dtype([(name, np.uint32) for name in ("first", "count")], align=True)
_PIN = np.dtype([(name, np.int32) for name in ("kind", "at", "column", "value")], align=True)


class LogicSimulator:
    """Simulates permanent faults of a circuit's nets.

    Args:
        library: That `build_library` made.
        circuit: The gates, with the places of their storage.
        observed: What is observed.
        kept: Bytes that may be taken by what is kept of the run without a fault. Where that is more, it is
            simulated along with each call; results do not depend on it.

    Attributes:
        counted: Whether each flip-flop is compared at the end, (flip_flops,).
        counts: What was done so far.

    Raises:
        SimulationError: If the circuit is none that it can simulate.
    """

    def __init__(self, library: Path, circuit: Circuit, observed: LogicObserved, *, kept: int = KEPT) -> None:
        self._calls = _load(library)
        self._circuit = PackedCircuit(circuit)
        self._nets = circuit.nets
        self._room = kept
        self._outputs = len(observed.outputs)
        # The state is read from where it is now: a copy, for the model goes on.
        self.counted = np.ascontiguousarray(observed.counted, np.uint8).copy()
        arrays = (observed.state, observed.reset, self.counted, observed.memories, observed.outputs)
        self._kept = [np.ascontiguousarray(array).copy() for array in arrays]
        given = _Observed(
            *(array.ctypes.data for array in self._kept),
            self._outputs,
            observed.done,
            observed.detects,
            observed.corrects,
        )
        self._handle: int | None = self._calls.logic_create(self._circuit.address, ctypes.byref(given), kept)
        if not self._handle:
            raise self._failure()
        self.counts = LogicCounts()

    def close(self) -> None:
        """Free it."""
        if self._handle:
            self._calls.logic_destroy(self._handle)
            self._handle = None

    def golden(self, limit: int) -> LogicGolden:
        """Simulate without a fault; raise SimulationError if it is not done within `limit` cycles."""
        output = np.zeros(self._outputs, np.uint8)
        found = (ctypes.c_uint64 * 3)()
        code = 1
        # Some cycles at a time, so that an interrupt ends it.
        for until in (*range(_STEP, limit, _STEP), limit):
            if code == 1:
                code = self._calls.logic_golden(self._handle, until, output.ctypes.data, found)
        if code == 1:
            raise SimulationError(
                f"the simulator of faulty logic: the gates are not done within {limit} cycles"
            )
        self._check(code)
        return LogicGolden(int(found[0]), int(found[1]), output.tobytes(), int(found[2]))

    def keeps(self, cycles: int) -> bool:
        """Return whether a golden run of so many cycles is kept, and not simulated along with each call."""
        return cycles * self._nets // 8 <= self._room

    def values(self) -> npt.NDArray[np.uint8]:
        """Return which values each net has in the golden run: bit 0 for 0, bit 1 for 1, (nets,)."""
        found = np.zeros(self._nets, np.uint8)
        self._check(self._calls.logic_values(self._handle, found.ctypes.data))
        return found

    def reaches(self) -> npt.NDArray[np.bool_]:
        """Return whether something that is observed depends on each net, (nets,)."""
        found = np.zeros(self._nets, np.uint8)
        self._check(self._calls.logic_reaches(self._handle, found.ctypes.data))
        return found.astype(bool)

    def run(
        self,
        faults: Sequence[HeldPins],
        limit: int,
        allowance: int | None = None,
        until_detection: bool = False,
        *,
        window: int = WINDOW,
        far: int = FAR,
        reached: Callable[[int], None] | None = None,
    ) -> list[LogicEnd]:
        """Return how the run with each fault ends.

        Args:
            faults: What is held.
            limit: Cycles after which a run counts as not finishing.
            allowance: Cycles for which the counter of operations may stand still; None if it may for ever.
            until_detection: Runs end where an alarm reports a detected fault.
            window: Cycles after which machines are looked at; results do not depend on it.
            far: Those that differ in 2^far flip-flops are put together; likewise.
            reached: Called again and again with the cycle that all machines have come to.

        Raises:
            SimulationError: If there is no such pin, a net is a constant, asynchronous loads never settle, or
                a bridge closes a loop of gates.
        """
        limits = (ctypes.c_uint64 * 5)(limit, allowance or 0, int(until_detection), window, far)
        counts, row = (ctypes.c_uint64 * 5)(), ctypes.c_uint64()

        def call(*given: object) -> int:
            # A window at a time, so that an interrupt ends it.
            code: int = self._calls.logic_begin(*given) or 1
            while code == 1:
                code = self._calls.logic_advance(self._handle, ctypes.byref(row), counts)
                if reached is not None:
                    reached(row.value)
            return code

        ends = self._ends(call, faults, limits)
        for name, number in zip(vars(self.counts), counts, strict=True):
            setattr(self.counts, name, getattr(self.counts, name) + int(number))
        return ends

    def judge(
        self,
        faults: Sequence[HeldPins],
        limit: int,
        allowance: int | None = None,
        until_detection: bool = False,
    ) -> list[LogicEnd]:
        """Return the same by evaluating every gate of every machine in every cycle, 63 machines at a time.

        It knows no loops, and nothing that is not simulated: such runs end as LIMIT, and as DONE. Arguments
        and errors as of `run`; it shares no code with it.
        """
        limits = (ctypes.c_uint64 * 5)(limit, allowance or 0, int(until_detection), 0, 0)
        return self._ends(self._calls.logic_judge, faults, limits)

    def _ends(self, call: Callable[..., int], faults: Sequence[HeldPins], limits: object) -> list[LogicEnd]:
        held = np.zeros(len(faults), _HELD)
        held["count"] = [len(fault) for fault in faults]
        held["first"] = np.cumsum(held["count"], dtype=np.uint32) - held["count"]
        pins = np.array([(p.kind, p.at, p.column, p.value) for fault in faults for p in fault], _PIN)
        results = np.zeros(len(faults), _RESULT)
        output = np.zeros((len(faults), self._outputs), np.uint8)
        given = (held.ctypes.data, len(faults), pins.ctypes.data, limits)
        self._check(call(self._handle, *given, results.ctypes.data, output.ctypes.data))
        size, raw = self._outputs, output.tobytes()
        rows = cast(list[tuple[int, ...]], results.tolist())
        return [_end(row, raw[at * size : (at + 1) * size]) for at, row in enumerate(rows)]

    def _check(self, code: int) -> None:
        if code:
            raise self._failure()

    def _failure(self) -> SimulationError:
        return SimulationError(f"the simulator of faulty logic: {self._calls.logic_error().decode()}")


def _end(row: tuple[int, ...], output: bytes) -> LogicEnd:
    """Return how a run ended, of a row of `_RESULT` and the bytes of its outputs."""
    how, differs, end_cycle, status, detected, corrected, detected_cycle, corrected_cycle = row
    return LogicEnd(
        _HOW[how],
        end_cycle,
        status,
        output,
        bool(differs),
        None if detected < 0 else (detected, detected_cycle),
        None if corrected < 0 else (corrected, corrected_cycle),
    )


@lru_cache
def _load(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    pointer, number, code = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int32
    signatures: dict[str, tuple[object, list[object]]] = {
        "logic_error": (ctypes.c_char_p, []),
        "logic_create": (pointer, [pointer, pointer, number]),
        "logic_destroy": (None, [pointer]),
        "logic_golden": (code, [pointer, number, pointer, pointer]),
        "logic_values": (code, [pointer, pointer]),
        "logic_reaches": (code, [pointer, pointer]),
        "logic_begin": (code, [pointer, pointer, number, *[pointer] * 4]),
        "logic_advance": (code, [pointer, pointer, pointer]),
        "logic_judge": (code, [pointer, pointer, number, *[pointer] * 4]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library
