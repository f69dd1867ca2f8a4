# SPDX-License-Identifier: Apache-2.0
"""All that is wrong with a file, said at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from resil.campaign.key_places import KeyPath, Places, dotted, place_of
from resil.errors import CampaignError

T = TypeVar("T")


class UnreadError(Exception):
    """A part of the file could not be read, and it is said why."""


class _Unread:
    """Stands for what could not be read, until all problems are said."""

    def __getattr__(self, name: str) -> NoReturn:
        raise UnreadError

    def __bool__(self) -> bool:
        return False


@dataclass
class Problems:
    """Collects what is wrong with a file; a key counts once, with what was found first.

    Attributes:
        file: For messages.
        places: Where keys stand.
        said: Keys that the command line gives, and how.
        misnamed: Tables that are not there because their names are wrong, which is said.
    """

    file: Path
    places: Places = field(default_factory=dict)
    said: Mapping[KeyPath, str] = field(default_factory=dict)
    misnamed: set[str] = field(default_factory=set)
    _found: dict[KeyPath | int, tuple[KeyPath, str, str]] = field(default_factory=dict)

    def add(self, path: KeyPath, message: str, field: str = "") -> None:
        """Note what is wrong with the key at `path`; an empty path stands for none, but `field`."""
        self._found.setdefault(path or len(self._found), (path, message, field or dotted(path)))

    def holds(self, path: KeyPath) -> bool:
        """Whether something is wrong with the key."""
        return path in self._found

    def sound(self, table: str) -> bool:
        """Whether nothing is wrong with a table, nor with anything in it, and its name is right."""
        return table not in self.misnamed and not any(
            path[:1] == (table,) for path, _, _ in self._found.values()
        )

    def drop(self, path: KeyPath) -> None:
        """Forget what is wrong with the key: it is said in another way."""
        self._found.pop(path, None)

    def error(self, path: KeyPath, message: str) -> CampaignError:
        """Return the error that says nothing but this."""
        return CampaignError(f"{self.file}: {self._located(path, message)}", dotted(path))

    def attempt(self, read: Callable[[], T]) -> T:
        """Return what `read` returns; if it cannot be read, something that must not be used is returned.

        What it raises after something has been found wrong may be no more than a consequence of that, and is
        not said.
        """
        before = len(self._found)
        unread: Any = _Unread()
        try:
            return read()
        except UnreadError:
            return unread  # type: ignore[no-any-return]
        except CampaignError as error:
            if len(self._found) == before:
                self.add((), str(error).removeprefix(f"{self.file}: "), error.field)
            return unread  # type: ignore[no-any-return]
        except (ArithmeticError, LookupError, TypeError, ValueError):
            if len(self._found) == before:
                raise
            return unread  # type: ignore[no-any-return]

    def finish(self) -> None:
        """Raise CampaignError if anything is wrong: all of it, in the order of the file."""
        found = sorted(self._found.values(), key=lambda problem: place_of(problem[0], self.places) or (0, 0))
        if len(found) == 1:
            path, message, field = found[0]
            raise CampaignError(f"{self.file}: {self._located(path, message)}", field)
        if found:
            lines = [f"{self.file}: {len(found)} things are wrong; correct each:"]
            text = "\n  ".join([*lines, *(self._located(path, message) for path, message, _ in found)])
            raise CampaignError(text, found[0][2])

    def _located(self, path: KeyPath, message: str) -> str:
        for key, words in self.said.items():
            is_made = path and path not in self.places and key[: len(path)] == path
            if path[: len(key)] == key or is_made:
                return f"{words}: {message}"
        place = place_of(path, self.places)
        return message if place is None else f"line {place[0]}, column {place[1]}: {message}"
