# SPDX-License-Identifier: Apache-2.0
"""How well runs on one size of the NPU predict other networks on another size, flip-flops.

    python -m benchmarks.statistics.extrapolation_sizes --runs RUNS --others RUNS

Each run in `--others` is predicted from those in `--runs`, without that of its own network; both are folders
that `python -m benchmarks.statistics.extrapolation campaigns` has filled. Intervals come from the errors of
the runs in `--runs`, each predicted from the other ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from resil.sensitivity.coverage import judge
from resil.sensitivity.intervals import TOTAL
from resil.sensitivity.learn import fit_strengths, inferences_of, leave_out
from resil.sensitivity.left_out import Prediction, fit_severity, left_out_rows, without
from resil.sensitivity.model import HoldOutBlock
from resil.sensitivity.observations import ObservedRun, read_run
from resil.sensitivity.severity import Severity
from resil.work.inference import Inference

_MISS = 0.025
COLUMNS = (
    "network",
    "target",
    "observed",
    "predicted",
    "error",
    "averages",
    "figures of blocks in interval",
)


def main() -> None:
    """Print a line for each run that is predicted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--others", type=Path, required=True)
    options = parser.parse_args()
    runs, others = _read(options.runs), _read(options.others)
    strengths = fit_strengths(runs)
    known = [leave_out(run, runs, strengths, _inferences(run)) for run in runs]
    base = [row for own in known for row in left_out_rows(own, _severity(known, own.run))]
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    for run in others:
        rows = left_out_rows(leave_out(run, runs, strengths, _inferences(run)), _severity(known, run))
        bits = {own.accelerator: _bits(own) for own in (*runs, run)}
        judged = judge([*rows, *(row for row in base if row.network != run.network)], bits)
        own = [one for one in judged if (one.network, one.accelerator) == (run.network, run.accelerator)]
        total = next(one for one in own if one.block == TOTAL and one.quantity == "sdc_critical")
        blocks = [one for one in own if one.block != TOTAL]
        inside = sum(one.surprise > _MISS for one in blocks)
        print(
            f"| {run.summary.network.path} | {run.accelerator} "
            f"| {total.observed:.2%} | {total.predicted:.2%} "
            f"| {total.predicted / total.observed - 1.0:+.1%} | {averages(run, base):.2%} "
            f"| {inside} of {len(blocks)} |"
        )


def _bits(run: ObservedRun) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for cell, bits in run.bits.items():
        found[cell.block, cell.kind] = found.get((cell.block, cell.kind), 0) + bits
    return found


def averages(run: ObservedRun, base: Iterable[HoldOutBlock]) -> float:
    """Return the share of critical SDC of flip-flops if each block had the mean rate of other networks."""
    bits: dict[str, int] = {}
    for cell, count in run.bits.items():
        if cell.kind == "ff":
            bits[cell.block] = bits.get(cell.block, 0) + count
    rates: dict[str, list[float]] = {}
    for row in base:
        if row.network != run.network:
            rates.setdefault(row.block, []).append(row.observed(["sdc_critical"]) / row.trials)
    return sum(n * float(np.mean(rates[block])) for block, n in bits.items()) / sum(bits.values())


def _read(folder: Path) -> list[ObservedRun]:
    return [read_run(path.parent) for path in sorted(folder.glob("*-ff/summary.json"))]


def _inferences(run: ObservedRun) -> tuple[Inference, ...]:
    found = inferences_of(run)
    if not found:
        raise SystemExit(f"{run.folder}: its network, inputs or decision cannot be had any more")
    return found


def _severity(known: Iterable[Prediction], run: ObservedRun) -> Severity:
    return fit_severity(without(known, run.network))


if __name__ == "__main__":
    main()
