"""Strict reading of one table of a TOML file: every key is asked for, checked, and accounted for."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from resil.errors import CampaignError

_REQUIRED: Any = object()


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file.

    Raises:
        CampaignError: the file does not exist, is not text, or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CampaignError(f"{path}: no such file; give the path of a campaign file") from None
    except OSError as error:
        raise CampaignError(
            f"{path}: cannot be read ({error.strerror}); give a readable campaign file"
        ) from None
    except UnicodeDecodeError:
        raise CampaignError(f"{path}: not UTF-8 text; a campaign file is TOML text") from None
    except tomllib.TOMLDecodeError as error:
        raise CampaignError(f"{path}: not valid TOML: {error}; correct the line named") from None


class Section:
    """One table, from which every known key is taken once; what is left over is an error.

    Args:
        file: For messages.
        name: Name of the table, for messages.
        values: Its content.
    """

    def __init__(self, file: Path, name: str, values: Mapping[str, Any]) -> None:
        self._file = file
        self._name = name
        self._values = values
        self._known: list[str] = []

    def fail(self, key: str, expected: str, found: str, remedy: str) -> CampaignError:
        """Return the error that names file, key, expectation, finding and remedy."""
        return CampaignError(
            f"{self._file}: [{self._name}] {key}: expected {expected}, found {found}; {remedy}"
        )

    def has(self, key: str) -> bool:
        """Whether the table holds `key`; does not take it."""
        return key in self._values

    def text(self, key: str, default: str = _REQUIRED, *, remedy: str = "") -> str:
        """Take a string that is not blank."""
        value = self._take(key, default, "a string", remedy)
        if not isinstance(value, str):
            raise self.fail(key, "a string", _shown(value), remedy or "put it in quotes")
        if not value.strip():
            raise self.fail(key, "a string that is not blank", _shown(value), remedy or "fill it in")
        return value

    def integer(self, key: str, default: int = _REQUIRED, *, low: int, high: int) -> int:
        """Take an integer within `low .. high`."""
        expected = f"an integer from {low:,} to {high:,}"
        value = self._take(key, default, expected)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.fail(key, expected, _shown(value), "change the value")
        return value

    def number(
        self, key: str, default: float = _REQUIRED, *, low: float, high: float, remedy: str = ""
    ) -> float:
        """Take a number strictly between `low` and `high`."""
        upper = "" if high == float("inf") else f" and below {high:g}"
        expected = f"a number above {low:g}{upper}"
        value = self._take(key, default, expected, remedy)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low < value < high:
            raise self.fail(key, expected, _shown(value), remedy or "change the value")
        return float(value)

    def numbers(self, key: str, count: int) -> tuple[float, ...]:
        """Take a list of `count` numbers."""
        expected = f"a list of {count} numbers"
        value = self._take(key, _REQUIRED, expected)
        items = value if isinstance(value, list) else []
        if len(items) != count or any(isinstance(v, bool) or not isinstance(v, int | float) for v in items):
            raise self.fail(key, expected, _shown(value), "change the value")
        return tuple(float(v) for v in items)

    def choices(
        self, key: str, allowed: tuple[str, ...], default: tuple[str, ...] = _REQUIRED
    ) -> tuple[str, ...]:
        """Take a non-empty list of different strings out of `allowed`; return it in that order."""
        expected = f"a list of one or more of {', '.join(allowed)}"
        value = self._take(key, list(default) if default is not _REQUIRED else _REQUIRED, expected)
        if not isinstance(value, list) or not value or any(item not in allowed for item in value):
            raise self.fail(key, expected, _shown(value), "change the value")
        if len(set(value)) != len(value):
            raise self.fail(key, "each value once", _shown(value), "remove the repeated value")
        return tuple(item for item in allowed if item in value)

    def choice(self, key: str, allowed: tuple[str, ...], default: str = _REQUIRED) -> str:
        """Take one string out of `allowed`."""
        value = self._take(key, default, f"one of {', '.join(allowed)}")
        if value not in allowed:
            raise self.fail(key, f"one of {', '.join(allowed)}", _shown(value), "change the value")
        return str(value)

    def flag(self, key: str, *, default: bool) -> bool:
        """Take a truth value."""
        value = self._take(key, default, "true or false")
        if not isinstance(value, bool):
            raise self.fail(key, "true or false", _shown(value), "change the value")
        return value

    def raw(self, key: str, expected: str) -> object:
        """Take a value of any type; the caller checks it."""
        return self._take(key, _REQUIRED, expected)

    def path(self, key: str, expected: str) -> Path:
        """Take the path of an existing file, relative to the file's own folder."""
        return self._existing(key, self.text(key), expected)

    def paths(self, key: str, expected: str) -> tuple[Path, ...]:
        """Take a list of one or more paths of existing files, relative to the file's own folder."""
        value = self._take(key, _REQUIRED, expected)
        if not isinstance(value, list) or not value or not all(isinstance(v, str) and v for v in value):
            raise self.fail(key, expected, _shown(value), "change the value")
        return tuple(self._existing(key, text, expected) for text in value)

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of strings that are not blank; without the key an empty one."""
        value = self._take(key, [], "a list of strings")
        if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
            raise self.fail(key, "a list of strings", _shown(value), "change the value")
        return tuple(value)

    def folder(self, key: str) -> Path:
        """Take the path of a folder, relative to the file's own; it need not be there yet."""
        return (self._file.parent / Path(self.text(key)).expanduser()).resolve()

    def table(self, key: str, expected: str) -> Section:
        """Take a table of its own."""
        value = self._take(key, _REQUIRED, expected)
        if not isinstance(value, dict):
            raise self.fail(key, expected, _shown(value), f"write [{self._name}.{key}]")
        return Section(self._file, f"{self._name}.{key}", value)

    def tables(self, key: str, expected: str) -> list[Section]:
        """Take a list of one or more tables."""
        value = self._take(key, _REQUIRED, expected)
        if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
            raise self.fail(key, expected, _shown(value), f"write [[{self._name}.{key}]]")
        return [Section(self._file, f"{self._name}.{key}[{i}]", v) for i, v in enumerate(value)]

    def finish(self, optional: tuple[str, ...] = ()) -> None:
        """Raise CampaignError if the table holds a key not asked for; `optional` ones may be named."""
        for key in self._values:
            if key not in self._known:
                known = list(dict.fromkeys((*self._known, *optional)))
                near = get_close_matches(key, known, n=1)
                remedy = f'did you mean "{near[0]}"?' if near else "remove it"
                raise self.fail(key, f"one of the keys {', '.join(known)}", "an unknown key", remedy)

    def _existing(self, key: str, text: str, expected: str) -> Path:
        path = (self._file.parent / Path(text).expanduser()).resolve()
        if not path.is_file():
            raise self.fail(key, expected, f'"{text}", and {path} is no file', "correct the path")
        return path

    def _take(self, key: str, default: object, expected: str, remedy: str = "") -> object:
        self._known.append(key)
        if key in self._values:
            return self._values[key]
        if default is _REQUIRED:
            raise self.fail(key, expected, "nothing", remedy or "add the key")
        return default


def _shown(value: object) -> str:
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
