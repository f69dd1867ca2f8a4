# SPDX-License-Identifier: Apache-2.0
"""Yosys with the slang front end: scripts in, logs and netlists out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

from resil.rtl_harness.cache import content_key
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError, ToolMissingError
from resil.rtl_harness.tools import tail

_SIDE = Path(__file__).with_name("yosys_side.py")
# What reads RTL: code that every result rests on that Yosys makes.
READER = (Path(__file__), _SIDE)
_CELLS = re.compile(rb"`(end)?celldefine\b")
_PLACED = re.compile(r"(?P<path>.+?):(?P<line>\d+): ERROR: (?P<reason>.*)")
_ERRORS = 10
_ORIGIN = ".origin"
_HEADER_SUFFIXES = {".sv", ".svh", ".v", ".vh", ".h", ".inc"}


def yosys_version() -> str:
    """Return the version of the pyosys wheel.

    Raises:
        ToolMissingError: If it is not installed.
    """
    try:
        return metadata.version("pyosys")
    except metadata.PackageNotFoundError as error:
        raise ToolMissingError(
            "expected the Python package pyosys, found none; pip install pyosys==0.70"
        ) from error


def read_commands(
    target: Target, parameters: Mapping[str, int], options: Sequence[str], folder: Path
) -> tuple[str, str]:
    """Return what reads the target's RTL, to be run in `folder`, to which it writes a file list.

    Initial blocks are left out: they decide values, not which bits exist. Macros are those of the target
    alone, so that this is the text that simulators see. Files with `celldefine are read from a copy without
    it: the front end would take their modules, macros of memories perhaps, for black boxes. A table that
    a case statement makes stays logic: as a memory of constants, gates would not know it.
    """
    lines = [f'"{_opened(source, number, folder)}"' for number, source in enumerate(target.sources)]
    lines += [f'-I "{include}"' for include in target.include_dirs]
    lines += [f"-D {name}={value}" if value else f"-D {name}" for name, value in target.defines.items()]
    lines += [f"-G {name}={value}" for name, value in parameters.items()]
    (folder / "rtl.f").write_text("\n".join(lines) + "\n", encoding="utf-8")
    fixed = ["--ignore-initial", "--no-synthesis-define", "--no-proc"]
    return " ".join(["read_slang", "-f", "rtl.f", "--top", target.top, *fixed, *options]), "proc -norom"


def _opened(source: Path, number: int, folder: Path) -> Path:
    """Return a file whose cells are no black boxes: the source, or a copy of it with as many lines."""
    try:
        text = source.read_bytes()
    except OSError:
        return source
    if not _CELLS.search(text):
        return source
    copy = folder / f"cells{number}" / source.name
    copy.parent.mkdir()
    (copy.parent / _ORIGIN).write_text(str(source), encoding="utf-8")
    copy.write_bytes(_CELLS.sub(b"", text))
    return copy


def run_yosys(script: Sequence[str], folder: Path, what: str) -> str:
    """Run the commands of `script` in `folder` and return the log.

    Raises:
        HarnessError: If Yosys reports an error, with the lines that say so.
    """
    path = folder / "script.ys"
    path.write_text("\n".join(script) + "\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(_SIDE), str(path)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        found = said_of_source(done.stderr, folder) or tail(done.stdout + done.stderr, 15)
        raise HarnessError(f"{what} failed; correct the RTL or the target file:\n{found}")
    return done.stdout


def said_of_source(messages: str, folder: Path) -> str:
    """Return the errors among messages of Yosys that ran in `folder`: path of the source, line, and reason.

    What slang says of a file is named by its path from there, or as the copy that `read_commands` made.
    """
    errors = [line for line in messages.splitlines() if "ERROR" in line]
    placed = [found for line in errors if (found := _PLACED.match(line))]
    if not placed:
        return "\n".join(errors[:_ERRORS])
    lines = [f"{_source(folder, found['path'])}:{found['line']}: {found['reason']}" for found in placed]
    more = [f"and {len(lines) - _ERRORS} more errors"] if len(lines) > _ERRORS else []
    return "\n".join([*lines[:_ERRORS], *more])


def _source(folder: Path, path: str) -> Path:
    found = Path(os.path.normpath(folder / path))
    origin = found.parent / _ORIGIN
    return Path(origin.read_text(encoding="utf-8")) if origin.is_file() else found


def rtl_key(target: Target, parameters: Mapping[str, int], *further: str) -> str:
    """Return a content hash of all that the netlist depends on."""
    headers = sorted(
        p for folder in target.include_dirs for p in folder.rglob("*") if p.suffix in _HEADER_SUFFIXES
    )
    beside = sorted({p for s in target.sources for p in s.parent.iterdir() if p.suffix in {".svh", ".vh"}})
    return content_key(
        target.top, target.sources, headers, beside, target.defines, parameters, yosys_version(), *further
    )
