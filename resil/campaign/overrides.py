# SPDX-License-Identifier: Apache-2.0
"""Keys that the command line gives in place of those of a file; they are checked as the file is."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from resil.campaign.key_places import KeyPath, dotted
from resil.errors import CampaignError

_FORM = "expected TABLE.KEY=VALUE, as faults.injections=5000"


@dataclass(frozen=True)
class Override:
    """A key of a file and the value that it has instead.

    Attributes:
        path: Of the key, from the root of the file; a number counts the tables of a list, from 0.
        value: Of a type that TOML has.
        words: What the command line said.
    """

    path: KeyPath
    value: Any
    words: tuple[str, ...]


def parse_override(text: str) -> Override:
    """Return what `--set TEXT` asks for; a value that is none of TOML's is a string.

    >>> parse_override("faults.injections=5000").value
    5000
    >>> parse_override("execution.engine=cocotb").value
    'cocotb'

    Raises:
        CampaignError: there is no key, or no value.
    """
    name, equals, value = text.partition("=")
    parts = tuple(int(part) if part.isdecimal() else part for part in name.strip().split("."))
    if not equals or len(parts) < 2 or "" in parts or not value.strip():
        raise CampaignError(f"--set {text}: {_FORM}; correct it", "--set")
    try:
        read = tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        read = value.strip()
    return Override(parts, read, ("--set", text))


def command_line(
    settings: Sequence[str] = (),
    *,
    engine: str | None = None,
    workers: int | None = None,
    accept_golden: bool = False,
) -> tuple[Override, ...]:
    """Return what options of a command ask for: `--set`, and those that have a name of their own."""
    named = {"engine": engine, "workers": workers}
    return (
        *(parse_override(text) for text in settings),
        *(
            Override(("execution", key), value, (f"--{key}", str(value)))
            for key, value in named.items()
            if value is not None
        ),
        *([Override(("network", "accept_golden"), True, ("--accept-golden",))] if accept_golden else []),
    )


def overridden(tables: Mapping[str, Any], overrides: Sequence[Override]) -> dict[str, Any]:
    """Return the content of a file with keys replaced; a table that is not there is made.

    Raises:
        CampaignError: what should hold a key is no table, or no list that long.
    """
    found: dict[str, Any] = deepcopy(dict(tables))
    for override in overrides:
        holder: object = found
        for part in override.path[:-1]:
            holder = _held(holder, part, override)
        _put(holder, override.path[-1], override)
    return found


def words(overrides: Sequence[Override]) -> tuple[str, ...]:
    """Return what has to be said again for the same."""
    return tuple(word for override in overrides for word in override.words)


def said(overrides: Sequence[Override]) -> dict[KeyPath, str]:
    """Return what the command line said of each key, for messages."""
    return {override.path: " ".join(override.words) for override in overrides}


def _held(holder: object, part: str | int, override: Override) -> object:
    if isinstance(holder, dict) and isinstance(part, str):
        return holder.setdefault(part, {})
    if isinstance(holder, list) and isinstance(part, int) and part < len(holder):
        return holder[part]
    raise _no_place(part, override)


def _put(holder: object, part: str | int, override: Override) -> None:
    if isinstance(holder, dict) and isinstance(part, str):
        holder[part] = override.value
        return
    if isinstance(holder, list) and isinstance(part, int) and part < len(holder):
        holder[part] = override.value
        return
    raise _no_place(part, override)


def _no_place(part: str | int, override: Override) -> CampaignError:
    what = f"a list of more than {part}" if isinstance(part, int) else f"a table that holds {part}"
    return CampaignError(
        f"{' '.join(override.words)}: expected {what}, found none in the file; correct the key",
        dotted(override.path),
    )
