# SPDX-License-Identifier: Apache-2.0
"""When registers change: where none of the multiplexers before them hands back what they hold.

What they change to is then worked out without these multiplexers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from resil.rtl_harness.engine.fast.lanes.expressions import Writer, name_of
from resil.rtl_harness.engine.fast.lanes.guards import Condition, Guard, Statement, selection
from resil.rtl_harness.engine.fast.lanes.words import Bit, Bits, Piece, Words


@dataclass(frozen=True)
class LaneFlipFlop:
    """A piece of a register.

    Attributes:
        piece: Its output.
        data: Its next value.
        enable: Net that must be 1 (or 0) for it to change; None: always.
        rising: It must be 1.
        reset: Net of the asynchronous reset; None if there is none.
        reset_level: When it resets.
        reset_value: What it is reset to.
        within: Conditions without which it never changes, outermost first.
    """

    piece: Piece
    data: Bits
    enable: Bit | None
    rising: bool
    reset: Bit | None
    reset_level: bool
    reset_value: int
    within: tuple[Condition, ...] = ()

    @property
    def never(self) -> bool:
        """It keeps what it holds."""
        return self.enable == ("0" if self.rising else "1")

    def guard(self, root: Guard) -> Guard:
        """Return where the next value is looked at."""
        inner = root
        for condition in self.within:
            inner = inner.child(condition)
        return inner.child(((self.enable,), self.rising)) if isinstance(self.enable, int) else inner


def with_enables(
    words: Words, flip_flops: Sequence[LaneFlipFlop]
) -> tuple[list[LaneFlipFlop], list[Statement]]:
    """Find when registers change: where none of the multiplexers before them hands back what they hold.

    Returns:
        The registers, and statements for enables that are no nets of the design. Cells that are needed more
        are added to `words`.
    """
    changes = _Changes(words)
    return [changes.of(f) for f in flip_flops], changes.made


_MOST = 48  # multiplexers that are looked through for one register


@dataclass(frozen=True)
class _Change:
    """When a value is not the register's own, and what it is then.

    Attributes:
        text: A mask of the machines in which it is not.
        nodes: Multiplexers that were looked through.
        data: The value, where it is not the register's own.
        uses: Nets that the mask reads, each with the condition under which it does.
        within: Conditions without which it is the register's own, outermost first.
        single: A net that is the mask, and its level.
    """

    text: str
    nodes: int
    data: Bits
    uses: tuple[tuple[Bit, Condition | None], ...] = ()
    within: tuple[Condition, ...] = ()
    single: tuple[Bit, bool] | None = None


_ALWAYS = "~M{0}"
_NEVER = "M{0}"


class _Changes:
    def __init__(self, words: Words) -> None:
        self.made: list[Statement] = []
        self._words = words
        self._writer = Writer(words)
        self._room = 0
        self._seen: dict[str, tuple[Bit, bool]] = {}
        self._choices: dict[tuple[Bit, Bits, Bits], Bits] = {}

    def of(self, f: LaneFlipFlop) -> LaneFlipFlop:
        """Return a register with its enable."""
        if f.enable is not None:
            return f
        self._room = _MOST
        change = self._change(f.data, self._words.nets(f.piece))
        if not change.nodes:
            return f
        if change.text == _NEVER:
            return replace(f, enable="0", rising=True)
        if change.text not in self._seen:
            self._seen[change.text] = change.single or self._synthetic(change)
        net, rising = self._seen[change.text]
        return replace(f, enable=net, rising=rising, data=change.data, within=change.within)

    def _change(self, data: Bits, own: Bits) -> _Change:
        if data == own:
            return _Change(_NEVER, 1, data)
        found = selection(self._words, data)
        if found is None or self._room <= 0:
            return _Change(_ALWAYS, 0, data)
        self._room -= 1
        select, a, b = found
        if_0 = self._change(a, own)
        if_1 = self._change(b, own)
        if not if_0.nodes and not if_1.nodes:
            return _Change(_ALWAYS, 0, data)
        s = self._writer.mask(select)
        nodes = if_0.nodes + if_1.nodes + 1
        if if_0.text == if_1.text == _NEVER:
            return _Change(_NEVER, nodes, data)
        if _NEVER not in (if_0.text, if_1.text):
            return self._either(select, if_0, if_1, nodes, data if (a, b) == (if_0.data, if_1.data) else None)
        level = if_0.text == _NEVER
        inner, sign = (if_1, s) if level else (if_0, f"~{s}")
        condition = ((select,), level)
        if inner.text == _ALWAYS:
            return _Change(sign, nodes, inner.data, ((select, None),), (), (select, level))
        uses = ((select, None), *((net, within or condition) for net, within in inner.uses))
        within = inner.within or ((((inner.single[0],), inner.single[1]),) if inner.single else ())
        return _Change(f"({sign} & {inner.text})", nodes, inner.data, uses, (condition, *within))

    def _either(self, select: Bit, if_0: _Change, if_1: _Change, nodes: int, data: Bits | None) -> _Change:
        """Return a change that both sides of a multiplexer may make."""
        s = self._writer.mask(select)
        one = s if if_1.text == _ALWAYS else f"({s} & {if_1.text})"
        other = f"~{s}" if if_0.text == _ALWAYS else f"(~{s} & {if_0.text})"
        if if_1.text == _ALWAYS:
            other = if_0.text
        elif if_0.text == _ALWAYS:
            other, one = if_1.text, f"~{s}"
        uses = (
            (select, None),
            *((net, within or ((select,), True)) for net, within in if_1.uses),
            *((net, within or ((select,), False)) for net, within in if_0.uses),
        )
        return _Change(f"({one} | {other})", nodes, data or self._chosen(select, if_0.data, if_1.data), uses)

    def _chosen(self, select: Bit, a: Bits, b: Bits) -> Bits:
        """Return the nets of a multiplexer, added if there is none."""
        if a == b:
            return a
        key = select, a, b
        if key not in self._choices:
            pins = {"A": a, "B": b, "S": (select,)}
            self._choices[key] = self._words.add_cell("$mux", pins, len(a))
        return self._choices[key]

    def _synthetic(self, change: _Change) -> tuple[Bit, bool]:
        net = self._words.synthetic()
        piece = self._words.home(net)[0]
        taken: dict[Piece, set[Condition | None]] = defaultdict(set)
        for bit, condition in change.uses:
            if isinstance(bit, int):
                taken[self._words.home(bit)[0]].add(condition)
        uses = tuple((p, next(iter(c)) if len(c) == 1 else None) for p, c in taken.items())
        self.made.append(Statement(f"{name_of(piece)} = {change.text};", (piece,), frozenset(taken), uses))
        return net, True
