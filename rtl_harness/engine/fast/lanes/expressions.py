# SPDX-License-Identifier: Apache-2.0
"""Operands as C++ on words of 32 machines (`lanes.h`)."""

from __future__ import annotations

from collections.abc import Sequence

from resil.rtl_harness.engine.fast.lanes.words import WIDEST, Bit, OperandRun, Piece, Words

LANE = "l"  # of loops over machines
LIVE = "live"  # the machines in which the result of a statement matters


def element_bits(width: int) -> int:
    """Return the size of the elements that hold so many bits."""
    return next(size for size in (8, 16, 32, 64) if width <= size)


def type_of(width: int) -> str:
    """Return the C++ type of a piece."""
    return "M" if width == 1 else f"V{element_bits(width)}"


def name_of(piece: Piece) -> str:
    """Return a piece's name among the state."""
    return f"s.p{piece.number}"


def literal(value: int) -> str:
    """Return a constant of at most 64 bits."""
    return f"{value:#x}u" if value < 1 << 31 else f"{value:#x}ull"


def ones(width: int) -> int:
    """Return so many bits set."""
    return (1 << width) - 1


class Writer:
    """Writes expressions, and notes which pieces they read.

    Attributes:
        reads: Pieces read since the last `fresh`.
    """

    def __init__(self, words: Words) -> None:
        self._words = words
        self.reads: set[Piece] = set()

    def fresh(self) -> None:
        """Forget what was read."""
        self.reads = set()

    def mask(self, bit: Bit) -> str:
        """Return one net as a mask."""
        if isinstance(bit, str):
            return "~M{0}" if bit == "1" else "M{0}"
        piece, first = self._words.home(bit)
        return self._bit(piece, first)

    def _bit(self, piece: Piece, first: int) -> str:
        self.reads.add(piece)
        if piece.width == 1:
            return name_of(piece)
        return f"test({name_of(piece)}, {literal(1 << first)})"

    def any_of(self, bits: Sequence[Bit]) -> str:
        """Return a mask of the machines in which one of the nets is 1."""
        parts = []
        for run in self._words.runs(bits):
            if run.piece is None:
                if run.value:
                    return "~M{0}"
            elif run.piece.width == 1 or run.repeated:
                parts.append(self._bit(run.piece, run.first))
            else:
                self.reads.add(run.piece)
                parts.append(f"test({name_of(run.piece)}, {literal(ones(run.width) << run.first)})")
        return "(" + " | ".join(parts or ["M{0}"]) + ")"

    def all_of(self, bits: Sequence[Bit]) -> str:
        """Return a mask of the machines in which all of the nets are 1."""
        parts = []
        for run in self._words.runs(bits):
            if run.piece is None:
                if run.value != ones(run.width):
                    return "M{0}"
            elif run.piece.width == 1 or run.repeated or run.width == 1:
                parts.append(self._bit(run.piece, run.first))
            else:
                self.reads.add(run.piece)
                kind = type_of(run.piece.width)
                wanted = ones(run.width) << run.first
                left = name_of(run.piece)
                if run.width != run.piece.width:
                    left = f"{left} & all<{kind}>({literal(wanted)})"
                parts.append(f"equal({left}, all<{kind}>({literal(wanted)}))")
        return "(" + " & ".join(parts or ["~M{0}"]) + ")"

    def word(self, bits: Sequence[Bit], size: int, signed: bool = False) -> str:
        """Return nets as elements of `size` bits: filled up with zeros or the highest, or cut."""
        kind = f"V{size}"
        bits = bits[:size]
        parts = []
        for run in self._words.runs(bits):
            text = self._run(run, kind, size)
            if text:
                parts.append(text)
        text = " | ".join(parts) if parts else f"all<{kind}>(0)"
        if signed and len(bits) < size and bits:
            return f"extended<{len(bits)}>({text})"
        return f"({text})"

    def _run(self, run: OperandRun, kind: str, size: int) -> str:
        if run.piece is None:
            return f"all<{kind}>({literal(run.value << run.at)})" if run.value else ""
        if run.repeated or run.piece.width == 1:
            bit = self._bit(run.piece, run.first)
            return f"chosen<{kind}>({bit}, {literal(ones(run.width) << run.at)})"
        self.reads.add(run.piece)
        own = element_bits(run.piece.width)
        text = name_of(run.piece)
        if run.first and own >= size:
            text = f"({text} >> {run.first})"
        text = text if own == size else f"as<{kind}>({text})"
        if run.first and own < size:
            text = f"({text} >> {run.first})"
        if run.first + run.width < run.piece.width and run.at + run.width < size:
            text = f"({text} & all<{kind}>({literal(ones(run.width))}))"
        return f"({text} << {run.at})" if run.at else text

    def lane(self, bits: Sequence[Bit], signed: bool = False) -> str:
        """Return nets of machine `l` as a number of 128 bits."""
        parts = []
        for run in self._words.runs(bits[:128]):
            if run.piece is None:
                for at in range(0, run.width, WIDEST):
                    part = run.value >> at & ones(WIDEST)
                    if part:
                        parts.append(f"U128{{{literal(part)}}} << {run.at + at}")
                continue
            parts.append(f"U128{{{self._lane_run(run)}}} << {run.at}")
            if run.repeated and run.width > WIDEST:
                rest = OperandRun(run.at + WIDEST, run.width - WIDEST, run.piece, run.first, True)
                parts.append(f"U128{{{self._lane_run(rest)}}} << {rest.at}")
        text = "(" + " | ".join(f"({p})" for p in parts or ["U128{0}"]) + ")"
        if signed and len(bits) < 128:
            unused = 128 - len(bits)
            return f"static_cast<U128>(static_cast<S128>({text} << {unused}) >> {unused})"
        return text

    def _lane_run(self, run: OperandRun) -> str:
        assert run.piece is not None
        self.reads.add(run.piece)
        width = min(run.width, WIDEST)
        if run.piece.width == 1:
            bit = f"({name_of(run.piece)} >> {LANE} & 1)"
        else:
            bit = f"(elements({name_of(run.piece)})[{LANE}] >> {run.first})"
        if run.repeated:
            return f"(({bit} & 1) ? {literal(ones(width))} : 0)"
        return f"static_cast<uint64_t>({bit} & {literal(ones(width))})"

    def limbs(self, bits: Sequence[Bit], signed: bool = False, filled: int = 0) -> str:
        """Return nets of machine `l` as a list of limbs of 64 bits for an array."""
        width = max(len(bits), filled)
        if signed:
            bits = [*bits, *[bits[-1]] * (width - len(bits))]
        return ", ".join(
            f"static_cast<uint64_t>({self.lane(bits[i : i + WIDEST])})" for i in range(0, width, WIDEST)
        )
