# SPDX-License-Identifier: Apache-2.0
"""Functions of cells as gates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from resil.rtl_harness.design.cells import Expression, selection
from resil.rtl_harness.engine.fast.gates.word_cells import Bit

BUFFER, NOT, AND, NAND, OR, NOR, XOR, XNOR, MUX, NMUX = 0, 1, 2, 3, 4, 5, 6, 7, 10, 11
_OPERATIONS = {"and": AND, "or": OR, "xor": XOR}
_COLUMN = (1, 2, 3)
# What a gate gives, by its operation as `native/gate_operations.h` numbers them; a multiplexer gives b where
# `s` is 1.
GIVES: dict[int, Callable[[int, int, int], int]] = {
    0: lambda a, b, s: a,
    1: lambda a, b, s: 1 - a,
    2: lambda a, b, s: a & b,
    3: lambda a, b, s: 1 - (a & b),
    4: lambda a, b, s: a | b,
    5: lambda a, b, s: 1 - (a | b),
    6: lambda a, b, s: a ^ b,
    7: lambda a, b, s: 1 - (a ^ b),
    8: lambda a, b, s: a & (1 - b),
    9: lambda a, b, s: a | (1 - b),
    10: lambda a, b, s: b if s else a,
    11: lambda a, b, s: 1 - (b if s else a),
}

Gate = tuple[int, tuple[Bit, ...], Bit]


def operand_columns(operation: int) -> tuple[int, ...]:
    """Return the columns of the operands that a gate looks at: 1 a, 2 b, 3 s."""
    return _COLUMN[: 1 if operation in (BUFFER, NOT) else 3 if operation >= MUX else 2]


def _deciding() -> Iterator[tuple[tuple[int, int, int], int]]:
    for operation, gives in GIVES.items():
        for column, value in product(operand_columns(operation), (0, 1)):
            given = {gives(*own) for own in product((0, 1), repeat=3) if own[column - 1] == value}
            if len(given) == 1:
                yield (operation, column, value), given.pop()


DECIDED: Mapping[tuple[int, int, int], int] = dict(_deciding())
"""What a gate gives whatever its other operands are: by operation, column of one operand, and its value."""


@dataclass(frozen=True)
class Expanded:
    """Gates of a cell, each after those that it depends on.

    Attributes:
        gates: Operation, operands and output of each.
        takes: Gate and column at which each input comes in, which is but one.
        drives: Gate that drives each output.
    """

    gates: list[Gate]
    takes: Mapping[str, tuple[int, int]]
    drives: Mapping[str, int]


def expanded(
    functions: Mapping[str, Expression | None],
    inputs: Mapping[str, Bit],
    outputs: Mapping[str, Bit],
    new_bit: Callable[[], Bit],
) -> Expanded:
    """Return the gates of functions of the same inputs.

    An input that is used more than once gets a buffer of its own, so that it comes in at one place.

    Args:
        functions: By output; None of these.
        inputs: Bit of each pin; one that is not connected is 0.
        outputs: Bit of each output.
        new_bit: Makes bits for what lies between gates.
    """
    gates: list[Gate] = []
    takes: dict[str, tuple[int, int]] = {}
    drives: dict[str, int] = {}
    wanted = {pin: f for pin, f in functions.items() if f is not None and pin in outputs}
    choices = {pin: selection(f) for pin, f in wanted.items()}
    uses: list[str] = []
    for pin, function in wanted.items():
        chosen = choices[pin]
        uses += function.pins if chosen is None else [name for part in chosen for name in part.pins]
    bits = dict(inputs)
    for pin in dict.fromkeys(uses):
        if uses.count(pin) > 1:
            bits[pin] = new_bit()
            takes[pin] = (len(gates), 1)
            gates.append((BUFFER, (inputs.get(pin, "0"),), bits[pin]))

    def operand(part: Expression) -> tuple[Bit, str]:
        """Return a bit, and the pin that it is where it comes in."""
        if part.operation == "pin":
            return bits.get(part.name, "0"), "" if part.name in takes else part.name
        if part.operation == "const":
            return part.name, ""
        return gate(part, new_bit()), ""

    def add(operation: int, operands: list[tuple[Bit, str]], output: Bit) -> Bit:
        for column, (_, pin) in zip(_COLUMN, operands, strict=False):
            if pin:
                takes[pin] = (len(gates), column)
        gates.append((operation, tuple(bit for bit, _ in operands), output))
        return output

    def gate(part: Expression, output: Bit) -> Bit:
        inverted = part.operation == "not"
        inner = part.operands[0] if inverted else part
        chosen = selection(inner)
        if chosen is not None:
            return add(MUX + inverted, [operand(own) for own in chosen], output)
        if inner.operation in {"pin", "const"}:
            return add(NOT if inverted else BUFFER, [operand(inner)], output)
        operation = _OPERATIONS[inner.operation]
        held = operand(inner.operands[0])
        for own in inner.operands[1:-1]:
            held = add(operation, [held, operand(own)], new_bit()), ""
        return add(operation + inverted, [held, operand(inner.operands[-1])], output)

    for pin, function in wanted.items():
        gate(function, outputs[pin])
        drives[pin] = len(gates) - 1
    return Expanded(gates, takes, drives)
