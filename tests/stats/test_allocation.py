# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from resil.stats.allocation import allocate_equal, allocate_neyman, allocate_proportional
from testkit.errors import about

SIZES = st.lists(st.integers(0, 10**13), min_size=1, max_size=12)


@given(SIZES, st.integers(0, 20_000), st.integers(0, 100))
def test_sums_exactly_within_bounds(sizes, total, minimum):
    assume(sum(min(minimum, s) for s in sizes) <= total <= sum(sizes))
    for allocate in (allocate_proportional, allocate_equal):
        found = allocate(total, sizes, minimum)
        assert sum(found) == total
        assert all(min(minimum, s) <= n <= s for n, s in zip(found, sizes, strict=True))


@given(SIZES, st.integers(0, 20_000))
def test_proportional_is_off_by_less_than_one(sizes, total):
    assume(total <= sum(sizes))
    found = allocate_proportional(total, sizes)
    for n, s in zip(found, sizes, strict=True):
        assert abs(n - total * s / max(sum(sizes), 1)) < 1 + 1e-6


@given(SIZES, st.integers(0, 20_000))
def test_equal_differs_by_one_unless_a_stratum_is_full(sizes, total):
    assume(total <= sum(sizes))
    found = allocate_equal(total, sizes)
    open_ended = [n for n, s in zip(found, sizes, strict=True) if n < s]
    assert not open_ended or max(open_ended) - min(open_ended) <= 1
    assert not open_ended or max(found) <= max(open_ended) + 1


def test_ties_go_to_the_earlier_stratum():
    assert allocate_equal(5, [100, 100, 100]) == (2, 2, 1)


def test_minimum_takes_from_the_rest_in_proportion():
    assert allocate_proportional(1200, [9_000, 2_900, 100], minimum=60) == (862, 278, 60)


def test_neyman_follows_weight_deviation_and_cost():
    sizes, trials = [10**9] * 2, [1000, 1000]
    by_weight = allocate_neyman(1000, [1.0, 3.0], [500, 500], trials, sizes)
    assert by_weight == (250, 750)
    by_rate = allocate_neyman(1000, [1.0, 1.0], [10, 500], trials, sizes)
    p = 10.5 / 1001
    assert by_rate[0] / by_rate[1] == pytest.approx(np.sqrt(p * (1 - p)) / 0.5, rel=0.01)
    by_cost = allocate_neyman(900, [1.0, 1.0], [500, 500], trials, sizes, costs=[1.0, 4.0])
    assert by_cost == (600, 300)


def test_neyman_leaves_doubt_where_the_pilot_saw_nothing():
    found = allocate_neyman(1000, [1.0, 1.0, 0.0], [0, 50, 5], [100, 100, 10], [10**9] * 3, minimum=5)
    assert found[0] > 80
    assert found[2] == 5


def test_neyman_beats_proportional_where_rates_differ():
    w, p, sizes = np.array([1.0, 1.0, 8.0]), np.array([0.3, 0.01, 0.001]), [10**9, 10**9, 8 * 10**9]
    pilot = np.round(p * 1000)

    def variance(n):
        return float((w**2 * p * (1 - p) / np.array(n)).sum())

    clever = allocate_neyman(3000, w, pilot, [1000] * 3, sizes)
    assert variance(clever) < 0.5 * variance(allocate_proportional(3000, sizes))


@given(
    st.lists(
        st.tuples(st.floats(0, 1e6), st.integers(0, 50), st.integers(0, 50), st.floats(0.01, 1e4)),
        min_size=1,
        max_size=8,
    ),
    st.integers(0, 3000),
)
def test_neyman_sums_exactly(strata, total):
    weights, events, others, costs = zip(*strata, strict=True)
    assume(any(w > 0 for w in weights) or total == 0)
    trials = [a + b for a, b in zip(events, others, strict=True)]
    found = allocate_neyman(total, weights, events, trials, [10**7] * len(strata), costs)
    assert sum(found) == total
    assert all(n == 0 for n, w in zip(found, weights, strict=True) if w == 0)


def test_the_least_weight_there_is_still_takes_injections():
    assert allocate_neyman(1, [5e-324], [0], [0], [10], [1.0]) == (1,)


def test_too_little_for_the_minima_says_how_much_is_needed():
    with pytest.raises(ValueError, check=about("minimum")):
        allocate_proportional(100, [1000, 1000, 10], minimum=60)


def test_more_than_there_is_is_refused():
    with pytest.raises(ValueError, check=about("injections")):
        allocate_equal(31, [10, 20])


@pytest.mark.parametrize(
    "change", [{"costs": [0.0, 1.0]}, {"pilot_events": [5, 2]}, {"weights": [-1.0, 1.0]}, {"weights": [1.0]}]
)
def test_impossible_pilots_are_refused(change):
    good = {"weights": [1.0, 1.0], "pilot_events": [1, 2], "pilot_trials": [3, 4], "sizes": [100, 100]}
    with pytest.raises(ValueError, match=r"Neyman|shape"):
        allocate_neyman(10, **{**good, **change})


def test_impossible_sizes_are_refused():
    with pytest.raises(ValueError, check=about("sizes")):
        allocate_proportional(10, [5, -1])
