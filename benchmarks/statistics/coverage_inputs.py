# SPDX-License-Identifier: Apache-2.0
"""Coverage of intervals for inputs like those that were run, against the pooled interval and plain t limits.

Run as `python -m benchmarks.statistics.coverage_inputs [--runs 500]` from the root of the project.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from resil.stats.clusters import clustered_mean, weighted_sum_over_inputs
from resil.stats.weighted import weighted_sum

FloatArray = npt.NDArray[np.float64]

WEIGHTS = np.array([3.0, 1.0, 0.5, 4.0, 1.0])
RATES = np.array([0.05, 0.02, 0.3, 0.004, 0.1])
INPUTS = (2, 5, 20, 50)
INJECTIONS = 500
POPULATIONS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "inputs do not differ": lambda rng, inputs: np.ones(inputs),
    "rates differ by half": lambda rng, inputs: rng.gamma(4.0, 0.25, inputs),
    "rates differ by their mean": lambda rng, inputs: rng.gamma(1.0, 1.0, inputs),
    "one in ten is eleven times as bad": lambda rng, inputs: np.where(rng.random(inputs) < 0.1, 5.5, 0.5),
}


def cells(factors: Callable[[np.random.Generator, int], FloatArray], inputs: int, runs: int) -> str:
    """Return coverage, and width over the truth, of the three intervals, as cells of a table."""
    truth = float((WEIGHTS * RATES).sum())
    inside, width = np.zeros(3), np.zeros(3)
    n = np.full((inputs, len(RATES)), INJECTIONS // len(RATES))
    for seed in range(runs):
        rng = np.random.default_rng([13, inputs, seed])
        x = rng.binomial(n, np.clip(factors(rng, inputs)[:, None] * RATES, 0, 1))
        found = (
            weighted_sum_over_inputs(x, n, WEIGHTS).interval,
            weighted_sum(x.sum(axis=0), n.sum(axis=0), WEIGHTS),
            clustered_mean((x / n * WEIGHTS).sum(axis=1), np.arange(inputs)),
        )
        inside += [i.lo <= truth <= i.hi for i in found]
        width += [i.width / truth for i in found]
    return " | ".join(f"{100 * c:.1f} %, {w:.2f}" for c, w in zip(inside / runs, width / runs, strict=True))


def main(arguments: list[str] | None = None) -> int:
    """Print the table of docs/results.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=500)
    runs = parser.parse_args(arguments).runs
    print("| population of inputs | inputs run | over inputs | pooled | t |\n|---|---|---|---|---|")
    for name, factors in POPULATIONS.items():
        for inputs in INPUTS:
            print(f"| {name} | {inputs} | {cells(factors, inputs, runs)} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
