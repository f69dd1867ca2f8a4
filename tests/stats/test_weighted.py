# SPDX-License-Identifier: Apache-2.0
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import NonlinearConstraint, minimize
from scipy.stats import binom

from resil.stats.intervals import clopper_pearson
from resil.stats.weighted import weighted_sum
from resil.stats.zero_events import ZeroEvents
from testkit.errors import about
from tests.stats.coverage import (
    REALISTIC,
    Enumeration,
    both_of,
    fay_feuer,
    normal,
    ours,
    simulate,
    sum_of_limits,
)


@st.composite
def designs(draw, smallest=1, largest=400, most=6):
    count = draw(st.integers(1, most))
    n = draw(st.lists(st.integers(smallest, largest), min_size=count, max_size=count))
    x = [draw(st.integers(0, k)) for k in n]
    w = draw(st.lists(st.floats(1e-3, 1e3), min_size=count, max_size=count))
    return x, n, w


SMALL_DESIGNS = [
    ((10,), (1,), 0.025),
    ((20, 20), (1, 1), 0.025),
    ((20, 20), (1, 10), 0.05),
    ((1, 20), (1, 1), 0.025),
    ((30, 5), (100, 1), 0.025),
    ((5, 30), (10, 1), 0.05),
    ((45, 2), (1.7, 0.3), 0.005),
    ((4, 14), (0.94, 0.47), 0.005),
    ((6, 6, 6), (1, 3, 9), 0.025),
    ((2,) * 5, (1, 2, 3, 4, 5), 0.05),
    ((1,) * 8, (1,) * 8, 0.025),
]


@pytest.mark.parametrize(("n", "w", "alpha"), SMALL_DESIGNS)
def test_exact_coverage_of_every_small_design(n, w, alpha):
    missed, where = Enumeration.of(n, w, alpha).worst(np.random.default_rng(1), rays=60)
    assert missed <= alpha * (1 + 1e-6), where


def test_the_normal_limit_fails_the_same_check():
    missed, _ = Enumeration.of((20, 20), (1, 10), 0.05, normal).worst(np.random.default_rng(1), rays=20)
    assert missed > 0.3


@pytest.mark.parametrize("name", REALISTIC)
def test_simulated_coverage_of_both_limits(name):
    runs = 600
    inside, _ = simulate(*REALISTIC[name], both_of(ours), np.random.default_rng(7), runs)
    assert inside >= 0.95 - 2.6 * np.sqrt(0.95 * 0.05 / runs)


def test_it_is_narrower_than_what_else_is_valid():
    def width(name, upper):
        return simulate(*REALISTIC[name], both_of(upper), np.random.default_rng(3), 200)[1]

    assert width("rare", ours) < 0.5 * width("rare", sum_of_limits)
    assert width("rare", ours) < 1.05 * width("rare", fay_feuer)
    assert width("half", ours) < 0.75 * width("half", fay_feuer)


def test_without_replacement_coverage_is_no_worse():
    rng, sizes, bad = np.random.default_rng(11), np.array([40, 90]), np.array([4, 30])
    n, w = np.array([20, 30]), np.array([3.0, 1.0])
    truth = float((w * bad / sizes).sum())
    draws = rng.hypergeometric(bad, sizes - bad, n, (800, 2))
    found = [weighted_sum(x, n, w, sizes=sizes) for x in draws]
    assert np.mean([i.lo <= truth <= i.hi for i in found]) >= 0.95


@given(designs(most=1))
def test_one_stratum_is_clopper_pearson(design):
    (x,), (n,), (w,) = design
    found, exact = weighted_sum([x], [n], [w]), clopper_pearson(x, n).scaled(w)
    assert found.as_list() == pytest.approx(exact.as_list(), rel=1e-9, abs=1e-12 * w)


