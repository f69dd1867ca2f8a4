"""Estimates from injections that predictions have guided; `stats.guided_plan` plans them.

Every fault has a predicted risk of a hazardous outcome, and faults are divided into groups of similar risk
(`risk_levels`). Whether predictions are worth following is seen from counts (`agrees`).

The interval after guided injections. The estimate `sum_g W_g x_g / n_g` does not depend on the predictions
being right, only its variance does. The variance is reckoned with half an event added to each group, so that
a group without events is not taken for one that cannot have any. The injections that a plain sample would
have needed for the same variance are its effective number, and the interval is that of Clopper and Pearson
for as many (as Korn and Graubard do for surveys). It is no exact interval; how often it covers is measured
(`python -m benchmarks.statistics.guided`), also with predictions that were spoilt.

References:
    J. Neyman, J. Royal Stat. Soc. 97 (1934) 558-625 (optimal shares).
    E. L. Korn, B. I. Graubard, Survey Methodology 24 (1998) 193-201.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stats.intervals import Interval
from stats.weighted import weighted_sum

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_EVIDENCE = 3.0
_PSEUDO = 0.5
_LEAST_RISK = 1e-5


def risk_levels(weights: npt.ArrayLike, risks: npt.ArrayLike, levels: int) -> IntArray:
    """Divide faults into levels of rising risk that deserve the same number of optimal injections each.

    Neyman's share of a set of faults is proportional to `sum w sqrt(r (1 - r))`; the levels have equal ones.

    Args:
        weights: Of the faults, or of sets of faults with one risk, shape (n,), >= 0.
        risks: Their predicted risks, 0 .. 1.
        levels: How many.

    Returns:
        Shape (n,), from 0. Faults of equal risk may fall on two levels.

    Examples:
        >>> risk_levels([90.0, 9.0, 1.0], [0.0001, 0.01, 0.81], 3).tolist()
        [0, 1, 2]
    """
    w, r = np.asarray(weights, dtype=np.float64), bounded(risks)
    order = np.argsort(r, kind="stable")
    mass = (w * np.sqrt(r * (1.0 - r)))[order]
    middle = (np.cumsum(mass) - mass / 2.0) / max(float(mass.sum()), 1e-300)
    found = np.zeros(len(w), dtype=np.int64)
    found[order] = np.minimum((middle * levels).astype(np.int64), levels - 1)
    return found


def agrees(risks: npt.ArrayLike, events: npt.ArrayLike, trials: npt.ArrayLike) -> bool:
    """Return whether counts fit the predicted risks clearly better than one rate for all groups.

    That is, whether the logarithm of the ratio of the likelihoods is above 3 (a ratio of 20), the one rate
    being the one that fits best.

    Args:
        risks: Predicted for each group, shape (groups,).
        events: Seen in each.
        trials: Injections into each, in proportion to their weights.

    Examples:
        >>> agrees([0.01, 0.6], [0, 5], [140, 10]), agrees([0.6, 0.01], [0, 5], [140, 10])
        (True, False)
    """
    r = bounded(risks)
    x, n = np.asarray(events, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    rate = min(max(float(x.sum()), 0.5) / max(float(n.sum()), 1.0), 1.0 - _LEAST_RISK)
    score = x * np.log(r / rate) + (n - x) * np.log((1.0 - r) / (1.0 - rate))
    return float(score.sum()) > _EVIDENCE


def guided_interval(
    weights: npt.ArrayLike, events: npt.ArrayLike, trials: npt.ArrayLike, confidence: float = 0.95
) -> Interval:
    """Return the interval of `sum_g W_g p_g` after guided injections, see the module.

    Args:
        weights: Of the groups, shape (groups,), in any unit.
        events: Hazardous injections of each.
        trials: All injections of each, at least 1.
        confidence: Of the interval.

    Raises:
        ValueError: a group has no injection, or there is none.

    Examples:
        >>> found = guided_interval([0.6, 0.3, 0.1], [0, 6, 45], [120, 90, 90])
        >>> plain = weighted_sum([20], [300], [1.0])
        >>> round(found.estimate, 3), found.width < plain.width / 1.4
        (0.07, True)
    """
    w, x, n = (np.asarray(values, dtype=np.float64) for values in (weights, events, trials))
    if not len(n) or n.min() < 1:
        raise ValueError(f"a guided interval needs injections into every group, found {n.tolist()}")
    whole = float(w.sum())
    share = w / whole
    estimate = float((share * x / n).sum())
    smooth = (x + _PSEUDO) / (n + 2.0 * _PSEUDO)
    centre = float((share * smooth).sum())
    variance = float((share**2 * smooth * (1.0 - smooth) / n).sum())
    effective = max(float(n.sum()), centre * (1.0 - centre) / variance)
    return weighted_sum([estimate * effective], [effective], [whole], confidence)


def bounded(risks: npt.ArrayLike) -> FloatArray:
    """Return risks that are neither 0 nor 1."""
    return np.clip(np.asarray(risks, dtype=np.float64), _LEAST_RISK, 1.0 - _LEAST_RISK)
