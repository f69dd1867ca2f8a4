# SPDX-License-Identifier: Apache-2.0
"""Confidence intervals for one proportion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, ndtri

from resil.stats.errors import ArgumentError

FloatArray = npt.NDArray[np.float64]
Side = Literal["two-sided", "upper", "lower"]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence limits.

    Attributes:
        estimate: Point estimate, between the limits.
        lo: Lower limit; the smallest possible value if only an upper limit was asked for.
        hi: Upper limit; the largest possible value if only a lower limit was asked for.
        confidence: Probability with which the interval covers the truth, at least.

    Raises:
        ValueError: the three values are not in order, or the confidence is not between 0 and 1.
    """

    estimate: float
    lo: float
    hi: float
    confidence: float

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if not self.lo <= self.estimate <= self.hi:
            raise ArgumentError(f"an interval needs lo <= estimate <= hi, found {self}", "estimate")

    @property
    def width(self) -> float:
        """Upper minus lower limit."""
        return self.hi - self.lo

    def scaled(self, factor: float) -> Interval:
        """Return the interval of `factor` times the quantity; ValueError if `factor` is negative."""
        if factor < 0.0:
            raise ArgumentError(f"an interval is scaled by a factor >= 0, found {factor}", "factor")
        return Interval(self.estimate * factor, self.lo * factor, self.hi * factor, self.confidence)

    def complement(self) -> Interval:
        """Return the interval of one minus the quantity."""
        return Interval(1.0 - self.estimate, 1.0 - self.hi, 1.0 - self.lo, self.confidence)

    def as_list(self) -> list[float]:
        """Return `[estimate, lo, hi]`, as result files hold it."""
        return [self.estimate, self.lo, self.hi]


def check_confidence(confidence: float) -> None:
    """Raise ValueError if `confidence` is not strictly between 0 and 1."""
    if not 0.0 < confidence < 1.0:
        raise ArgumentError(
            f"a confidence lies strictly between 0 and 1 (0.95, say), found {confidence}", "confidence"
        )


def tail(confidence: float, side: Side) -> tuple[float | None, float | None]:
    """Return the error probability of the lower and of the upper limit; None where there is none.

    Raises:
        ValueError: `confidence` or `side` is not one.

    Examples:
        >>> tail(0.9, "upper")[1]
        0.09999999999999998
    """
    check_confidence(confidence)
    alpha = 1.0 - confidence
    match side:
        case "two-sided":
            return alpha / 2.0, alpha / 2.0
        case "upper":
            return None, alpha
        case "lower":
            return alpha, None
    raise ArgumentError(f"a side is 'two-sided', 'upper' or 'lower', found {side!r}", "side")


def check_counts(events: npt.ArrayLike, trials: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return both as float arrays of one shape.

    Raises:
        ValueError: not 0 <= events <= trials everywhere.
    """
    x, n = np.broadcast_arrays(np.asarray(events, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    if not np.all((x >= 0) & (x <= n)):
        raise ArgumentError(
            f"counts need 0 <= events <= trials, found events {x.tolist()}, trials {n.tolist()}", "counts"
        )
    return x, n


def clopper_pearson_limits(
    events: npt.ArrayLike, trials: npt.ArrayLike, confidence: float = 0.95, side: Side = "two-sided"
) -> tuple[FloatArray, FloatArray]:
    """Return exact confidence limits of binomial proportions.

    The limits are the proportions at which the observed count, or one further out, has exactly the
    error probability; so coverage is at least nominal at every proportion and sample size:
    `lo = B(alpha; x, n - x + 1)` and `hi = B(1 - alpha; x + 1, n - x)` with quantiles B of the beta
    distribution.

    Args:
        events: Counts, any shape.
        trials: Sample sizes, broadcast against `events`; 0 gives [0, 1].
        confidence: Of the interval; a two-sided one spends half of the error on each side.
        side: Which limits are wanted; the other is 0 or 1.

    Returns:
        Lower and upper limits, in the shape of the inputs.

    Raises:
        ValueError: not 0 <= events <= trials, or `confidence` or `side` is not one.

    References:
        C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of
        the binomial", Biometrika 26 (1934) 404-413.

    Examples:
        No event in 59 trials: less than 5 % at 95 % one-sided confidence.

        >>> lo, hi = clopper_pearson_limits([0, 59], 59, 0.95, "upper")
        >>> hi.round(4)
        array([0.0495, 1.    ])
    """
    x, n = check_counts(events, trials)
    below, above = tail(confidence, side)
    lo, hi = np.zeros(x.shape), np.ones(x.shape)
    if below is not None:
        some = x > 0
        lo[some] = betaincinv(x[some], n[some] - x[some] + 1.0, below)
    if above is not None:
        some = x < n
        hi[some] = 1.0 - betaincinv(n[some] - x[some], x[some] + 1.0, above)
    return lo, hi


def clopper_pearson(events: int, trials: int, confidence: float = 0.95, side: Side = "two-sided") -> Interval:
    """Return the exact interval of one proportion; see `clopper_pearson_limits`.

    Without trials nothing is known: the interval is [0, 1] and the estimate its middle.

    Examples:
        >>> round(clopper_pearson(0, 100).hi, 4)
        0.0362
        >>> clopper_pearson(0, 0)
        Interval(estimate=0.5, lo=0.0, hi=1.0, confidence=0.95)
    """
    lo, hi = clopper_pearson_limits(events, trials, confidence, side)
    estimate = events / trials if trials else 0.5
    return Interval(estimate, min(float(lo), estimate), max(float(hi), estimate), confidence)


def wilson(events: int, trials: int, confidence: float = 0.95) -> Interval:
    """Return Wilson's score interval of one proportion, for comparison.

    Its coverage is nominal on average over proportions, not at each: near 0 and 1 it falls below. Verdicts
    use `clopper_pearson`.

    Raises:
        ValueError: not 0 <= events <= trials, no trials, or `confidence` is not one.

    References:
        E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209-212; L. D. Brown, T. T. Cai, A. DasGupta,
        Statistical Science 16 (2001) 101-133.

    Examples:
        >>> round(wilson(0, 100).hi, 4)
        0.037
    """
    check_counts(events, trials)
    if trials == 0:
        raise ValueError("Wilson's interval needs at least one trial")
    upper_tail = tail(confidence, "two-sided")[1]
    z2 = float(ndtri(upper_tail)) ** 2
    p = events / trials
    middle = (p + z2 / (2 * trials)) / (1 + z2 / trials)
    half = (z2 * (p * (1 - p) / trials + z2 / (4 * trials**2))) ** 0.5 / (1 + z2 / trials)
    return Interval(p, min(max(middle - half, 0.0), p), max(min(middle + half, 1.0), p), confidence)
