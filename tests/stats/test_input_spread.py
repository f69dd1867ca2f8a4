# SPDX-License-Identifier: Apache-2.0
"""Bounds for most inputs, the worst of them, and how many to run: against known populations."""

from __future__ import annotations

import numpy as np
import pytest

from resil.stats.clusters import weighted_sum_over_inputs
from resil.stats.input_spread import (
    InputSpread,
    each_input,
    fewest_inputs,
    spread_of,
    tolerance_bound,
    worst,
)
from resil.stats.two_stage import FEWEST, plan_inputs
from resil.stats.weighted import weighted_sum
from testkit.errors import about

WEIGHTS = np.array([3.0, 1.0])
RATES = np.array([0.01, 0.04])
TRUTH = float((WEIGHTS * RATES).sum())


def counts(rng, inputs, injections, variation):
    """Return counts of inputs whose rates share a gamma factor of that coefficient of variation."""
    shape = 1.0 / variation**2 if variation else 1.0
    factors = rng.gamma(shape, 1.0 / shape, inputs) if variation else np.ones(inputs)
    n = np.full((inputs, 2), injections // (2 * inputs))
    return rng.binomial(n, np.clip(factors[:, None] * RATES, 0.0, 1.0)), n


def test_intervals_over_inputs_hold_and_need_the_variance_between_them():
    """Without the variance between inputs most intervals miss: what would be dropped is what is tested."""
    inside = np.zeros(2)
    for seed in range(200):
        x, n = counts(np.random.default_rng([5, seed]), 16, 20_000, 0.4)
        found = (
            weighted_sum_over_inputs(x, n, WEIGHTS).interval,
            weighted_sum(x.sum(axis=0), n.sum(axis=0), WEIGHTS),
        )
        inside += [i.lo <= TRUTH <= i.hi for i in found]
    assert inside[0] >= 180
    assert inside[1] < 150


@pytest.mark.parametrize("variation", [0.1, 0.4, 1.0])
def test_bound_for_most_inputs_holds(variation):
    shape = 1.0 / variation**2
    quantile = TRUTH * np.quantile(np.random.default_rng(1).gamma(shape, 1.0 / shape, 400_000), 0.95)
    held = 0
    for seed in range(20):
        bound = tolerance_bound(*counts(np.random.default_rng([6, seed]), 64, 20_000, variation), WEIGHTS)
        held += bound.bound >= quantile
    assert held >= 18


def test_no_bound_where_too_few_inputs_ran():
    x, n = np.zeros((58, 1)), np.full((58, 1), 100)
    assert fewest_inputs() == 59
    assert fewest_inputs(0.9, 0.9) == 22
    assert tolerance_bound(x, n, [1.0]) is None
    assert tolerance_bound(np.zeros((59, 1)), np.full((59, 1), 100), [1.0]).rank == 1


def test_more_inputs_allow_a_lower_rank():
    rng = np.random.default_rng(3)
    x, n = rng.binomial(500, 0.02, (200, 1)), np.full((200, 1), 500)
    assert tolerance_bound(x, n, [1.0]).rank > 2


def test_limits_of_the_worst_input_allow_for_the_choice():
    missed = {"each": 0, "alone": 0}
    for seed in range(200):
        rng = np.random.default_rng([7, seed])
        x, n = rng.binomial(300, 0.05, (32, 1)), np.full((32, 1), 300)
        found = each_input(x, n, [1.0])
        place = worst(found, 1)[0]
        missed["each"] += found[place].lo > 0.05
        missed["alone"] += weighted_sum(x[place], n[place], [1.0]).lo > 0.05
    assert missed["each"] <= 5
    assert missed["alone"] > 20


def test_spread_is_that_of_inputs_without_the_noise():
    found = [
        spread_of(*counts(np.random.default_rng([8, s]), 64, 20_000, 0.4), WEIGHTS).variation
        for s in range(20)
    ]
    assert np.mean(found) == pytest.approx(0.4, abs=0.06)
    alike = [
        spread_of(*counts(np.random.default_rng([9, s]), 64, 20_000, 0.0), WEIGHTS).variation
        for s in range(20)
    ]
    assert np.mean(alike) < 0.12


def test_plan_is_where_the_cost_of_a_variance_is_least():
    """Of all ways to spend the same, none gives a smaller variance."""
    spread, golden, each = InputSpread(0.01, 0.004**2, 0.0099, 8), 50.0, 1.0
    plan = plan_inputs(spread, 20_000, golden, each, 10_000)
    budget = golden * plan.inputs + each * 20_000

    def variance(inputs):
        return spread.between / inputs + spread.within / ((budget - golden * inputs) / each)

    assert all(variance(plan.inputs) <= variance(n) * 1.001 for n in range(2, 400))


def test_plan_keeps_within_what_there_is():
    alike = InputSpread(0.01, 0.0, 0.0099, 8)
    assert plan_inputs(alike, 20_000, 50.0, 1.0, 500).inputs == FEWEST
    differ = InputSpread(0.01, 1.0, 0.0099, 8)
    assert plan_inputs(differ, 20_000, 50.0, 1.0, 500).inputs == 500
    with pytest.raises(ValueError, check=about("plan")):
        plan_inputs(alike, 0, 50.0, 1.0, 500)
