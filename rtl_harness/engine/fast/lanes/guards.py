# SPDX-License-Identifier: Apache-2.0
"""Under which condition statements matter: all that only a multiplexer or an enable looks at waits for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from resil.rtl_harness.engine.fast.lanes.words import (
    Bit,
    Bits,
    NetlistCell,
    Piece,
    UnsupportedLanesError,
    Words,
)

Condition = tuple[Bits, bool]  # one of the nets is 1 in a machine; or the one net is 0 in one


@dataclass
class Guard:
    """A condition under which statements matter, within others.

    Attributes:
        parent: The condition around it; None of the root, which always holds.
        condition: Nets and what of them.
        depth: Conditions around it.
    """

    parent: Guard | None
    condition: Condition | None
    depth: int
    children: dict[Condition, Guard] = field(default_factory=dict)

    def child(self, condition: Condition) -> Guard:
        """Return the same condition within this one, always the same object."""
        found: Guard | None = self
        while found and found.parent:
            if found.condition == condition:
                return self
            found = found.parent
        if condition not in self.children:
            self.children[condition] = Guard(self, condition, self.depth + 1)
        return self.children[condition]

    def chain(self) -> list[Condition]:
        """Return the conditions, outermost first."""
        chain: list[Condition] = []
        at: Guard | None = self
        while at and at.condition:
            chain.append(at.condition)
            at = at.parent
        return chain[::-1]


def common(one: Guard | None, other: Guard) -> Guard:
    """Return the innermost guard around two."""
    if one is None:
        return other
    while one is not other:
        if one.depth >= other.depth:
            assert one.parent
            one = one.parent
        else:
            assert other.parent
            other = other.parent
    return one


@dataclass
class Statement:
    """Sets some pieces from others.

    Attributes:
        text: C++.
        targets: What is set.
        reads: What is read, that of conditions included.
        guard: Where it matters.
        uses: What is read, each with the condition under which it is (None: always).
        cost: About how long it takes.
    """

    text: str
    targets: tuple[Piece, ...]
    reads: frozenset[Piece]
    uses: tuple[tuple[Piece, Condition | None], ...]
    guard: Guard | None = None
    cost: int = 1


def one_select(cell: NetlistCell, first: int, last: int) -> Bit | None:
    """Return the net that chooses between two operands for bits of the output; None if there is none."""
    if cell.kind == "$mux":
        return cell.pins["S"][0]
    if cell.kind != "$bwmux" or len(set(cell.pins["S"][first:last])) > 1:
        return None
    return cell.pins["S"][first]


def selection(words: Words, data: Bits) -> tuple[Bit, Bits, Bits] | None:
    """Return what chooses these nets, what they are where it is 0, and where it is 1.

    None if they are not the output of one multiplexer with a net that selects.
    """
    if not all(isinstance(bit, int) for bit in data):
        return None
    homes = [words.home(bit) for bit in data]
    piece, at = homes[0]
    if piece.cell < 0 or homes != [(piece, at + i) for i in range(len(data))]:
        return None
    cell = words.cells[piece.cell]
    first = piece.first + at
    select = one_select(cell, first, first + len(data))
    if not isinstance(select, int):
        return None
    a, b = (cell.pins[port][first : first + len(data)] for port in ("A", "B"))
    return select, a, b


def uses_of(
    words: Words, cell: NetlistCell, piece: Piece, reads: frozenset[Piece]
) -> tuple[tuple[Piece, Condition | None], ...]:
    """Say of each piece that a statement reads under which condition it does."""
    width = len(cell.pins["Y"])
    first, last = piece.first, piece.first + piece.width
    taken: dict[Piece, set[Condition | None]] = defaultdict(set)

    def take(bits: Sequence[Bit], condition: Condition | None) -> None:
        for bit in bits:
            if isinstance(bit, int):
                taken[words.home(bit)[0]].add(condition)

    select = one_select(cell, first, last)
    if isinstance(select, int):
        take([select], None)
        take(cell.pins["B"][first:last], ((select,), True))
        take(cell.pins["A"][first:last], ((select,), False))
    elif cell.kind == "$pmux":
        take(cell.pins["S"], None)
        take(cell.pins["A"][first:last], None)
        for i, bit in enumerate(cell.pins["S"]):
            bits = cell.pins["B"][i * width + first : i * width + last]
            take(bits, ((bit,), True) if isinstance(bit, int) else None)
    else:
        return tuple((p, None) for p in reads)
    return tuple((p, next(iter(c)) if len(c) == 1 else None) for p, c in taken.items() if p in reads)


def guard(
    words: Words, statements: Sequence[Statement], root: Guard, looked: dict[Piece, Guard]
) -> list[Statement]:
    """Find for each statement the innermost condition under which its result is looked at.

    Args:
        words: The netlist.
        statements: All of them.
        root: What always holds.
        looked: Where pieces are looked at by storage and from outside.

    Returns:
        Those that anything looks at, each after those whose results it reads.

    Raises:
        UnsupportedError: If there is a loop.
    """
    ordered = order(statements)
    for statement in reversed(ordered):
        guard_of: Guard | None = None
        for piece in statement.targets:
            if piece in looked:
                guard_of = common(guard_of, looked[piece])
        statement.guard = guard_of
        if guard_of is None:
            continue
        for piece, condition in statement.uses:
            inner = guard_of.child(condition) if condition else guard_of
            looked[piece] = common(looked.get(piece), inner)
    kept = [s for s in ordered if s.guard is not None]
    _prune(kept)
    return kept


def _prune(statements: Sequence[Statement], least: int = 10) -> None:
    """Drop guards that save less than they cost."""
    while True:
        cost: dict[int, int] = defaultdict(int)
        for s in statements:
            at: Guard | None = s.guard
            while at:
                cost[id(at)] += s.cost
                at = at.parent
        changed = False
        for s in statements:
            while s.guard and s.guard.parent and cost[id(s.guard)] < least:
                s.guard = s.guard.parent
                changed = True
        if not changed:
            return


def order(statements: Sequence[Statement]) -> list[Statement]:
    """Sort statements so that each comes after those whose results it reads.

    Raises:
        UnsupportedError: If there is a loop.
    """
    setter = {p: i for i, s in enumerate(statements) for p in s.targets}
    state = bytearray(len(statements))
    found: list[Statement] = []
    for start in range(len(statements)):
        stack = [start]
        while stack:
            at = stack[-1]
            if state[at] == 2:
                stack.pop()
                continue
            missing = [setter[p] for p in statements[at].reads if p in setter and state[setter[p]] != 2]
            if not missing:
                state[at] = 2
                found.append(statements[at])
                stack.pop()
            elif state[at] == 1:
                raise UnsupportedLanesError("the logic has a loop or a latch made of gates")
            else:
                state[at] = 1
                stack += missing
    return found
