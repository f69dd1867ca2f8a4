# SPDX-License-Identifier: Apache-2.0
"""What keys a table of a file may have: read, checked, and documented from one declaration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

INFINITE = float("inf")
# Defaults that are no values: the key has to be there; the key may be left out, and nothing stands for it.
REQUIRED: Any = object()
ABSENT: Any = object()


@dataclass(frozen=True)
class Key:
    """One key of a table.

    Attributes:
        name: As it stands in the file.
        type: What its value is, in words: "string", "integer", "number", "list of strings", "table", ...
        meaning: A sentence or two for the reference, without the key's name.
        default: What holds without the key; `REQUIRED` or `ABSENT` if no value does.
        low: Of an integer the least value, of a number what it is above.
        high: Of an integer the largest value, of a number what it is below.
        choices: Strings that it may be, or that a list may hold.
        unit: Of the value; "" if it has none.
        table: The table, or each table of the list, that the key holds.
        refused: The key is read to be refused with a reason; it is no key of the table for people.
    """

    name: str
    type: str
    meaning: str
    default: Any = REQUIRED
    low: float = -INFINITE
    high: float = INFINITE
    choices: tuple[str, ...] = ()
    unit: str = ""
    table: KeyTable | None = None
    refused: bool = False

    @property
    def range(self) -> str:
        """What values it may have, in words; "" if all of its type."""
        if self.choices:
            return ", ".join(f'"{choice}"' for choice in self.choices)
        if self.type == "integer":
            return f"{int(self.low):,} to {int(self.high):,}"
        if self.type != "number":
            return ""
        return f"above {self.low:g}" + ("" if self.high == INFINITE else f", below {self.high:g}")


@dataclass(frozen=True)
class KeyTable:
    """A table of a file.

    Attributes:
        name: As it stands in the file, with dots; "[[name]]" in the reference if it is repeated.
        meaning: What it says, in a sentence.
        keys: In the order of the reference.
        required: The file has to have it.
        repeated: It is a list of tables.
    """

    name: str
    meaning: str
    keys: tuple[Key, ...]
    required: bool = False
    repeated: bool = False

    def key(self, name: str) -> Key:
        """Return a key by its name; KeyError if none is declared."""
        for key in self.keys:
            if key.name == name:
                return key
        raise KeyError(f"[{self.name}] declares no key {name}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the keys that may be there."""
        return tuple(key.name for key in self.keys if not key.refused)
