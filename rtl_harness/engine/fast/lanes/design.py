# SPDX-License-Identifier: Apache-2.0
"""A design as statements: what is computed in a cycle, under which condition it matters, and what is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from resil.rtl_harness.engine.fast.lanes.cells import CellWriter, WideError
from resil.rtl_harness.engine.fast.lanes.decoders import decoded
from resil.rtl_harness.engine.fast.lanes.enables import LaneFlipFlop, with_enables
from resil.rtl_harness.engine.fast.lanes.expressions import LIVE, Writer, name_of
from resil.rtl_harness.engine.fast.lanes.guards import (
    Guard,
    Statement,
    common,
    guard,
    uses_of,
)
from resil.rtl_harness.engine.fast.lanes.words import (
    FLIP_FLOPS,
    Bit,
    Bits,
    NetlistCell,
    Piece,
    UnsupportedLanesError,
    Words,
    divide,
    read_cells,
)


@dataclass(frozen=True)
class Port:
    """A port of a memory."""

    memory: str
    address: Bits
    data: Bits
    enable: Bits
    order: int


@dataclass(frozen=True)
class Memory:
    """A memory: words of `width` bits from address `first` on."""

    name: str
    path: str
    width: int
    size: int
    first: int


@dataclass
class LaneDesign:
    """A closed design, one clock."""

    words: Words
    flip_flops: list[LaneFlipFlop]
    memories: dict[str, Memory]
    reads: list[tuple[Port, list[Piece]]]
    writes: list[Port]
    outputs: Mapping[str, Bits]
    inputs: Mapping[str, bool]
    statements: list[Statement] = field(default_factory=list)
    root: Guard = field(default_factory=lambda: Guard(None, None, 0))


def read_design(
    module: Mapping[str, Any], clock: str, inputs: Mapping[str, bool], outputs: Sequence[str]
) -> LaneDesign:
    """Return a flattened module as a design.

    Args:
        module: As `write_json` wrote it.
        clock: Input whose rising edge all storage has.
        inputs: The other inputs, and what they are.
        outputs: Ports that are looked at.

    Raises:
        UnsupportedError: If there are cells of unknown kinds, other clocks, latches or loops.
    """
    ports = {name: (port["direction"], tuple(port["bits"])) for name, port in module["ports"].items()}
    cells, looked = decoded(read_cells(module), [ports[name][1] for name in outputs])
    shown = dict(zip(outputs, looked, strict=True))
    words = divide(cells, {n: bits for n, (way, bits) in ports.items() if way == "input"}, looked)
    edge = module["ports"][clock]["bits"][0]
    flip_flops, writes = [], []
    reads: list[tuple[Port, list[Piece]]] = []
    for number, cell in enumerate(words.cells):
        if cell.kind in FLIP_FLOPS:
            flip_flops += _flip_flops(cell, words.of_cell[number], edge)
        elif cell.kind == "$memwr_v2":
            _check_clock(cell, edge)
            if any(b != "0" for b in cell.pins["EN"]):
                pins = cell.pins
                writes.append(
                    Port(_memory(cell), pins["ADDR"], pins["DATA"], pins["EN"], cell.number("PORTID"))
                )
        elif cell.kind == "$memrd_v2":
            if cell.number("CLK_ENABLE"):
                raise UnsupportedLanesError(f"{cell.name} reads with a clock")
            port = Port(_memory(cell), cell.pins["ADDR"], cell.pins["DATA"], (), 0)
            reads.append((port, words.of_cell[number]))
    memories = {
        name: Memory(name, name, m["width"], m["size"], m["start_offset"])
        for name, m in module.get("memories", {}).items()
    }
    flip_flops, enables = with_enables(words, flip_flops)
    design = LaneDesign(
        words, flip_flops, memories, reads, sorted(writes, key=lambda p: p.order), shown, inputs
    )
    statements = [*_statements(design), *enables]
    design.statements = guard(words, statements, design.root, _looked(design))
    if any(piece in s.reads for s in design.statements for piece in words.inputs[clock]):
        raise UnsupportedLanesError("the clock is used as data")
    return design


def _memory(cell: NetlistCell) -> str:
    return cell.parameters["MEMID"].removeprefix("\\")


def _check_clock(cell: NetlistCell, edge: Bit) -> None:
    if cell.pins["CLK"][0] != edge or not cell.number("CLK_POLARITY"):
        raise UnsupportedLanesError(f"{cell.name} has a clock of its own")


def _flip_flops(cell: NetlistCell, pieces: Iterable[Piece], edge: Bit) -> list[LaneFlipFlop]:
    _check_clock(cell, edge)
    pin = "ALOAD" if cell.kind.startswith("$ald") else "ARST"
    if any(isinstance(b, int) for b in cell.pins.get("AD", ())):
        raise UnsupportedLanesError(f"{cell.name} is loaded asynchronously")
    enable = cell.pins["EN"][0] if "EN" in cell.pins else None
    reset = cell.pins[pin][0] if pin in cell.pins else None
    value = cell.number("ARST_VALUE")
    for i, bit in enumerate(cell.pins.get("AD", ())):
        value |= (bit == "1") << i
    return [
        LaneFlipFlop(
            piece,
            cell.pins["D"][piece.first : piece.first + piece.width],
            enable,
            bool(cell.number("EN_POLARITY")),
            reset,
            bool(cell.number(f"{pin}_POLARITY")),
            value >> piece.first & ((1 << piece.width) - 1),
        )
        for piece in pieces
    ]


def _statements(design: LaneDesign) -> list[Statement]:
    words = design.words
    made: list[Statement] = []
    cells = CellWriter(words)
    for number, cell in enumerate(words.cells):
        if cell.kind in FLIP_FLOPS or cell.kind in {"$memrd_v2", "$memwr_v2"}:
            continue
        pieces = words.of_cell[number]
        try:
            for piece in pieces:
                cells.writer.fresh()
                text = cells.statement(cell, piece)
                reads = frozenset(cells.writer.reads)
                uses = uses_of(words, cell, piece, reads)
                cost = (2 if piece.width > 32 else 1) * max(1, len(reads) // 2)
                made.append(Statement(text, (piece,), reads, uses, cost=cost))
        except WideError:
            cells.writer.fresh()
            text = cells.wide(cell, pieces)
            reads = frozenset(cells.writer.reads)
            made.append(Statement(text, tuple(pieces), reads, tuple((p, None) for p in reads), cost=40))
    writer = Writer(words)
    for number, (port, pieces) in enumerate(design.reads):
        writer.fresh()
        address = (
            writer.word(port.address, 32)
            if len(port.address) > 1
            else f"chosen<V32>({writer.mask(port.address[0])}, 1u)"
        )
        targets = ", ".join(name_of(p) for p in pieces)
        text = f"read{number}({LIVE}, {address}, {targets});"
        reads = frozenset(writer.reads)
        made.append(
            Statement(text, tuple(pieces), reads, tuple((p, None) for p in reads), cost=20 * len(pieces))
        )
    return made


def _looked(design: LaneDesign) -> dict[Piece, Guard]:
    """Say where storage and observers look at pieces, and under which condition."""
    words, root = design.words, design.root
    looked: dict[Piece, Guard] = {}

    def look(bits: Iterable[Bit], guard: Guard) -> None:
        for bit in bits:
            if isinstance(bit, int):
                piece = words.home(bit)[0]
                looked[piece] = common(looked.get(piece), guard)

    for bits in design.outputs.values():
        look(bits, root)
    for f in design.flip_flops:
        if isinstance(f.enable, int):
            look([f.enable], root)
        look(f.data, f.guard(root))
        if isinstance(f.reset, int):
            look([f.reset], root)
    for port in design.writes:
        look(port.enable, root)
        nets = tuple(dict.fromkeys(b for b in port.enable if isinstance(b, int)))
        guard = root if "1" in port.enable else root.child((nets, True))
        look(port.address, guard)
        look(port.data, guard)
    return looked
