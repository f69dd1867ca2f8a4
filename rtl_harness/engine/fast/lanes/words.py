# SPDX-License-Identifier: Apache-2.0
"""The word-level netlist in pieces: runs of bits that are always used together, at most 64 of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Bit = int | str
Bits = tuple[Bit, ...]

WIDEST = 64
FLIP_FLOPS = {"$dff", "$dffe", "$adff", "$adffe", "$aldff", "$aldffe"}
BITWISE = {"$and", "$or", "$xor", "$xnor", "$not", "$mux", "$bwmux", "$pos", "$buf"}
SELECTED = {"$pmux", "$bmux", "$demux"}
IGNORED = {"$scopeinfo", "$meminit", "$meminit_v2"}


class UnsupportedLanesError(Exception):
    """The netlist has something that lanes do not cover."""


@dataclass(frozen=True)
class NetlistCell:
    """A cell of the netlist.

    Attributes:
        name: Its name there.
        kind: Its type, `$mux` say.
        pins: Nets of each port, least significant first.
        parameters: As Yosys writes them, strings of bits.
    """

    name: str
    kind: str
    pins: Mapping[str, Bits]
    parameters: Mapping[str, str]

    def number(self, key: str) -> int:
        """Return a parameter as a number; 0 if it has none of this name."""
        return int(self.parameters.get(key, "0"), 2)

    @property
    def output(self) -> str:
        """Name of the port that the cell drives."""
        return "Q" if self.kind in FLIP_FLOPS else "DATA" if self.kind == "$memrd_v2" else "Y"


@dataclass(frozen=True)
class Piece:
    """Bits of one cell's output.

    Attributes:
        number: Of all pieces.
        cell: Index of the cell; -1 of an input of the top.
        first: The lowest of the bits in the output.
        width: How many.
    """

    number: int
    cell: int
    first: int
    width: int


@dataclass(frozen=True)
class OperandRun:
    """Neighbouring bits of an operand that come from one place.

    Attributes:
        at: Position in the operand.
        width: Bits.
        piece: Where they come from; None if they are constant.
        first: The lowest in the piece.
        repeated: All of them are that one bit.
        value: If they are constant.
    """

    at: int
    width: int
    piece: Piece | None
    first: int = 0
    repeated: bool = False
    value: int = 0


@dataclass
class Words:
    """Cells with their outputs divided.

    Attributes:
        cells: All cells that compute or hold something.
        pieces: Of all cells.
        of_cell: The pieces of each cell, lowest bits first.
        inputs: Pieces of the top's inputs by name.
    """

    cells: list[NetlistCell]
    pieces: list[Piece] = field(default_factory=list)
    of_cell: dict[int, list[Piece]] = field(default_factory=dict)
    inputs: dict[str, list[Piece]] = field(default_factory=dict)
    _home: dict[int, tuple[Piece, int]] = field(default_factory=dict)
    _last: int = 0

    def runs(self, bits: Sequence[Bit]) -> list[OperandRun]:
        """Return an operand as runs."""
        found: list[OperandRun] = []
        position = 0
        while position < len(bits):
            bit = bits[position]
            stop = position + 1
            if isinstance(bit, str):
                value = 0
                while stop < len(bits) and isinstance(bits[stop], str):
                    stop += 1
                for i in range(position, stop):
                    value |= (bits[i] == "1") << (i - position)
                found.append(OperandRun(position, stop - position, None, value=value))
            elif stop < len(bits) and bits[stop] == bit:
                while stop < len(bits) and bits[stop] == bit:
                    stop += 1
                piece, first = self.home(bit)
                found.append(OperandRun(position, stop - position, piece, first, repeated=True))
            else:
                piece, first = self.home(bit)
                while stop < len(bits) and isinstance(bits[stop], int):
                    other, at = self.home(bits[stop])
                    if other is not piece or at != first + stop - position:
                        break
                    stop += 1
                found.append(OperandRun(position, stop - position, piece, first))
            position = stop
        return found

    def home(self, bit: Bit) -> tuple[Piece, int]:
        """Return the piece that holds a net, and the position in it."""
        assert isinstance(bit, int)
        try:
            return self._home[bit]
        except KeyError:
            raise UnsupportedLanesError(f"net {bit} is driven by nothing") from None

    def holder(self, bit: Bit) -> tuple[Piece, int] | None:
        """Return the piece that holds a net, and the position in it; None of a constant or an unknown net."""
        return self._home.get(bit) if isinstance(bit, int) else None

    def synthetic(self) -> int:
        """Add a net that no cell drives."""
        net = self._new()
        piece = Piece(len(self.pieces), -2, 0, 1)
        self.pieces.append(piece)
        self._home[net] = (piece, 0)
        return net

    def _new(self) -> int:
        self._last -= 1
        return self._last

    def add_cell(self, kind: str, pins: Mapping[str, Bits], width: int) -> Bits:
        """Add a cell whose output is one piece; return its nets."""
        nets = tuple(self._new() for _ in range(width))
        number = len(self.cells)
        self.cells.append(NetlistCell(f"{kind} {number}", kind, {**pins, "Y": nets}, {}))
        self.of_cell[number] = [self.add(number, 0, nets)]
        return nets

    def nets(self, piece: Piece) -> Bits:
        """Return the nets of a piece of a cell's output."""
        cell = self.cells[piece.cell]
        return cell.pins[cell.output][piece.first : piece.first + piece.width]

    def add(self, cell: int, first: int, bits: Sequence[Bit]) -> Piece:
        """Add a piece with these nets."""
        piece = Piece(len(self.pieces), cell, first, len(bits))
        self.pieces.append(piece)
        for position, bit in enumerate(bits):
            assert isinstance(bit, int)
            self._home[bit] = (piece, position)
        return piece


