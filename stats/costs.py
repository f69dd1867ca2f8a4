# SPDX-License-Identifier: Apache-2.0
"""What an injection costs by what comes of it: for planning, where the cheapest are worth most."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resil.stats.rates import OUTCOMES

FloatArray = npt.NDArray[np.float64]

# Processor time by outcome, as part of that of a masked one: measured on `digits` and `mnist_lenet` at 32
# MACs. Means by register correlate 0.75 and 0.45 with the times there, cycles from fault to end 0.36 and 0.
_COSTS = {
    "masked": 1.0,
    "latent": 4.0,
    "sdc_tolerable": 18.0,
    "sdc_critical": 35.0,
    "due": 25.0,
    "hang": 12.0,
}


def costs_of(outcomes: npt.ArrayLike) -> FloatArray:
    """Return what injections cost, as part of what one that is masked costs.

    Args:
        outcomes: Number or probability of each outcome, in the order of `OUTCOMES`, shape (n, outcomes).

    Returns:
        Sums over the outcomes, shape (n,).

    Examples:
        >>> costs_of([[1, 0, 0, 0, 0, 0], [0.5, 0.5, 0, 0, 0, 0]]).tolist()
        [1.0, 2.5]
    """
    found: FloatArray = np.asarray(outcomes, dtype=np.float64) @ np.array([_COSTS[name] for name in OUTCOMES])
    return found
