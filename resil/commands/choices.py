# SPDX-License-Identifier: Apache-2.0
"""Options whose values are known by name: help shows them, shells complete them, others are refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated

import typer

from resil.campaign.declaration import Key, KeyTable
from resil.campaign.engines import engines
from resil.errors import ResilError
from resil.protection.asked import flag
from resil.rtl_harness.npu.model.config import CONFIGS


def _engines() -> Sequence[str]:
    return [engine.name for engine in engines()]


def _npus() -> Sequence[str]:
    return list(CONFIGS)


def _shown(names: Callable[[], Sequence[str]]) -> str:
    try:
        return f"[{'|'.join(names())}]"
    except ResilError:  # an engine of another package cannot be loaded, which is said when one is asked for
        return "NAME"


def _completed(names: Callable[[], Sequence[str]]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def _one_of(names: Callable[[], Sequence[str]]) -> Callable[[str | None], str | None]:
    def check(value: str | None) -> str | None:
        if value is not None and value not in names():
            raise typer.BadParameter(
                f"expected one of {', '.join(names())}, found {value!r}; change the value"
            )
        return value

    return check


def _campaign_tables() -> Mapping[str, KeyTable]:
    from resil.campaign.keys import TABLES

    return TABLES


def _study_tables() -> Mapping[str, KeyTable]:
    from resil.study.study_keys import TABLES

    return TABLES


def _settings(tables: Callable[[], Mapping[str, KeyTable]]) -> Callable[[], Sequence[str]]:
    """Return what can be set in a file of these tables: `TABLE.KEY=`, and with each value that is known."""

    def known() -> Sequence[str]:
        return [text for table in tables().values() if not table.repeated for text in _set_in(table)]

    return known


def _set_in(table: KeyTable) -> Iterator[str]:
    for key in table.keys:
        if not key.refused and key.table is None:
            yield f"{table.name}.{key.name}="
            yield from (f"{table.name}.{key.name}={value}" for value in _values(key))


def _values(key: Key) -> Sequence[str]:
    """Return the values that a key may have, where they are known by name."""
    if key.type == "boolean":
        return ("true", "false")
    return key.choices if key.type == "string" else ()


def _completed_settings(tables: Callable[[], Mapping[str, KeyTable]]) -> Callable[[str], list[str]]:
    """Complete keys; values only of a key that is there."""
    complete = _completed(_settings(tables))

    def shown(incomplete: str) -> list[str]:
        found = complete(incomplete)
        return found if "=" in incomplete else [text for text in found if text.endswith("=")]

    return shown


def option(key: Key, more: str = "", metavar: str | None = None) -> object:
    """Return the option of the command line that a key of a file is.

    Args:
        key: Its meaning is the help.
        more: What the help says besides.
        metavar: What stands for the value.
    """
    repeated = "It may be repeated." if key.type.startswith("list") else ""
    plain = re.sub(r"\[([^]]+)\]\([^)]+\)|`", r"\1", key.meaning)
    return typer.Option(flag(key), metavar=metavar, help=" ".join(filter(None, [plain, more, repeated])))


def _set(tables: Callable[[], Mapping[str, KeyTable]]) -> object:
    return typer.Option(
        "--set",
        metavar="TABLE.KEY=VALUE",
        autocompletion=_completed_settings(tables),
        help="Use this value in place of the file's, as faults.injections=5000; may be repeated.",
    )


Set = Annotated[list[str] | None, _set(_campaign_tables)]
StudySet = Annotated[list[str] | None, _set(_study_tables)]
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar=_shown(_engines),
        autocompletion=_completed(_engines),
        callback=_one_of(_engines),
        help="Engine in place of the campaign's.",
    ),
]
Npu = Annotated[
    str,
    typer.Option(
        "--npu",
        metavar=_shown(_npus),
        autocompletion=_completed(_npus),
        callback=_one_of(_npus),
        help="NPU configuration.",
    ),
]
