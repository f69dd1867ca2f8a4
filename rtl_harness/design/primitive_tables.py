# SPDX-License-Identifier: Apache-2.0
"""Primitives of the user (IEEE 1800-2023, clause 29): what their tables do, as modules that synthesis reads.

A table is played for every value of its inputs, of what is stored, and for every edge, in two values: rows of
x alone say nothing. What comes out is combinational, a latch or a flip-flop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

# Inputs of a table that can be played: 2^n values, each with n edges.
_MOST_INPUTS = 10
_LEVELS = {"0": (0,), "1": (1,), "x": (), "?": (0, 1), "b": (0, 1)}
_OUTPUT = "q"
_EDGES = {"r": ("01",), "f": ("10",), "p": ("01",), "n": ("10",), "*": ("01", "10")}

_Value = int | None  # None is x
_NO_ROW = "no row"


class PrimitiveError(Exception):
    """Why a table is no gate, latch or flip-flop."""


@dataclass(frozen=True)
class PrimitiveTable:
    """A primitive's table.

    Attributes:
        name: Of the primitive.
        output, inputs: Its ports.
        rows: Of each the symbols of the inputs, as "(01)", of what is stored before ("" without storage),
            and of the output.
        stores: Whether it is sequential.
    """

    name: str
    output: str
    inputs: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], str, str], ...]
    stores: bool


def table_of(primitive: Any) -> PrimitiveTable:  # noqa: ANN401
    """Return the table of a primitive, a symbol of slang."""
    ports = [str(own.name) for own in primitive.ports]
    rows = tuple(
        (_symbols(own.inputs.lower()), own.state.strip("\0").lower(), own.output.lower())
        for own in primitive.table
    )
    return PrimitiveTable(str(primitive.name), ports[0], tuple(ports[1:]), rows, bool(primitive.isSequential))


def module_of(table: PrimitiveTable, name: str) -> str:
    """Return a module that does what a table does, on one line, its ports in the order of the primitive's.

    Where a combinational table gives x, or a sequential one both sets and resets, the module gives 0.

    Args:
        table: The table.
        name: Of the module.

    Raises:
        PrimitiveError: It is neither combinational nor a latch nor a flip-flop, or its output is undefined
            after an edge.
    """
    if len(table.inputs) > _MOST_INPUTS:
        raise PrimitiveError(f"{len(table.inputs)} inputs, more than {_MOST_INPUTS}")
    pins = ", ".join(f"input {pin}" for pin in _names(table))
    kind = "output reg" if table.stores else "output"
    body = _Sequential(table).body() if table.stores else _combinational(table)
    return f"module {name} ({kind} {_OUTPUT}, {pins}); {body} endmodule"


def _names(table: PrimitiveTable) -> list[str]:
    """Return the inputs of the module; those of the primitive may be names of any kind."""
    return [f"i{number}" for number in range(len(table.inputs))]


def _symbols(text: str) -> tuple[str, ...]:
    found: list[str] = []
    left = iter(text)
    for own in left:
        found.append("".join((own, next(left), next(left), next(left))) if own == "(" else own)
    return tuple(found)


def _edges(symbol: str) -> tuple[str, ...]:
    """Return the edges between 0 and 1 that a symbol means; () for a level."""
    if symbol.startswith("("):
        return tuple(f"{v}{w}" for v in _LEVELS[symbol[1]] for w in _LEVELS[symbol[2]] if v != w)
    return _EDGES.get(symbol, ())


def _is_level(symbol: str) -> bool:
    return symbol in _LEVELS


def _matches(symbols: Sequence[str], values: Sequence[int]) -> bool:
    """Whether levels are as a row has them; its edge is looked at elsewhere."""
    return all(not _is_level(s) or v in _LEVELS[s] for s, v in zip(symbols, values, strict=True))


def _was(symbol: str, stored: _Value) -> bool:
    """Whether what was stored is as a row has it."""
    return symbol in {"?", "x"} if stored is None else stored in _LEVELS[symbol]


def _outcome(symbol: str, stored: _Value) -> _Value:
    return {"0": 0, "1": 1, "-": stored}.get(symbol)


def _turned(values: tuple[int, ...], pin: int) -> tuple[int, ...]:
    return (*values[:pin], 1 - values[pin], *values[pin + 1 :])


def _values(count: int) -> Iterator[tuple[int, ...]]:
    for number in range(1 << count):
        yield tuple(number >> place & 1 for place in range(count))


def _combinational(table: PrimitiveTable) -> str:
    ones = {
        values
        for values in _values(len(table.inputs))
        if (row := next((r for r in table.rows if _matches(r[0], values)), None)) and row[2] == "1"
    }
    return f"assign {_OUTPUT} = {_sum(ones, set(), _names(table))};"


class _Sequential:
    """A sequential table, played from every state that it can come to."""

    def __init__(self, table: PrimitiveTable) -> None:
        self.table = table
        self.count = len(table.inputs)
        # What is stored after an input came to its value, by the input, all values and what was stored.
        self.after: dict[tuple[int, tuple[int, ...], int], _Value] = {}
        undefined: set[int] = set()
        taken: set[int] = set()
        self.reached = self._reached()
        for before, stored in sorted(self.reached):
            for pin in range(self.count):
                values = _turned(before, pin)
                found = self._played(pin, values, stored)
                if self._by_level(values, stored) is _NO_ROW:
                    (undefined if found is None else taken).add(pin)
                self.after[pin, values, stored] = found
        # A notifier: all that its edges do is to make the output undefined. Timing checks alone move it.
        self.pins = [pin for pin in range(self.count) if pin in taken or pin not in undefined]

    def _reached(self) -> set[tuple[tuple[int, ...], int]]:
        """Return which values of inputs and of what is stored come about, from what is undefined at first."""
        every = [*_values(self.count)]
        found: set[tuple[tuple[int, ...], int]] = set()
        left: list[tuple[tuple[int, ...], _Value]] = [(values, None) for values in every]
        while left:
            before, stored = left.pop()
            for pin in range(self.count):
                values = _turned(before, pin)
                after = self._played(pin, values, stored)
                if after is not None and (values, after) not in found:
                    found.add((values, after))
                    left.append((values, after))
        # Storage that nothing defines begins with what its initial value says, as one that counts.
        return found or {(values, stored) for values in every for stored in (0, 1)}

    def _by_level(self, values: tuple[int, ...], stored: _Value) -> Any:  # noqa: ANN401
        """Return what rows without an edge say, which go before the others."""
        for symbols, state, output in self.table.rows:
            if all(map(_is_level, symbols)) and _matches(symbols, values) and _was(state, stored):
                return _outcome(output, stored)
        return _NO_ROW

    def _at_edge(self, pin: int, values: tuple[int, ...], stored: _Value) -> _Value:
        edge = f"{1 - values[pin]}{values[pin]}"
        for symbols, state, output in self.table.rows:
            if edge in _edges(symbols[pin]) and _matches(symbols, values) and _was(state, stored):
                return _outcome(output, stored)
        return None

    def body(self) -> str:
        """Return the statement that does what the table does."""
        self._require_still_notifiers()
        moving = self._moving()
        if not moving:
            return self._latch()
        if len(moving) > 1:
            said = " and ".join(f"{'rising' if rises else 'falling'} {self._name(p)}" for p, rises in moving)
            raise PrimitiveError(f"it takes something at edges of several inputs ({said})")
        ((clock, rises),) = moving
        return self._flip_flop(clock, rises=bool(rises))

    def _name(self, pin: int) -> str:
        return self.table.inputs[pin]

    @cached_property
    def _all_values(self) -> list[tuple[int, ...]]:
        """Values of all inputs, notifiers at 0."""
        return [
            v
            for v in _values(len(self.table.inputs))
            if all(not v[p] or p in self.pins for p in range(len(v)))
        ]

    def _require_still_notifiers(self) -> None:
        """Raise PrimitiveError if it matters which value an input has that is taken for a notifier."""
        for still in sorted({*range(self.count)} - {*self.pins}):
            for values in _values(self.count):
                for pin, stored in product(self.pins, (0, 1)):
                    if self._played(pin, values, stored) != self._played(pin, _turned(values, still), stored):
                        raise PrimitiveError(
                            f"its output is undefined after each edge of {self._name(still)}"
                        )

    def _played(self, pin: int, values: tuple[int, ...], stored: _Value) -> _Value:
        """Return what is stored after an input came to its value."""
        found = self._by_level(values, stored)
        return self._at_edge(pin, values, stored) if found is _NO_ROW else found

    def _forced(self, values: tuple[int, ...]) -> int | None:
        """Return what values alone make of the output, whichever input came last; None if nothing."""
        if all((values, stored) not in self.reached for stored in (0, 1)):
            return 0  # undefined, as where both set and reset are asked for
        alone = {self._by_level(values, stored) for stored in (0, 1)}
        if len(alone) == 1 and alone <= {0, 1}:
            return int(alone.pop())
        cases = [
            (pin, stored) for pin in self.pins for stored in (0, 1) if (pin, values, stored) in self.after
        ]
        found = {self.after[pin, values, stored] for pin, stored in cases}
        changes = any(self.after[pin, values, stored] != stored for pin, stored in cases)
        return found.pop() if len(found) == 1 and changes else None

    def _moving(self) -> list[tuple[int, int]]:
        """Return the inputs whose edges store something that their values alone do not, with the edge."""
        moving: dict[tuple[int, int], None] = {}
        for values in self._all_values:
            if self._forced(values) is not None:
                continue
            for pin in self.pins:
                for stored in (0, 1):
                    after = self.after.get((pin, values, stored), stored)
                    if after is None:
                        said = ", ".join(f"{self._name(p)}={values[p]}" for p in self.pins if p != pin)
                        became = f"{self._name(pin)} became {values[pin]}"
                        raise PrimitiveError(f"its output is undefined after {became} with {said}")
                    if after != stored:
                        moving[pin, values[pin]] = None
        return [*moving]

    def _latch(self) -> str:
        forced = {values: self._forced(values) for values in self._all_values}
        ones = {values for values, own in forced.items() if own == 1}
        open_ = {values for values, own in forced.items() if own is not None}
        enable, data = self._sum(open_, set()), self._sum(ones, {*forced} - open_)
        return f"always_latch if ({enable}) {_OUTPUT} = {data};"

    def _flip_flop(self, clock: int, *, rises: bool) -> str:
        forced = {values: self._forced(values) for values in self._all_values}
        at_edge = [v for v in self._all_values if v[clock] == rises and forced[v] is None]
        asked = {(*v, stored) for v in at_edge for stored in (0, 1) if (clock, v, stored) in self.after}
        taken = {own for own in asked if self.after[clock, own[:-1], own[-1]]}
        free = {(*v, stored) for v in self._all_values for stored in (0, 1)} - asked
        data = _sum(taken, free, (*_names(self.table), _OUTPUT), self._still)
        edges = [f"{'pos' if rises else 'neg'}edge {_names(self.table)[clock]}"]
        head, first = "", ""
        when = {values for values, own in forced.items() if own is not None}
        if when:
            value = self._sum({own for own in when if forced[own]}, {*forced} - when)
            head = f"wire forced = {self._sum(when, set())}; "
            edges.append("posedge forced")
            first = f"if (forced) {_OUTPUT} <= {value}; else "
        return f"{head}always @({' or '.join(edges)}) {first}{_OUTPUT} <= {data};"

    @property
    def _still(self) -> frozenset[int]:
        return frozenset(range(len(self.table.inputs))) - frozenset(self.pins)

    def _sum(self, ones: set[tuple[int, ...]], free: set[tuple[int, ...]]) -> str:
        return _sum(ones, free, _names(self.table), self._still)


_Cube = tuple[int | None, ...]


def _sum(
    ones: set[tuple[int, ...]],
    free: set[tuple[int, ...]],
    names: Sequence[str],
    still: frozenset[int] = frozenset(),
) -> str:
    """Return a short sum of products that is 1 for `ones`, and anything for `free` (Quine and McCluskey).

    Values of inputs in `still` are 0 in both, and play no part.
    """
    if not ones:
        return "1'b0"
    level: set[_Cube] = {_without(own, still) for own in ones | free}
    primes: set[_Cube] = set()
    while level:
        merged: set[_Cube] = set()
        used: set[_Cube] = set()
        for cube in level:
            for place, value in enumerate(cube):
                if value is None:
                    continue
                other = (*cube[:place], 1 - value, *cube[place + 1 :])
                if other in level:
                    merged.add((*cube[:place], None, *cube[place + 1 :]))
                    used |= {cube, other}
        primes |= level - used
        level = merged
    left = {_without(own, still) for own in ones}
    return " | ".join(_product(cube, names) for cube in _few_primes(primes, left))


def _without(values: tuple[int, ...], still: frozenset[int]) -> _Cube:
    return tuple(None if place in still else own for place, own in enumerate(values))


def _covers(cube: _Cube, values: _Cube) -> bool:
    return all(own is None or own == value for own, value in zip(cube, values, strict=True))


def _few_primes(primes: set[_Cube], ones: set[_Cube]) -> list[_Cube]:
    """Return primes that cover all of `ones`, largest first, none of which could be left out."""
    order = sorted(primes, key=lambda cube: (-cube.count(None), [(-1 if v is None else v) for v in cube]))
    chosen: list[_Cube] = []
    left = {*ones}
    while left:
        best = max(order, key=lambda cube: sum(_covers(cube, own) for own in left))
        chosen.append(best)
        left = {own for own in left if not _covers(best, own)}
    for cube in [*chosen]:
        others = [own for own in chosen if own != cube]
        if all(any(_covers(own, value) for own in others) for value in ones):
            chosen = others
    return chosen


def _product(cube: _Cube, names: Sequence[str]) -> str:
    parts = [
        f"{'' if value else '~'}{name}" for value, name in zip(cube, names, strict=True) if value is not None
    ]
    return f"({' & '.join(parts)})" if parts else "1'b1"
