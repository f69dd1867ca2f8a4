# SPDX-License-Identifier: Apache-2.0
"""Files that RTL reads while it runs, as `$readmemh("rom.hex", rom)` does, from the tree that slang dumps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from resil.rtl_harness.design.snapshot import DATA, snapshot_of
from resil.rtl_harness.design.source_files import data_place
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError

_CALL = re.compile(r'"subroutine": "\$(readmemh|readmemb|fopen)",\s*"arguments": ')
_NUMBER = re.compile(r"\d+'s?([bdh])([0-9a-fA-F]+)")
_BASE = {"b": 2, "d": 10, "h": 16}


def require_data(log: str, target: Target, original: Target) -> None:
    """Raise HarnessError unless what RTL reads under names that are known is among a target's files.

    Names that RTL computes while it runs are known only then, and the simulator refuses what is not there.

    Args:
        log: Of `read_slang --dump-ast`.
        target: Frozen.
        original: The same, before.
    """
    held = snapshot_of(target).folder / DATA
    for name in dict.fromkeys(_names(log)):
        place = data_place(name)
        if place is None:
            raise HarnessError(
                f"target {target.name}: the RTL reads {name!r}: expected a path from a folder of data_dirs "
                "(by default that of the target file), found another; write it so, and name the folder there"
            )
        if not (held / place).is_file():
            folders = ", ".join(map(str, original.data_dirs)) or "none"
            raise HarnessError(
                f"target {target.name}: the RTL reads {name!r}: expected the file in a folder of data_dirs "
                f"({folders}) or beside the source that says it, found none; put it there, or name its "
                "folder in data_dirs; if the RTL puts the name together, name the file in data_files"
            )


def _names(log: str) -> Iterator[str]:
    decoder = json.JSONDecoder()
    for call in _CALL.finditer(log):
        arguments, _ = decoder.raw_decode(log, call.end())
        name = _text(arguments[0])
        if name is not None and (call[1] != "fopen" or _reads(arguments)):
            yield name


def _reads(arguments: Sequence[Mapping[str, Any]]) -> bool:
    return len(arguments) > 1 and (_text(arguments[1]) or "").startswith("r")


def _text(argument: Mapping[str, Any]) -> str | None:
    """Return a string that slang knows; None for one that is computed while the design runs."""
    if "literal" in argument:
        return str(argument["literal"])
    constant = str(argument.get("constant", ""))
    if constant.startswith('"'):
        return constant[1:-1]
    if (number := _NUMBER.fullmatch(constant)) is None:
        return None
    value = int(number[2], _BASE[number[1]])
    return value.to_bytes(-(-value.bit_length() // 8), "big").decode(errors="replace")
