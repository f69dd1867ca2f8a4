# SPDX-License-Identifier: Apache-2.0
"""Estimates from injections that predictions have guided; `resil.stats.guided_plan` plans them.

Every fault has a predicted risk of a hazardous outcome, and faults are divided into groups of similar risk
(`risk_levels`). Whether predictions are worth following is seen from counts (`agrees`).

The estimate `sum_g W_g x_g / n_g` does not depend on the predictions being right, only its variance does, and
its interval is that of any sum over strata (`resil.stats.weighted`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_EVIDENCE = 3.0
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


def bounded(risks: npt.ArrayLike) -> FloatArray:
    """Return risks that are neither 0 nor 1."""
    return np.clip(np.asarray(risks, dtype=np.float64), _LEAST_RISK, 1.0 - _LEAST_RISK)
