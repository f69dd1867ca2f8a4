# SPDX-License-Identifier: Apache-2.0
"""Sums of independent estimates with given coefficients: means over networks, trends over sizes."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from resil.stats.errors import ArgumentError
from resil.stats.intervals import Interval


def contrast(estimates: Sequence[Interval], coefficients: Sequence[float]) -> Interval:
    """Return estimate and limits of `sum_i c_i theta_i` of independent estimates that have intervals.

    The limits recover from each interval the variance that the estimate has near the limit that counts
    (MOVER): the lower one takes the lower limit of what is added and the upper limit of what is taken away.
    With coefficients 1 and -1 this is `stats.difference.difference`. An estimate of no event keeps a width.

    Args:
        estimates: With their intervals, of one unit and confidence.
        coefficients: One for each.

    Raises:
        ValueError: there is none, their numbers or their confidences differ.

    References:
        G. Y. Zou, J. Huang, X. Zhang, "A note on confidence interval estimation for a linear function of
        binomial proportions", Computational Statistics and Data Analysis 53 (2009) 1080-1085.

    Examples:
        >>> found = contrast([Interval(4.0, 3.0, 6.0, 0.95), Interval(2.0, 2.0, 2.0, 0.95)], [0.5, 0.5])
        >>> found.estimate, found.lo, found.hi
        (3.0, 2.5, 4.0)
    """
    if not estimates or len(estimates) != len(coefficients):
        raise ArgumentError(
            f"expected a coefficient for each estimate, found {len(coefficients)} for {len(estimates)}",
            "coefficients",
        )
    if len({own.confidence for own in estimates}) > 1:
        raise ArgumentError(
            f"expected one confidence, found {sorted({own.confidence for own in estimates})}", "confidence"
        )
    middle = below = above = 0.0
    for own, c in zip(estimates, coefficients, strict=True):
        low, high = own.estimate - own.lo, own.hi - own.estimate
        middle += c * own.estimate
        below += (c * (low if c > 0 else high)) ** 2
        above += (c * (high if c > 0 else low)) ** 2
    return Interval(middle, middle - sqrt(below), middle + sqrt(above), estimates[0].confidence)


def mean(estimates: Sequence[Interval]) -> Interval:
    """Return the mean of independent estimates; ValueError as `contrast`."""
    return contrast(estimates, [1.0 / len(estimates)] * len(estimates))


def slope(estimates: Sequence[Interval], places: Sequence[float]) -> Interval:
    """Return by how much an estimate grows for each step of 1 of its place, by least squares.

    Args:
        estimates: With their intervals.
        places: Where each was made, such as the binary logarithm of a size.

    Raises:
        ValueError: as `contrast`, or all places are one.

    Examples:
        >>> found = slope([Interval(1.0, 0.5, 2.0, 0.95), Interval(3.0, 2.0, 4.0, 0.95)], [5.0, 6.0])
        >>> found.estimate, round(found.lo, 3), round(found.hi, 3)
        (2.0, 0.586, 3.118)
    """
    if len(places) != len(estimates):
        raise ValueError(f"expected a place for each estimate, found {len(places)} for {len(estimates)}")
    middle = sum(places) / len(places)
    spread = sum((place - middle) ** 2 for place in places)
    if not spread > 0.0:
        raise ArgumentError("a slope needs two different places", "places")
    return contrast(estimates, [(place - middle) / spread for place in places])
