# SPDX-License-Identifier: Apache-2.0
"""Guesses of rates in strata that have few injections or none: for planning, never for a verdict."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resil.stats.strata import Strata

FloatArray = npt.NDArray[np.float64]

_STRENGTH = 4.0


def shrunken_rates(strata: Strata, events: npt.ArrayLike, trials: npt.ArrayLike) -> FloatArray:
    """Return a guess of the event rate of each stratum, drawn towards that of what it is a part of.

    From the whole over blocks and kinds down to the strata themselves, the guess at each step is `(x + k
    g) / (n + k)`: x events in n trials of the part, g the guess for the whole that it is a part of, k = 4.
    The whole has `(x + 1/2) / (n + 1)`. A stratum without trials has the guess of its class, a class
    without trials that of its block.

    Args:
        strata: Whose labels say what is a part of what.
        events: Shape (strata,).
        trials: Shape (strata,), 0 allowed.

    Returns:
        Rates strictly between 0 and 1, shape (strata,).

    References:
        The posterior mean of a beta-binomial hierarchy with fixed strength: A. Gelman et al., Bayesian Data
        Analysis, 3rd ed. (2013), chapter 5.

    Examples:
        >>> labels = [("mac", "ff", "acc"), ("mac", "ff", "ctl"), ("wd", "ff", "ctl")]
        >>> strata = Strata.of(labels, [1, 1, 1], [9, 9, 9])
        >>> shrunken_rates(strata, [0, 5, 0], [20, 10, 0]).round(2).tolist()
        [0.03, 0.4, 0.18]
    """
    x, n = np.asarray(events, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    return _ladder(strata, x, n, (float(x.sum()) + 0.5) / (float(n.sum()) + 1.0), _STRENGTH)


def shrunken_costs(strata: Strata, costs: npt.ArrayLike, trials: npt.ArrayLike) -> FloatArray:
    """Return a guess of the mean cost of an injection in each stratum, by the same rule as the rates.

    Args:
        strata: Whose labels say what is a part of what.
        costs: Sum over the injections of each, in any unit, shape (strata,).
        trials: Number of those injections.

    Returns:
        Costs > 0; all 1 if nothing was spent.

    Examples:
        >>> strata = Strata.of([("mac", "ff"), ("wd", "ff")], [1, 1], [9, 9])
        >>> shrunken_costs(strata, [10.0, 90.0], [6, 6]).round(2).tolist()
        [2.73, 13.93]
    """
    c, n = np.asarray(costs, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    if not float(c.sum()) > 0.0:
        return np.ones(c.shape)
    return _ladder(strata, c, n, float(c.sum()) / float(n.sum()), _STRENGTH)


def _ladder(strata: Strata, sums: FloatArray, trials: FloatArray, root: float, strength: float) -> FloatArray:
    guess = np.full(len(strata), root)
    for depth in range(1, len(strata.labels[0]) + 1):
        names, owner = strata.owners(depth)
        total, count = np.bincount(owner, sums, len(names)), np.bincount(owner, trials, len(names))
        guess = (total[owner] + strength * guess) / (count[owner] + strength)
    return guess
