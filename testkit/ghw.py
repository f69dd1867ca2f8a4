# SPDX-License-Identifier: Apache-2.0
"""Waveforms as GHDL writes them (GHW), of signals of std_logic and of vectors and arrays of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

LEVELS = "UX01ZWLH-"
_ENUM, _INTEGER, _ARRAY, _SUBTYPE_SCALAR, _SUBTYPE_ARRAY = 23, 25, 31, 34, 35
_BLOCK, _SIGNAL, _PORT_IN, _PORT_OUT, _END_OF_SCOPE = 3, 16, 17, 18, 15
_DOWN, _TO = 0x80, 0


def _uleb(value: int) -> bytes:
    found = bytearray()
    while True:
        value, low = value >> 7, value & 127
        found.append(low | (128 if value else 0))
        if not value:
            return bytes(found)


def _sleb(value: int) -> bytes:
    found = bytearray()
    while True:
        low, value = value & 127, value >> 7
        done = (value == 0 and not low & 64) or (value == -1 and low & 64)
        found.append(low | (0 if done else 128))
        if done:
            return bytes(found)


def _i32(value: int) -> bytes:
    return value.to_bytes(4, "little", signed=True)


class GhwWriter:
    """Writes what happens to the ports of one instance.

    Args:
        scopes: Path of the instance.
        ports: Direction ("in" or "out"), and the sizes of its dimensions: none of a std_logic, one of a
            vector, (2, 8) of an array (0 to 1) of vectors (7 downto 0).
    """

    def __init__(self, scopes: Sequence[str], ports: Mapping[str, tuple[str, tuple[int, ...]]]) -> None:
        self._scopes, self._ports = scopes, ports
        self._strings: list[str] = []
        self._first: dict[str, int] = {}
        number = 1
        for name, (_, sizes) in ports.items():
            self._first[name] = number
            bits = 1
            for size in sizes:
                bits *= size
            number += bits
        self._signals = number - 1
        self._now: list[int] = [0] * self._signals
        self._cycles: list[tuple[int, dict[int, int]]] = []

    def change(self, time: int, values: Mapping[str, str]) -> None:
        """Note levels of ports, characters of `LEVELS`, the highest bit first, at a time in femtoseconds."""
        found = {}
        for name, levels in values.items():
            for place, level in enumerate(levels):
                found[self._first[name] + place] = LEVELS.index(level)
        self._cycles.append((time, found))

    def write(self, file: Path) -> Path:
        """Write the file."""
        types, well_known, tree = self._types(), self._well_known(), self._tree()
        begin = b"GHDLwave\n" + bytes((16, 0, 0, 1, 4, 1, 0))
        parts = [self._text(), types, well_known, tree, b"EOH\0", self._snapshot(), self._changes()]
        place, directory = len(begin), b""
        for part in parts:
            directory += part[:4] + _i32(place)
            place += len(part)
        end = b"DIR\0" + bytes(4) + _i32(len(parts)) + directory + b"EOD\0"
        end += b"TAI\0" + bytes(4) + _i32(place)
        file.write_bytes(b"".join([begin, *parts, end]))
        return file

    def _string(self, text: str) -> bytes:
        if text not in self._strings:
            self._strings.append(text)
        return _uleb(self._strings.index(text) + 1)

    def _text(self) -> bytes:
        # No string takes the beginning of the one before it.
        content = b"".join(text.encode() + b"\0" for text in self._strings)
        size = sum(len(text) for text in self._strings)
        return b"STR\0" + bytes(4) + _i32(len(self._strings)) + _i32(size) + content + b"EOS\0"

    def _shapes(self) -> list[tuple[int, ...]]:
        shapes: dict[tuple[int, ...], None] = {}
        for _, sizes in self._ports.values():
            for begin in range(len(sizes) - 1, -1, -1):
                shapes[sizes[begin:]] = None
        return sorted(shapes, key=len)

    def _type(self, sizes: tuple[int, ...]) -> int:
        """Return the number of a type: std_ulogic, integer, std_logic, then two for each shape."""
        return 3 if not sizes else 5 + 2 * self._shapes().index(sizes)

    def _types(self) -> bytes:
        parts = [bytes((_ENUM,)), self._string("std_ulogic"), _uleb(len(LEVELS))]
        parts += [self._string(f"'{level}'") for level in LEVELS]
        parts += [bytes((_INTEGER,)), self._string("integer")]
        parts += [
            bytes((_SUBTYPE_SCALAR,)),
            self._string("std_logic"),
            _uleb(1),
            bytes((_ENUM, 0, len(LEVELS) - 1)),
        ]
        for sizes in self._shapes():
            name = self._string(
                "std_logic_vector" if len(sizes) == 1 else f"words{'_'.join(map(str, sizes))}"
            )
            parts += [bytes((_ARRAY,)), name, _uleb(self._type(sizes[1:])), _uleb(1), _uleb(2)]
            direction = _DOWN if len(sizes) == 1 else _TO
            ends = (sizes[0] - 1, 0) if direction else (0, sizes[0] - 1)
            parts += [bytes((_SUBTYPE_ARRAY,)), name, _uleb(self._type(sizes) - 1)]
            parts += [bytes((_INTEGER | direction,)), *map(_sleb, ends)]
        count = 3 + 2 * len(self._shapes())
        return b"TYP\0" + bytes(4) + _i32(count) + b"".join(parts) + b"\0"

    def _well_known(self) -> bytes:
        return b"WKT\0" + bytes(4) + b"\3" + _uleb(1) + b"\0"

    def _tree(self) -> bytes:
        parts = []
        for scope in self._scopes:
            parts += [bytes((_BLOCK,)), self._string(scope)]
        for name, (direction, sizes) in self._ports.items():
            kind = _PORT_IN if direction == "in" else _PORT_OUT
            bits = 1
            for size in sizes:
                bits *= size
            numbers = range(self._first[name], self._first[name] + bits)
            parts += [bytes((kind,)), self._string(name), _uleb(self._type(sizes)), *map(_uleb, numbers)]
        parts += [bytes((_END_OF_SCOPE,))] * len(self._scopes)
        head = _i32(len(self._scopes)) + _i32(len(self._ports)) + _i32(self._signals)
        return b"HIE\0" + bytes(4) + head + b"".join(parts) + b"\0"

    def _snapshot(self) -> bytes:
        time, values = self._cycles[0]
        levels = bytes(values.get(number, 0) for number in range(1, self._signals + 1))
        return b"SNP\0" + bytes(4) + time.to_bytes(8, "little") + levels + b"ESN\0"

    def _changes(self) -> bytes:
        parts, before = [], None
        for time, values in self._cycles[1:]:
            parts.append(time.to_bytes(8, "little") if before is None else _sleb(time - before))
            last, before = 0, time
            for number in sorted(values):
                parts += [_uleb(number - last), bytes((values[number],))]
                last = number
            parts.append(b"\0")
        return b"CYC\0" + b"".join(parts) + _sleb(-1) + b"ECY\0"
