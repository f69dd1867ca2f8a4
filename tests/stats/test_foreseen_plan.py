# SPDX-License-Identifier: Apache-2.0
"""Plans that go by rates foreseen: every injection counts, and wrong predictions do no harm but cost."""

from __future__ import annotations

import numpy as np
import pytest

from resil.stats.costs import costs_of
from resil.stats.foreseen_plan import Foreseen, foreseen_step
from resil.stats.plans import Batch, PlanStep, SamplingPlan, total_interval
from testkit.populations import BLOCKS, Population, made

RATES = np.array([0.04, 0.006, 0.002, 0.0005, 0.01, 0.0002, 0.003])


def population() -> Population:
    """Blocks of the NPU's kind: most storage seldom matters."""
    sizes = np.array([2, 3, 3, 20, 5, 60, 2]) * 10**8
    return made([(block, "ff") for block in BLOCKS], sizes, RATES)


def plan(most: int = 40_000, margin: float = 0.2) -> SamplingPlan:
    return SamplingPlan("adaptive", most, margin=margin, relative=True, pilot=500)


def foreseen(factor: float | np.ndarray = 1.0) -> Foreseen:
    return Foreseen(np.minimum(RATES * factor, 0.9), np.ones(len(RATES)))


def test_every_injection_counts_and_the_first_look_is_at_the_margin() -> None:
    step, done = population().play(plan(), 1, foreseen())
    assert step.reason == "margin"
    assert step.counts_from == 0
    assert len(done) == 1
    assert np.all(done[0].injections >= 300)  # in each block
    _, with_pilot = population().play(plan(), 1)
    assert len(with_pilot) >= 3


def test_the_design_and_the_first_batch_know_nothing_of_results() -> None:
    first = foreseen_step(population().strata, foreseen(), plan(), 1, [])
    batches = [Batch.of(first.injections, first.injections // part) for part in (20, 400)]
    designs = [foreseen_step(population().strata, foreseen(), plan(), 1, [batch]).design for batch in batches]
    kept = [design for design in designs if design is not None and first.design is not None]
    assert len(kept) == 2
    assert np.array_equal(kept[0].shares, first.design.shares)  # type: ignore[union-attr]


def test_predictions_that_mislead_make_a_pilot_of_the_first_batch() -> None:
    """Kept, it would go on with a design that takes many times as many injections."""
    wrong = Foreseen(RATES[::-1].copy(), np.ones(len(RATES)))
    step, done = population().play(plan(200_000), 1, wrong)
    assert step.counts_from == 1
    assert step.reason == "margin"
    assert len(done) >= 2


@pytest.mark.parametrize("factor", [1.0, 0.3, 3.0])
def test_intervals_hold_and_estimates_are_not_biased_whatever_was_foreseen(factor: float) -> None:
    case, runs = population(), 120
    inside, estimates = 0, []
    for seed in range(runs):
        step, done = case.play(plan(20_000), seed, foreseen(factor))
        assert step.design is not None
        found = total_interval(case.strata, step.design, done[step.counts_from :], step.confidence)
        inside += found.lo <= case.truth <= found.hi
        estimates.append(found.estimate / case.truth)
    assert inside >= 0.9 * runs  # 95 % but for chance
    assert abs(np.mean(estimates) - 1.0) < 4.0 * np.std(estimates) / runs**0.5


def test_few_injections_are_stratified_as_without_predictions() -> None:
    step = foreseen_step(population().strata, foreseen(), plan(800), 1, [])
    assert step.stage == "main"
    assert step.injections.sum() == 800


def test_a_budget_is_looked_at_at_doublings() -> None:
    asked = SamplingPlan("adaptive", 16_000, budget=0.5, pilot=500)
    steps: list[PlanStep] = [foreseen_step(population().strata, foreseen(), asked, 1, [])]
    assert steps[0].injections.sum() == 1000


def test_costs_go_by_outcomes() -> None:
    masked, critical = costs_of([[1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]])
    assert masked == 1.0
    assert critical > 10.0
