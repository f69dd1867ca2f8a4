# SPDX-License-Identifier: Apache-2.0
"""Strict reading of one table of a TOML file: every key is asked for, checked, and accounted for."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeGuard

from resil.campaign.key_places import KeyPath
from resil.campaign.problems import Problems
from resil.errors import CampaignError

_REQUIRED: Any = object()


class Section:
    """One table, from which every known key is taken once; what is left over is an error.

    What is wrong is noted, and something of the right type is returned in its place, so that all that is
    wrong with a file is found at once. Nothing made of it is used: the reader of the file ends with
    `Problems.finish`.

    Args:
        problems: Of the file.
        path: Of the table.
        values: Its content.
    """

    def __init__(self, problems: Problems, path: KeyPath, values: Mapping[str, Any]) -> None:
        self._problems = problems
        self._path = path
        self._values = values
        self._known: list[str] = []
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

    def text(self, key: str, default: str = _REQUIRED, *, remedy: str = "") -> str:
        """Take a string that is not blank."""
        value = self._take(key, default, "a string", remedy)
        if not isinstance(value, str):
            self.wrong(key, "a string", _shown(value), remedy or "put it in quotes")
            return ""
        if not value.strip():
            self.wrong(key, "a string that is not blank", _shown(value), remedy or "fill it in")
        return value

    def integer(self, key: str, default: int = _REQUIRED, *, low: int, high: int) -> int:
        """Take an integer within `low .. high`."""
        expected = f"an integer from {low:,} to {high:,}"
        value = self._take(key, default, expected)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self.wrong(key, expected, _shown(value), "change the value")
            return low
        return value

    def number(
        self, key: str, default: float = _REQUIRED, *, low: float, high: float, remedy: str = ""
    ) -> float:
        """Take a number strictly between `low` and `high`."""
        upper = "" if high == float("inf") else f" and below {high:g}"
        expected = f"a number above {low:g}{upper}"
        value = self._take(key, default, expected, remedy)
        if not _is_finite(value) or not low < value < high:
            self.wrong(key, expected, _shown(value), remedy or "change the value")
            return low + 1.0 if high == float("inf") else (low + high) / 2.0
        return float(value)

    def numbers(self, key: str, count: int) -> tuple[float, ...]:
        """Take a list of `count` numbers."""
        expected = f"a list of {count} numbers"
        value = self._take(key, _REQUIRED, expected)
        items = value if isinstance(value, list) else []
        if len(items) != count or not all(map(_is_finite, items)):
            self.wrong(key, expected, _shown(value), "change the value")
            return (1.0,) * count
        return tuple(float(v) for v in items)

    def choices(
        self, key: str, allowed: tuple[str, ...], default: tuple[str, ...] = _REQUIRED
    ) -> tuple[str, ...]:
        """Take a non-empty list of different strings out of `allowed`; return it in that order."""
        expected = f"a list of one or more of {', '.join(allowed)}"
        value = self._take(key, list(default) if default is not _REQUIRED else _REQUIRED, expected)
        if not isinstance(value, list) or not value or any(item not in allowed for item in value):
            self.wrong(key, expected, _shown(value), "change the value")
            return allowed
        if len(set(value)) != len(value):
            self.wrong(key, "each value once", _shown(value), "remove the repeated value")
        return tuple(item for item in allowed if item in value)

    def choice(self, key: str, allowed: tuple[str, ...], default: str = _REQUIRED) -> str:
        """Take one string out of `allowed`."""
        value = self._take(key, default, f"one of {', '.join(allowed)}")
        if value not in allowed:
            self.wrong(key, f"one of {', '.join(allowed)}", _shown(value), "change the value")
            return allowed[0]
        return str(value)

    def flag(self, key: str, *, default: bool) -> bool:
        """Take a truth value."""
        value = self._take(key, default, "true or false")
        if not isinstance(value, bool):
            self.wrong(key, "true or false", _shown(value), "change the value")
            return default
        return value

    def raw(self, key: str, expected: str) -> object:
        """Take a value of any type; the caller checks it. None if it is missing."""
        return self._take(key, _REQUIRED, expected)

    def path(self, key: str, expected: str) -> Path:
        """Take the path of an existing file, relative to the file's own folder."""
        text = self.text(key)
        return self.existing(key, text, expected) if self.sound(key) else Path()

    def paths(self, key: str, expected: str) -> tuple[Path, ...]:
        """Take a list of one or more paths of existing files, relative to the file's own folder."""
        value = self._take(key, _REQUIRED, expected)
        if not isinstance(value, list) or not value or not all(isinstance(v, str) and v for v in value):
            self.wrong(key, expected, _shown(value), "change the value")
            return ()
        return tuple(self.existing(key, text, expected) for text in value)

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of strings that are not blank; without the key an empty one."""
        value = self._take(key, [], "a list of strings")
        if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
            self.wrong(key, "a list of strings", _shown(value), "change the value")
            return ()
        return tuple(value)

    def folder(self, key: str) -> Path:
        """Take the path of a folder, relative to the file's own; it need not be there yet."""
        text = self.text(key)
        return self._resolved(key, text, "a folder") if self.sound(key) else Path()

    def table(self, key: str, expected: str) -> Section:
        """Take a table of its own."""
        value = self._take(key, _REQUIRED, expected)
        if not isinstance(value, dict):
            raise self.fail(key, expected, _shown(value), f"write [{self._name}.{key}]")
        return Section(self._problems, (*self._path, key), value)

    def tables(self, key: str, expected: str) -> list[Section]:
        """Take a list of one or more tables."""
        value = self._take(key, _REQUIRED, expected)
        if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
            self.wrong(key, expected, _shown(value), f"write [[{self._name}.{key}]]")
            return []
        return [Section(self._problems, (*self._path, key, i), v) for i, v in enumerate(value)]

    def missing(self, key: str, expected: str, found: str, remedy: str) -> None:
        """Note that a key is missing; `finish` looks for it among the keys that nobody knows."""
        self._missing.append(key)
        self.wrong(key, expected, found, remedy)

    def finish(self, optional: tuple[str, ...] = ()) -> None:
        """Note all keys that were not asked for; `optional` ones may be named as near ones."""
        known = list(dict.fromkeys((*self._known, *optional)))
        for key in self._values:
            if key in self._known or not self.sound(key):
                continue
            near = get_close_matches(key, self._missing, n=1) or get_close_matches(key, known, n=1)
            if near and near[0] in self._missing:
                self._missing.remove(near[0])
                self._problems.drop((*self._path, near[0]))
            remedy = f'did you mean "{near[0]}"?' if near else "remove it"
            self.wrong(key, f"one of the keys {', '.join(known)}", "an unknown key", remedy)

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

    def _resolved(self, key: str, text: str, expected: str) -> Path:
        try:
            path = (self._problems.file.parent / Path(text).expanduser()).resolve()
            str(path).encode()
        except (OSError, ValueError, RuntimeError) as error:
            self.wrong(key, expected, f"{_shown(text)}, which is no path ({error})", "correct the path")
            return Path()
        return path

    def _take(self, key: str, default: object, expected: str, remedy: str = "") -> object:
        self._known.append(key)
        if key in self._values:
            return self._values[key]
        if default is _REQUIRED:
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
