# SPDX-License-Identifier: Apache-2.0
"""Simulators that count what they pass: the closed bench, and the blocks side by side under cocotb."""

from __future__ import annotations

import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.npu.coverage.points import Point, by_point, read_counts
from benchmarks.npu.coverage.sessions import PARAMETERS, Images
from resil.rtl_harness.cache import cached_folder, content_key
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.memories import readmemh_text
from resil.rtl_harness.tools import (
    compiler_version,
    find_verilator,
    make_verilated,
    verilate,
)
from testkit.npu.blocks.simulator import run as run_blocks

LIMIT = 1_500_000
COVERAGE = ("--coverage-line", "--coverage-toggle", "--coverage-max-width", "4096")
FLAGS = (
    *("--cc", "--exe", "--no-timing", *COVERAGE, "--prefix", "Vtop", "--output-split", "40000"),
    *("--x-assign", "0", "--x-initial", "unique", "--noassert", "-Wno-fatal", "-Wno-lint", "-o", "simulator"),
)
MAIN = f"""
#include "Vtop.h"
#include "verilated.h"
#include "verilated_cov.h"
int main(int argc, char** argv) {{
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vtop top(&context);
  top.rst_ni = 0;
  for (int cycle = 0; cycle < {LIMIT} && !top.done_o; ++cycle) {{
    if (cycle == 8) top.rst_ni = 1;
    top.clk_i = 0;
    top.eval();
    top.clk_i = 1;
    top.eval();
  }}
  top.final();
  context.coveragep()->write("coverage.dat");
  return top.done_o ? 0 : 3;
}}
"""


def build(target: Target) -> Path:
    """Return the simulator of `target` that counts coverage, built or from the cache."""

    def fill(folder: Path) -> None:
        (folder / "main.cpp").write_text(MAIN)
        parameters = {**target.parameters, **PARAMETERS}
        verilate(
            [
                *FLAGS,
                *("--top-module", target.top, "--Mdir", "obj", *map(str, target.sources), "main.cpp"),
                *(f"-G{name}={value}" for name, value in parameters.items()),
            ],
            folder,
        )
        make_verilated("Vtop.mk", folder / "obj", {"OPT_FAST": "-O2", "OPT_GLOBAL": "-O0"})

    versions = (find_verilator().version, compiler_version())
    key = content_key(target.sources, target.parameters, PARAMETERS, FLAGS, MAIN, versions)
    return cached_folder("coverage", key, fill) / "obj" / "simulator"


def simulate(simulator: Path, images: Images) -> tuple[Counter[Point], bool]:
    """Run to the end; return how often each point was passed, and whether the end came in time."""
    with tempfile.TemporaryDirectory(prefix="resil-coverage-") as name:
        folder = Path(name)
        arguments = []
        for memory in ("flash", "sram", "boot"):
            (folder / memory).write_text(readmemh_text(getattr(images, memory), 8))
            arguments.append(f"+{memory}={folder / memory}")
        for bus in ("sram_faults", "flash_faults"):
            (folder / bus).write_text("".join(f"{word:08x}\n" for word in getattr(images, bus).words))
            arguments.append(f"+{bus}={folder / bus}")
        command = [str(simulator), *arguments]
        done = subprocess.run(command, cwd=folder, check=False, capture_output=True, timeout=1800)
        return by_point(read_counts(folder / "coverage.dat")), done.returncode == 0


def simulate_blocks(bench: str, macs: int) -> tuple[Counter[Point], list[str]]:
    """Run a bench of the block tests; return how often each point was passed, and which tests failed."""
    with tempfile.TemporaryDirectory(prefix="resil-coverage-") as name:
        outcomes = run_blocks(bench, macs, Path(name), flags=COVERAGE)
        failed = sorted(test for test, message in outcomes.items() if message)
        return by_point(read_counts(Path(name) / "coverage.dat")), failed
