# SPDX-License-Identifier: Apache-2.0
"""Populations made to break the interval of the plan "predicted", and campaigns played on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.stats.guided_plan import guided_step
from resil.stats.plans import Batch, PlanStep, SamplingPlan
from resil.stats.strata import Strata

IntArray = npt.NDArray[np.int64]
Levels = tuple[float, ...]

SIX = ((0.6, 0.2, 0.1, 0.05, 0.03, 0.02), (0.002, 0.01, 0.05, 0.2, 0.5, 0.9))


@dataclass(frozen=True)
class Made:
    """Levels of risk.

    Attributes:
        weights: Of the levels; their sum is 1.
        rates: True ones.
        risks: Predicted for them.
        plan: What is asked.
    """

    weights: tuple[float, ...]
    rates: tuple[float, ...]
    risks: tuple[float, ...]
    plan: SamplingPlan

    @property
    def truth(self) -> float:
        """The sum that campaigns estimate."""
        return float(np.dot(self.weights, self.rates))

    def play(self, seed: int) -> tuple[PlanStep, IntArray, IntArray]:
        """Return the last step, and events and injections of every level."""
        labels = [("", "ff", str(level)) for level in range(len(self.weights))]
        strata = Strata.of(labels, self.weights, [10**12] * len(labels))
        generator = np.random.default_rng(seed)
        done: list[Batch] = []
        while (step := guided_step(strata, self.risks, self.plan, seed, done)).stage != "done":
            done.append(Batch.of(step.injections, generator.binomial(step.injections, self.rates)))
        events, trials = (
            np.sum([getattr(b, name) for b in done], axis=0) for name in ("events", "injections")
        )
        return step, events, trials


def _fixed(weights: Levels, rates: Levels, risks: Levels, injections: int) -> Made:
    return Made(weights, rates, risks, SamplingPlan("guided", injections))


TWO, THREE, HEAVY = (0.76, 0.24), (0.7, 0.2, 0.1), (0.8, 0.15, 0.05)
_MARGIN = SamplingPlan("guided", 5000, margin=0.3, relative=True)
POPULATIONS = {
    "rare event in a heavy level, n = 1,000": _fixed(TWO, (0.003, 1.0), (0.003, 0.99), 1000),
    "the same, rate 0.01": _fixed(TWO, (0.01, 1.0), (0.003, 0.99), 1000),
    "the same, rate 0.005, the other 0.9": _fixed(TWO, (0.005, 0.9), (0.003, 0.9), 1000),
    "the same, rate 0.0005, the other 0.9": _fixed(TWO, (0.0005, 0.9), (0.003, 0.9), 1000),
    "the same, n = 300": _fixed(TWO, (0.01, 1.0), (0.003, 0.99), 300),
    "three levels, wrong model, n = 100": _fixed(THREE, (0.06, 0.02, 0.9), (0.0003, 0.05, 0.9), 100),
    "three levels, rare event, n = 100": _fixed(THREE, (0.03, 0.0, 1.0), (0.003, 0.003, 0.99), 100),
    "80 % predicted 0.03 %, truly 1.5 %": _fixed(HEAVY, (0.015, 0.05, 0.7), (0.0003, 0.05, 0.7), 300),
    "the same, n = 1,000": _fixed(HEAVY, (0.015, 0.05, 0.7), (0.0003, 0.05, 0.7), 1000),
    "six levels, sound predictions": _fixed(*SIX, SIX[1], 300),
    "six levels, the heavy one hidden": _fixed(SIX[0], (0.02, *SIX[1][1:]), (0.0003, *SIX[1][1:]), 300),
    "six levels, the heavy one harmless": _fixed(SIX[0], (0.0, *SIX[1][1:]), SIX[1], 300),
    "two levels with equal steps": _fixed((0.4, 0.4, 0.2), (0.004, 0.004, 1.0), (0.004, 0.004, 0.98), 1000),
    "rare event, until a margin": Made(TWO, (0.003, 0.5), (0.003, 0.5), _MARGIN),
    "heavy level hidden, until a margin": Made(HEAVY, (0.015, 0.05, 0.7), (0.0003, 0.05, 0.7), _MARGIN),
    "six levels, until a margin": Made(*SIX, SIX[1], _MARGIN),
    "rare event, until a verdict": Made(
        TWO, (0.003, 0.5), (0.003, 0.5), SamplingPlan("guided", 3000, budget=0.14)
    ),
    "heavy level hidden, until a verdict": Made(
        HEAVY, (0.015, 0.05, 0.7), (0.0003, 0.05, 0.7), SamplingPlan("guided", 3000, budget=0.07)
    ),
}  # fmt: skip
