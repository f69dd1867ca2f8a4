# SPDX-License-Identifier: Apache-2.0
"""A waveform of what differed alone, of both runs: a value change dump (IEEE 1364-2005, 18.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from resil.rtl_harness.engine.fast.native.library import ModelInstance
from resil.rtl_harness.engine.trace.fault_trace import TouchedStorage
from resil.rtl_harness.engine.trace.pair_run import PairRun
from resil.rtl_harness.engine.trace.storage_bits import StorageBits, StorageWord

SIDES = ("golden", "faulty")
_FIRST, _LAST = 33, 126  # printable characters, of which identifiers are made


def write_waves(
    file: Path, run: PairRun, bits: StorageBits, touched: Sequence[TouchedStorage], end: int
) -> None:
    """Write registers, and the first word of memories, that differed; one time unit a cycle of the clock.

    Scopes `golden` and `faulty` hold the same names, dots made scopes. The time is the number of the cycle,
    as of a fault: what stands at it is what is held after the edge of that number.
    """
    words = [StorageWord(bits.numbers[one.element.path], one.word) for one in touched]
    with file.open("w", encoding="ascii") as out:
        out.write("$comment one time unit is a cycle of the clock $end\n$timescale 1 ns $end\n")
        for side, name in enumerate(SIDES):
            out.write(f"$scope module {name} $end\n")
            for index, one in enumerate(touched):
                out.writelines(_declaration(one, _identifier(2 * index + side)))
            out.write("$upscope $end\n")
        out.write("$enddefinitions $end\n")
        if run.checkpoints:
            run.again(run.checkpoints[0], end, _WaveChanges(out, bits, words))
        out.write(f"#{end}\n")


class _WaveChanges:
    """Writes what has another value than before."""

    def __init__(self, out: TextIO, bits: StorageBits, words: Sequence[StorageWord]) -> None:
        self._out, self._bits, self._words = out, bits, words
        self._before: dict[int, int] = {}

    def __call__(self, golden: ModelInstance, faulty: ModelInstance, cycle: int) -> None:
        lines = []
        for index, word in enumerate(self._words):
            for side, instance in enumerate((golden, faulty)):
                value, place = self._bits.value(instance, word), 2 * index + side
                if self._before.get(place) != value:
                    self._before[place] = value
                    lines.append(f"b{value:b} {_identifier(place)}\n")
        if lines:
            self._out.write(f"#{cycle}\n")
            self._out.writelines(lines)


def _declaration(one: TouchedStorage, identifier: str) -> Iterator[str]:
    *scopes, name = one.element.path.split(".")
    word = f"[{one.word + one.element.first_word}]" if one.element.kind == "sram" else ""
    for scope in scopes:
        yield f"$scope module {_plain(scope)} $end\n"
    width = one.element.width
    low = one.element.lsb - width + 1 if one.element.ascending else one.element.lsb
    places = f" [{low + width - 1}:{low}]" if width > 1 else ""
    yield f"$var reg {width} {identifier} {_plain(name + word)}{places} $end\n"
    for _ in scopes:
        yield "$upscope $end\n"


def _plain(name: str) -> str:
    """Return a name without characters that viewers take for a range of bits."""
    return re.sub(r"[\[\].]+", "_", name).rstrip("_")


def _identifier(number: int) -> str:
    digits = ""
    base = _LAST - _FIRST + 1
    while True:
        number, digit = divmod(number, base)
        digits += chr(_FIRST + digit)
        if not number:
            return digits
