# SPDX-License-Identifier: Apache-2.0
"""A target of which no file changes any more: copies in the cache, which all tools read in place of it.

The digest of the copies is what every key of a build, and the identity of a run, is made of.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from resil.rtl_harness.cache import cached_folder, content_key
from resil.rtl_harness.design.foreign_code import FOREIGN, require_no_foreign_code
from resil.rtl_harness.design.macro_instances import macro_instances
from resil.rtl_harness.design.slang import SlangDesign, SlangSources, read_design
from resil.rtl_harness.design.source_files import (
    SourceFiles,
    data_place,
    read_source_files,
)
from resil.rtl_harness.design.target import PACKAGE, Parameters, Snapshot, Target
from resil.rtl_harness.errors import HarnessError, SimulationError
from resil.rtl_harness.tools import find_verilator, verilate

DATA = "data"
_LAYOUT = "layout.json"
# The executable, under whatever suffix, is among what its output depends on.
_PROGRAM = "verilator_bin"
# What the front end of synthesis defines by itself, and not what Verilator would: RTL that asks for one of
# these is one design then, not one to the simulator and another one to synthesis.
FRONT_END_MACROS = ("-D__slang__=1", "-Uverilator", "-UVERILATOR", "-Uverilator3", "-USYSTEMVERILOG")
_ASKED = re.compile(rb"\b(?:verilator|VERILATOR|verilator3|SYSTEMVERILOG)\b")
# How Verilator notes where an import from C stands.
_FROM_C = re.compile(r"^\s*// DPI import at (\S+)$", re.MULTILINE)
_PARSED = re.compile(r"^Parsing \w+ file '(.*)'\.$", re.MULTILINE)


def frozen(target: Target) -> Target:
    """Return the target with copies in the cache for all files that it is made of; of copies, as it is.

    Names are looked for as the front ends do: what is included in the include folders and then beside who
    includes it, what RTL reads in the folders of data and then beside the source that says it.

    Raises:
        HarnessError: A source is missing, a name of data means two files, hardware is in C or in a
            primitive of a user's own, or a macro that is described by its ports is not connected.
    """
    if (made := target.snapshot) is not None and made.of == _looks(target):
        return target
    found = read_source_files(target)
    digest = _digest(target, found)
    folder = cached_folder("sources", digest, partial(_lay_out, target, found))
    layout: dict[str, list[str]] = json.loads((folder / _LAYOUT).read_text(encoding="utf-8"))
    files = [folder / name for name in layout["files"]]
    copies = replace(
        target,
        sources=tuple(files[: len(target.sources)]),
        include_dirs=tuple(folder / name for name in layout["include_dirs"]),
        data_dirs=(folder / DATA / str(data_place(".")),),
        data_files=(),
    )
    snapshot = Snapshot(
        digest,
        folder,
        tuple(files[number] for number in sorted(found.includes)),
        {copy: file.path for copy, file in zip(files, found.files, strict=True)},
        tuple(copy for copy, file in zip(files, found.files, strict=True) if file.rewritten),
        _looks(copies),
    )
    made_of = replace(copies, snapshot=snapshot)
    if any(FOREIGN.search(found.files[number].content) for number in found.includes):
        _require_no_foreign_code(made_of, target.parameters)
    if not target.black_boxes:
        return made_of
    design = _design(made_of, target.parameters)
    macros = macro_instances(target.name, design, target.black_boxes, snapshot.origins)
    return replace(made_of, snapshot=replace(snapshot, macros=macros))


def instances_of_macros(target: Target) -> Mapping[str, str]:
    """Return the module of each instance of a macro that a target describes by its ports, by path.

    Raises:
        HarnessError: As `frozen`.
    """
    return snapshot_of(target).macros if target.black_boxes else {}


def snapshot_of(target: Target) -> Snapshot:
    """Return the copies of a target; raise HarnessError as `frozen` does."""
    made = frozen(target).snapshot
    assert made is not None
    return made


def rtl_digest(target: Target) -> str:
    """Return a hash of the RTL that a target is made of: all files that are read, macros and parameters."""
    return content_key(target.top, snapshot_of(target).digest, target.defines, target.parameters)


def copy_data(target: Target, folder: Path) -> None:
    """Copy what the RTL of a frozen target reads beside a simulator, into `DATA` of its folder."""
    shutil.copytree(snapshot_of(target).folder / DATA, folder / DATA)


def data_folder(simulator: Path) -> Path:
    """Return where a simulator that lies in `simulator` finds what its RTL reads under relative names."""
    return simulator / DATA / str(data_place("."))


def require_parsed(log: str, folder: Path, snapshot: Path) -> None:
    """Raise HarnessError unless Yosys, which ran in `folder`, has parsed copies alone."""
    require_read((folder / name for name in _PARSED.findall(log)), (folder, snapshot), "slang")


def verilate_copies(
    target: Target, parameters: Parameters, flags: Sequence[str], folder: Path, control: str
) -> None:
    """Run Verilator on the copies of a frozen target.

    Args:
        target: Frozen.
        parameters: Of its top.
        flags: What Verilator is called with beside what follows from the target.
        folder: It runs there, and generates there or below.
        control: Name of the control file in it.

    Raises:
        HarnessError: It has read something beside the copies and its own files.
        SimulationError: It fails, with the end of what it said of the sources.
        ToolMissingError: There is no Verilator.
    """
    arguments = [
        *FRONT_END_MACROS,
        *flags,
        *("--top-module", target.top, "--relative-includes", control),
        *(f"-I{include}" for include in target.include_dirs),
        *(f"-D{name}={value}" if value else f"-D{name}" for name, value in target.defines.items()),
        *(f"-G{name}={value}" for name, value in parameters.items()),
        *map(str, target.sources),
    ]
    try:
        verilate(arguments, folder)
    except SimulationError as error:
        said = str(error)
        for copy, path in snapshot_of(target).origins.items():
            said = said.replace(str(copy), str(path))
        raise SimulationError(said + _hint(target), "data_files") from None
    if any(FOREIGN.search(file.read_bytes()) for file in snapshot_of(target).rtl):
        _require_no_foreign_code(target, parameters)
    _require_no_c(target, folder)
    verilator = find_verilator()
    known = (folder / control, snapshot_of(target).folder, verilator.root)
    for file in folder.rglob("*__ver.d"):
        words = file.read_text(encoding="utf-8").partition(":")[2].split()
        read = (folder / word for word in words if not Path(word).name.startswith(_PROGRAM))
        require_read(read, known, "Verilator")


def _require_no_foreign_code(target: Target, parameters: Parameters) -> None:
    require_no_foreign_code(_design(target, parameters), snapshot_of(target).origins)


def _design(target: Target, parameters: Parameters) -> SlangDesign:
    given = SlangSources(target.sources, target.include_dirs, target.defines)
    return read_design(target.name, target.top, given, parameters)


def _require_no_c(target: Target, folder: Path) -> None:
    """Raise HarnessError if Verilator, which ran in `folder`, has met an import from C that is left."""
    for file in folder.rglob("*__Dpi.h"):
        for place in _FROM_C.findall(file.read_text(encoding="utf-8")):
            file_name, line = place.rsplit(":", 2)[:2]
            origin = snapshot_of(target).origins.get(Path(file_name), file_name)
            raise HarnessError(
                f"{origin}:{line}: expected imports from C (DPI) that stand in the text, found one that a "
                "macro makes: it cannot be left out; write it out, or leave it out by a macro (defines)",
                "sources.dpi",
            )


def _hint(target: Target) -> str:
    """Return what may help where Verilator fails on RTL that asks whether it is Verilator that reads."""
    asked = {
        name
        for file in snapshot_of(target).rtl
        for line in file.read_bytes().splitlines()
        if line.lstrip().startswith((b"`ifdef", b"`ifndef", b"`elsif"))
        for name in map(bytes.decode, _ASKED.findall(line))
        if name not in target.defines
    }
    if not asked:
        return ""
    return (
        f"\nThe sources ask for the macro {min(asked)}, which no tool defines by itself, so that all read "
        f'one design; if the sources cannot do without it: defines = {{ {min(asked)} = "1" }}'
    )


def require_read(read: Iterable[Path], known: Sequence[Path], tool: str) -> None:
    """Raise HarnessError if a file that a tool has read lies in none of the known folders."""
    homes = [folder.resolve() for folder in known]
    for path in read:
        own = path.resolve()
        if not any(home == own or home in own.parents for home in homes):
            raise HarnessError(
                f"{tool} has read {own}, which is none of the target's files, so that a change of it would "
                "not be noticed; name it in the RTL by a path from an include folder or from who includes it",
                "include_dirs",
            )


def _looks(target: Target) -> tuple[object, ...]:
    return target.sources, target.include_dirs, target.data_dirs, target.data_files, dict(target.defines)


def _digest(target: Target, found: SourceFiles) -> str:
    """Return a hash of names and content, wherever the files lie."""
    count = len(target.sources)
    files = [[file.path.name if i < count else "", file.digest] for i, file in enumerate(found.files)]
    return content_key(json.dumps([files, found.names, sorted(found.data.items()), len(target.include_dirs)]))


def _lay_out(target: Target, found: SourceFiles, folder: Path) -> None:
    """Copy files so that they lie to each other as they did: what ships apart from everything else."""
    include_dirs = [Path(os.path.abspath(own)) for own in target.include_dirs]
    own = [p for p in (*(file.path.parent for file in found.files), *include_dirs) if not _ships(p)]
    root = Path(os.path.commonpath(own)) if own else PACKAGE

    def place(path: Path) -> Path:
        return (
            Path("resil") / path.relative_to(PACKAGE)
            if _ships(path)
            else Path("own") / path.relative_to(root)
        )

    places = [place(file.path) for file in found.files]
    for at, file in zip(places, found.files, strict=True):
        _write(folder / at, file.content)
    for name, number in found.data.items():
        _write(folder / DATA / name, found.files[number].content)
    (folder / DATA / str(data_place("."))).mkdir(parents=True, exist_ok=True)
    folders = [place(path) for path in include_dirs]
    for at in folders:
        (folder / at).mkdir(parents=True, exist_ok=True)
    layout = {"files": [str(at) for at in places], "include_dirs": [str(at) for at in folders]}
    (folder / _LAYOUT).write_text(json.dumps(layout), encoding="utf-8")


def _ships(path: Path) -> bool:
    return path == PACKAGE or PACKAGE in path.parents


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
