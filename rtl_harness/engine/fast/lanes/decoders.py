# SPDX-License-Identifier: Apache-2.0
"""Writes to one place of many: words of decoded bits become one mask for each place.

A register array that is written at a place that logic chooses comes as `$bwmux` between what it holds and
data that stand at that place, under ones that stand there (`$demux`, or `$shift` by a multiple). Here the
ones of a place become one net, and the data are those before they were moved: nothing else is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from resil.rtl_harness.engine.fast.lanes.words import Bit, Bits, NetlistCell

MOST = 5  # bits of a choice
_SHIFTS = {"$shift", "$shiftx"}
_OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "$add": lambda a, b: a + b,
    "$sub": lambda a, b: a - b,
    "$mul": lambda a, b: a * b,
    "$neg": lambda a, _: -a,
    "$pos": lambda a, _: a,
}


def decoded(cells: Sequence[NetlistCell], outputs: Sequence[Bits]) -> tuple[list[NetlistCell], list[Bits]]:
    """Return cells, and nets that are looked at, in which places of arrays are masks."""
    decoders = _Decoders(cells)
    changed = [decoders.of(cell) for cell in cells]
    changed = [decoders.without_moves(cell) for cell in changed]
    made = [*changed, *decoders.made]
    return [decoders.renamed(cell) for cell in made], [decoders.new(bits) for bits in outputs]


@dataclass(frozen=True)
class _Choice:
    """A word of which `nets` say all: its value for each of theirs."""

    nets: Bits
    values: tuple[int, ...]


class _Decoders:
    def __init__(self, cells: Sequence[NetlistCell]) -> None:
        self.made: list[NetlistCell] = []
        self._drivers: dict[Bit, tuple[NetlistCell, int]] = {}
        self._next = 0
        for cell in cells:
            for i, bit in enumerate(cell.pins.get(cell.output, ()) if cell.kind != "$memwr_v2" else ()):
                self._drivers[bit] = (cell, i)
            self._next = max(
                self._next, *(bit for bits in cell.pins.values() for bit in bits if isinstance(bit, int)), 0
            )
        self._masks: dict[tuple[Bits, int], Bit] = {}
        self._places: dict[Bit, tuple[Bit, Bit]] = {}  # a moved bit: where it stands, what it is there
        self._names: dict[Bit, Bit] = {}

    def of(self, cell: NetlistCell) -> NetlistCell:
        """Note what the bits of a cell are that moves its operand to a place."""
        places = self._moved(cell)
        if places is None:
            return cell
        for net, place in zip(cell.pins["Y"], places, strict=True):
            if place is None or place[1] == "0":
                self._names[net] = "0"
            elif place[1] == "1":
                self._names[net] = place[0]
            else:
                self._places[net] = place
        return cell

    def without_moves(self, cell: NetlistCell) -> NetlistCell:
        """Return a choice by bits that takes data from where they stood before they were moved."""
        if cell.kind != "$bwmux":
            return cell
        data = []
        for old, new, select, net in zip(*(cell.pins[p] for p in ("A", "B", "S", "Y")), strict=True):
            here = self._name(select)
            at = self._places.get(new)
            data.append(at[1] if at and at[0] == here else new)
            if here == "0":
                self._names[net] = old
        return replace(cell, pins={**cell.pins, "B": tuple(data)})

    def renamed(self, cell: NetlistCell) -> NetlistCell:
        """Return a cell that reads masks instead of decoded bits."""
        pins = {p: bits if p == cell.output else self.new(bits) for p, bits in cell.pins.items()}
        return replace(cell, pins=pins)

    def new(self, bits: Iterable[Bit]) -> Bits:
        """Return what nets are called now."""
        return tuple(self._name(bit) for bit in bits)

    def _name(self, bit: Bit) -> Bit:
        while bit in self._names:
            bit = self._names[bit]
        return bit

    def _moved(self, cell: NetlistCell) -> list[tuple[Bit, Bit] | None] | None:
        """Return for each bit of the output the mask of its place and the bit that comes there."""
        if cell.kind == "$demux":
            if not set(cell.pins["A"]) <= {"0", "1"} or len(cell.pins["S"]) > MOST:
                return None
            width = len(cell.pins["A"])
            return [
                (self._mask(cell.pins["S"], i // width), cell.pins["A"][i % width])
                for i in range(len(cell.pins["Y"]))
            ]
        if cell.kind not in _SHIFTS or cell.number("A_SIGNED"):
            return None
        choice = self._choice(cell.pins["B"], bool(cell.number("B_SIGNED")))
        if choice is None or not choice.nets:
            return None
        found: list[tuple[Bit, Bit] | None] = [None] * len(cell.pins["Y"])
        for chosen, amount in enumerate(choice.values):
            for i in range(len(found)):
                if 0 <= i + amount < len(cell.pins["A"]):
                    if found[i]:
                        return None
                    found[i] = (self._mask(choice.nets, chosen), cell.pins["A"][i + amount])
        return found

    def _mask(self, nets: Bits, number: int) -> Bit:
        """Return the net that is 1 where nets are a number."""
        key = nets, number
        if nets == (nets[0],) and number:
            return nets[0]
        if key not in self._masks:
            self._next += 1
            self._masks[key] = self._next
            constant = tuple("01"[number >> i & 1] for i in range(len(nets)))
            self.made.append(
                NetlistCell(
                    f"decoder {self._next}", "$eq", {"A": nets, "B": constant, "Y": (self._next,)}, {}
                )
            )
        return self._masks[key]

    def _choice(self, bits: Bits, signed: bool) -> _Choice | None:
        nets = tuple(dict.fromkeys(bit for bit in bits if isinstance(bit, int)))
        if len(nets) <= MOST:
            return _Choice(
                nets, tuple(_number(bits, nets, chosen, signed) for chosen in range(1 << len(nets)))
            )
        width = len(bits)
        while bits[width - 1] == "0":
            width -= 1
        cell, first = self._drivers.get(bits[0], (None, 0))
        if cell is None or first or cell.kind not in _OPERATIONS or cell.pins["Y"][:width] != bits[:width]:
            return None
        operands = []
        both = all(cell.number(f"{p}_SIGNED") for p in ("A", "B") if p in cell.pins)
        for port in ("A", "B"):
            found = self._choice(cell.pins[port], both) if port in cell.pins else _Choice((), (0,))
            if found is None:
                return None
            operands.append(found)
        a, b = operands
        if a.nets and b.nets and a.nets != b.nets:
            return None
        count = max(len(a.values), len(b.values))
        operation = _OPERATIONS[cell.kind]
        values = [operation(a.values[i % len(a.values)], b.values[i % len(b.values)]) for i in range(count)]
        with_sign = signed and width == len(bits)
        return _Choice(a.nets or b.nets, tuple(_cut(value, width, with_sign) for value in values))


def _number(bits: Bits, nets: Bits, chosen: int, signed: bool) -> int:
    known = {net: chosen >> i & 1 for i, net in enumerate(nets)}
    value = sum((known[bit] if isinstance(bit, int) else int(bit == "1")) << i for i, bit in enumerate(bits))
    return _cut(value, len(bits), signed)


def _cut(value: int, width: int, signed: bool) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if signed and value >> (width - 1) else value
