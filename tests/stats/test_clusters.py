# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from resil.stats.clusters import checked_inputs, clustered_mean, weighted_sum_over_inputs
from resil.stats.weighted import weighted_sum
from testkit.errors import about

WEIGHTS, RATES = np.array([3.0, 1.0, 0.5]), np.array([0.05, 0.02, 0.3])


def coverage(inputs, each, spread, runs, seed):
    """Share of intervals over inputs, and of pooled ones, that cover the mean over all possible inputs."""
    rng, truth = np.random.default_rng(seed), float((WEIGHTS * RATES).sum())
    inside = np.zeros(2)
    for _ in range(runs):
        factor = rng.gamma(1 / spread**2, spread**2, inputs) if spread else np.ones(inputs)
        n = np.full((inputs, 3), each)
        x = rng.binomial(n, np.minimum(factor[:, None] * RATES, 1.0))
        found = weighted_sum_over_inputs(x, n, WEIGHTS).interval
        pooled = weighted_sum(x.sum(axis=0), n.sum(axis=0), WEIGHTS)
        inside += [i.lo <= truth <= i.hi for i in (found, pooled)]
    return inside / runs


@pytest.mark.parametrize("inputs", [2, 5, 20])
def test_it_covers_where_the_pooled_interval_does_not(inputs):
    found, pooled = coverage(inputs, 200, 0.5, 120, inputs)
    assert found >= 0.93
    assert pooled < 0.75


def test_inputs_that_do_not_differ_cost_little():
    rng = np.random.default_rng(1)
    n = np.full((40, 3), 50)
    x = rng.binomial(n, RATES)
    found = weighted_sum_over_inputs(x, n, WEIGHTS)
    pooled = weighted_sum(x.sum(axis=0), n.sum(axis=0), WEIGHTS)
    assert found.design_effect < 1.6
    assert pooled.width <= found.interval.width < 1.35 * pooled.width


def test_one_input_speaks_of_itself_only():
    found = weighted_sum_over_inputs([[3, 0, 1]], [[50, 50, 50]], WEIGHTS)
    assert found.conditional
    assert found.interval == weighted_sum([3, 0, 1], [50, 50, 50], WEIGHTS)


def test_no_event_leaves_the_doubt_of_few_inputs():
    n = np.full((2, 3), 500)
    found = weighted_sum_over_inputs(np.zeros((2, 3)), n, WEIGHTS)
    assert not found.conditional
    assert found.design_effect == 1.0
    assert found.interval.lo == 0.0
    assert found.interval.hi > 20 * weighted_sum([0] * 3, [1000] * 3, WEIGHTS).hi


def test_a_group_without_injections_counts_with_its_weight():
    found = weighted_sum_over_inputs([[1, 0], [2, 0], [1, 0]], [[90, 0], [90, 0], [90, 0]], [1.0, 5.0])
    assert found.interval.hi > 5.0


@pytest.mark.parametrize(
    ("events", "trials", "field"),
    [([1, 2], [3, 4], "shape"), ([[5, 0]], [[4, 1]], "counts")],
)
def test_wrong_counts_are_refused(events, trials, field):
    with pytest.raises(ValueError, check=about(field)):
        weighted_sum_over_inputs(events, trials, [1.0, 1.0])


@pytest.mark.parametrize(
    ("events", "trials", "weights"),
    [
        ([[1, 0]], [[4, 1]], [1.0]),
        ([[1, 0], [0, 0]], [[4, 1], [4, 1]], [1.0, 1.0, 1.0]),
        (np.zeros((0, 2)), np.zeros((0, 2)), [1.0, 1.0]),
        ([1, 0], [4, 1], [[1.0, 1.0]]),
    ],
    ids=["one weight of two", "three weights of two", "no input", "no axis of inputs"],
)
def test_shapes_that_do_not_fit_are_refused(events, trials, weights):
    with pytest.raises(ValueError, check=about("shape")):
        checked_inputs(events, trials, weights)


def test_clustered_mean_covers_and_the_naive_one_does_not():
    rng, inside, naive = np.random.default_rng(4), 0, 0
    clusters = np.repeat(np.arange(8), 30)
    for _ in range(400):
        values = 2.0 + rng.normal(0, 1, 8)[clusters] + rng.normal(0, 1, 240)
        found = clustered_mean(values, clusters)
        inside += found.lo <= 2.0 <= found.hi
        naive += abs(values.mean() - 2.0) <= 1.96 * values.std() / 240**0.5
    assert 0.93 <= inside / 400 <= 0.98
    assert naive / 400 < 0.6


def test_clusters_are_needed():
    with pytest.raises(ValueError, check=about("clusters")):
        clustered_mean([1.0, 2.0], ["a", "a"])
    with pytest.raises(ValueError, check=about("shape")):
        clustered_mean([1.0, 2.0], ["a", "b"], weights=[1.0, -1.0])
