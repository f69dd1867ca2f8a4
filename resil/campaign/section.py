# SPDX-License-Identifier: Apache-2.0
"""Strict reading of one table of a TOML file: every key is asked for, checked, and accounted for."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeGuard

from resil.campaign.declaration import ABSENT, INFINITE, REQUIRED, KeyTable
from resil.campaign.key_places import KeyPath
from resil.campaign.problems import Problems, UnreadError
from resil.errors import CampaignError

# The default is that of the declaration.
_DECLARED: Any = object()


class Section:
    """One table, from which every known key is taken once; what is left over is an error.

    What is wrong is noted, and something of the right type is returned in its place, so that all that is
    wrong with a file is found at once. Nothing made of it is used: the reader of the file ends with
    `Problems.finish`.

    Args:
        problems: Of the file.
        path: Of the table.
        values: Its content.
        declared: Its keys; KeyError if another is asked for.
    """

    def __init__(
        self, problems: Problems, path: KeyPath, values: Mapping[str, Any], declared: KeyTable
    ) -> None:
        self._declared = declared
        self._problems = problems
        self._path = path
        self._values = values
        self._taken: list[str] = []
        self._missing: list[str] = []

    def fail(self, key: str, expected: str, found: str, remedy: str) -> CampaignError:
        """Return the error that names file, key, expectation, finding and remedy; to be raised."""
        return self._problems.error((*self._path, key), self._message(key, expected, found, remedy))

    def wrong(self, key: str, expected: str, found: str, remedy: str) -> None:
        """Note that a key is wrong, and go on; the first that is wrong with a key is kept."""
        self._problems.add((*self._path, key), self._message(key, expected, found, remedy))

    def sound(self, key: str) -> bool:
        """Whether nothing has been found wrong with a key."""
        return not self._problems.holds((*self._path, key))

    def has(self, key: str) -> bool:
        """Whether the table holds `key`; does not take it."""
        return key in self._values

    def is_table(self, key: str) -> bool:
        """Whether the table holds a table of its own as `key`; does not take it."""
        return isinstance(self._values.get(key), dict)

    def text(self, key: str, default: str = _DECLARED, *, remedy: str = "") -> str:
        """Take a string that is not blank."""
        value = self._take(key, default, "a string", remedy)
        if not isinstance(value, str):
            self.wrong(key, "a string", _shown(value), remedy or "put it in quotes")
            return ""
        if not value.strip():
            self.wrong(key, "a string that is not blank", _shown(value), remedy or "fill it in")
        return value

    def integer(self, key: str) -> int:
        """Take an integer within its range."""
        declared = self._declared.key(key)
        low, high = int(declared.low), int(declared.high)
        expected = f"an integer from {low:,} to {high:,}"
        value = self._take(key, _DECLARED, expected)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self.wrong(key, expected, _shown(value), "change the value")
            return low
        return value

    def number(self, key: str, *, remedy: str = "") -> float:
        """Take a number strictly within its range."""
        declared = self._declared.key(key)
        low, high = declared.low, declared.high
        upper = "" if high == INFINITE else f" and below {high:g}"
        expected = f"a number above {low:g}{upper}"
        value = self._take(key, _DECLARED, expected, remedy)
        if not _is_finite(value) or not low < value < high:
            self.wrong(key, expected, _shown(value), remedy or "change the value")
            return low + 1.0 if high == INFINITE else (low + high) / 2.0
        return float(value)

    def numbers(self, key: str, count: int) -> tuple[float, ...]:
        """Take a list of `count` numbers."""
        expected = f"a list of {count} numbers"
        value = self._take(key, _DECLARED, expected)
        items = value if isinstance(value, list | tuple) else []
        if len(items) != count or not all(map(_is_finite, items)):
            self.wrong(key, expected, _shown(value), "change the value")
            return (1.0,) * count
        return tuple(float(v) for v in items)

    def choices(self, key: str) -> tuple[str, ...]:
        """Take a non-empty list of different strings out of its choices; return it in their order."""
        allowed = self._declared.key(key).choices
        expected = f"a list of one or more of {', '.join(allowed)}"
        value = self._take(key, _DECLARED, expected)
        if not isinstance(value, list | tuple) or not value or any(item not in allowed for item in value):
            self.wrong(key, expected, _shown(value), "change the value")
            return allowed
        if len(set(value)) != len(value):
            self.wrong(key, "each value once", _shown(value), "remove the repeated value")
        return tuple(item for item in allowed if item in value)

    def choice(self, key: str) -> str:
        """Take one string out of its choices."""
        allowed = self._declared.key(key).choices
        value = self._take(key, _DECLARED, f"one of {', '.join(allowed)}")
        if value not in allowed:
            self.wrong(key, f"one of {', '.join(allowed)}", _shown(value), "change the value")
            return allowed[0]
        return str(value)

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Take a truth value; `default` may depend on other keys."""
        value = self._take(key, default, "true or false")
        if not isinstance(value, bool):
            self.wrong(key, "true or false", _shown(value), "change the value")
            return default
        return value

    def raw(self, key: str, expected: str) -> object:
        """Take a value of any type; the caller checks it. None if it is missing."""
        return self._take(key, _DECLARED, expected)

    def path(self, key: str, expected: str) -> Path:
        """Take the path of an existing file, relative to the file's own folder."""
        text = self.text(key)
        return self.existing(key, text, expected) if self.sound(key) else Path()

    def paths(self, key: str, expected: str) -> tuple[Path, ...]:
        """Take a list of one or more paths of existing files, relative to the file's own folder."""
        value = self._take(key, _DECLARED, expected)
        if not isinstance(value, list) or not value or not all(isinstance(v, str) and v for v in value):
            self.wrong(key, expected, _shown(value), "change the value")
            return ()
        return tuple(self.existing(key, text, expected) for text in value)

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of strings that are not blank; without the key an empty one."""
        value = self._take(key, (), "a list of strings")
        if not isinstance(value, list | tuple) or not all(isinstance(v, str) and v.strip() for v in value):
            self.wrong(key, "a list of strings", _shown(value), "change the value")
            return ()
        return tuple(value)

    def folder(self, key: str) -> Path:
        """Take the path of a folder, relative to the file's own; it need not be there yet."""
        text = self.text(key)
        return self._resolved(key, text, "a folder") if self.sound(key) else Path()

    def table(self, key: str, expected: str) -> Section:
        """Take a table of its own; UnreadError, and noted, if it is none."""
        value = self._take(key, _DECLARED, expected)
        if not isinstance(value, dict):
            self.wrong(key, expected, _shown(value), f"write [{self._name}.{key}]")
            raise UnreadError
        return Section(self._problems, (*self._path, key), value, self._table_of(key))

    def tables(self, key: str, expected: str) -> list[Section]:
        """Take a list of one or more tables."""
        value = self._take(key, _DECLARED, expected)
        if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
            self.wrong(key, expected, _shown(value), f"write [[{self._name}.{key}]]")
            return []
        inner = self._table_of(key)
        return [Section(self._problems, (*self._path, key, i), v, inner) for i, v in enumerate(value)]

    def missing(self, key: str, expected: str, found: str, remedy: str) -> None:
        """Note that a key is missing; `finish` looks for it among the keys that nobody knows."""
        self._missing.append(key)
        self.wrong(key, expected, found, remedy)

    def finish(self, only: tuple[str, ...] = ()) -> None:
        """Note all keys that were not taken; `only` names those that what was taken leaves room for."""
        unfit = self._values.keys() - self._taken
        known = [key for key in only or self._declared.names if key not in unfit]
        for key in self._values:
            if key in self._taken or not self.sound(key):
                continue
            near = get_close_matches(key, self._missing, n=1) or get_close_matches(key, known, n=1)
            if near and near[0] in self._missing:
                self._missing.remove(near[0])
                self._problems.drop((*self._path, near[0]))
            remedy = f'did you mean "{near[0]}"?' if near else "remove it"
            self.wrong(key, f"one of the keys {', '.join(known)}", "an unknown key", remedy)

    def _table_of(self, key: str) -> KeyTable:
        inner = self._declared.key(key).table
        if inner is None:
            raise KeyError(f"[{self._name}] {key} declares no table")
        return inner

    @property
    def _name(self) -> str:
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in self._path)
        return "".join(parts).removeprefix(".")

    def _message(self, key: str, expected: str, found: str, remedy: str) -> str:
        return f"[{self._name}] {key}: expected {expected}, found {found}; {remedy}"

    def existing(self, key: str, text: str, expected: str) -> Path:
        """Return the path of an existing file that a key names, relative to the file's own folder."""
        path = self._resolved(key, text, expected)
        try:
            if not path.is_file():
                self.wrong(key, expected, f'"{text}", and {path} is no file', "correct the path")
        except OSError as error:
            found = f"{_shown(text)}, which is no path ({error.strerror})"
            self.wrong(key, expected, found, "correct the path")
        return path

    def existing_folder(self, key: str, text: str) -> Path:
        """Return the path of an existing folder that a key names, relative to the file's own folder."""
        path = self._resolved(key, text, "a folder")
        try:
            there = path.is_dir()
        except OSError:
            there = False
        if not there and self.sound(key):
            self.wrong(key, "a folder", f'"{text}", and {path} is none', "correct the path")
        return path

    def _resolved(self, key: str, text: str, expected: str) -> Path:
        try:
            path = (self._problems.file.parent / Path(text).expanduser()).resolve()
            str(path).encode()
        except (OSError, ValueError, RuntimeError) as error:
            self.wrong(key, expected, f"{_shown(text)}, which is no path ({error})", "correct the path")
            return Path()
        return path

    def _take(self, key: str, default: object, expected: str, remedy: str = "") -> object:
        self._taken.append(key)
        declared = self._declared.key(key).default
        if key in self._values:
            return self._values[key]
        if default is _DECLARED:
            default = declared
        if default is REQUIRED or default is ABSENT:
            self.missing(key, expected, "nothing", remedy or "add the key")
            return None
        return default


def _is_finite(value: object) -> TypeGuard[int | float]:
    """Whether the value is a number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def _shown(value: object) -> str:
    try:
        text = f'"{value}"' if isinstance(value, str) else repr(value)
    except (ValueError, RecursionError):
        return f"{type(value).__name__} too large to be shown"
    return text if len(text) <= 60 else text[:57] + "..."
