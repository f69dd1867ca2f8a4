# SPDX-License-Identifier: Apache-2.0
"""A waveform of what differed alone, of both runs: a value change dump (IEEE 1364-2005, 18.2), or FST."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from resil.rtl_harness.engine.fast.native.library import ModelInstance
from resil.rtl_harness.engine.trace.fault_trace import TouchedStorage
from resil.rtl_harness.engine.trace.pair_run import PairRun
from resil.rtl_harness.engine.trace.storage_bits import StorageBits, StorageWord

SIDES = ("golden", "faulty")
FST_PACKAGE = "pylibfst"
_FIRST, _LAST = 33, 126  # printable characters, of which identifiers are made
_UNIT = -9  # exponent of ten of a second: a cycle is shown as a nanosecond
_NOTE = "one time unit is a cycle of the clock"


class WaveFile(Protocol):
    """A file for waveforms: all signals are declared, scope by scope, then values come in order of time."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def enter(self, scope: str) -> None:
        """Open a scope in the current one."""
        ...

    def leave(self) -> None:
        """Close the scope that was opened last."""
        ...

    def declare(self, name: str, width: int, low: int) -> int:
        """Add a signal of bits `low` .. `low + width - 1` to the scope; return its number, from 0."""
        ...

    def at(self, time: int) -> None:
        """Say that values from here on are of this time, which never descends."""
        ...

    def value(self, signal: int, value: int) -> None:
        """Give a signal its value from the current time on."""
        ...


def written_kinds() -> tuple[str, ...]:
    """Return the endings of files that waveforms can be written to here."""
    return (".vcd", ".fst") if find_spec(FST_PACKAGE) else (".vcd",)


def write_waves(
    file: Path, run: PairRun, bits: StorageBits, touched: Sequence[TouchedStorage], end: int
) -> None:
    """Write registers, and the first word of memories, that differed; one time unit a cycle of the clock.

    Scopes `golden` and `faulty` hold the same names, dots made scopes. The time is the number of the cycle,
    as of a fault: what stands at it is what is held after the edge of that number.

    Args:
        file: Its ending is one of `written_kinds`.
        run: The two runs.
        bits: Where storage is found in them.
        touched: What differed.
        end: The last time.
    """
    words = [StorageWord(bits.numbers[one.element.path], one.word) for one in touched]
    with (FstFile if file.suffix == ".fst" else VcdFile)(file) as out:
        signals = []
        for name in SIDES:
            out.enter(name)
            signals.append([_declared(out, one) for one in touched])
            out.leave()
        out.at(0)
        if run.checkpoints:
            run.again(run.checkpoints[0], end, _WaveChanges(out, bits, words, signals))
        out.at(end)


class _WaveChanges:
    """Writes what has another value than before."""

    def __init__(
        self,
        out: WaveFile,
        bits: StorageBits,
        words: Sequence[StorageWord],
        signals: Sequence[Sequence[int]],
    ) -> None:
        self._out, self._bits, self._words, self._signals = out, bits, words, signals
        self._before: dict[int, int] = {}

    def __call__(self, golden: ModelInstance, faulty: ModelInstance, cycle: int) -> None:
        self._out.at(cycle)
        for index, word in enumerate(self._words):
            for side, instance in enumerate((golden, faulty)):
                value, signal = self._bits.value(instance, word), self._signals[side][index]
                if self._before.get(signal) != value:
                    self._before[signal] = value
                    self._out.value(signal, value)


def _declared(out: WaveFile, one: TouchedStorage) -> int:
    *scopes, name = one.element.path.split(".")
    word = f"[{one.word + one.element.first_word}]" if one.element.kind == "sram" else ""
    for scope in scopes:
        out.enter(_plain(scope))
    width = one.element.width
    low = one.element.lsb - width + 1 if one.element.ascending else one.element.lsb
    signal = out.declare(_plain(name + word), width, low)
    for _ in scopes:
        out.leave()
    return signal


def _plain(name: str) -> str:
    """Return a name without characters that viewers take for a range of bits."""
    return re.sub(r"[\[\].]+", "_", name).rstrip("_")


def _range(width: int, low: int) -> str:
    return f" [{low + width - 1}:{low}]" if width > 1 else ""


class VcdFile:
    """A value change dump."""

    def __init__(self, file: Path) -> None:
        self._out = file.open("w", encoding="ascii")
        self._signals = 0
        self._time: int | None = None
        self._due = -1
        self._out.write(f"$comment {_NOTE} $end\n$timescale 1 ns $end\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._stamp()
        self._out.close()

    def enter(self, scope: str) -> None:
        """Open a scope."""
        self._out.write(f"$scope module {scope} $end\n")

    def leave(self) -> None:
        """Close a scope."""
        self._out.write("$upscope $end\n")

    def declare(self, name: str, width: int, low: int) -> int:
        """Add a signal."""
        self._out.write(f"$var reg {width} {_identifier(self._signals)} {name}{_range(width, low)} $end\n")
        self._signals += 1
        return self._signals - 1

    def at(self, time: int) -> None:
        """Go on to a time."""
        self._due = time

    def value(self, signal: int, value: int) -> None:
        """Give a signal a value."""
        self._stamp()
        self._out.write(f"b{value:b} {_identifier(signal)}\n")

    def _stamp(self) -> None:
        """Write the time, if nothing of it has been written yet."""
        if self._time is None:
            self._out.write("$enddefinitions $end\n")
        if self._due != self._time:
            self._out.write(f"#{self._due}\n")
            self._time = self._due


class FstFile:
    """A fast signal trace, as GTKWave and Surfer read it, by the package `pylibfst`."""

    def __init__(self, file: Path) -> None:
        import pylibfst

        self._fst: Any = pylibfst.lib
        self._context: Any = self._fst.fstWriterCreate(str(file).encode(), 1)
        if self._context == pylibfst.ffi.NULL:
            raise OSError(f"{file}: cannot be written")
        self._handles: list[tuple[Any, int]] = []
        self._fst.fstWriterSetTimescale(self._context, _UNIT)
        self._fst.fstWriterSetComment(self._context, _NOTE.encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._fst.fstWriterClose(self._context)

    def enter(self, scope: str) -> None:
        """Open a scope."""
        self._fst.fstWriterSetScope(
            self._context, self._fst.FST_ST_VCD_MODULE, scope.encode(), scope.encode()
        )

    def leave(self) -> None:
        """Close a scope."""
        self._fst.fstWriterSetUpscope(self._context)

    def declare(self, name: str, width: int, low: int) -> int:
        """Add a signal."""
        kind, way = self._fst.FST_VT_VCD_REG, self._fst.FST_VD_IMPLICIT
        spelt = f"{name}{_range(width, low)}".encode()
        self._handles.append((self._fst.fstWriterCreateVar(self._context, kind, way, width, spelt, 0), width))
        return len(self._handles) - 1

    def at(self, time: int) -> None:
        """Go on to a time."""
        self._fst.fstWriterEmitTimeChange(self._context, time)

    def value(self, signal: int, value: int) -> None:
        """Give a signal a value."""
        handle, width = self._handles[signal]
        self._fst.fstWriterEmitValueChange(self._context, handle, f"{value:0{width}b}".encode())


def _identifier(number: int) -> str:
    digits = ""
    base = _LAST - _FIRST + 1
    while True:
        number, digit = divmod(number, base)
        digits += chr(_FIRST + digit)
        if not number:
            return digits
