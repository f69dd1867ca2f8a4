# SPDX-License-Identifier: Apache-2.0
"""Cycles against Vela's estimate, and where those of each operation go.

    python -m benchmarks.npu.cycles [--npu ethos-u55-256 ...] [--only WORD] [--models DIR] [--operations]
                                    [--json]

Runs the zoo's networks, hold-out networks of the kinds that run longest (`networks.py`), and every .tflite
file of `--models DIR`, each once on noise. Outputs must be the functional model's. `--operations` has a line
for each operation. The last lines are the median, and the largest ratio of networks with more than 20,000
cycles.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from statistics import median

from benchmarks.npu.cycles.networks import ROWS, graphs
from benchmarks.npu.cycles.probe import SIZES, Run, measure
from resil.networks import zoo
from resil.networks.tflite_writer import serialise_network

LONG = 20_000
STAGES = ("command", "start", "work", "output", "write", "no_vector", "no_ifm")


def networks(models: Path | None) -> dict[str, bytes]:
    """Return the .tflite files by name."""
    found = {name: Path(zoo.load(name).path).read_bytes() for name in zoo.names()}
    found |= {name: serialise_network(graph) for name, graph in graphs().items()}
    if models:
        found |= {file.stem: file.read_bytes() for file in sorted(models.glob("*.tflite"))}
    return found


def line(name: str, cycles: int, vela: int, stages: dict[str, int]) -> str:
    """Return a network's or an operation's line."""
    ratio = f"{cycles / vela:.2f}" if vela else "-"
    return f"{name[:30]:30}{cycles:>9,}{vela:>9,}{ratio:>7}" + "".join(f"{stages[k]:>10,}" for k in STAGES)


def table_text(runs: list[Run], operations: bool) -> str:
    """Return the table of one size."""
    columns = f"{'cycles':>9}{'Vela':>9}{'ratio':>7}" + "".join(f"{name:>10}" for name in STAGES)
    lines = [f"{runs[0].npu:30}{columns}"]
    for run in runs:
        sums = {name: sum(getattr(o, name) for o in run.operations) for name in STAGES}
        lines.append(line(run.network, run.cycles, run.vela, sums))
        for o in run.operations if operations else ():
            lines.append("  " + line(o.kind, o.cycles, o.vela, asdict(o)))
    judged = [run for run in runs if run.network not in ROWS]
    ratios = {run.network: run.cycles / run.vela for run in judged}
    long = {run.network: ratios[run.network] for run in judged if run.cycles > LONG}
    if ratios:
        lines.append(f"median of {len(ratios)} networks, single rows left out: {median(ratios.values()):.3f}")
    if long:
        worst = max(long, key=lambda name: long[name])
        lines.append(f"largest of {len(long)} with more than {LONG:,} cycles: {long[worst]:.3f}, {worst}")
    return "\n".join(lines)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--npu", nargs="+", default=SIZES, choices=SIZES)
    parser.add_argument("--only", default="", help="networks whose name has this word")
    parser.add_argument("--models", type=Path, help="folder with further .tflite files")
    parser.add_argument("--operations", action="store_true", help="a line for each operation")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    chosen = {name: data for name, data in networks(options.models).items() if options.only in name}
    if not chosen:
        parser.error(f"no network's name has {options.only!r}; without --only all are run")
    everything = []
    for npu in options.npu:
        runs = []
        for name, data in chosen.items():
            runs.append(measure(name, data, npu))
            print(name, npu, runs[-1].cycles, file=sys.stderr)
        everything += runs
        if not options.json:
            print(table_text(runs, options.operations))
    if options.json:
        print(json.dumps([asdict(run) for run in everything], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
