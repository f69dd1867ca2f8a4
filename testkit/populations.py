# SPDX-License-Identifier: Apache-2.0
"""Populations whose truth is known, and campaigns played on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.stats.foreseen_plan import Foreseen, foreseen_step
from resil.stats.plans import Batch, PlanStep, SamplingPlan, next_step
from resil.stats.strata import Strata

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

BLOCKS = ("cc", "dma", "wd", "mac", "ao", "sb", "cpm")


@dataclass(frozen=True, eq=False)
class Population:
    """Strata and how many of each stratum's faults are bad.

    Attributes:
        strata: The strata.
        bad: Bad faults of each, shape (strata,).
    """

    strata: Strata
    bad: IntArray

    @property
    def truth(self) -> float:
        """The sum that campaigns estimate."""
        return float((self.strata.weights * (self.bad / self.strata.sizes)).sum())

    @property
    def rate(self) -> float:
        """Truth over the sum of all weights."""
        return self.truth / float(self.strata.weights.sum())

    def play(
        self,
        plan: SamplingPlan,
        seed: int,
        foreseen: Foreseen | None = None,
        factors: FloatArray | None = None,
    ) -> tuple[PlanStep, list[Batch]]:
        """Play a plan to its end, drawing without replacement; without a pilot if something is foreseen.

        With `factors`, shape (inputs,), faults are spread evenly over inputs, whose rates are so many times
        the population's; draws are with replacement.
        """

        def following(done: Sequence[Batch]) -> PlanStep:
            if foreseen is None:
                return next_step(self.strata, plan, seed, done)
            return foreseen_step(self.strata, foreseen, plan, seed, done)

        rng = np.random.default_rng([11, seed])
        done: list[Batch] = []
        good, bad = self.strata.sizes - self.bad, self.bad.copy()
        while (step := following(done)).stage != "done":
            n = step.injections
            if factors is not None:
                done.append(_over_inputs(rng, self.bad / self.strata.sizes, n, factors))
                continue
            events = without_replacement(rng, bad, good, n)
            bad, good = bad - events, good - (n - events)
            done.append(Batch.of(n, events))
        return step, done


def _over_inputs(rng: np.random.Generator, rates: FloatArray, n: IntArray, factors: FloatArray) -> Batch:
    each = np.array([rng.multinomial(count, np.full(len(factors), 1.0 / len(factors))) for count in n]).T
    events = rng.binomial(each, np.minimum(rates * factors[:, None], 1.0))
    inputs = {label: (each[label], events[label]) for label in range(len(factors))}
    return Batch.of(n, events.sum(axis=0), inputs=inputs)


def without_replacement(rng: np.random.Generator, bad: IntArray, good: IntArray, n: IntArray) -> IntArray:
    """Return bad ones among n draws from each stratum; NumPy's hypergeometric stops at 1e9 members."""
    total = bad + good
    large = total >= 10**9
    events = np.zeros(n.shape, dtype=np.int64)
    drawn = n > 0
    some = drawn & ~large
    events[some] = rng.hypergeometric(bad[some], good[some], n[some])
    some = drawn & large
    events[some] = rng.binomial(n[some], bad[some] / total[some])
    return events


def made(
    labels: Sequence[tuple[str, ...]],
    sizes: npt.ArrayLike,
    rates: npt.ArrayLike,
    fit_per_fault: npt.ArrayLike = 1e-9,
) -> Population:
    """Return a population, rates rounded to whole numbers of bad faults."""
    members = np.asarray(sizes, dtype=np.int64)
    weights = members * np.broadcast_to(np.asarray(fit_per_fault, dtype=float), members.shape)
    bad = np.round(np.asarray(rates) * members).astype(np.int64)
    return Population(Strata.of(labels, weights, members), np.clip(bad, 0, members))


def _grid(operations: int) -> list[tuple[str, ...]]:
    return [(b, "ff", c, f"op {o}") for b in BLOCKS for c in ("control", "data") for o in range(operations)]


def synthetic(operations: int = 20) -> dict[str, Population]:
    """Return the populations of the coverage tables, most of them made to break intervals."""
    rng = np.random.default_rng(5)
    labels = _grid(operations)
    operation = np.array([int(label[3][3:]) for label in labels])
    control = np.array([label[2] == "control" for label in labels])
    sizes = np.where(control, 10**7, 10**8) * rng.integers(1, 9, len(labels))
    even = np.ones(len(labels))
    registers: list[tuple[str, ...]] = [(BLOCKS[r % 7], "ff", f"r{r}") for r in range(10_000)]
    one = np.zeros(10_000)
    one[4321] = 1.0
    heavy = np.minimum(10**6 * (1.0 - rng.random(len(labels))) ** (-1 / 1.1), 10**12).astype(np.int64)
    return {
        "all zero": made(labels, sizes, 0 * even),
        "all one": made(labels, sizes, even),
        "0.001 everywhere": made(labels, sizes, 1e-3 * even),
        "0.05 everywhere": made(labels, sizes, 0.05 * even),
        "one bad register of 10,000": made(registers, [10**6] * 10_000, one),
        "rates that vary with the cycle": made(
            labels, sizes, 0.02 * (1 + np.sin(2 * np.pi * operation / operations)) ** 3
        ),
        "all in one cycle range": made(labels, sizes, np.where(operation == 3, 1.0, 0.0)),
        "heavy-tailed weights": made(labels, heavy, np.where(rng.random(len(labels)) < 0.1, 0.5, 0.001)),
        "control registers": made(
            labels,
            sizes,
            np.where(control, rng.uniform(0.1, 0.6, len(labels)), 0.01 * rng.random(len(labels))),
        ),
    }
