# SPDX-License-Identifier: Apache-2.0
"""Where the keys of a TOML text stand: line and column, for messages."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping

KeyPath = tuple[str | int, ...]
Place = tuple[int, int]
Places = Mapping[KeyPath, Place]

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|'
    r"'''.*?'{3,5}|"
    r'"(?:\\.|[^"\\\n])*"|'
    r"'[^'\n]*'|"
    r"\#[^\n]*|"
    r"\n|[\[\]{}=.,]|"
    r"[^\s\[\]{}=.,#\"']+",
    re.DOTALL,
)
_OPENING, _CLOSING = {"[", "{"}, {"]", "}"}


def dotted(path: KeyPath) -> str:
    """Return the path of a key as errors give it: `safety.mechanism[1].alarm`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def key_places(text: str) -> dict[KeyPath, Place]:
    """Return line and column, from 1, of each table header and key of a valid TOML text.

    Keys are paths from the root; tables of an array are counted from 0. What stands inside an inline table or
    an array has no entry of its own: ask for the key that holds it.
    """
    found: dict[KeyPath, Place] = {}
    counts: dict[KeyPath, int] = {}
    table: KeyPath = ()
    starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(position: int) -> Place:
        line = bisect_right(starts, position)
        return line, position - starts[line - 1] + 1

    for statement in _statements(text):
        position, first = statement[0]
        names = [token for _, token in statement]
        if first == "[":
            is_array = names[1] == "["
            parts = _parts(names[1 + is_array : names.index("]")])
            table = _counted(parts[:-1], counts)
            table = (*table, parts[-1])
            if is_array:
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
        else:
            parts = _parts(names[: names.index("=")])
            for length in range(1, len(parts)):
                found.setdefault((*table, *parts[:length]), place(position))
        found.setdefault(table if first == "[" else (*table, *parts), place(position))
    return found


def place_of(path: KeyPath, places: Places) -> Place | None:
    """Return where a key stands, or else what holds it; None if that is not known."""
    for length in range(len(path), 0, -1):
        if path[:length] in places:
            return places[path[:length]]
    return None


def _statements(text: str) -> list[list[tuple[int, str]]]:
    """Tokens of each header and of each key with its value, with their positions."""
    statements: list[list[tuple[int, str]]] = [[]]
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token.startswith("#"):
            continue
        if token == "\n":
            if depth == 0:
                statements.append([])
            continue
        depth += (token in _OPENING) - (token in _CLOSING)
        statements[-1].append((match.start(), token))
    return [statement for statement in statements if statement]


def _parts(tokens: list[str]) -> tuple[str, ...]:
    return tuple(_unquoted(token) for token in tokens if token != ".")


def _unquoted(token: str) -> str:
    return next(iter(tomllib.loads(f"{token} = 0"))) if token[0] in "\"'" else token


def _counted(path: tuple[str | int, ...], counts: Mapping[KeyPath, int]) -> KeyPath:
    """Put the number of the latest table behind each array of tables in a path."""
    counted: KeyPath = ()
    for part in path:
        counted = (*counted, part)
        if counted in counts:
            counted = (*counted, counts[counted])
    return counted
