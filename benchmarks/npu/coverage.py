"""Line and toggle coverage of the NPU's RTL, as Verilator counts it, for each block.

One build of the bench with its unreliable bus runs digits on held-out inputs, the small networks of the zoo
and random operations, whole and damaged as the fuzzer makes them. A point counts as covered when any run
passed it in any instance of its module. What is never reached is listed by file and line.

    python -m benchmarks.npu.coverage [--npu ethos-u55-32] [--random 120] [--damaged 120] [--lines] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.npu.fuzz.bench import PARAMETERS, boot_image, flash_image, sram_image
from benchmarks.npu.fuzz.cases import cases_of, network_cases
from benchmarks.npu.fuzz.damage import DAMAGES, BusFaults, Trial, damaged, sound
from networks import zoo
from networks.compile import compile_network
from rtl_harness.cache import cached_folder, content_key
from rtl_harness.npu.workload import npu_workload
from rtl_harness.target import Target, load_target
from rtl_harness.tools import compiler_version, find_verilator, make_verilated, verilate
from rtl_harness.verilated.runner import readmemh_text

SIZES = ("ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256")
LIMIT = 60_000
BENCH = "bench"
FLAGS = (
    *("--cc", "--exe", "--no-timing", "--coverage-line", "--coverage-toggle", "--prefix", "Vtop"),
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
_FIELD = re.compile(r"\x01([^\x02]+)\x02([^\x01]*)")


@dataclass(frozen=True, order=True)
class Point:
    """Something that a simulation passes or not.

    Attributes:
        file: Source file, from the RTL's folder on.
        line: Line in it.
        column: Column, so that two points of a line differ.
        kind: "line" or "toggle".
        name: What it is: a branch of the code, or a bit of a signal.
    """

    file: str
    line: int
    column: int
    kind: str
    name: str

    @property
    def block(self) -> str:
        """Folder of the file, or "npu" for the top."""
        folder = Path(self.file).parent.name
        return folder or "npu"


@dataclass
class Images:
    """The contents of the bench's memories for one run."""

    flash: bytes
    sram: bytes
    boot: bytes
    sram_faults: BusFaults
    flash_faults: BusFaults


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


def of_trial(trial: Trial) -> Images:
    """Return the images of a run of the fuzzer."""
    return Images(
        flash_image(trial).tobytes(), sram_image(trial).tobytes(), boot_image(trial), trial.sram_faults,
        trial.flash_faults,
    )  # fmt: skip


def runs(accelerator: str, digits: int, random: int, damages: int, seed: int) -> Iterator[tuple[str, Images]]:
    """Yield the runs by the sort of run that they are."""
    rng = np.random.default_rng(seed)
    network = zoo.load("digits")
    compiled = compile_network(network.path, accelerator)
    for one in network.heldout_inputs[:digits]:
        images = npu_workload(compiled, one).images
        yield "digits", Images(images["flash"], images["sram"], images["boot"], BusFaults(), BusFaults())
    for case in network_cases(accelerator):
        yield "zoo", of_trial(sound(case))
    for _ in range(random):
        yield "random operations", of_trial(sound(cases_of(accelerator, rng)))
    for number in range(damages):
        kind = list(DAMAGES)[number % len(DAMAGES)]
        case, other = cases_of(accelerator, rng), cases_of(accelerator, rng)
        yield "damaged", of_trial(damaged(kind, case, other, rng))


def simulate(simulator: Path, images: Images) -> dict[str, int]:
    """Run to the interrupt and return how often each point was passed, by Verilator's name of it."""
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
        subprocess.run(command, cwd=folder, check=False, capture_output=True, timeout=600)
        return read_counts(folder / "coverage.dat")


def read_counts(file: Path) -> dict[str, int]:
    """Return the counts of a coverage file."""
    entries = (line[3:].rpartition("' ") for line in file.read_text(encoding="latin-1").splitlines()[1:])
    return {key: int(count) for key, _, count in entries}


