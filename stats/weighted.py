# SPDX-License-Identifier: Apache-2.0
"""Confidence interval for a weighted sum of proportions, valid at small counts.

The quantity is `theta = sum_i w_i p_i` with independent `X_i ~ Bin(n_i, p_i)`: the FIT of a block or of the
whole from its strata, with `w_i` the raw rate of stratum i. Normal limits fail here: with no event they
have no width, and strata differ a thousandfold in weight.

Method. Fay and Feuer (1997) treat `theta`, seen from its upper limit, as a gamma variable with the mean and
variance of the estimate after one more event in the stratum where an event weighs most. Their limits are
for Poisson counts and held nominal coverage in every simulation that their authors report. Three changes
make them fit binomial counts:

1. The room for "one more event" is the exact one of `stats.zero_events`, over all strata together, weighted
   with the share `1 - x_i / n_i` that has room left. With no event at all that limit itself is returned: it
   is exact.
2. The variable is a beta on [L, W] with W the largest possible sum, instead of a gamma on [0, inf): the
   limits respect W, and a single stratum gives the limits of Clopper and Pearson.
3. L is 0, or higher if that is needed to reach the third moment, so that a heavy stratum with few
   trials shows its skewness.

The lower limit is W minus the upper limit of the sum of the complements.

One event more is what an exact limit of a single proportion needs, because counts go in steps: the estimate
cannot lie a little below what was seen. Where other strata scatter by as much as one such step, it can, and
half a step is enough; that is the mid-p limit (Lancaster 1961). With `mid_p` the part of the error that is
reckoned without the event more is that scatter in units of the step, at most a half. So a stratum that is
alone in its uncertainty keeps its exact limits.

Coverage is measured, not proven: it
was never below nominal at one-sided errors of 2.5 % and more, and can be at far smaller ones;
docs/results.md has the figures.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from resil.stats.errors import ArgumentError
from resil.stats.intervals import Interval, Side, check_counts, clopper_pearson_limits, tail
from resil.stats.matched import MatchedBeta
from resil.stats.zero_events import ZeroEvents

FloatArray = npt.NDArray[np.float64]
Moments = tuple[float, float, float]

_SMALL_STEP = 0.7


def weighted_sum(
    events: npt.ArrayLike,
    trials: npt.ArrayLike,
    weights: npt.ArrayLike,
    confidence: float = 0.95,
    side: Side = "two-sided",
    sizes: npt.ArrayLike | None = None,
    mid_p: bool = False,
) -> Interval:
    """Return estimate and limits of `sum_i weights_i p_i` with `events_i ~ Bin(trials_i, p_i)`.

    A stratum without trials adds its whole weight to the upper limit and nothing to the lower one; the
    estimate gives it the mean proportion of the others (a half if nothing was sampled). Sampling without
    replacement from a finite stratum varies less than binomial counts (Hoeffding 1963), so the limits hold
    there too; a stratum whose every member was sampled is known, and widens nothing.

    Args:
        events: Counts x_i, shape (strata,).
        trials: Sample sizes n_i, shape (strata,); 0 allowed.
        weights: w_i >= 0 in any unit, shape (strata,).
        confidence: Of the interval; a two-sided one spends half of the error on each side.
        side: Which limits are wanted; the other is 0 or the sum of the weights.
        sizes: Members of each stratum if sampling was without replacement; None for unlimited.
        mid_p: Narrow the limits where the steps of one stratum are smeared by the scatter of others, see the
            module. For limits at errors from 0.25 to 2.5 % a side.

    Raises:
        ValueError: shapes differ, a weight is negative or not finite, not 0 <= events <= trials <= sizes, or
            `confidence` or `side` is not one.

    References:
        M. P. Fay, E. J. Feuer, "Confidence intervals for directly standardized rates: a method based on the
        gamma distribution", Statistics in Medicine 16 (1997) 791-801.
        W. Hoeffding, J. Am. Stat. Assoc. 58 (1963) 13-30, section 6.
        H. O. Lancaster, J. Am. Stat. Assoc. 56 (1961) 223-234 (mid-p).

    Examples:
        Two blocks, no event: the limit is hardly above that of one block alone, and half the sum of two.

        >>> round(weighted_sum([0, 0], [200, 200], [1.0, 1.0]).hi, 4)
        0.0184
        >>> round(weighted_sum([0], [200], [1.0]).hi, 4)
        0.0183

        A block never sampled may be all bad:

        >>> round(weighted_sum([3, 0], [100, 0], [1.0, 5.0]).hi, 4)
        5.0852
    """
    x, n, w = _checked(events, trials, weights)
    below, above = tail(confidence, side)
    total, known = float(w.sum()), _known(n, sizes)
    fixed = float((w[known] * x[known] / n[known]).sum())
    estimate = _estimate(x, n, w)
    unsampled = float(w[n == 0].sum())
    use = (n > 0) & ~known & (w > 0)
    x, n, w = x[use], n[use], w[use]
    if not use.any() and not unsampled:
        # All is known: limits are the estimate, without the rounding of two sums.
        fixed = estimate
    hi, lo = total, 0.0
    if above is not None:
        hi = fixed + unsampled + _upper(x, n, w, above, mid_p)
    if below is not None:
        lo = fixed + float(w.sum()) - _upper(n - x, n, w, below, mid_p)
    return Interval(estimate, min(max(lo, 0.0), estimate), max(min(hi, total), estimate), confidence)


def _checked(
    events: npt.ArrayLike, trials: npt.ArrayLike, weights: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    x, n = check_counts(events, trials)
    w = np.asarray(weights, dtype=np.float64)
    if x.ndim != 1 or w.shape != x.shape:
        raise ArgumentError(
            f"counts and weights need one shape (strata,), found {x.shape} and {w.shape}", "shape"
        )
    if not np.all(np.isfinite(w) & (w >= 0)):
        raise ArgumentError(f"weights need to be finite and >= 0, found {w.tolist()}", "weights")
    return x, n, w


def _known(trials: FloatArray, sizes: npt.ArrayLike | None) -> npt.NDArray[np.bool_]:
    if sizes is None:
        return np.zeros(trials.shape, dtype=np.bool_)
    members = np.broadcast_to(np.asarray(sizes, dtype=np.float64), trials.shape)
    if np.any(trials > members):
        raise ArgumentError(
            f"without replacement trials <= sizes, found {trials.tolist()} and {members.tolist()}",
            "sizes.trials",
        )
    known: npt.NDArray[np.bool_] = (trials == members) & (trials > 0)
    return known


def _estimate(x: FloatArray, n: FloatArray, w: FloatArray) -> float:
    sampled = n > 0
    p = np.full(x.shape, 0.5)
    p[sampled] = x[sampled] / n[sampled]
    weight = float(w[sampled].sum())
    if weight > 0:
        p[~sampled] = float((w[sampled] * p[sampled]).sum()) / weight
    return min(float((w * p).sum()), float(w.sum()))


def _upper(x: FloatArray, n: FloatArray, w: FloatArray, alpha: float, mid_p: bool) -> float:
    """Return the upper limit at error `alpha` for strata that all have trials and weight.

    Where every trial was an event there is no room left: the stratum counts with its whole weight. Of
    strata with one trial this would hide how uncertain they are, so the limit that keeps them is taken if
    it is higher.
    """
    full = x == n
    if full.all():
        return float(w.sum())
    limit = float(w[full].sum()) + _matched(x[~full], n[~full], w[~full], alpha, mid_p)
    single = full & (n == 1)
    if single.any():
        keep = ~full | single
        limit = max(limit, float(w[~keep].sum()) + _matched(x[keep], n[keep], w[keep], alpha, mid_p))
    return limit


def _matched(x: FloatArray, n: FloatArray, w: FloatArray, alpha: float, mid_p: bool) -> float:
    if len(x) == 1:
        return float(w[0]) * float(clopper_pearson_limits(x, n, 1.0 - alpha, "upper")[1][0])
    total = float(w.sum())
    if not x.any():
        return min(ZeroEvents.of(w, n).limit(alpha), total)
    plain, extra = _moments(x, n, w)
    mean, variance, third = (a + b for a, b in zip(plain, extra, strict=True))
    more = MatchedBeta.of(mean, variance, third, total)
    if more is None:
        return total
    part = _mid_p_part(x, n, w) if mid_p else 0.0
    exact = MatchedBeta.of(*plain, total)
    if part == 0.0 or exact is None:
        return more.upper(alpha)

    def excess(limit: float) -> float:
        return (1.0 - part) * more.exceeds(limit) + part * exact.exceeds(limit) - alpha

    return float(brentq(excess, exact.upper(alpha), more.upper(alpha), xtol=1e-12 * total))


def _mid_p_part(x: FloatArray, n: FloatArray, w: FloatArray) -> float:
    """Return which part of the error is reckoned without the one event more; at most half of it.

    It is the scatter of the strata with small steps in units of the largest step, that of an event in the
    stratum where one weighs most.
    """
    q = 1.0 - x / n
    step = w * q / n
    small = step <= _SMALL_STEP * step.max()
    scatter = sqrt(float((w**2 * x * q / n**2)[small].sum()))
    return min(0.5, scatter / float(step.max()))


def _moments(x: FloatArray, n: FloatArray, w: FloatArray) -> tuple[Moments, Moments]:
    """Return mean, variance and third central moment of the estimate, and of the room for one event more."""
    p, room = x / n, x < n
    q = 1.0 - p
    variance = np.where(n > 1, x * (n - x) / np.maximum(n - 1, 1) / n**2, x)
    third = 2 * p * q * (q - p) / ((n + 1) * (n + 2))
    plain = float((w * p).sum()), float((w**2 * variance).sum()), float((w**3 * third).sum())
    return plain, ZeroEvents.of((w * q)[room], n[room]).cumulants()
