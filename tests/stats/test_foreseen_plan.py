# SPDX-License-Identifier: Apache-2.0
"""Plans that go by rates foreseen: every injection counts, and wrong predictions do no harm but cost."""

from __future__ import annotations

from dataclasses import replace

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


def test_a_total_over_inputs_leaves_room_for_how_they_differ() -> None:
    """Without it most campaigns walked through all golden runs twice: the first look fell short."""
    case, asked = population(), plan(200_000, margin=0.15)
    firsts = [
        int(foreseen_step(case.strata, replace(foreseen(), inputs=inputs), asked, 1, []).injections.sum())
        for inputs in (0, 1, 256, 64, 32)
    ]
    assert firsts[0] == firsts[1] < firsts[2] < firsts[3] < firsts[4]
    steps, inside = {0: 0, 64: 0}, 0
    for seed in range(30):
        factors = np.random.default_rng(seed).gamma(25.0, 1.0 / 25.0, 64)
        for inputs in steps:
            found, done = case.play(asked, seed, replace(foreseen(), inputs=inputs), factors)
            steps[inputs] += len(done)
        assert found.total is not None
        inside += found.total.lo <= case.truth <= found.total.hi
    assert steps[64] <= 38 < 45 <= steps[0]
    assert inside >= 27


def test_an_absolute_margin_leaves_the_same_room() -> None:
    case = population()
    asked = plan(margin=0.15)
    absolute = replace(asked, margin=0.15 * case.truth, relative=False)
    given = replace(foreseen(), inputs=64)
    one, other = (foreseen_step(case.strata, given, own, 1, []).injections.sum() for own in (asked, absolute))
    assert one == pytest.approx(other, rel=0.06)
