# SPDX-License-Identifier: Apache-2.0
"""Packed structures of the RTL as Python dictionaries, laid out as their SystemVerilog declarations say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import resil.rtl_harness.npu

RTL = Path(next(iter(resil.rtl_harness.npu.__path__))) / "rtl"
PACKAGES = (
    RTL / "axi_pkg.sv",
    RTL / "npu_pkg.sv",
    RTL / "cc" / "cc_cmd_pkg.sv",
    Path(__file__).with_name("blocks_pkg.sv"),
)

_TYPEDEF = re.compile(r"typedef\s+(struct packed|enum logic\s*\[(\d+):0\])\s*\{(.*?)\}\s*(\w+)\s*;", re.S)
_FIELD = re.compile(r"([\w:]+)\s*(signed)?\s*((?:\[[^\]]+\]\s*)*)(\w+)\s*$", re.S)


@dataclass(frozen=True)
class Field:
    """A member: its type if that is a structure, the length of the array or 0, and the width of an entry."""

    name: str
    type: Struct | None
    length: int
    width: int
    is_signed: bool


@dataclass(frozen=True)
class Struct:
    """A packed structure; the first member holds the most significant bits."""

    name: str
    fields: tuple[Field, ...]

    @property
    def width(self) -> int:
        return sum(field.width * (field.length or 1) for field in self.fields)

    def pack(self, values: Mapping[str, Any]) -> int:
        """Return the bits; what is not given is zero, the first entry of an array the least significant."""
        unknown = set(values) - {field.name for field in self.fields}
        assert not unknown, f"{self.name} has no {unknown}"
        word = 0
        for field in self.fields:
            entries = values.get(field.name, 0)
            if not field.length:
                word = word << field.width | _bits(field, entries)
                continue
            whole = 0
            for position, entry in enumerate(entries or []):
                whole |= _bits(field, entry) << position * field.width
            word = word << field.width * field.length | whole
        return word

    def unpack(self, word: int) -> dict[str, Any]:
        """Return the members; structures as dictionaries, arrays as lists."""
        values = {}
        for field in reversed(self.fields):
            entries = []
            for _ in range(field.length or 1):
                entries.append(_value(field, word & (1 << field.width) - 1))
                word >>= field.width
            values[field.name] = entries if field.length else entries[0]
        return values


def _bits(field: Field, value: Any) -> int:
    if field.type is not None and not isinstance(value, int):
        return field.type.pack(value)
    return int(value) & (1 << field.width) - 1


def _value(field: Field, bits: int) -> Any:
    if field.type is not None:
        return field.type.unpack(bits)
    return bits - (1 << field.width) if field.is_signed and bits >> field.width - 1 else bits


@cache
def structs() -> dict[str, Struct]:
    """Return the structures of the packages by name."""
    return _parsed()[0]


@cache
def enums() -> dict[str, int]:
    """Return the values of the packages' enumerations by name."""
    return _parsed()[1]


@cache
def _parsed() -> tuple[dict[str, Struct], dict[str, int]]:
    found: dict[str, Struct] = {}
    values: dict[str, int] = {}
    enum_widths: dict[str, int] = {}
    for file in PACKAGES:
        text = re.sub(r"//[^\n]*", "", file.read_text())
        constants = {n: v for n, v in re.findall(r"localparam int unsigned (\w+)\s*=\s*(\d+);", text)}
        for kind, high, body, name in _TYPEDEF.findall(text):
            if kind.startswith("enum"):
                enum_widths[name] = int(high) + 1
                for position, entry in enumerate(body.split(",")):
                    key, _, value = (part.strip() for part in entry.partition("="))
                    values[key] = int(value.split("'d")[1]) if value else position
                continue
            fields = []
            for declaration in filter(None, (part.strip() for part in body.split(";"))):
                match = _FIELD.match(declaration)
                assert match, f"{file.name}: {name}: {declaration}"
                base, signed, dimensions, member = match.groups()
                sizes = [
                    int(constants.get(size, size)) + 1 for size in re.findall(r"\[([^:]+):0\]", dimensions)
                ]
                inner = found.get(base)
                width = inner.width if inner else enum_widths.get(base, 0) or (sizes.pop() if sizes else 1)
                assert len(sizes) <= 1, f"{name}.{member} has too many dimensions"
                fields.append(Field(member, inner, sizes[0] if sizes else 0, width, bool(signed)))
            found[name] = Struct(name, tuple(fields))
    return found, values
