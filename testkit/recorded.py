# SPDX-License-Identifier: Apache-2.0
"""Waveforms from testbenches of their own: Verilator alone, nothing of resil's engines."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from resil.rtl_harness.cache import cached_folder, content_key
from resil.rtl_harness.tools import make_verilated, verilate

_FLAGS = ["--cc", "--exe", "--timing", "--vpi", "--public-flat-rw"]
_QUIET = ["-Wno-fatal", "-Wno-lint", "-Wno-style"]
_COROUTINES = {"CFG_CXXFLAGS_STD": "-std=gnu++20", "CFG_CXXFLAGS_COROUTINES": "-fcoroutines"}
_MAIN = Path(__file__).with_name("recorded_main.cpp")


def compiled_testbench(sources: Sequence[Path], top: str, *flags: str) -> Path:
    """Return the program of a testbench that drives itself, compiled once.

    Args:
        sources: In compile order; a C++ file among them takes the place of the main program.
        top: Its top module.
        flags: Of Verilator, "--trace" or "--trace-fst" for waveforms.
    """
    if all(file.suffix != ".cpp" for file in sources):
        sources = [*sources, _MAIN]
    texts = [file.name + file.read_text() for file in sources]
    key = content_key(texts, top, flags)

    def build(folder: Path) -> None:
        arguments = [
            *_FLAGS,
            *_QUIET,
            *flags,
            "--top",
            top,
            "--prefix",
            "Vtb",
            "-Mdir",
            str(folder),
            "-o",
            "tb",
        ]
        verilate([*arguments, *map(str, sources)], folder)
        make_verilated("Vtb.mk", folder, _COROUTINES | {"OPT_FAST": "-O0"})

    return cached_folder("testbench", key, build) / "tb"


def run_testbench(program: Path, folder: Path, *plusargs: str) -> str:
    """Run a testbench in a folder, where it leaves its waveform; return what it prints."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([str(program), *plusargs], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def copied_example(name: str, folder: Path) -> Path:
    """Return a copy of one of the examples."""
    return Path(shutil.copytree(Path(__file__).parents[1] / "examples" / name, folder / name))