@given(designs(), st.floats(1e-12, 1e12))
def test_units_do_not_matter(design, factor):
    x, n, w = design
    one, other = weighted_sum(x, n, w), weighted_sum(x, n, np.array(w) * factor)
    assert other.as_list() == pytest.approx(
        (np.array(one.as_list()) * factor).tolist(), rel=1e-6, abs=0.0
    ) or (np.allclose(np.array(other.as_list()) / factor, one.as_list(), atol=1e-12 * sum(w)))


@given(designs(), st.randoms())
def test_the_order_of_strata_does_not_matter(design, random):
    x, n, w = design
    order = list(range(len(x)))
    random.shuffle(order)
    other = weighted_sum([x[i] for i in order], [n[i] for i in order], [w[i] for i in order])
    assert other.as_list() == pytest.approx(weighted_sum(x, n, w).as_list(), rel=1e-7, abs=1e-12 * sum(w))


@given(designs())
def test_complements_mirror(design):
    x, n, w = (np.array(v) for v in design)
    one, other = weighted_sum(x, n, w), weighted_sum(n - x, n, w)
    assert one.lo == pytest.approx(w.sum() - other.hi, abs=1e-9 * w.sum())
    assert one.hi == pytest.approx(w.sum() - other.lo, abs=1e-9 * w.sum())


@given(designs())
def test_more_confidence_is_wider(design):
    found = [weighted_sum(*design, c) for c in (0.5, 0.9, 0.95, 0.999)]
    for narrow, wide in pairwise(found):
        assert wide.hi >= narrow.hi * (1 - 1e-9)
        assert wide.lo <= narrow.lo * (1 + 1e-9) + 1e-12


@given(designs(), st.floats(1e-3, 1e3))
def test_an_unsampled_stratum_may_be_all_or_nothing(design, weight):
    x, n, w = design
    known, widened = weighted_sum(x, n, w), weighted_sum([*x, 0], [*n, 0], [*w, weight])
    assert widened.hi == pytest.approx(known.hi + weight)
    assert widened.lo == pytest.approx(known.lo)
    assert widened.estimate == pytest.approx(known.estimate * (1 + weight / sum(w)))


def test_nothing_sampled_at_all():
    assert weighted_sum([0, 0], [0, 0], [1.0, 2.0]).as_list() == [1.5, 0.0, 3.0]
    assert weighted_sum([], [], []).as_list() == [0.0, 0.0, 0.0]


def test_a_stratum_sampled_to_its_end_is_known():
    found = weighted_sum([3, 0], [12, 40], [4.0, 1.0], sizes=[12, 10**9])
    alone = weighted_sum([0], [40], [1.0])
    assert found.as_list() == pytest.approx([1.0, 1.0, 1.0 + alone.hi])


def test_a_stratum_without_weight_changes_nothing():
    assert weighted_sum([1, 9], [50, 9], [2.0, 0.0]) == weighted_sum([1], [50], [2.0])


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 60), st.floats(0.05, 20.0)), min_size=2, max_size=4),
    st.floats(0.001, 0.3),
)
def test_no_event_gives_the_largest_sum_that_is_not_rejected(strata, alpha):
    n, w = (np.array(v, dtype=float) for v in zip(*strata, strict=True))
    numeric = max(
        -minimize(
            lambda p: -(w * p).sum() / w.sum(),
            start,
            method="SLSQP",
            bounds=[(0.0, 1 - 1e-9)] * len(n),
            constraints=[NonlinearConstraint(lambda p: (n * np.log1p(-p)).sum() - np.log(alpha), 0, np.inf)],
        ).fun
        for start in (np.full(len(n), 1e-3), 1 - alpha ** (1 / (n * len(n))))
    )
    limit = ZeroEvents.of(w, n).limit(alpha) / w.sum()
    assert limit == pytest.approx(numeric, rel=1e-3)
    assert weighted_sum(np.zeros(len(n)), n, w, 1 - alpha, "upper").hi == pytest.approx(limit * w.sum())


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 500), st.floats(0.01, 100.0)), min_size=1, max_size=5))
def test_its_moments_are_those_of_its_quantiles(strata):
    n, w = (np.array(v, dtype=float) for v in zip(*strata, strict=True))
    zero = ZeroEvents.of(w, n)
    root = (np.arange(2000) + 0.5) / 2000
    share = 3 * root**2 / (3 * root**2).sum()
    values = np.array([zero.limit(u) for u in root**3])
    expected = float((share * values).sum())
    mean, variance, third = zero.cumulants()
    assert mean == pytest.approx(expected, rel=1e-3)
    assert variance == pytest.approx((share * (values - expected) ** 2).sum(), rel=1e-2)
    assert third == pytest.approx((share * (values - expected) ** 3).sum(), abs=0.02 * variance**1.5)


