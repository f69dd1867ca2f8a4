# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from resil.stats.intervals import clopper_pearson
from resil.stats.model_error import PredictedPart, fit_spread, predicted_interval, surprise
from testkit.errors import about


@pytest.mark.parametrize("spread", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("together", [0.0, 1.0])
def test_intervals_of_new_populations_cover_with_seven_networks_on_four_sizes(spread, together):
    """Sizes of one network err alike, or each by itself: 28 rows are never taken for 28 networks."""
    generator = np.random.default_rng(3)
    networks, rows = np.repeat(np.arange(8), 4), 32
    held = 0
    for _ in range(200):
        common, own = generator.normal(0.0, spread, 8)[networks], generator.normal(0.0, spread, rows)
        truth = 0.05 * np.exp(together * common + (1.0 - together) * own)
        seen = generator.poisson(4000 * truth[4:])
        found = fit_spread(seen, np.full(28, 200.0), networks[4:].tolist())
        interval = predicted_interval(0.05, found, 112_000)
        held += interval.lo <= truth[0] <= interval.hi
    assert held / 200 >= 0.93


def test_rows_taken_for_networks_would_be_too_narrow():
    generator = np.random.default_rng(5)
    networks = np.repeat(np.arange(7), 4)
    seen = generator.poisson(200 * np.exp(generator.normal(0.0, 0.3, 7))[networks])
    apart, together = (
        predicted_interval(0.05, fit_spread(seen, np.full(28, 200.0), names), 112_000)
        for names in (range(28), networks.tolist())
    )
    assert together.width > 1.1 * apart.width


def test_without_events_the_upper_limit_is_at_least_that_of_the_injections_behind_it():
    sure = fit_spread([100, 101, 99, 100], [100] * 4, "abcd")
    for injections in (1_000, 60_000):
        found = predicted_interval(1e-9, sure, injections)
        assert found.hi >= clopper_pearson(0, injections).hi * 0.999
        assert found.lo < 1e-20


def test_nothing_known_may_be_anything():
    found = predicted_interval(0.01, fit_spread([], [], []), 1.0)
    assert found.hi == 1.0
    assert found.lo < 1e-4


def test_few_populations_stay_near_the_spread_of_the_others():
    alone = fit_spread([1, 0], [0.5, 0.5], "ab")
    assert fit_spread([1, 0], [0.5, 0.5], "ab", around=0.1).typical < alone.typical
    assert fit_spread([1, 30, 200], [20, 20, 20], "abc", around=0.1).typical > 0.5


def test_surprise_and_interval_agree():
    found = fit_spread([90, 110, 100, 95, 104], [100] * 5, "abcde")
    interval = predicted_interval(0.1, found, 5e5)
    trials = 1e6
    for rate, inside in (
        (0.97 * interval.hi, True),
        (1.05 * interval.hi, False),
        (0.95 * interval.lo, False),
    ):
        part = PredictedPart(1.0, 0.1, found, 5e5, trials)
        assert (surprise(rate, [part]) > 0.025) == inside


def test_a_sum_is_as_sure_as_its_parts_intervals_added_up():
    """Flip-flops and SRAM err together: what lies beyond the sum of both limits is a surprise."""
    found = fit_spread([90, 110, 100, 95, 104], [100] * 5, "abcde")
    limits = [predicted_interval(rate, found, 5e5) for rate in (0.1, 0.02)]
    parts = [PredictedPart(w, r, found, 5e5, 1e6) for w, r in ((2.0, 0.1), (7.0, 0.02))]
    for factor, inside in ((0.97, True), (1.05, False)):
        most = factor * (2.0 * limits[0].hi + 7.0 * limits[1].hi)
        assert (surprise(most, parts) > 0.025) == inside


def test_what_is_no_prediction_is_refused():
    found = fit_spread([], [], [])
    with pytest.raises(ValueError, check=about("prediction")):
        predicted_interval(1.5, found, 10.0)
    with pytest.raises(ValueError, check=about("injections")):
        predicted_interval(0.5, found, 0.0)
