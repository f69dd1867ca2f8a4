# SPDX-License-Identifier: Apache-2.0
"""A target file for protected RTL: that of the design, with other sources and the alarms that were added."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from resil.rtl_harness.cache import file_digest
from resil.rtl_harness.design.source_files import read_source_files
from resil.rtl_harness.design.target import PACKAGE, SHIPPED_PREFIX, Target, TargetAlarm
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.redundancy.editable import free_name
from resil.rtl_harness.redundancy.watchdog import INSTANCE

_TEXTS = ("top", "clock", "reset", "dut", "done", "status", "operation", "inferences")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def target_text(
    target: Target,
    folder: Path,
    edited: Mapping[Path, Path],
    added: Sequence[Path],
    alarms: Mapping[str, TargetAlarm],
    names: str = "",
    watchdog: bool = False,
    copies: Sequence[str] = (),
) -> str:
    """Return a target file.

    Args:
        target: The design without protection.
        folder: In which the file will lie; paths are relative to it, those of what ships to the package.
        edited: Sources that others, in that folder, take the place of.
        added: Further sources in that folder.
        alarms: That the protection adds.
        names: File in that folder with what storage was called before; "" if nothing is called otherwise.
        watchdog: The design under test has one, a block of its own.
        copies: Instances that run in lockstep with others, a block of their own.
    """
    sources = [str(edited[s]) if s in edited else _named(s, folder) for s in target.sources]
    sources += map(str, added)
    beside = {s.parent for s in edited}
    folders = dict.fromkeys([*target.include_dirs, *sorted(beside)])
    lines = [
        f"# {target.name} with protection; written by resil.",
        f"name = {_text(target.name)}",
    ]
    lines += [f"{key} = {_text(getattr(target, key))}" for key in _TEXTS if getattr(target, key)]
    lines += [f"reset_active_low = {str(target.reset_active_low).lower()}"]
    lines += [f"reset_cycles = {target.reset_cycles}", "sources = ["]
    lines += [*(f"  {_text(source)}," for source in sources), "]"]
    if folders:
        lines.append(f"include_dirs = {_texts(_named(f, folder) for f in folders)}")
    data_dirs = dict.fromkeys([*target.data_dirs, *sorted(beside)])
    lines.append(f"data_dirs = {_texts(_named(f, folder) for f in data_dirs)}")
    if target.data_files:
        lines.append(f"data_files = {_texts(_named(f, folder) for f in target.data_files)}")
    if names:
        lines.append(f"storage_names = {_text(names)}")
    for key in ("macros", "keep", "exclude"):
        if getattr(target, key):
            lines.append(f"{key} = {_texts(getattr(target, key))}")
    lines += _table("defines", {k: _text(v) for k, v in target.defines.items()})
    lines += _table("parameters", {k: str(v) for k, v in target.parameters.items()})
    blocks = dict(target.blocks)
    if alarms:
        blocks[free_name("alerts", set(blocks))] = (f"{target.dut}.u_resil_alert",)
    if watchdog:
        blocks[free_name("watchdog", set(blocks))] = (f"{target.dut}.{INSTANCE}",)
    if copies:
        blocks[free_name("lockstep", set(blocks))] = tuple(copies)
    lines += _table("storage", {k: _texts(v) for k, v in target.storage.items()})
    lines += _table("blocks", {k: _texts(v) for k, v in blocks.items()})
    lines += _table("titles", {k: _text(v) for k, v in target.titles.items()})
    if (replay := target.replay) is not None:
        lines += _table("replay", {"of": _text(_named(replay.of, folder)), "layout": _text(replay.layout)})
    all_alarms = {**target.alarms, **alarms}
    lines += _table(
        "alarms",
        {k: f"{{ output = {_text(a.output)}, reports = {_text(a.reports)} }}" for k, a in all_alarms.items()},
    )
    for name, memory in target.memories.items():
        values = {"path": _text(memory.path), "word_bytes": str(memory.word_bytes)}
        values |= {"plusarg": _text(memory.plusarg), "observed": str(memory.observed).lower()}
        if memory.words_plusarg:
            values["words_plusarg"] = _text(memory.words_plusarg)
        lines += _table(f"memories.{_key(name)}", values)
    return "\n".join(lines) + "\n"


def require_same_includes(target: Target, edited: Mapping[Path, Path]) -> None:
    """Raise HarnessError if a file that is named by who lies beside it would be another for protected RTL.

    Folders of edited sources become include folders, which go before the folder of who includes.
    """
    found = read_source_files(target)
    first: dict[tuple[int, str], tuple[str, int]] = {}
    for reader, name, where, number in found.names:
        first.setdefault((reader, name), (where, number))
    for (reader, name), (where, number) in first.items():
        added = [folder / name for folder in sorted({s.parent for s in edited}) if (folder / name).is_file()]
        file = found.files[number]
        if where == "beside" and added and file_digest(added[0]) != file.digest:
            raise HarnessError(
                f"target {target.name}: {found.files[reader].path} names {name!r}, which is {file.path}: "
                "expected no other file of that name beside a source that protection edits, found "
                f"{added[0]}; rename one of them",
                "include_dirs",
            )


def _named(path: Path, folder: Path) -> str:
    if PACKAGE in path.parents:
        return f"{SHIPPED_PREFIX}{path.relative_to(PACKAGE)}"
    return os.path.relpath(path, folder)


def _table(name: str, values: Mapping[str, str]) -> list[str]:
    if not values:
        return []
    return ["", f"[{name}]", *(f"{_key(key)} = {value}" for key, value in values.items())]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _texts(values: object) -> str:
    return json.dumps(list(values), ensure_ascii=False)  # type: ignore[call-overload]
