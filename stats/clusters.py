# SPDX-License-Identifier: Apache-2.0
"""Several inputs: faults are nested in inputs, and inputs differ.

A campaign over I inputs can be read in two ways. *For these inputs*: they are the population, and the
intervals of `stats.weighted` hold as they are. *For inputs like these*: the inputs are a sample too, of I,
and a thousand injections into each do not make it larger. The functions here are for the second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from resil.stats.errors import ArgumentError
from resil.stats.intervals import Interval, check_confidence, check_counts
from resil.stats.weighted import weighted_sum

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OverInputs:
    """An interval for inputs like those that were run.

    Attributes:
        interval: The interval. With a single input it is for that input only.
        design_effect: Variance with inputs as the sampled units, over that of injections into one pool; at
            least 1.
        degrees: Inputs less one.
    """

    interval: Interval
    design_effect: float
    degrees: int

    @property
    def conditional(self) -> bool:
        """There was one input: the interval says nothing of others."""
        return self.degrees == 0


def weighted_sum_over_inputs(
    events: npt.ArrayLike, trials: npt.ArrayLike, weights: npt.ArrayLike, confidence: float = 0.95
) -> OverInputs:
    """Return estimate and limits of `sum_g weights_g p_g` for inputs like those that were run.

    `p_g = sum_i x_ig / sum_i n_ig`. An input moves the estimate by `u_i = sum_g w_g (x_ig - n_ig p_g) /
    n_g`, so with inputs as units the variance is `I / (I - 1) sum u_i^2`; over the binomial variance this is
    the design effect d (at least 1 is taken). Then all counts are divided by `d (t / z)^2`, with the
    quantiles of Student's t at I - 1 degrees of freedom and of the normal distribution, and `weighted_sum`
    gives the limits: what Korn and Graubard do for one proportion. Without events no input shows itself to
    differ; the counts are then divided by `(t / z)^2` alone.

    With few inputs the limits are wide, as they have to be: at 95 % `(t / z)^2` is 42 for two inputs, 2 for
    five, 1.1 for twenty. No number of inputs shows what an input that is bad one time in a hundred does,
    unless it is among them.

    Args:
        events: x, shape (inputs, groups).
        trials: n, shape (inputs, groups); 0 allowed.
        weights: w, shape (groups,).
        confidence: Of the interval.

    Raises:
        ValueError: a shape is wrong, not 0 <= events <= trials, or `confidence` is not one.

    References:
        E. L. Korn, B. I. Graubard, "Confidence intervals for proportions with small expected number of
        positive counts estimated from survey data", Survey Methodology 24 (1998) 193-201.

    Examples:
        Five inputs with 3 % on average, that differ: the pooled counts would say 2.3 to 3.8 %.

        >>> found = weighted_sum_over_inputs([[5], [25], [10], [20], [15]], [[500]] * 5, [1.0])
        >>> round(found.design_effect, 1), found.degrees, round(found.interval.hi, 3)
        (4.3, 4, 0.057)
    """
    x, n, w = checked_inputs(events, trials, weights)
    own, total = x.sum(axis=0), n.sum(axis=0)
    inputs = len(x)
    if inputs == 1:
        return OverInputs(weighted_sum(own, total, w, confidence), 1.0, 0)
    effect = _design_effect(x, n, w)
    factor = effect * _student_over_normal(inputs - 1, confidence) ** 2
    return OverInputs(weighted_sum(own / factor, total / factor, w, confidence), effect, inputs - 1)


def checked_inputs(
    events: npt.ArrayLike, trials: npt.ArrayLike, weights: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return counts of inputs and groups, and the weights of groups, as arrays.

    Raises:
        ValueError: a shape is wrong, or not 0 <= events <= trials.
    """
    x, n = check_counts(events, trials)
    w = np.asarray(weights, dtype=np.float64)
    if x.ndim != 2 or w.shape != x.shape[1:] or not len(x):
        raise ArgumentError(
            f"counts need shape (inputs, groups) and weights (groups,), found {x.shape}, {w.shape}", "shape"
        )
    return x, n, w


def clustered_mean(
    values: npt.ArrayLike,
    clusters: npt.ArrayLike,
    confidence: float = 0.95,
    weights: npt.ArrayLike | None = None,
) -> Interval:
    """Return the mean of observations that come in clusters, with limits for clusters like these.

    The estimate is `m = sum a_k v_k / sum a_k`. Cluster c moves it by `u_c = sum a_k (v_k - m) / sum a`, its
    variance is `C / (C - 1) sum u_c^2`, and the limits are those of Student's t with C - 1 degrees of
    freedom. Clusters are taken to be independent and about equally large; nothing is assumed of what is
    within.

    Args:
        values: v, shape (observations,).
        clusters: Cluster of each observation, any labels, shape (observations,).
        confidence: Of the interval.
        weights: a > 0, shape (observations,); None for equal ones.

    Raises:
        ValueError: shapes differ, a weight is not positive, or there are fewer than two clusters.

    References:
        K.-Y. Liang, S. L. Zeger, Biometrika 73 (1986) 13-22.

    Examples:
        >>> found = clustered_mean([1.0, 1.0, 3.0, 3.0, 5.0, 5.0], ["a", "a", "b", "b", "c", "c"])
        >>> [round(v, 2) for v in found.as_list()]
        [3.0, -1.97, 7.97]
    """
    check_confidence(confidence)
    v = np.asarray(values, dtype=np.float64)
    a = np.ones(v.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    names, owner = np.unique(np.asarray(clusters), return_inverse=True)
    if v.ndim != 1 or owner.shape != v.shape or a.shape != v.shape or not np.all(a > 0):
        raise ArgumentError("values, clusters and weights > 0 need one shape (observations,)", "shape")
    if len(names) < 2:
        raise ArgumentError(
            "one cluster says nothing of the differences between clusters: give two or more", "clusters"
        )
    mean = float((a * v).sum() / a.sum())
    moved = np.bincount(owner, a * (v - mean)) / a.sum()
    error = float(np.sqrt(len(names) / (len(names) - 1) * (moved**2).sum()))
    half = float(stdtrit(len(names) - 1, 0.5 + confidence / 2)) * error
    return Interval(mean, mean - half, mean + half, confidence)


def _design_effect(x: FloatArray, n: FloatArray, w: FloatArray) -> float:
    total = n.sum(axis=0)
    used = total > 0
    x, n, w, total = x[:, used], n[:, used], w[used], total[used]
    p = x.sum(axis=0) / total
    binomial = float((w**2 * p * (1.0 - p) / total).sum())
    if binomial <= 0.0:
        return 1.0
    moved = (w * (x - n * p) / total).sum(axis=1)
    return max(1.0, len(x) / (len(x) - 1) * float((moved**2).sum()) / binomial)


def _student_over_normal(degrees: int, confidence: float) -> float:
    upper = 0.5 + confidence / 2
    return float(stdtrit(degrees, upper) / ndtri(upper))