def by_point(counts: Mapping[str, int]) -> Counter[Point]:
    """Return the counts of points; those of all instances of a module are one point."""
    points: Counter[Point] = Counter()
    for key, count in counts.items():
        fields = dict(_FIELD.findall(key))
        kind = "toggle" if "toggle" in fields["page"] else "line"
        file = fields["f"].rpartition("/rtl/")[2]
        points[Point(file, int(fields["l"]), int(fields.get("n", 0)), kind, fields.get("o", ""))] += count
    return points


def report(counts: Counter[Point], sorts: Counter[str], accelerator: str) -> dict[str, object]:
    """Return the figures per block and in total, and the lines that no run passed."""
    tally: dict[str, dict[str, list[int]]] = defaultdict(lambda: {"line": [0, 0], "toggle": [0, 0]})
    missing: dict[str, set[int]] = defaultdict(set)
    for point, count in counts.items():
        if point.block == BENCH:
            continue
        for name in (point.block, "total"):
            tally[name][point.kind][0] += count > 0
            tally[name][point.kind][1] += 1
        if point.kind == "line" and not count:
            missing[point.file].add(point.line)
    blocks = [
        {"block": name, **{f"{kind}_{what}": value for kind, pair in kinds.items()
                           for what, value in zip(("covered", "points"), pair, strict=True)}}
        for name, kinds in sorted(tally.items(), key=lambda item: (item[0] == "total", item[0]))
    ]  # fmt: skip
    uncovered = {file: sorted(lines) for file, lines in sorted(missing.items())}
    return {"target": accelerator, "runs": dict(sorts), "blocks": blocks, "uncovered_lines": uncovered}


def print_report(result: dict[str, object], rtl: Path, lines: bool) -> None:
    """Print the table, and the lines that were not reached with their text if asked."""
    print(f"{result['target']}, runs: {result['runs']}")
    print(f"{'block':8} {'lines':>16} {'':>7} {'toggles':>16}")
    for row in result["blocks"]:  # type: ignore[attr-defined]
        cells = [f"{row['block']:8}"]
        for kind in ("line", "toggle"):
            covered, points = row[f"{kind}_covered"], row[f"{kind}_points"]
            cells.append(f"{covered:7} / {points:6} {100 * covered / max(points, 1):6.1f}%")
        print(" ".join(cells))
    for file, numbers in result["uncovered_lines"].items():  # type: ignore[attr-defined]
        print(f"{file}: {', '.join(map(str, numbers))}")
        if lines:
            text = (rtl / file).read_text(encoding="utf-8").splitlines()
            for number in numbers:
                print(f"  {number:4}  {text[number - 1].strip()}")


def main() -> int:
    """Build, run, merge, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--npu", default="ethos-u55-32", choices=SIZES)
    parser.add_argument("--digits", type=int, default=5, help="held-out inputs of digits")
    parser.add_argument("--random", type=int, default=120, help="random operations")
    parser.add_argument("--damaged", type=int, default=120, help="damaged streams")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lines", action="store_true", help="print the text of the lines not reached")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    target = load_target(options.npu)
    simulator = build(target)
    counts: Counter[str] = Counter()
    sorts: Counter[str] = Counter()
    wanted = runs(options.npu, options.digits, options.random, options.damaged, options.seed)
    for sort, images in wanted:
        counts.update(simulate(simulator, images))
        sorts[sort] += 1
        if sys.stderr.isatty() and "CI" not in os.environ:
            print(f"\rcoverage: {sum(sorts.values())} runs", end="", file=sys.stderr)
    result = report(by_point(counts), sorts, options.npu)
    if options.json:
        json.dump(result, sys.stdout, indent=1)
        print()
    else:
        rtl = next(p for p in target.sources if p.name == "npu.sv").parent
        print_report(result, rtl, options.lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
