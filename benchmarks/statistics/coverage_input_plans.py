# SPDX-License-Identifier: Apache-2.0
"""Whole campaigns over drawn inputs: how often each plan's interval and the bound for most inputs hold.

Run as `python -m benchmarks.statistics.coverage_input_plans [--runs 1000]` from the root of the project. The
rates of an input are those of the mean times a factor of a gamma distribution with mean 1; CV is its standard
deviation. Every plan is played with its own steps, faults spread over all inputs as `resil run` spreads them.
"these" is the interval that leaves the differences between inputs out, of the same campaigns: a campaign
without a margin draws alike for both. Steps that no result decides are drawn with `ROUNDINGS` seeds in turn,
for the seed only says which strata get the last injection; inputs and outcomes are drawn anew each time.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from resil.stats.guided_plan import guided_step
from resil.stats.input_spread import tolerance_bound
from resil.stats.intervals import Interval
from resil.stats.plans import Batch, Kind, PlanStep, SamplingPlan, next_step
from resil.stats.strata import Strata

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

INJECTIONS = 20_000
ROUNDINGS = 64
# Campaigns of the bound for most inputs, as a part of those of the plans: each takes many limits.
BOUNDS = 0.1
INPUTS = (1, 2, 4, 8, 16, 32, 64)
VARIATIONS = (0.0, 0.1, 0.4)
# Block and level of risk, weight, rate of the mean input, predicted rate.
GROUPS = (
    ("cc", "1", 0.5, 0.05, 0.06),
    ("dma", "2", 0.3, 0.02, 0.02),
    ("mac", "3", 0.3, 0.01, 0.004),
    ("sb", "4", 2.5, 0.0005, 0.001),
    ("ao", "5", 0.1, 0.15, 0.2),
)
LABELS = [(block, "ff", level, "r", "0") for block, level, *_ in GROUPS]
WEIGHTS = np.array([weight for _, _, weight, _, _ in GROUPS])
RATES = np.array([rate for _, _, _, rate, _ in GROUPS])
RISKS = [risk for *_, risk in GROUPS]
TRUTH = float((WEIGHTS * RATES).sum())
PLANS: dict[str, Kind] = {
    "uniform": "uniform",
    "proportional": "stratified",
    "neyman": "adaptive",
    "predicted": "guided",
}
STRATA = Strata.of(LABELS, WEIGHTS.tolist(), [round(weight * 1e12) for weight in WEIGHTS])


def factors(rng: np.random.Generator, inputs: int, variation: float) -> FloatArray:
    """Return how many times as high the rates of each input are as those of the mean."""
    if not variation:
        return np.ones(inputs)
    return rng.gamma(1.0 / variation**2, variation**2, inputs)


def injected(rng: np.random.Generator, injections: IntArray, rates: FloatArray) -> tuple[IntArray, IntArray]:
    """Return injections, spread over inputs, and what is hazardous of them, both (inputs, strata)."""
    inputs = len(rates)
    trials = rng.multinomial(injections, np.full(inputs, 1.0 / inputs)).T
    return trials, rng.binomial(trials, rates)


@cache
def plan_of(kind: Kind) -> SamplingPlan:
    """Return the plan of that kind."""
    return SamplingPlan(kind, INJECTIONS, pilot=500 if kind == "adaptive" else 0)


def step_of(kind: Kind, seed: int, done: Sequence[Batch]) -> PlanStep:
    """Return the next step of a campaign."""
    if kind == "guided":
        return guided_step(STRATA, RISKS, plan_of(kind), seed, done)
    return next_step(STRATA, plan_of(kind), seed, done)


@cache
def first_step(kind: Kind, seed: int) -> PlanStep:
    """Return the first step, which no result decides."""
    return step_of(kind, seed, [])


def campaign(kind: Kind, inputs: int, variation: float, seed: int) -> tuple[Interval, Interval]:
    """Play a campaign; return the interval of its total for inputs like these, and for these."""
    rng, own = np.random.default_rng([17, inputs, seed]), seed % ROUNDINGS
    rates = np.clip(factors(rng, inputs, variation)[:, None] * RATES, 0.0, 1.0)
    step, these, like = first_step(kind, own), [], []
    while step.stage != "done":
        trials, events = injected(rng, step.injections, rates)
        these.append(Batch.of(step.injections, events.sum(axis=0)))
        each = {i: (trials[i], events[i]) for i in range(inputs)}
        like.append(Batch.of(step.injections, events.sum(axis=0), inputs=each))
        step = step_of(kind, own, these)
    over = step_of(kind, own, like)
    assert over.total is not None
    assert step.total is not None
    return over.total, step.total


def plan_rows(runs: int) -> Iterator[str]:
    """Yield the rows of the table of plans."""
    yield "| CV | inputs | " + " | ".join(f"{name}, like these | these" for name in PLANS) + " |"
    yield "|---|---|" + "---|" * 2 * len(PLANS)
    for variation in VARIATIONS:
        for inputs in INPUTS:
            cells = []
            for kind in PLANS.values():
                found = [campaign(kind, inputs, variation, seed) for seed in range(runs)]
                for intervals in zip(*found, strict=True):
                    inside = np.mean([i.lo <= TRUTH <= i.hi for i in intervals])
                    width = np.mean([i.width for i in intervals]) / TRUTH
                    cells.append(f"{100 * inside:.1f} %, {width:.2f}")
            yield f"| {variation:g} | {inputs} | {' | '.join(cells)} |"


def bound_rows(runs: int) -> Iterator[str]:
    """Yield the rows of the table of the bound for 95 % of the inputs."""
    yield "| CV | inputs | injections | holds | bound over the true 95 % quantile, median |"
    yield "|---|---|---|---|---|"
    for variation in (*VARIATIONS, 1.0):
        quantile = TRUTH * float(np.quantile(factors(np.random.default_rng(1), 10**6, variation), 0.95))
        for inputs, injections in ((64, 20_000), (64, 100_000), (200, 20_000), (200, 100_000)):
            found = np.array([_bound(inputs, injections, variation, seed) for seed in range(runs)])
            held, median = np.mean(found >= quantile), np.median(found) / quantile
            yield f"| {variation:g} | {inputs} | {injections:,} | {100 * held:.1f} % | {median:.2f} |"


def _bound(inputs: int, injections: int, variation: float, seed: int) -> float:
    rng = np.random.default_rng([19, inputs, injections, seed])
    rates = np.clip(factors(rng, inputs, variation)[:, None] * RATES, 0.0, 1.0)
    shares = WEIGHTS / WEIGHTS.sum()
    trials, events = injected(rng, np.round(injections * shares).astype(np.int64), rates)
    bound = tolerance_bound(events, trials, WEIGHTS)
    assert bound is not None
    return bound.bound


def main(arguments: list[str] | None = None) -> int:
    """Print the tables of docs/results.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args(arguments).runs
    for rows in (plan_rows(runs), bound_rows(max(1, round(runs * BOUNDS)))):
        for row in rows:
            print(row, flush=True)
        print()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
