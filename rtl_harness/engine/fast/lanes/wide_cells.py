# SPDX-License-Identifier: Apache-2.0
"""Cells of more than 64 bits as C++: a loop over the machines, with numbers of 128 bits."""

from __future__ import annotations

from collections.abc import Sequence

from resil.rtl_harness.engine.fast.lanes.expressions import (
    LANE,
    LIVE,
    Writer,
    element_bits,
    literal,
    name_of,
    ones,
)
from resil.rtl_harness.engine.fast.lanes.words import NetlistCell, Piece, UnsupportedLanesError

SHIFTS = {"$shl", "$shr", "$sshl", "$sshr", "$shift", "$shiftx"}
SIGNS = {"$add": "+", "$sub": "-", "$mul": "*"}
_ORDERS = {
    "$eq": "==",
    "$eqx": "==",
    "$ne": "!=",
    "$nex": "!=",
    "$lt": "<",
    "$le": "<=",
    "$gt": ">",
    "$ge": ">=",
}


def wide_cell(w: Writer, cell: NetlistCell, pieces: Sequence[Piece]) -> str:
    """Return what sets all pieces of a cell with more than 64 bits, machine by machine.

    Raises:
        UnsupportedError: If the kind of cell is unknown, or its operands have more than 128 bits.
    """
    kind, pins = cell.kind, cell.pins
    whole = len(pins["Y"])
    lines = []
    if kind in SHIFTS and (max(whole, len(pins["A"])) > 128 or kind in {"$shift", "$shiftx"}):
        signed = bool(cell.number("A_SIGNED"))
        left = kind in {"$shl", "$sshl"}
        if kind == "$sshr" and signed:
            raise UnsupportedLanesError(f"{cell.name} shifts {len(pins['A'])} signed bits")
        limbs = w.limbs(pins["A"], signed and kind != "$shiftx", whole if signed else 0)
        by_sign = bool(cell.number("B_SIGNED")) and kind in {"$shift", "$shiftx"}
        lines.append(f"const uint64_t a[] = {{{limbs}}};")
        lines.append("constexpr int n = sizeof(a) / sizeof(a[0]);")
        amount = w.lane(pins["B"], by_sign)
        lines.append(f"const S128 given = static_cast<S128>({amount});")
        lines.append(
            "const int64_t by = given > (1 << 20) ? 1 << 20 : given < -(1 << 20) ? -(1 << 20) : "
            "static_cast<int64_t>(given);"
        )
        if kind == "$shiftx" and (last := last_amount(cell)) >= 0:
            lines.append(f"undefined |= static_cast<M>(by < 0 || by > {last}) << {LANE};")
        sign = "-" if left else ""
        values = [f"limb_at<n>(a, {p.first} + {sign}by)" for p in pieces]
    else:
        values, more = _values(w, cell, pieces)
        lines += more
    for piece, value in zip(pieces, values, strict=True):
        if piece.width == 1:
            lines.append(f"m{piece.number} |= static_cast<M>(({value}) & 1) << {LANE};")
        else:
            cut = f" & {literal(ones(piece.width))}" if piece.width not in (8, 16, 32, 64) else ""
            kind_of_element = f"uint{element_bits(piece.width)}_t"
            lines.append(
                f"elements({name_of(piece)})[{LANE}] = static_cast<{kind_of_element}>(({value}){cut});"
            )
    masks = [p for p in pieces if p.width == 1]
    before = "M undefined = 0; " + "".join(f"M m{p.number} = 0; " for p in masks)
    after = " s.undefined |= undefined;" + "".join(f" {name_of(p)} = m{p.number};" for p in masks)
    body = "\n    ".join(lines)
    loop = f"for (M left = {LIVE}; left; left &= left - 1) {{\n    const int {LANE} = __builtin_ctz(left);"
    return f"{{ {before}{loop}\n    {body}\n  }}{after} }}"


def last_amount(cell: NetlistCell) -> int:
    """Return the most that a `$shiftx` may move its operand by for its output to be defined.

    Less than 0 if the output is wider than the operand: then it is a move to a place, and only what stands
    there is looked at.
    """
    return len(cell.pins["A"]) - len(cell.pins["Y"])


def _values(w: Writer, cell: NetlistCell, pieces: Sequence[Piece]) -> tuple[list[str], list[str]]:
    kind, pins = cell.kind, cell.pins
    whole = len(pins["Y"])
    longest = max(
        len(b) for p, b in pins.items() if p in {"A", "B", "Y"} and not (p == "B" and kind in SHIFTS)
    )
    if longest > 128:
        raise UnsupportedLanesError(f"{cell.name} is a {kind} of {longest} bits")
    signed = bool(cell.number("A_SIGNED")) and (
        "B" not in pins or kind in SHIFTS or bool(cell.number("B_SIGNED"))
    )
    lines = [f"const U128 a = {w.lane(pins['A'], signed)};"]
    if "B" in pins:
        lines.append(f"const U128 b = {w.lane(pins['B'], signed and kind not in SHIFTS)};")
    if kind in {"$add", "$sub", "$mul"}:
        lines.append(f"const U128 y = a {SIGNS[kind]} b;")
    elif kind == "$neg":
        lines.append("const U128 y = -a;")
    elif kind in {"$shl", "$sshl"}:
        lines.append("const U128 y = b < 128 ? a << static_cast<int>(b) : U128{0};")
    elif kind == "$sshr" and signed:
        lines.append(
            "const U128 y = static_cast<U128>(static_cast<S128>(a) >> static_cast<int>(b < 127 ? b : 127));"
        )
    elif kind in {"$shr", "$sshr"}:
        # A signed operand that is shifted without its sign is filled up to the width of the operation first.
        if signed and kind == "$shr":
            lines[0] = f"const U128 a = {w.lane(pins['A'], True)} & {_wide_ones(max(whole, len(pins['A'])))};"
        lines.append("const U128 y = b < 128 ? a >> static_cast<int>(b) : U128{0};")
    elif kind in _ORDERS:
        number = "S128" if signed else "U128"
        lines.append(f"const U128 y = static_cast<{number}>(a) {_ORDERS[kind]} static_cast<{number}>(b);")
    else:
        raise UnsupportedLanesError(f"{cell.name} is a {kind} of {whole} bits")
    return [f"static_cast<uint64_t>(y >> {p.first})" for p in pieces], lines


def _wide_ones(width: int) -> str:
    return f"((U128{{1}} << {width}) - 1)" if width < 128 else "~U128{0}"
