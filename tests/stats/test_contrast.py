# SPDX-License-Identifier: Apache-2.0
"""Contrasts of independent estimates: against the difference of two, and by coverage on known truth."""

from __future__ import annotations

import numpy as np
import pytest

from resil.stats.contrast import contrast, mean, slope
from resil.stats.difference import difference
from resil.stats.intervals import Interval, clopper_pearson_limits
from testkit.errors import about

A, B = Interval(3.0, 2.0, 5.0, 0.95), Interval(1.0, 0.5, 1.75, 0.95)


def test_a_difference_is_a_contrast():
    assert contrast([A, B], [1.0, -1.0]) == difference(A, B)


def test_a_slope_over_two_places_is_the_difference_over_their_distance():
    assert slope([B, A], [5.0, 7.0]) == difference(A, B).scaled(0.5)


@pytest.mark.parametrize(
    ("estimates", "coefficients"),
    [([], []), ([A], [1.0, 1.0]), ([A, Interval(1.0, 0.5, 2.0, 0.9)], [1.0, 1.0])],
)
def test_what_does_not_fit_is_refused(estimates, coefficients):
    with pytest.raises(ValueError, match="expected"):
        contrast(estimates, coefficients)


def test_a_slope_needs_two_places():
    with pytest.raises(ValueError, check=about("places")):
        slope([A, B], [5.0, 5.0])


@pytest.mark.parametrize("rates", [(0.0, 0.01, 0.02, 0.2), (0.05, 0.05, 0.05, 0.05), (0.0, 0.0, 0.0, 0.01)])
def test_slopes_and_means_cover_as_often_as_they_claim(rates):
    chance, trials, weights = np.random.default_rng(3), np.array([40, 200, 100, 60]), (1.0, 0.5, 2.0, 3.0)
    places, truth = (5.0, 6.0, 7.0, 8.0), np.array(rates) * weights
    middle = float(truth.mean())
    steep = float(np.polyfit(places, truth, 1)[0])
    held = {"mean": 0, "slope": 0}
    rounds = 1500
    for events in chance.binomial(trials, rates, (rounds, 4)):
        lo, hi = clopper_pearson_limits(events, trials, 0.95)
        found = [
            Interval(e / n, low, high, 0.95).scaled(w)
            for e, n, low, high, w in zip(events, trials, lo, hi, weights, strict=True)
        ]
        own, grown = mean(found), slope(found, places)
        held["mean"] += own.lo - 1e-12 <= middle <= own.hi + 1e-12
        held["slope"] += grown.lo - 1e-12 <= steep <= grown.hi + 1e-12
    assert min(held.values()) / rounds >= 0.95
