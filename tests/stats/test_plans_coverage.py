# SPDX-License-Identifier: Apache-2.0
"""The plans on populations with known truth; `coverage_plans` of the benchmarks does it at length."""

import time
import tracemalloc

import numpy as np
import pytest

from resil.stats.plans import Batch, SamplingPlan, next_step
from resil.stats.strata import Strata
from testkit.populations import synthetic

POPULATIONS = synthetic()


def covered(population, plan, runs):
    found = [population.play(plan, seed)[0].total for seed in range(runs)]
    slack = 1e-9 * float(population.strata.weights.sum())
    return np.mean([i.lo - slack <= population.truth <= i.hi + slack for i in found])


@pytest.mark.parametrize("kind", ["uniform", "stratified"])
@pytest.mark.parametrize("size", [20, 150])
@pytest.mark.parametrize("name", [n for n in POPULATIONS if "10,000" not in n])
def test_intervals_cover_at_small_sizes(name, kind, size):
    assert covered(POPULATIONS[name], SamplingPlan(kind, size), 30) >= 0.86


@pytest.mark.parametrize("name", ["all zero", "all one", "0.001 everywhere", "control registers"])
def test_intervals_cover_after_a_pilot(name):
    assert covered(POPULATIONS[name], SamplingPlan("adaptive", 1000), 12) >= 0.8


def test_one_bad_register_of_many_is_not_ruled_out():
    population = POPULATIONS["one bad register of 10,000"]
    for kind in ("uniform", "stratified"):
        assert covered(population, SamplingPlan(kind, 100), 5) == 1.0


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_the_verdict_of_an_adaptive_campaign_is_seldom_wrong(factor):
    population = POPULATIONS["0.05 everywhere"]
    budget = population.truth / factor
    wrong = 0
    for seed in range(15):
        total = population.play(SamplingPlan("adaptive", 1500, budget=budget), seed)[0].total
        wrong += total.hi <= budget if factor > 1 else total.lo > budget
    assert wrong <= 2


def test_a_million_million_faults_in_hundreds_of_strata():
    labels = [(f"b{b}", "ff", f"c{c}", f"op {o}") for b in range(7) for c in range(8) for o in range(30)]
    rng = np.random.default_rng(1)
    sizes = rng.integers(10**11, 2**58, len(labels))
    sizes[0] = 2**62
    strata = Strata.of(labels, sizes * 1e-18, sizes)
    rates = rng.choice([0.0, 0.001, 0.3], len(labels))
    tracemalloc.start()
    began, done = time.process_time(), []
    while (
        step := next_step(strata, SamplingPlan("adaptive", 200_000, margin=0.03, relative=True), 1, done)
    ).stage != "done":
        done.append(Batch.of(step.injections, rng.binomial(step.injections, rates)))
    seconds, peak = time.process_time() - began, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert step.total.lo <= float((strata.weights * rates).sum()) <= step.total.hi
    assert peak < 2**30
    assert seconds < 10
