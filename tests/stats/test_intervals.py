# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from resil.stats.intervals import (
    Interval,
    clopper_pearson,
    clopper_pearson_limits,
    tail,
    wilson,
)
from testkit.errors import about


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_no_event_has_the_closed_form(confidence):
    n, alpha = np.array([1, 10, 59, 10_000]), 1 - confidence
    lo, hi = clopper_pearson_limits(0, n, confidence)
    assert np.all(lo == 0)
    assert hi == pytest.approx(1 - (alpha / 2) ** (1 / n))


def test_all_events_mirror_no_event():
    lo, hi = clopper_pearson_limits(50, 50)
    assert hi == 1
    assert lo == pytest.approx(1 - clopper_pearson_limits(0, 50)[1])


def test_without_trials_nothing_is_known():
    assert clopper_pearson(0, 0) == Interval(0.5, 0.0, 1.0, 0.95)


@given(
    st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.9999)
)
def test_the_limits_are_those_of_scipy(counts, confidence):
    k, n = counts
    theirs = binomtest(k, n).proportion_ci(confidence, method="exact")
    found = clopper_pearson(k, n, confidence)
    assert (found.lo, found.hi) == pytest.approx((theirs.low, theirs.high), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7, 20, 60])
@pytest.mark.parametrize("side", ["two-sided", "upper", "lower"])
def test_coverage_is_never_below_nominal(n, side):
    k, confidence = np.arange(n + 1), 0.9
    lo, hi = clopper_pearson_limits(k, n, confidence, side)
    edges = np.concatenate([lo, hi])
    truths = np.unique(np.clip(np.concatenate([edges - 1e-9, edges + 1e-9, np.linspace(0, 1, 101)]), 0, 1))
    covered = [(binom.pmf(k, n, p) * ((lo <= p) & (p <= hi))).sum() for p in truths]
    assert min(covered) >= confidence - 1e-12


def test_one_sided_limits_spend_all_the_error_on_one_side():
    two, upper, lower = (clopper_pearson(5, 100, 0.95, s) for s in ("two-sided", "upper", "lower"))
    assert (upper.lo, lower.hi) == (0.0, 1.0)
    narrower = clopper_pearson(5, 100, 0.90)
    assert upper.hi == pytest.approx(narrower.hi)
    assert lower.lo == pytest.approx(narrower.lo)
    assert two.lo < narrower.lo < narrower.hi < two.hi


def test_limits_come_in_the_shape_of_the_counts():
    lo, hi = clopper_pearson_limits(np.zeros((3, 1), dtype=int), [10, 20])
    assert lo.shape == hi.shape == (3, 2)


def test_wilson_is_narrower_and_can_miss():
    n, p = 50, 0.001
    assert wilson(5, n).width < clopper_pearson(5, n).width
    k = np.arange(n + 1)
    limits = [wilson(int(i), n) for i in k]
    near_one_event = limits[1].lo * 0.999
    covered = sum(
        binom.pmf(i, n, near_one_event) for i in k if limits[i].lo <= near_one_event <= limits[i].hi
    )
    assert covered < 0.95
    assert limits[0].lo <= p <= limits[0].hi


@pytest.mark.parametrize("counts", [(-1, 5), (6, 5), (0, -1)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(ValueError, check=about("counts")):
        clopper_pearson(*counts)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_a_confidence_is_a_share(confidence):
    with pytest.raises(ValueError, check=about("confidence")):
        clopper_pearson(1, 5, confidence)


def test_an_unknown_side_is_refused():
    with pytest.raises(ValueError, check=about("side")):
        tail(0.95, "both")


def test_an_interval_keeps_its_order():
    with pytest.raises(ValueError, check=about("estimate")):
        Interval(0.5, 0.6, 0.7, 0.95)


def test_scaling_and_complement():
    found = Interval(0.2, 0.1, 0.4, 0.9)
    assert found.scaled(10).as_list() == [2.0, 1.0, 4.0]
    assert found.complement().as_list() == pytest.approx([0.8, 0.6, 0.9])
    with pytest.raises(ValueError, check=about("factor")):
        found.scaled(-1.0)
