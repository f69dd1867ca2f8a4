# SPDX-License-Identifier: Apache-2.0
"""Cells as C++ on words of 32 machines (`lanes.h`)."""

from __future__ import annotations

from collections.abc import Sequence

from resil.rtl_harness.engine.fast.lanes.expressions import (
    LIVE,
    Writer,
    element_bits,
    literal,
    name_of,
    ones,
    type_of,
)
from resil.rtl_harness.engine.fast.lanes.wide_cells import (
    SHIFTS,
    SIGNS,
    last_amount,
    wide_cell,
)
from resil.rtl_harness.engine.fast.lanes.words import (
    BITWISE,
    SELECTED,
    WIDEST,
    Bit,
    NetlistCell,
    Piece,
    UnsupportedLanesError,
    Words,
)

_TRUTHS = {
    *("$logic_not", "$logic_and", "$logic_or", "$reduce_bool", "$reduce_or", "$reduce_and"),
    *("$reduce_xor", "$reduce_xnor", "$eq", "$ne", "$eqx", "$nex", "$lt", "$le", "$gt", "$ge"),
}


class WideError(Exception):
    """The cell has to be computed machine by machine."""


class CellWriter:
    """Writes statements that compute cells."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self.writer = Writer(words)

    def statement(self, cell: NetlistCell, piece: Piece) -> str:
        """Return what sets a piece of a cell's output that can be computed by itself.

        Raises:
            UnsupportedError: If the kind of cell is unknown.
        """
        width, first = piece.width, piece.first
        if cell.kind in BITWISE:
            value = self._bitwise(cell, first, width)
        elif cell.kind in SELECTED:
            value = self._selected(cell, first, width)
        elif cell.kind in _TRUTHS and first:
            value = "M{0}" if width == 1 else f"all<{type_of(width)}>(0)"
        elif cell.kind in _TRUTHS:
            value = self._truth(cell)
            if width > 1:
                value = f"chosen<{type_of(width)}>({value}, 1u)"
        else:
            value = self._arithmetic(cell, width)
        return f"{name_of(piece)} = {value};{self._undefined(cell, first, width)}"

    def _operand(self, cell: NetlistCell, port: str, first: int, width: int) -> list[Bit]:
        bits = list(cell.pins[port])
        wanted = len(cell.pins["Y"])
        if len(bits) < wanted:
            bits += [bits[-1] if cell.number(f"{port}_SIGNED") else "0"] * (wanted - len(bits))
        return bits[first : first + width]

    def _value(self, bits: Sequence[Bit], width: int) -> str:
        return self.writer.mask(bits[0]) if width == 1 else self.writer.word(bits, element_bits(width))

    def _chosen(self, mask: str, one: str, other: str, width: int) -> str:
        if width == 1:
            return f"(({one} & {mask}) | ({other} & ~{mask}))"
        return f"choose({mask}, {one}, {other})"

    def _bitwise(self, cell: NetlistCell, first: int, width: int) -> str:
        a = self._value(self._operand(cell, "A", first, width), width)
        if cell.kind in {"$pos", "$buf"}:
            return a
        full = "~M{0}" if width == 1 else f"all<{type_of(width)}>({literal(ones(width))})"
        if cell.kind == "$not":
            return f"{a} ^ {full}"
        b = self._value(self._operand(cell, "B", first, width), width)
        if cell.kind == "$mux":
            return self._chosen(self.writer.mask(cell.pins["S"][0]), b, a, width)
        if cell.kind == "$bwmux":
            bits = self._operand(cell, "S", first, width)
            if len(set(bits)) == 1:
                return self._chosen(self.writer.mask(bits[0]), b, a, width)
            s = self._value(bits, width)
            return f"({a}) ^ ((({a}) ^ ({b})) & {s})"
        sign = {"$and": "&", "$or": "|", "$xor": "^", "$xnor": "^"}[cell.kind]
        value = f"{a} {sign} {b}"
        return f"({value}) ^ {full}" if cell.kind == "$xnor" else value

    def _selected(self, cell: NetlistCell, first: int, width: int) -> str:
        whole = len(cell.pins["Y"])
        if cell.kind == "$demux":
            data = len(cell.pins["A"])
            parts = []
            at = first
            while at < first + width:
                number, begin = divmod(at, data)
                stop = min(first + width, (number + 1) * data)
                here = self._index(cell.pins["S"], number)
                bits = cell.pins["A"][begin : begin + stop - at]
                if width == 1:
                    return f"{here} & {self.writer.mask(bits[0])}"
                kind = type_of(width)
                shifted: list[Bit] = [*["0"] * (at - first), *bits]
                parts.append(
                    f"choose({here}, {self.writer.word(shifted, element_bits(width))}, all<{kind}>(0))"
                )
                at = stop
            return " | ".join(parts)
        if cell.kind == "$pmux":
            found = self._value(cell.pins["A"][first : first + width], width)
            for i, select in enumerate(cell.pins["S"]):
                bits = cell.pins["B"][i * whole + first : i * whole + first + width]
                found = self._chosen(self.writer.mask(select), self._value(bits, width), found, width)
            return found
        table = [
            cell.pins["A"][i * whole + first : i * whole + first + width]
            for i in range(len(cell.pins["A"]) // whole)
        ]
        values = [self._value(bits, width) for bits in table]
        for select in cell.pins["S"]:
            mask = self.writer.mask(select)
            values = [
                a if a == b else self._chosen(mask, b, a, width)
                for a, b in zip(values[::2], values[1::2], strict=True)
            ]
        return values[0]

    def _undefined(self, cell: NetlistCell, first: int, width: int) -> str:
        """Return a statement that notes the machines in which a cell selects what is undefined."""
        found = "M{0}"
        if cell.kind == "$bmux":
            whole, table = len(cell.pins["Y"]), cell.pins["A"]
            entries = [table[i + first : i + first + width] for i in range(0, len(table), whole)]
            values = ["~M{0}" if "x" in entry else "M{0}" for entry in entries]
            for select in cell.pins["S"]:
                mask = self.writer.mask(select)
                values = [
                    a if a == b else self._chosen(mask, b, a, 1)
                    for a, b in zip(values[::2], values[1::2], strict=True)
                ]
            found = values[0]
        elif cell.kind == "$shiftx" and 0 <= (last := last_amount(cell)) < ones(len(cell.pins["B"])):
            size = element_bits(max(len(cell.pins["A"]), 8))
            found = f"below(all<V{size}>({literal(last)}), {self._amount(cell.pins['B'], size)})"
        return "" if found == "M{0}" else f" s.undefined |= ({found}) & {LIVE};"

    def _index(self, bits: Sequence[Bit], number: int) -> str:
        """Return a mask of the machines where `bits` are `number`."""
        if len(bits) == 1:
            mask = self.writer.mask(bits[0])
            return f"({mask})" if number else f"(~{mask})"
        size = element_bits(len(bits))
        return f"equal({self.writer.word(bits, size)}, all<V{size}>({literal(number)}))"

    def _truth(self, cell: NetlistCell) -> str:
        pins, kind = cell.pins, cell.kind
        if kind in {"$logic_not", "$reduce_bool", "$reduce_or"}:
            value = self.writer.any_of(pins["A"])
            return f"~{value}" if kind == "$logic_not" else value
        if kind in {"$logic_and", "$logic_or"}:
            sign = "&" if kind == "$logic_and" else "|"
            return f"{self.writer.any_of(pins['A'])} {sign} {self.writer.any_of(pins['B'])}"
        if kind == "$reduce_and":
            return self.writer.all_of(pins["A"])
        if kind in {"$reduce_xor", "$reduce_xnor"}:
            parts = [pins["A"][i : i + WIDEST] for i in range(0, len(pins["A"]), WIDEST)]
            value = "(" + " ^ ".join(self._parity(bits) for bits in parts) + ")"
            return f"~{value}" if kind == "$reduce_xnor" else value
        return self._comparison(cell)

    def _parity(self, bits: Sequence[Bit]) -> str:
        if len(bits) == 1:
            return self.writer.mask(bits[0])
        return f"parity({self.writer.word(bits, element_bits(len(bits)))})"

    def _comparison(self, cell: NetlistCell) -> str:
        a, b, kind = cell.pins["A"], cell.pins["B"], cell.kind
        width = max(len(a), len(b))
        signed = bool(cell.number("A_SIGNED") and cell.number("B_SIGNED"))
        if width > WIDEST:
            raise WideError
        if width == 1 and kind in {"$eq", "$ne", "$eqx", "$nex"}:
            value = f"({self.writer.mask(a[0])} ^ {self.writer.mask(b[0])})"
            return value if kind in {"$ne", "$nex"} else f"~{value}"
        size = element_bits(width)
        one, other = self.writer.word(a, size, signed), self.writer.word(b, size, signed)
        order = "less" if signed else "below"
        return {
            "$eq": f"equal({one}, {other})",
            "$eqx": f"equal({one}, {other})",
            "$ne": f"~equal({one}, {other})",
            "$nex": f"~equal({one}, {other})",
            "$lt": f"{order}({one}, {other})",
            "$le": f"~{order}({other}, {one})",
            "$gt": f"{order}({other}, {one})",
            "$ge": f"~{order}({one}, {other})",
        }[kind]

    def _arithmetic(self, cell: NetlistCell, width: int) -> str:
        kind, pins = cell.kind, cell.pins
        whole = len(pins["Y"])
        signed = bool(cell.number("A_SIGNED")) and (
            "B" not in pins or kind in SHIFTS or bool(cell.number("B_SIGNED"))
        )
        if whole > WIDEST:
            raise WideError
        if kind in {"$add", "$sub", "$mul", "$neg"}:
            size = element_bits(whole)
            a = self.writer.word(pins["A"], size, signed)
            if kind == "$neg":
                value = f"all<V{size}>(0) - {a}"
            else:
                b = self.writer.word(pins["B"], size, signed)
                value = f"{a} {SIGNS[kind]} {b}"
        elif kind in SHIFTS:
            extent = max(whole, len(pins["A"]))
            if extent > WIDEST or (cell.number("B_SIGNED") and kind in {"$shift", "$shiftx"}):
                raise WideError
            size = element_bits(extent)
            a = self.writer.word(pins["A"], size, signed)
            if kind == "$shr" and signed and extent < size:
                a = f"({a} & all<V{size}>({literal(ones(extent))}))"
            by = self._amount(pins["B"], size)
            if kind in {"$shl", "$sshl"}:
                value = f"shifted_left({a}, {by})"
            elif kind == "$sshr" and signed:
                value = f"shifted_right_signed({a}, {by})"
            else:
                value = f"shifted_right({a}, {by})"
            if size != element_bits(whole):
                value = f"as<V{element_bits(whole)}>({value})"
                size = element_bits(whole)
        else:
            raise UnsupportedLanesError(f"{cell.name} is a {kind}")
        if whole == 1:
            return f"test({value}, 1u)"
        return value if whole == size else f"({value}) & all<V{size}>({literal(ones(whole))})"

    def _amount(self, bits: Sequence[Bit], size: int) -> str:
        fitting = self.writer.word(bits, size)
        if len(bits) <= size:
            return fitting
        return f"choose({self.writer.any_of(bits[size:])}, all<V{size}>({literal(ones(size))}), {fitting})"

    def wide(self, cell: NetlistCell, pieces: Sequence[Piece]) -> str:
        """Return what sets all pieces of a cell with more than 64 bits, machine by machine.

        Raises:
            UnsupportedError: If the kind of cell is unknown, or its operands have more than 128 bits.
        """
        return wide_cell(self.writer, cell, pieces)