def test_large_samples_of_tiny_rates_keep_their_precision():
    found = weighted_sum([0, 4, 0], [10**9] * 3, [1.0, 2.0, 300.0])
    assert found.hi == pytest.approx(300e-9 * 3.689, rel=0.01)
    assert found.lo == pytest.approx(2e-9 * 1.0899, rel=1e-3)


def test_ten_thousand_strata_take_no_time():
    rng = np.random.default_rng(2)
    n, w = np.full(10_000, 5), rng.random(10_000)
    found = weighted_sum(rng.binomial(5, 0.01, 10_000), n, w)
    assert found.lo < 0.01 * w.sum() < found.hi


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (([1], [0], [1.0]), "counts"),
        (([1, 2], [3, 4], [1.0]), "shape"),
        (([1], [3], [-1.0]), "weights"),
        (([1], [3], [float("nan")]), "weights"),
        (([1], [3], [1.0], 1.5), "confidence"),
        (([1], [3], [1.0], 0.95, "upper", [2]), "sizes.trials"),
    ],
)
def test_wrong_arguments_are_refused(arguments, field):
    with pytest.raises(ValueError, check=about(field)):
        weighted_sum(*arguments)


def test_mid_p_narrows_only_what_others_smear():
    alone = ([2, 40], [600, 40], [0.8, 0.2])
    assert weighted_sum(*alone, mid_p=True).hi == pytest.approx(weighted_sum(*alone).hi, rel=1e-9)
    smeared = ([2, 200], [600, 400], [0.8, 0.05])
    plain, narrow = weighted_sum(*smeared), weighted_sum(*smeared, mid_p=True)
    assert plain.lo <= narrow.lo < narrow.hi < 0.98 * plain.hi
    assert weighted_sum([0, 0], [600, 80], [0.8, 0.2], mid_p=True).hi == pytest.approx(
        weighted_sum([0, 0], [600, 80], [0.8, 0.2]).hi
    )


@pytest.mark.parametrize("error", [0.025, 0.0025])
@pytest.mark.parametrize("scatter_in_steps", [0.1, 0.4, 1.5])
def test_mid_p_misses_no_more_than_it_says(scatter_in_steps, error):
    """One stratum counts rare events in steps, the other scatters; all outcomes are summed exactly."""
    n = (2000, 40)
    other = np.arange(int(binom.ppf(1e-5, n[1], 0.4)), int(binom.ppf(1.0 - 1e-5, n[1], 0.4)) + 1)
    weight = scatter_in_steps / n[0] / np.sqrt(0.4 * 0.6 / n[1])
    upper = {
        (x, y): weighted_sum([x, y], n, [1.0, weight], 1.0 - error, "upper", mid_p=True).hi
        for x in range(16)
        for y in other.tolist()
    }
    for mean in (0.5, 1.5, 3.2, 3.7, 5.4, 5.9):
        truth = mean / n[0] + 0.4 * weight
        missed = sum(
            binom.pmf(x, n[0], mean / n[0]) * binom.pmf(y, n[1], 0.4)
            for (x, y), hi in upper.items()
            if hi < truth
        )
        assert missed <= 1.04 * error, (mean, missed)
