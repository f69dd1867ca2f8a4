# SPDX-License-Identifier: Apache-2.0
"""Verilog models of a cell library: which cells are understood, and whether what is derived does the same.

    python -m benchmarks.logic.cell_models [--cells REGEX] [--define NAME=VALUE ...] FILE ...

Each cell that is understood runs in Icarus Verilog, as its model says and as resil simulates it, with the
same random values at its pins, one pin at a time. Both must agree in every step. Prints a row for docs.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from resil.rtl_harness.design.cell_library import VerilogCells, derived_library
from resil.rtl_harness.design.cell_models import model_text
from resil.rtl_harness.design.cells import CellType, cells_of
from resil.rtl_harness.errors import HarnessError
from testkit.cell_bench import cell_bench

STEPS = 400


def understood(given: VerilogCells, names: Sequence[str]) -> tuple[dict[str, CellType], Counter[str]]:
    """Return the cells that are understood, and how many are not, by the reason without its place."""
    left, refused = [*names], Counter[str]()
    while left:
        try:
            return cells_of(derived_library(given, left).read_text(encoding="utf-8")), refused
        except HarnessError as error:
            reasons = dict(re.findall(r"^  ([\w$]+): (?:\S+:\d+: )?(.*)", str(error), re.MULTILINE))
            if not reasons:
                raise
        refused.update(reasons.values())
        left = [name for name in left if name not in reasons]
    return {}, refused


def differences(given: VerilogCells, cells: dict[str, CellType], folder: Path) -> Counter[str]:
    """Return how often each output differs; all cells are simulated for some hundred steps each."""
    texts = {name: model_text(cell) for name, cell in cells.items()}
    ours = "\n".join(own.replace(f"module {name}(", f"module ours_{name}(") for name, own in texts.items())
    bench = cell_bench({name: f"ours_{name}" for name in texts}, cells, STEPS * len(cells))
    (folder / "bench.sv").write_text(f"{ours}\n{bench}", encoding="utf-8")
    options = [f"-D{name}={value}" for name, value in given.defines.items()]
    options += dict.fromkeys(f"-I{file.parent}" for file in given.files)
    files = [*map(str, given.files), "bench.sv"]
    subprocess.run(["iverilog", "-g2012", "-o", "bench", *options, *files], cwd=folder, check=True)
    done = subprocess.run(["vvp", "bench"], cwd=folder, check=True, capture_output=True, text=True)
    *different, last = done.stdout.split("\n")[:-1]
    if last != f"different {len(different)}":
        raise RuntimeError(f"expected the number of differences at the end, found {last!r}")
    return Counter(different)


def main() -> int:
    """Print a row for the library."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--cells", default="", help="only modules whose names this matches")
    parser.add_argument("--define", nargs="*", default=[], help="NAME=VALUE")
    args = parser.parse_args()
    files = tuple(file.resolve() for file in args.files)
    given = VerilogCells(files, (), dict(own.split("=", 1) for own in args.define))
    found = (re.findall(r"^\s*module\s+([\w$]+)", file.read_text("utf-8", "replace"), re.M) for file in files)
    names = sorted({name for own in found for name in own if re.search(args.cells, name)})
    cells, refused = understood(given, names)
    cells = {name: own for name, own in cells.items() if own.outputs}
    with tempfile.TemporaryDirectory() as folder:
        wrong = differences(given, cells, Path(folder))
    stored = sum(
        own.flip_flop is not None or own.latch is not None or bool(own.gating) for own in cells.values()
    )
    reasons = "; ".join(f"{count} {why}" for why, count in refused.most_common()) or "-"
    steps = STEPS * len(cells)
    print(f"| {len(names)} | {len(cells)} | {stored} | {reasons} | {steps:,} | {len(wrong)} |", flush=True)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
