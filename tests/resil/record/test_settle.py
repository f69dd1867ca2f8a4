# SPDX-License-Identifier: Apache-2.0
"""Forecasts of injections are near to what samples of such a size really decide."""

from __future__ import annotations

import numpy as np
import pytest

from resil.record.interval import RecordedInterval
from resil.record.settle import injections_to_settle
from resil.stats.intervals import clopper_pearson_limits


def interval(events: int, trials: int) -> RecordedInterval:
    lo, hi = clopper_pearson_limits(np.array([events]), np.array([trials]), 0.95)
    return RecordedInterval(events / trials, float(lo[0]), float(hi[0]))


@pytest.mark.parametrize("target", [0.13, 0.09, 0.15, 0.07])
def test_the_forecast_is_about_what_it_takes(target):
    """The exact interval of the same rate settles the target between half the forecast and twice it."""
    found = injections_to_settle(interval(22, 200), target, 200)
    for factor, settled in ((0.4, False), (2.0, True)):
        made = round(found * factor / 100) * 100
        own = interval(round(0.11 * made), made)
        assert (not own.lo < target < own.hi) is settled


def test_what_is_decided_takes_no_more():
    assert injections_to_settle(interval(22, 200), 0.5, 200) == 200


@pytest.mark.parametrize(
    ("found", "made"),
    [(RecordedInterval(None, 0.0, 1.0), 10), (interval(22, 200), 0), (RecordedInterval(0.5, 0.4, 0.6), 10)],
)
def test_no_forecast_is_made_without_grounds(found, made):
    assert injections_to_settle(found, 0.5, made) is None
