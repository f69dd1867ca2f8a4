# SPDX-License-Identifier: Apache-2.0
"""Cells of a Liberty file: pins, functions, flip-flops and clock gates, as far as faults need them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from resil.rtl_harness.errors import HarnessError

CLOCK_GATE_PINS = ("E", "CK", "GCK")
"""Enable, clock and gated clock, as synthesis names them whatever the library calls them."""

_GATING_PINS = (
    *("clock_gate_enable_pin", "clock_gate_clock_pin", "clock_gate_out_pin"),
    "clock_gate_test_pin",
)

_STORING = ("ff", "ff_bank", "latch", "latch_bank")

_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[A-Za-z_][\w.\[\]]*|[-+]?[0-9.][\w.+-]*|.)', re.DOTALL)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Expression:
    """A function of pins.

    Attributes:
        operation: "pin", "const", "not", "and", "or", "xor".
        name: Of a pin; "0" or "1" of a constant.
        operands: Of an operation; of `and`, `or` and `xor` two or more.
    """

    operation: str
    name: str = ""
    operands: tuple[Expression, ...] = ()

    @property
    def pins(self) -> list[str]:
        """Pins in the order in which they are used, each as often as it is."""
        if self.operation == "pin":
            return [self.name]
        return [pin for operand in self.operands for pin in operand.pins]


@dataclass(frozen=True, slots=True)
class FlipFlopGroup:
    """What a sequential cell stores.

    Attributes:
        state, inverse: Names of what it stores, and of the inverse, in functions of outputs.
        clock: When it takes its input: a pin, or a pin inverted.
        next_state: What it takes.
        clear, preset: When it is reset or set whatever the clock does; None if it never is.
    """

    state: str
    inverse: str
    clock: Expression
    next_state: Expression
    clear: Expression | None = None
    preset: Expression | None = None

    def is_state(self, function: Expression) -> bool:
        """Return whether a function is what the cell stores."""
        return function == Expression("pin", self.state)

    def is_inverse(self, function: Expression) -> bool:
        """Return whether a function is the inverse of what the cell stores."""
        named = bool(self.inverse) and function == Expression("pin", self.inverse)
        return named or function == Expression("not", operands=(Expression("pin", self.state),))


@dataclass(frozen=True, slots=True)
class LatchGroup:
    """What a latch stores.

    Attributes:
        state, inverse: As of a flip-flop.
        enable: When it follows its input.
        data: What it follows.
        clear, preset: When it is reset or set; None if it never is.
    """

    state: str
    inverse: str
    enable: Expression
    data: Expression
    clear: Expression | None = None
    preset: Expression | None = None


@dataclass(frozen=True, slots=True)
class CellType:
    """A cell of the library.

    Attributes:
        name: Of the cell.
        area: In the library's unit; 0 if it says nothing.
        inputs: Pins, in the library's order.
        outputs: Function of each output; None where the library gives none.
        flip_flop: What it stores; None if nothing.
        clock_gate: It gates a clock.
        gating: In which way, as Liberty has words for it; "" of other cells.
        clock_gate_pins: What it calls enable, clock and gated clock.
        test_pins: Pins that let its clock through besides, for tests.
        latch: What it stores, if it is a latch.
        beyond: What it does that the other attributes do not say; "" if they say all.
    """

    name: str
    area: float
    inputs: tuple[str, ...]
    outputs: Mapping[str, Expression | None]
    flip_flop: FlipFlopGroup | None = None
    clock_gate: bool = False
    gating: str = ""
    clock_gate_pins: tuple[str, str, str] = CLOCK_GATE_PINS
    test_pins: tuple[str, ...] = ()
    latch: LatchGroup | None = None
    beyond: str = ""


@dataclass
class _Group:
    kind: str
    names: list[str]
    attributes: dict[str, str] = field(default_factory=dict)
    groups: list[_Group] = field(default_factory=list)


def cells_of(library: str) -> dict[str, CellType]:
    """Return the cells of a Liberty file by name.

    Raises:
        HarnessError: If its text or a function in it cannot be read.
    """
    tokens = _Tokens(_COMMENT.sub(" ", library).replace("\\\n", " "))
    found = {}
    for top in _content(tokens).groups:
        for group in top.groups:
            if group.kind == "cell" and group.names:
                cell = _cell(group)
                found[cell.name] = cell
    if not found:
        raise HarnessError("the Liberty file has no cell (...) group; give the file of a cell library")
    return found


def parsed(function: str) -> Expression:
    """Return a function as Liberty writes it: `!`, a `'` behind, `&`, `*`, a blank, `|`, `+`, `^`, 0 and 1.

    Raises:
        HarnessError: If it is none.
    """
    return _Function(function).whole()


class _Tokens:
    def __init__(self, text: str) -> None:
        self._all = [m[1] for m in _TOKEN.finditer(text) if m[1].strip()]
        self._at = 0

    def peek(self) -> str:
        return self._all[self._at] if self._at < len(self._all) else ""

    def take(self) -> str:
        token = self.peek()
        self._at += 1
        return token


def _content(tokens: _Tokens) -> _Group:
    """Return a group without a name that has the attributes and groups up to a closing brace, or the end."""
    around = _Group("", [])
    while (name := tokens.take()) not in {"", "}"}:
        if name in {";", ","}:
            continue
        after = tokens.peek()
        if after == ":":
            tokens.take()
            value = ""
            while tokens.peek() not in {";", "", "}"}:
                value += tokens.take().strip('"')
            around.attributes[name] = value
        elif after == "(":
            tokens.take()
            names = []
            while (token := tokens.take()) not in {")", ""}:
                if token != ",":
                    names.append(token.strip('"'))
            if tokens.peek() == "{":
                tokens.take()
                inner = _content(tokens)
                around.groups.append(_Group(name, names, inner.attributes, inner.groups))
    return around


def _cell(group: _Group) -> CellType:
    inputs, outputs = [], {}
    gating: dict[str, list[str]] = {}
    beyond = _several(group)
    for pin in _pins(group):
        if "three_state" in pin.attributes:
            beyond = f"an output that can be switched off, {', '.join(pin.names)} (three_state)"
        for use in _GATING_PINS:
            if pin.attributes.get(use) == "true":
                gating.setdefault(use, []).extend(pin.names)
        direction = pin.attributes.get("direction", "")
        for name in pin.names:
            if direction == "input":
                inputs.append(name)
            elif direction == "output":
                function = pin.attributes.get("function")
                outputs[name] = None if function is None else parsed(function)
    return CellType(
        group.names[0],
        float(group.attributes.get("area", "0")),
        tuple(inputs),
        outputs,
        next((_flip_flop(own) for own in group.groups if own.kind == "ff"), None),
        "clock_gating_integrated_cell" in group.attributes,
        group.attributes.get("clock_gating_integrated_cell", ""),
        _gating_pins(gating),
        tuple(gating.get(_GATING_PINS[-1], ())),
        next((_latch(own) for own in group.groups if own.kind == "latch"), None),
        beyond,
    )


def _several(group: _Group) -> str:
    """Say that a cell stores more than one bit; "" if it does not."""
    stores = [own.kind for own in group.groups if own.kind in _STORING]
    if len(stores) < 2 and not any(kind.endswith("_bank") for kind in stores):
        return ""
    return "several flip-flops or latches in one cell"


def _gating_pins(found: Mapping[str, list[str]]) -> tuple[str, str, str]:
    """Return enable, clock and gated clock by what the library says of pins, else by their usual names."""
    enable, clock, gated = (
        found.get(use, [usual])[0] for use, usual in zip(_GATING_PINS, CLOCK_GATE_PINS, strict=False)
    )
    return enable, clock, gated


def _pins(group: _Group) -> Iterator[_Group]:
    for own in group.groups:
        if own.kind == "pin":
            yield own
        elif own.kind in {"bundle", "bus"}:
            yield from _pins(own)


def _flip_flop(group: _Group) -> FlipFlopGroup:
    return FlipFlopGroup(*_stored(group, clock="clocked_on", next_state="next_state"))


def _latch(group: _Group) -> LatchGroup:
    return LatchGroup(*_stored(group, enable="enable", data="data_in"))


def _stored(group: _Group, **taken: str) -> tuple[Any, ...]:
    """Return names of what is stored, what is taken when, and what clears and sets it."""
    if missing := [name for name in taken.values() if name not in group.attributes]:
        raise HarnessError(
            f"{group.kind} ({', '.join(group.names)}) of the Liberty file: expected {missing[0]}, found "
            "none; correct the cell library"
        )
    names = [*group.names, "", ""]
    own = [parsed(group.attributes[name]) for name in taken.values()]
    forced = [parsed(text) if (text := group.attributes.get(name)) else None for name in ("clear", "preset")]
    return (names[0], names[1], *own, *forced)


class _Function:
    """Reads a function by the precedence of its operators: inversion, `^`, `&`, `|`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = re.findall(r"[A-Za-z_][\w.\[\]]*|[01]|[!'&*|+^()]", text)
        self._at = 0

    def whole(self) -> Expression:
        found = self._chain("|+", "or", self._all)
        if self._at != len(self._tokens):
            raise self._wrong()
        return found

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _all(self) -> Expression:
        operands = [self._odd()]
        while True:
            after = self._peek()
            if after and after in "&*":
                self._at += 1
            elif not after or after in "|+)^":
                break
            operands.append(self._odd())
        return operands[0] if len(operands) == 1 else Expression("and", operands=tuple(operands))

    def _odd(self) -> Expression:
        return self._chain("^", "xor", self._one)

    def _chain(self, signs: str, operation: str, inner: Any) -> Expression:  # noqa: ANN401
        operands = [inner()]
        while self._peek() and self._peek() in signs:
            self._at += 1
            operands.append(inner())
        return operands[0] if len(operands) == 1 else Expression(operation, operands=tuple(operands))

    def _one(self) -> Expression:
        token = self._peek()
        self._at += 1
        if token == "!":
            found = _inverted(self._one())
        elif token == "(":
            found = self._chain("|+", "or", self._all)
            if self._peek() != ")":
                raise self._wrong()
            self._at += 1
        elif token in {"0", "1"}:
            found = Expression("const", token)
        elif token and token[0] not in "'&*|+^)":
            found = Expression("pin", token)
        else:
            raise self._wrong()
        while self._peek() == "'":
            self._at += 1
            found = _inverted(found)
        return found

    def _wrong(self) -> HarnessError:
        return HarnessError(
            f"expected a function of pins as Liberty writes it, found {self._text!r}; correct "
            "the cell library"
        )


def _inverted(found: Expression) -> Expression:
    return found.operands[0] if found.operation == "not" else Expression("not", operands=(found,))


def selection(found: Expression) -> tuple[Expression, Expression, Expression] | None:
    """Return what a function selects from, and what selects: (a, b, s) of `s ? b : a`; None if it is no such.

    It is one if a pin and its inverse each gate one of two parts of an OR, as in `(S & B) | (!S & A)`.
    """
    if found.operation != "or" or len(found.operands) != 2:
        return None
    one, other = found.operands
    if one.operation != "and" or other.operation != "and":
        return None
    if len(one.operands) != 2 or len(other.operands) != 2:
        return None
    return _selected(one.operands, other.operands) or _selected(other.operands, one.operands)


def _selected(
    on: Sequence[Expression], off: Sequence[Expression]
) -> tuple[Expression, Expression, Expression] | None:
    for s, b in (on, tuple(reversed(on))):
        for n, a in (off, tuple(reversed(off))):
            if s.operation == "pin" and n == Expression("not", operands=(s,)):
                return a, b, s
    return None
