"""When registers change: where none of the multiplexers before them hands back what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rtl_harness.lanes.expressions import Writer, name_of
from rtl_harness.lanes.guards import Statement
from rtl_harness.lanes.words import Bit, Bits, Cell, Piece, Words


@dataclass(frozen=True)
class FlipFlop:
    """A piece of a register.

    Attributes:
        piece: Its output.
        data: Its next value.
        enable: Net that must be 1 (or 0) for it to change; None: always.
        rising: It must be 1.
        reset: Net of the asynchronous reset; None if there is none.
        reset_level: When it resets.
        reset_value: What it is reset to.
    """

    piece: Piece
    data: Bits
    enable: Bit | None
    rising: bool
    reset: Bit | None
    reset_level: bool
    reset_value: int


def with_enables(words: Words, flip_flops: Sequence[FlipFlop]) -> tuple[list[FlipFlop], list[Statement]]:
    """Find when registers change: where none of the multiplexers before them hands back what they hold."""
    found: list[FlipFlop] = []
    made: list[Statement] = []
    seen: dict[str, tuple[Bit, bool]] = {}
    for f in flip_flops:
        if f.enable is None:
            writer = Writer(words)
            change = _change(words, writer, f.data, words.nets(f.piece), _LARGEST)
            if change is not None and change.nodes:
                if change.text not in seen:
                    seen[change.text] = change.single or _synthetic(words, change, writer, made)
                net, rising = seen[change.text]
                f = replace(f, enable=net, rising=rising)
        found.append(f)
    return found, made


_LARGEST = 16


@dataclass(frozen=True)
class _Change:
    """When a value is not the register's own: a mask, or a net and its level."""

    text: str
    nodes: int
    single: tuple[Bit, bool] | None = None


_ALWAYS = _Change("~M{0}", 0)
_NEVER = _Change("M{0}", 1)


def _change(words: Words, writer: Writer, data: Bits, own: Bits, room: int) -> _Change:
    if data == own:
        return _NEVER
    cell, first = _multiplexer(words, data)
    if cell is None or room <= 0:
        return _ALWAYS
    select = cell.pins["S"][0]
    a, b = (cell.pins[p][first : first + len(data)] for p in ("A", "B"))
    if_0 = _change(words, writer, a, own, room // 2)
    if_1 = _change(words, writer, b, own, room // 2)
    if not if_0.nodes and not if_1.nodes:
        return _ALWAYS
    s = writer.mask(select)
    nodes = if_0.nodes + if_1.nodes + 1
    if if_0 == _NEVER and if_1 == _NEVER:
        return _NEVER
    if if_0 == _NEVER and if_1 == _ALWAYS:
        return _Change(s, nodes, (select, True))
    if if_1 == _NEVER and if_0 == _ALWAYS:
        return _Change(f"~{s}", nodes, (select, False))
    parts = []
    if if_1 != _NEVER:
        parts.append(s if if_1 == _ALWAYS else f"({s} & {if_1.text})")
    if if_0 != _NEVER:
        parts.append(f"~{s}" if if_0 == _ALWAYS else f"(~{s} & {if_0.text})")
    return _Change("(" + " | ".join(parts) + ")", nodes)


def _multiplexer(words: Words, data: Bits) -> tuple[Cell | None, int]:
    """Return the multiplexer whose output these nets are, and from which bit on."""
    if not all(isinstance(b, int) for b in data):
        return None, 0
    homes = [words.home(b) for b in data]
    piece, at = homes[0]
    if piece.cell < 0 or homes != [(piece, at + i) for i in range(len(data))]:
        return None, 0
    cell = words.cells[piece.cell]
    if cell.kind != "$mux" or not isinstance(cell.pins["S"][0], int):
        return None, 0
    return cell, piece.first + at


def _synthetic(words: Words, change: _Change, writer: Writer, made: list[Statement]) -> tuple[Bit, bool]:
    net = words.synthetic()
    piece = words.home(net)[0]
    reads = frozenset(p for p in writer.reads if name_of(p) in change.text)
    made.append(
        Statement(f"{name_of(piece)} = {change.text};", (piece,), reads, tuple((p, None) for p in reads))
    )
    return net, True
