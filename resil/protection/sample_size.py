"""How many new injections a confirmation needs, so that a plan that is right is not refused by chance."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom

from stats.intervals import clopper_pearson_limits

# Sizes that are tried, and how often a plan whose prediction is true is to be confirmed on each network.
_SIZES = (2000, 3000, 4000, 6000, 8000, 12000, 16000, 20000)
POWER = 0.95


def power(injections: int, share: float, allowed: float, confidence: float) -> float:
    """Return how often the upper limit of a share stays below what is allowed.

    Args:
        injections: That are made.
        share: Part of them that is hazardous in truth, 0 to 1.
        allowed: Most that the upper limit may be.
        confidence: Of the interval, two-sided and exact.

    Examples:
        >>> round(power(2000, 0.006, 0.01, 0.95), 2), round(power(8000, 0.006, 0.01, 0.95), 2)
        (0.46, 0.98)
    """
    counts = np.arange(math.ceil(injections * min(allowed, 1.0)) + 1)
    _, upper = clopper_pearson_limits(counts, np.full(len(counts), injections), confidence)
    passed = counts[upper <= allowed]
    return float(binom.cdf(passed[-1], injections, share)) if len(passed) else 0.0


def uniform_needed(share: float, allowed: float | None, confidence: float) -> int:
    """Return how many injections show, at `POWER`, that a share is below what is allowed.

    The largest size that is tried if none does, as where the plan has hardly any reserve.

    Examples:
        >>> uniform_needed(0.001, 0.01, 0.975), uniform_needed(0.006, 0.01, 0.975)
        (2000, 8000)
    """
    if allowed is None:
        return _SIZES[0]
    return next((n for n in _SIZES if power(n, share, allowed, confidence) >= POWER), _SIZES[-1])
