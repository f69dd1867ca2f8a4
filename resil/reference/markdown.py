# SPDX-License-Identifier: Apache-2.0
"""Declarations of keys and classes as entries of a page, no line wider than `WIDTH`."""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, Field, fields
from textwrap import wrap
from typing import Any

from resil.campaign.declaration import ABSENT, REQUIRED, Key, KeyTable

WIDTH = 118
# Annotations of classes that a file is read into, in the words of TOML.
_WORDS = {
    "str": "string",
    "bool": "boolean",
    "int": "integer",
    "float": "number",
    "float | None": "number",
    "tuple[str, ...]": "list of strings",
    "tuple[Path, ...]": "path, pattern, or list of them",
    "Mapping[str, str]": "table of strings",
    "Parameters": "table of numbers and strings",
    "Mapping[str, tuple[str, ...]]": "table of strings or lists of strings",
    "Mapping[str, TargetMemory]": "table of tables",
    "Mapping[str, TargetAlarm]": "table of tables",
    "Mapping[str, BlackBox]": "table of tables",
    "tuple[MemoryPort, ...]": "list of tables",
    "Mapping[str, int]": "table of numbers",
    "StorageNames": "path",
    "Path | None": "path",
    "AlarmReport": '"corrected" or "detected"',
}


def entry(name: str, facts: list[str], meaning: str) -> str:
    """Return a key as an item of a list: its name, what it may be, and what it means."""
    known = "; ".join(fact for fact in facts if fact)
    return item(f"**`{name}`**{f' ({known}).' if known else ':'} {meaning}")


def item(text: str) -> str:
    """Return an item of a list in lines."""
    words = " ".join(text.split())
    return "\n".join(wrap(words, WIDTH, initial_indent="- ", subsequent_indent="  ", **_WHOLE))


def paragraph(text: str) -> str:
    """Return prose in lines."""
    return "\n".join(wrap(" ".join(text.split()), WIDTH, **_WHOLE))


_WHOLE: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}


def table_text(table: KeyTable, level: int = 2) -> str:
    """Return a table of a file, with the tables that its keys hold behind it."""
    title = f"[[{table.name}]]" if table.repeated else f"[{table.name}]"
    need = " Mandatory." if table.required else ""
    keys = [_key_text(key) for key in table.keys if not key.refused]
    parts = [f"{'#' * level} {title}", paragraph(table.meaning + need), "\n".join(keys)]
    parts += [table_text(key.table, level + 1) for key in table.keys if key.table and not key.refused]
    return "\n\n".join(parts)


def _key_text(key: Key) -> str:
    if key.default is REQUIRED:
        default = "mandatory"
    elif key.default is ABSENT:
        default = "optional"
    else:
        default = f"default `{toml_value(key.default)}`"
    kind = key.type + (f" in {key.unit}" if key.unit else "")
    return entry(key.name, [kind, key.range, default], key.meaning)


def toml_value(value: object) -> str:
    """Return a value as a TOML file has it."""
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def class_text(kind: type, leave_out: tuple[str, ...] = (), needed: tuple[str, ...] = ()) -> str:
    """Return the attributes of a class that is read from a file, with the meanings of its docstring."""
    meanings = attributes(kind)
    return "\n".join(
        entry(field.name, [_WORDS[str(field.type)], _default(field, needed)], meanings[field.name])
        for field in fields(kind)
        if field.name not in leave_out
    )


def _default(field: Field[Any], needed: tuple[str, ...]) -> str:
    if field.name in needed or (field.default is MISSING and field.default_factory is MISSING):
        return "mandatory"
    if field.default is MISSING or field.default in (None, "", ()):
        return "optional"
    return f"default `{toml_value(field.default)}`"


def attributes(kind: type) -> dict[str, str]:
    """Return what the docstring of a class says of each attribute."""
    _, _, text = (kind.__doc__ or "").partition("Attributes:\n")
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if match := re.match(r" {8}(\w+): (.*)", line):
            name, found[match[1]] = match[1], match[2]
        elif name and line.strip():
            found[name] += " " + line.strip()
    return found
