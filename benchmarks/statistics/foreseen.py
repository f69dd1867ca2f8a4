# SPDX-License-Identifier: Apache-2.0
"""What a pilot is worth where a sensitivity model foresees the rates: injections and steps to a margin.

Run as `python -m benchmarks.statistics.foreseen [--runs 1000] [--margin 0.1] [--inputs 64]` from the root of
the project.
The truth of each network and size is what was observed in each block and kind of storage; what is foreseen of
it is learnt from the other networks alone (`left_out` of the shipped model). Then come predictions that are
wrong on purpose. With `--inputs` the total is one of inputs like those that are drawn; "no room" plans it as
one of these inputs alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from resil.sensitivity.intervals import TOTAL
from resil.sensitivity.model import SHIPPED, HoldOutBlock, load_model
from resil.stats.costs import costs_of
from resil.stats.foreseen_plan import Foreseen
from resil.stats.plans import SamplingPlan, total_interval
from resil.stats.rates import HAZARDOUS
from resil.stats.technology import load_technology
from testkit.populations import Population, made

TECHNOLOGY = "finfet-16nm"
CYCLES = 100_000
MOST = 40_000
PILOT = 500


@dataclass(frozen=True, eq=False)
class ForeseenCase:
    """A network on a target: the truth, and what is foreseen of it."""

    population: Population
    foreseen: Foreseen


def cases() -> Iterator[ForeseenCase]:
    """Yield each network that was left out on each target that it was injected into."""
    model, technology = load_model(SHIPPED), load_technology(TECHNOLOGY)
    groups: dict[tuple[str, str], list[HoldOutBlock]] = {}
    for row in model.left_out:
        if row.block != TOTAL:
            groups.setdefault((row.network, row.accelerator), []).append(row)
    for (_, target), rows in sorted(groups.items()):
        bits = {
            (row.block, row.kind): sum(
                n
                for cell, n in model.accelerators[target].bits.items()
                if (cell.block, cell.kind) == (row.block, row.kind)
            )
            for row in rows
        }
        labels = [(row.block, row.kind) for row in rows]
        sizes = np.array([bits[label] * CYCLES for label in labels])
        rates = np.array([row.observed(HAZARDOUS) / row.trials for row in rows])
        fit = np.array([technology.fit_per_bit(row.kind) / CYCLES for row in rows])
        population = made(labels, sizes, rates, fit)
        expected = np.array([np.array(row.expected) / row.trials for row in rows])
        predicted = np.array([row.predicted(HAZARDOUS) / row.trials for row in rows])
        if population.truth > 0.0 and np.all(sizes > 0):
            yield ForeseenCase(population, Foreseen(predicted, costs_of(expected)))


def changed(case: ForeseenCase, how: str) -> Foreseen | None:
    """Return predictions that are wrong in one way; None: none at all, so that a pilot is made."""
    rates, costs = case.foreseen.rates, case.foreseen.costs
    match how:
        case "pilot":
            return None
        case "one rate":
            return Foreseen(np.full_like(rates, rates.mean()), np.ones_like(costs))
        case "reversed":
            return Foreseen(np.sort(rates)[::-1][np.argsort(np.argsort(rates))], costs)
        case "a fifth":
            return Foreseen(rates / 5.0, costs)
        case "five times":
            return Foreseen(np.minimum(5.0 * rates, 0.9), costs)
    return case.foreseen


def main() -> None:
    """Print a row for each kind of prediction."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000, help="of each kind, over all networks and targets")
    parser.add_argument("--margin", type=float, default=0.1)
    parser.add_argument("--inputs", type=int, default=0, help="the total is of inputs like so many")
    parser.add_argument("--variation", type=float, default=0.25, help="of inputs, over their mean")
    options = parser.parse_args()
    known = list(cases())
    print(f"{len(known)} networks on targets, margin {options.margin:.0%}")
    print("| foreseen | coverage | mean of estimate / truth | injections | steps | at the margin |")
    print("|---|---|---|---|---|---|")
    ways = ("pilot", "left out", *(("no room",) if options.inputs else ()))
    for how in (*ways, "one rate", "reversed", "a fifth", "five times"):
        inside, ratio, made_, steps, settled = 0, 0.0, 0, 0, 0
        for run in range(options.runs):
            case = known[run % len(known)]
            plan = SamplingPlan(
                "adaptive",
                MOST,
                margin=options.margin,
                relative=True,
                pilot=0 if changed(case, how) else PILOT,
            )
            guess, factors = changed(case, how), None
            if options.inputs:
                shape = 1.0 / options.variation**2
                factors = np.random.default_rng([7, run]).gamma(shape, 1.0 / shape, options.inputs)
                guess = guess and replace(guess, inputs=0 if how == "no room" else options.inputs)
            step, done = case.population.play(plan, run, guess, factors)
            assert step.design is not None
            found = total_interval(
                case.population.strata, step.design, done[step.counts_from :], step.confidence
            )
            truth = case.population.truth
            inside += found.lo <= truth <= found.hi
            ratio += found.estimate / truth / options.runs
            made_ += sum(int(batch.injections.sum()) for batch in done)
            steps += len(done)
            settled += step.reason == "margin"
        runs = options.runs
        print(
            f"| {how} | {100 * inside / runs:.1f} % | {ratio:.4f} | {made_ / runs:,.0f} | {steps / runs:.2f} "
            f"| {100 * settled / runs:.0f} % |",
            flush=True,
        )


if __name__ == "__main__":
    main()
