# SPDX-License-Identifier: Apache-2.0
"""Campaigns that stop by themselves: how often they are wrong, how often intervals miss, what they cost.

Run as `python -m benchmarks.statistics.stopping [--runs 400]` from the root of the project. A population of
known truth is judged against budgets near it by the adaptive plan, and, to compare, by what is often done:
uniform sampling, a normal interval looked at after every 100 injections, stop when it leaves the budget out.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from resil.stats.plans import SamplingPlan
from testkit.populations import Population, synthetic, without_replacement

HEADER = "| truth / budget | plan | wrong | no verdict | covers | injections |\n|---|---|---|---|---|---|"
FACTORS = (0.5, 0.8, 0.95, 1.05, 1.25, 2.0)
MAXIMUM = 10_000
OPERATIONS = 5
LOOK = 100


@dataclass
class Ends:
    """How campaigns ended.

    Attributes:
        wrong: "met" though the truth is above the budget, or "missed" though it is not.
        open: Without a verdict.
        covered: The last interval covers the truth.
        used: Injections.
    """

    wrong: int = 0
    open: int = 0
    covered: int = 0
    used: int = 0

    def add(self, lo: float, hi: float, truth: float, budget: float | None, used: int) -> None:
        """Count one campaign."""
        if budget is not None:
            met, missed = hi <= budget, lo > budget
            self.wrong += met if truth > budget else missed
            self.open += not (met or missed)
        self.covered += lo <= truth <= hi
        self.used += used

    def text(self, runs: int) -> str:
        """Return wrong verdicts, open ones, coverage, and injections, as cells of a table."""
        share = [f"{100 * value / runs:.1f} %" for value in (self.wrong, self.open, self.covered)]
        return " | ".join((*share, f"{self.used / runs:,.0f}"))


def adaptive(population: Population, runs: int, **asked: float | bool) -> Ends:
    """Play the adaptive plan."""
    ends, plan = Ends(), SamplingPlan("adaptive", MAXIMUM, **asked)  # type: ignore[arg-type]
    for seed in range(runs):
        step, done = population.play(plan, seed)
        assert step.total is not None
        used = sum(int(batch.injections.sum()) for batch in done)
        ends.add(step.total.lo, step.total.hi, population.truth, plan.budget, used)
    return ends


def peeking(population: Population, runs: int, budget: float) -> Ends:
    """Look at a normal interval of a uniform sample again and again."""
    ends, sizes = Ends(), population.strata.sizes
    weight, z = float(population.strata.weights.sum()), -float(ndtri(0.025))
    bad = np.array([int(population.bad.sum())])
    good = np.array([int(sizes.sum())]) - bad
    for seed in range(runs):
        rng, events, used = np.random.default_rng([5, seed]), 0, 0
        while True:
            events += int(without_replacement(rng, bad, good, np.array([LOOK]))[0])
            used += LOOK
            p = events / used
            half = z * (p * (1 - p) / used) ** 0.5
            lo, hi = (p - half) * weight, (p + half) * weight
            if hi <= budget or lo > budget or used >= MAXIMUM:
                break
        ends.add(lo, hi, population.truth, budget, used)
    return ends


def main(arguments: list[str] | None = None) -> int:
    """Print the tables of docs/results.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=400)
    runs = parser.parse_args(arguments).runs
    for name in ("0.05 everywhere", "control registers"):
        population = synthetic(OPERATIONS)[name]
        print(f"\n{name}\n\n{HEADER}")
        for factor in FACTORS:
            budget = population.truth / factor
            print(
                f"| {factor} | adaptive | {adaptive(population, runs, budget=budget).text(runs)} |",
                flush=True,
            )
            print(f"| | peeking | {peeking(population, runs, budget).text(runs)} |", flush=True)
        for margin in (0.2, 0.1):
            ends = adaptive(population, runs, margin=margin, relative=True)
            print(f"| margin {margin:.0%} | adaptive | {ends.text(runs)} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
