# SPDX-License-Identifier: Apache-2.0
"""Yosys with the slang front end: scripts in, logs and netlists out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from resil.rtl_harness.cache import content_key
from resil.rtl_harness.design.snapshot import frozen, require_parsed, snapshot_of
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError, ToolMissingError
from resil.rtl_harness.tools import tail

_SIDE = Path(__file__).with_name("yosys_side.py")
# What reads RTL: code that every result rests on that Yosys makes.
READER = (Path(__file__), _SIDE)
_CELLS = re.compile(rb"`(end)?celldefine\b")
# Processes become cells; what is printed is no hardware.
_LOWERED = ("proc -norom", "delete */t:$print */t:$check")
_PLACED = re.compile(r"(?P<path>.+?):(?P<line>\d+): ERROR: (?P<reason>.*)")
_ERRORS = 10
_ORIGINS = "origins.json"


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
) -> tuple[str, ...]:
    """Return what reads the target's RTL, to be run in `folder`, to which it writes a file list.

    Copies of the files are read, see `frozen`; include folders go before the folder of who includes, as in
    simulators. Initial blocks are left out: they decide values, not which bits exist. So are assertions and
    delays. Macros are those of
    the target alone, so that this is the text that simulators see. Files with `celldefine are read from a
    copy without it: the front end would take their modules, macros of memories perhaps, for black boxes. A
    table that a case statement makes stays logic: as a memory of constants, gates would not know it.
    """
    target = frozen(target)
    snapshot = snapshot_of(target)
    origins = {str(copy): str(path) for copy, path in snapshot.origins.items()}
    lines = [f'"{_opened(source, i, folder, origins)}"' for i, source in enumerate(target.sources)]
    lines += [f'-I "{include}"' for include in target.include_dirs]
    lines += [f"-D {name}={value}" if value else f"-D {name}" for name, value in target.defines.items()]
    lines += [f"-G {name}={value}" for name, value in parameters.items()]
    (folder / "rtl.f").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = {"snapshot": str(snapshot.folder), "origins": origins}
    (folder / _ORIGINS).write_text(json.dumps(found), encoding="utf-8")
    fixed = ["--ignore-initial", "--no-synthesis-define", "--no-proc", "--incdir-first"]
    fixed += ["--show-parsed-files", "--single-unit"]
    fixed += ["--allow-use-before-declare", "--ignore-assertions", "--ignore-timing"]
    return " ".join(["read_slang", "-f", "rtl.f", "--top", target.top, *fixed, *options]), *_LOWERED


def _opened(source: Path, number: int, folder: Path, origins: dict[str, str]) -> Path:
    """Return a file whose cells are no black boxes: the source, or a copy of it with as many lines."""
    text = source.read_bytes()
    if not _CELLS.search(text):
        return source
    copy = folder / f"cells{number}" / source.name
    copy.parent.mkdir()
    origins[str(copy)] = origins[str(source)]
    copy.write_bytes(_CELLS.sub(b"", text))
    return copy


def run_yosys(script: Sequence[str], folder: Path, what: str) -> str:
    """Run the commands of `script` in `folder` and return the log.

    Raises:
        HarnessError: If Yosys reports an error, with the lines that say so.
    """
    path = folder / "script.ys"
    path.write_text("\n".join(script) + "\n", encoding="utf-8")
    done = run_side_script(_SIDE, [str(path)], folder)
    if done.returncode != 0:
        found = said_of_source(done.stderr, folder) or tail(done.stdout + done.stderr, 15)
        raise HarnessError(f"{what} failed; correct the RTL or the target file:\n{found}")
    require_copies(done.stdout, folder)
    return done.stdout


def run_side_script(
    script: Path, arguments: Sequence[str], folder: Path, seconds: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a script that has Yosys in it, in a process of its own and in `folder`; return how it ended.

    Raises:
        subprocess.TimeoutExpired: It takes longer than `seconds`.
    """
    return subprocess.run(
        [sys.executable, str(script), *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=seconds,
    )


def require_copies(log: str, folder: Path) -> None:
    """Raise HarnessError if what Yosys read in `folder`, after `read_commands`, was not the copies alone."""
    if (folder / _ORIGINS).is_file():
        require_parsed(log, folder, Path(_origins(folder)["snapshot"]))


def said_of_source(messages: str, folder: Path) -> str:
    """Return the errors among messages of Yosys that ran in `folder`: path of the source, line, and reason.

    Each reason is there once, with its first place.

    What slang says of a file is named by its path from there, or as the copy that `read_commands` made.
    """
    errors = [line for line in messages.splitlines() if "ERROR" in line]
    placed = [found for line in errors if (found := _PLACED.match(line))]
    if not placed:
        return "\n".join(errors[:_ERRORS])
    origins: dict[str, str] = _origins(folder)["origins"]
    paths = [os.path.normpath(folder / found["path"]) for found in placed]
    places: dict[str, list[str]] = {}
    for path, found in zip(paths, placed, strict=True):
        places.setdefault(found["reason"], []).append(f"{origins.get(path, path)}:{found['line']}")
    # What is missing in many places is said once.
    lines = [
        f"{own[0]}: {reason}{f' (and {len(own) - 1} places more)' if len(own) > 1 else ''}"
        for reason, own in places.items()
    ]
    more = [f"and {len(lines) - _ERRORS} more errors"] if len(lines) > _ERRORS else []
    return "\n".join([*lines[:_ERRORS], *more])


def _origins(folder: Path) -> dict[str, Any]:
    file = folder / _ORIGINS
    found: dict[str, Any] = {"origins": {}}
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else found


def rtl_key(target: Target, parameters: Mapping[str, int], *further: str) -> str:
    """Return a content hash of all that the netlist depends on."""
    digest = snapshot_of(target).digest
    return content_key(target.top, digest, target.defines, parameters, yosys_version(), *further)