def read_cells(module: Mapping[str, Any]) -> list[NetlistCell]:
    """Return the cells of a flattened module that compute or hold something.

    Args:
        module: As `write_json` wrote it.
    """
    return [
        NetlistCell(name, c["type"], {p: tuple(b) for p, b in c["connections"].items()}, c["parameters"])
        for name, c in module["cells"].items()
        if c["type"] not in IGNORED
    ]


def divide(cells: list[NetlistCell], inputs: Mapping[str, Bits], looked: Iterable[Bits]) -> Words:
    """Return cells in pieces.

    Two neighbouring bits stay together if an operation needs them in one word, directly or behind
    multiplexers, flip-flops and bitwise operations, which are divided themselves.

    Args:
        cells: All of a design.
        inputs: The top's, by name.
        looked: Nets of its ports that are looked at.

    Raises:
        UnsupportedError: If there are cells of unknown kinds.
    """
    words = Words(cells)
    driver: dict[int, tuple[int, int]] = {}
    for number, cell in enumerate(cells):
        if cell.kind == "$memwr_v2":
            continue
        if cell.output not in cell.pins:
            raise UnsupportedLanesError(f"{cell.name} is a {cell.kind}")
        for position, bit in enumerate(cell.pins[cell.output]):
            assert isinstance(bit, int)
            driver[bit] = (number, position)
    joined = _joined(cells, driver, looked)
    for name, bits in inputs.items():
        words.inputs[name] = [words.add(-1, i, [bit]) for i, bit in enumerate(bits)]
    for number, cell in enumerate(cells):
        if cell.kind == "$memwr_v2":
            continue
        bits = cell.pins[cell.output]
        whole = not _divisible(cell)
        pieces = []
        begin = 0
        for end in range(1, len(bits) + 1):
            if end == len(bits) or end - begin == WIDEST or not (whole or (number, end) in joined):
                pieces.append(words.add(number, begin, bits[begin:end]))
                begin = end
        words.of_cell[number] = pieces
    return words


def _divisible(cell: NetlistCell) -> bool:
    if cell.kind in BITWISE:
        width = len(cell.pins["Y"])
        return all(len(cell.pins[p]) == width for p in ("A", "B") if p in cell.pins)
    return cell.kind in FLIP_FLOPS | SELECTED


def sources(cell: NetlistCell) -> Iterator[tuple[Bits, int]]:
    """Yield each operand that a divisible cell takes bit by bit, and where in the output it begins."""
    width = len(cell.pins[cell.output])
    if cell.kind in FLIP_FLOPS:
        yield cell.pins["D"], 0
    elif cell.kind == "$pmux":
        yield cell.pins["A"], 0
        for i in range(0, len(cell.pins["B"]), width):
            yield cell.pins["B"][i : i + width], 0
    elif cell.kind == "$bmux":
        for i in range(0, len(cell.pins["A"]), width):
            yield cell.pins["A"][i : i + width], 0
    elif cell.kind == "$demux":
        for i in range(0, width, len(cell.pins["A"])):
            yield cell.pins["A"], i
    else:
        for port in ("A", "B", *(["S"] if cell.kind == "$bwmux" else [])):
            if port in cell.pins:
                yield cell.pins[port], 0


def _joined(
    cells: Sequence[NetlistCell], driver: Mapping[int, tuple[int, int]], outputs: Iterable[Bits]
) -> set[tuple[int, int]]:
    """Return the positions (cell, i) where bits i - 1 and i of a cell's output stay together."""
    joined: set[tuple[int, int]] = set()
    waiting: list[tuple[int, int]] = []

    def join(low: Bit, high: Bit) -> None:
        if isinstance(low, str) or isinstance(high, str):
            return
        one, other = driver.get(low), driver.get(high)
        if one and other and one[0] == other[0] and other[1] == one[1] + 1 and other not in joined:
            joined.add(other)
            waiting.append(other)

    def join_all(bits: Bits) -> None:
        for low, high in pairwise(bits):
            join(low, high)

    for cell in cells:
        whole = not _divisible(cell)
        for port, bits in cell.pins.items():
            if port == cell.output:
                if whole:
                    join_all(bits)
            elif whole or (cell.kind in {"$bmux", "$demux"} and port == "S"):
                join_all(bits)
    for bits in outputs:
        join_all(bits)
    operands: dict[int, list[tuple[Bits, int]]] = {}
    while waiting:
        number, high = waiting.pop()
        cell = cells[number]
        if not _divisible(cell):
            continue
        for bits, begin in operands.setdefault(number, list(sources(cell))):
            if 0 < high - begin < len(bits):
                join(bits[high - begin - 1], bits[high - begin])
    return joined
