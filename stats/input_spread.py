# SPDX-License-Identifier: Apache-2.0
"""How inputs differ, beside their mean: the spread, a bound for most of them, the worst of those that ran.

A run gives each of I inputs its own counts, and from these an estimate, noisy if the counts are few. The
spread of these estimates is therefore not that of the inputs, and the largest estimate is not the worst
input. What is here allows for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log, sqrt

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import bdtrc

from resil.stats.clusters import checked_inputs
from resil.stats.intervals import Interval, check_confidence
from resil.stats.weighted import weighted_sum

# Error of one input's upper limit that lets a higher rank be taken: below it limits get wide for nothing.
_LEAST_ERROR = 0.05


@dataclass(frozen=True, slots=True)
class ToleranceBound:
    """A bound for most inputs.

    Attributes:
        bound: At least `part` of all inputs like those that ran lie at or below it, with `confidence`.
        part: Of the inputs.
        confidence: Of the statement.
        rank: It is the limit of the input with the rank-th highest upper limit.
    """

    bound: float
    part: float
    confidence: float
    rank: int


@dataclass(frozen=True, slots=True)
class InputSpread:
    """Variances of a weighted sum of rates.

    Attributes:
        mean: Of the sum over the inputs.
        between: Variance of the inputs' own values; 0 if nothing shows that they differ.
        within: Variance of one input's value estimated from one injection.
        inputs: That the figures rest on.
    """

    mean: float
    between: float
    within: float
    inputs: int

    @property
    def variation(self) -> float | None:
        """Coefficient of variation of the inputs; None without a mean."""
        return sqrt(self.between) / self.mean if self.mean > 0.0 else None


def fewest_inputs(part: float = 0.95, confidence: float = 0.95) -> int:
    """Return the inputs below which there is no bound for `part` of them, whatever they show.

    The same holds of anything that is drawn: so many hold-out networks have to pass, and none to fail, to
    show that `part` of such networks does.

    >>> fewest_inputs()
    59
    """
    return ceil(log(1.0 - confidence) / log(part))


def tolerance_bound(
    events: npt.ArrayLike,
    trials: npt.ArrayLike,
    weights: npt.ArrayLike,
    part: float = 0.95,
    confidence: float = 0.95,
) -> ToleranceBound | None:
    """Return an upper bound for the value `sum_g w_g p_ig` of at least `part` of all inputs.

    Each input i gets an upper limit U_i of its own value v_i, with error d. Let q be the `part`-quantile of
    v. An input has v >= q with probability 1 - part at least, and then U_i >= v_i >= q with 1 - d at least.
    So of I inputs at least Bin(I, (1 - part) (1 - d)) have U_i >= q, and the k-th highest U is above q with
    the probability that this is k or more. Nothing is assumed of how inputs are distributed, nor of the
    noise beyond the limits U. Without noise this is the bound of Wilks; noise costs the factor 1 - d and
    the width of the limits.

    d and k follow from I alone: k is the highest rank that leaves d at 5 % or more, d what it leaves.

    Args:
        events: Shape (inputs, groups).
        trials: Shape (inputs, groups); a group without trials counts with its whole weight.
        weights: Shape (groups,).
        part: Of the inputs.
        confidence: Of the statement.

    Returns:
        None with fewer inputs than `fewest_inputs`.

    References:
        S. S. Wilks, "Determination of sample sizes for setting tolerance limits", Ann. Math. Stat. 12 (1941)
        91-96; H. A. David, H. N. Nagaraja, Order Statistics, 3rd ed. (2003), section 7.3.

    Examples:
        >>> bound = tolerance_bound([[5]] * 64, [[500]] * 64, [1.0])
        >>> round(bound.bound, 4), bound.rank
        (0.019, 1)
    """
    x, n, w = checked_inputs(events, trials, weights)
    check_confidence(part)
    check_confidence(confidence)
    inputs = len(x)
    if inputs < fewest_inputs(part, confidence):
        return None
    rank, error = _rank_and_error(inputs, part, confidence)
    limits = sorted((weighted_sum(a, b, w, 1.0 - error, "upper").hi for a, b in zip(x, n, strict=True)))
    return ToleranceBound(limits[-rank], part, confidence, rank)


def _rank_and_error(inputs: int, part: float, confidence: float) -> tuple[int, float]:
    """Return which of the highest limits is taken, and the error of each limit."""

    def error(rank: int) -> float:
        def short(p: float) -> float:
            return float(bdtrc(rank - 1, inputs, p)) - confidence

        return 1.0 - float(brentq(short, 1e-12, 1.0 - 1e-12, xtol=1e-14)) / (1.0 - part)

    rank = 1
    while rank < inputs and error(rank + 1) >= _LEAST_ERROR:
        rank += 1
    return rank, max(error(rank), 1e-9)


def each_input(
    events: npt.ArrayLike, trials: npt.ArrayLike, weights: npt.ArrayLike, confidence: float = 0.95
) -> list[Interval]:
    """Return the value of each input with limits that hold for all of them together (Bonferroni).

    With limits of that kind any of them may be picked out after the fact, the worst for instance.

    Examples:
        >>> found = each_input([[5], [9]], [[100], [100]], [1.0])
        >>> [round(v, 3) for v in found[1].as_list()]
        [0.09, 0.037, 0.175]
    """
    x, n, w = checked_inputs(events, trials, weights)
    level = 1.0 - (1.0 - confidence) / len(x)
    return [weighted_sum(a, b, w, level) for a, b in zip(x, n, strict=True)]


def spread_of(events: npt.ArrayLike, trials: npt.ArrayLike, weights: npt.ArrayLike) -> InputSpread:
    """Return how much of the variance lies between inputs and how much within them.

    The estimator is that of `stats.clusters`: an input moves the mean by u_i, and I / (I - 1) sum u_i^2 is
    the variance of the mean, to which the binomial part is added whether or not inputs differ. What is
    above it, times I, is the variance between inputs (the method of moments).

    Raises:
        ValueError: as `checked_inputs`.
    """
    x, n, w = checked_inputs(events, trials, weights)
    total = n.sum(axis=0)
    used = total > 0
    x, n, w, total = x[:, used], n[:, used], w[used], total[used]
    p = x.sum(axis=0) / total
    binomial = float((w**2 * p * (1.0 - p) / total).sum())
    mean, inputs, injections = float((w * p).sum()), len(x), float(total.sum())
    within = binomial * injections
    if inputs == 1:
        return InputSpread(mean, 0.0, within, 1)
    moved = (w * (x - n * p) / total).sum(axis=1)
    variance = inputs / (inputs - 1) * float((moved**2).sum())
    return InputSpread(mean, max(0.0, (variance - binomial) * inputs), within, inputs)


def worst(intervals: Sequence[Interval], count: int) -> list[int]:
    """Return the places of the inputs with the highest estimates, the highest first."""
    order = np.argsort([-own.estimate for own in intervals], kind="stable")
    return [int(place) for place in order[:count]]
