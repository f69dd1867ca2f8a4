# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from resil.stats.difference import difference
from resil.stats.intervals import Interval, clopper_pearson_limits
from testkit.errors import about

SIZES = (20, 60, 200)
WEIGHTS = (0.1, 1.0, 8.0)
PROPORTIONS = (0.0, 0.002, 0.01, 0.05, 0.2, 0.5)


def limits_of(n, weight, confidence):
    """Estimate and limits of each count; the chance of each for each proportion."""
    x = np.arange(n + 1)
    lo, hi = clopper_pearson_limits(x, n, confidence)
    chances = binom.pmf(x[None, :], n, np.array(PROPORTIONS)[:, None])
    return x / n * weight, lo * weight, hi * weight, chances


def coverages(n, m, weight, confidence=0.95):
    """Exact chance of covering the difference, for each pair of proportions."""
    a, a_lo, a_hi, p_a = limits_of(n, weight, confidence)
    b, b_lo, b_hi, p_b = limits_of(m, 1.0, confidence)
    d = a[:, None] - b[None, :]
    below = np.hypot((a - a_lo)[:, None], (b_hi - b)[None, :])
    above = np.hypot((a_hi - a)[:, None], (b - b_lo)[None, :])
    found = []
    for i, p in enumerate(PROPORTIONS):
        for j, q in enumerate(PROPORTIONS):
            truth = p * weight - q
            covers = (d - below <= truth + 1e-12) & (truth - 1e-12 <= d + above)
            found.append(float(p_a[i] @ covers @ p_b[j]))
    return found


@pytest.mark.parametrize("weight", WEIGHTS)
def test_limits_cover_as_often_as_they_claim(weight):
    found = [value for n in SIZES for m in SIZES for value in coverages(n, m, weight)]
    assert min(found) >= 0.95


def test_the_function_is_what_is_enumerated():
    a, a_lo, a_hi, _ = limits_of(20, 8.0, 0.95)
    b, b_lo, b_hi, _ = limits_of(60, 1.0, 0.95)
    one, other = Interval(a[3], a_lo[3], a_hi[3], 0.95), Interval(b[7], b_lo[7], b_hi[7], 0.95)
    found = difference(one, other)
    assert found.estimate == pytest.approx(8 * 3 / 20 - 7 / 60)
    assert found.lo == pytest.approx(found.estimate - np.hypot(a[3] - a_lo[3], b_hi[7] - b[7]))
    assert found.hi == pytest.approx(found.estimate + np.hypot(a_hi[3] - a[3], b[7] - b_lo[7]))
    mirrored = difference(other, one)
    assert (mirrored.lo, mirrored.hi) == pytest.approx((-found.hi, -found.lo))


def test_no_event_on_either_side_is_no_certainty():
    none = Interval(0.0, 0.0, 0.02, 0.95)
    found = difference(none, none)
    assert (found.estimate, found.lo, found.hi) == (0.0, -0.02, 0.02)


def test_confidences_must_be_one():
    with pytest.raises(ValueError, check=about("confidence")):
        difference(Interval(0.0, 0.0, 1.0, 0.95), Interval(0.0, 0.0, 1.0, 0.9))
