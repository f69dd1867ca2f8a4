# SPDX-License-Identifier: Apache-2.0
"""Shares of injections by the FIT that they stand for."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resil.record.interval import RecordedInterval
from resil.stats.intervals import clopper_pearson


def share_by_weight(
    weights: npt.NDArray[np.float64], hits: npt.NDArray[np.bool_], confidence: float
) -> RecordedInterval:
    """Return a share by weight; where weights are equal its limits are exact (Clopper-Pearson).

    Else they are those of as many injections as would stand for equal rates (Kish's effective sample size).

    Args:
        weights: FIT that each injection stands for.
        hits: Which of them count.
        confidence: Of the interval.
    """
    total = weights.sum()
    if not total:
        return RecordedInterval(None, 0.0, 1.0)
    share = float(weights[hits].sum() / total)
    trials = len(weights) if np.ptp(weights) <= 1e-12 * total else float(total**2 / (weights**2).sum())
    count = max(int(trials), 1)
    low = clopper_pearson(int(np.floor(share * count + 1e-9)), count, confidence).lo
    high = clopper_pearson(int(np.ceil(share * count - 1e-9)), count, confidence).hi
    return RecordedInterval(share, min(low, share), max(high, share))
