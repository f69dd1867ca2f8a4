# SPDX-License-Identifier: Apache-2.0
"""How many injections each stratum gets.

Every function returns whole numbers that sum exactly to the total, with at least `minimum` in each stratum
(or all its members, if it has fewer) and never more than its members. Rounding is by largest remainder; of
equal remainders the earlier stratum gets the unit.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resil.stats.errors import ArgumentError

FloatArray = npt.NDArray[np.float64]


def allocate_proportional(total: int, sizes: npt.ArrayLike, minimum: npt.ArrayLike = 0) -> tuple[int, ...]:
    """Divide `total` in proportion to the sizes of the strata.

    Args:
        total: Injections to divide.
        sizes: Members of each stratum, shape (strata,).
        minimum: Fewest injections in a stratum; of each, shape (strata,), or one number for all.

    Returns:
        Injections for each stratum.

    Raises:
        ValueError: the minima need more than `total`, or `total` is more than all members.

    Examples:
        >>> allocate_proportional(1000, [6_000, 3_000, 50], minimum=60)
        (633, 317, 50)
    """
    members = _members(sizes)
    return _divide(total, members, members, minimum)


def allocate_equal(total: int, sizes: npt.ArrayLike, minimum: int = 0) -> tuple[int, ...]:
    """Divide `total` evenly; what a small stratum cannot take goes to the others.

    Args, Returns and Raises as `allocate_proportional`.

    Examples:
        >>> allocate_equal(100, [10**9, 10**12, 10])
        (45, 45, 10)
    """
    members = _members(sizes)
    return _divide(total, (members > 0).astype(np.float64), members, minimum)


def allocate_shares(
    total: int, shares: npt.ArrayLike, sizes: npt.ArrayLike, minimum: int = 0
) -> tuple[int, ...]:
    """Divide `total` in proportion to given shares.

    A minimum that cannot be kept by all is lowered to what can be.

    Args:
        total: Injections to divide.
        shares: Of each stratum, >= 0, shape (strata,).
        sizes: Members of each stratum that may still be drawn.
        minimum: Fewest injections in a stratum.

    Returns:
        Injections for each stratum.

    Raises:
        ValueError: a share is negative, shapes differ, or `total` is more than can be drawn.

    Examples:
        >>> allocate_shares(10, [0.7, 0.2, 0.1], [10**9] * 3, minimum=2)
        (6, 2, 2)
    """
    members, share = _members(sizes), np.asarray(shares, dtype=np.float64)
    if share.shape != members.shape or not np.all(share >= 0):
        raise ValueError("shares need the shape of the sizes and values >= 0")
    share = np.where((share == 0) & (members > 0), 1e-12 * max(float(share.max(initial=0.0)), 1e-300), share)
    return _divide(total, share, members, min(minimum, total // max(len(members), 1)))


def allocate_neyman(
    total: int,
    weights: npt.ArrayLike,
    pilot_events: npt.ArrayLike,
    pilot_trials: npt.ArrayLike,
    sizes: npt.ArrayLike,
    costs: npt.ArrayLike | None = None,
    minimum: int = 0,
) -> tuple[int, ...]:
    """Divide `total` so that the variance of `sum w_i p_i` for the money is least.

    `n_i` is proportional to `w_i sqrt(p_i (1 - p_i) / c_i)` with the pilot's proportions `p_i = (x_i + 1/2)
    / (m_i + 1)`: a stratum in which the pilot saw nothing still gets its share of doubt.

    Args:
        total: Injections to divide.
        weights: w_i >= 0, shape (strata,): the raw rate of the stratum, say.
        pilot_events: Events in the pilot.
        pilot_trials: Injections of the pilot; 0 allowed.
        sizes: Members of each stratum that may still be drawn.
        costs: Mean cost of an injection in each stratum, > 0 (seconds, cycles); None for equal costs.
        minimum: Fewest injections in a stratum.

    Returns:
        Injections for each stratum.

    Raises:
        ValueError: shapes differ; not 0 <= events <= trials; a weight is negative; a cost is not positive;
            the minima need more than `total`; `total` is more than can be drawn.

    References:
        J. Neyman, "On the two different aspects of the representative method", J. Royal Stat. Soc. 97
        (1934) 558-625; with costs: W. G. Cochran, Sampling Techniques, 3rd ed. (1977), section 5.5.

    Examples:
        Same rate seen, a hundredfold weight: nearly all goes there.

        >>> allocate_neyman(101, [1.0, 100.0], [5, 5], [100, 100], [10**9, 10**9])
        (1, 100)
    """
    w, x, m = (np.asarray(v, dtype=np.float64) for v in (weights, pilot_events, pilot_trials))
    members = _members(sizes)
    cost = np.ones(members.shape) if costs is None else np.asarray(costs, dtype=np.float64)
    if not w.shape == x.shape == m.shape == cost.shape == members.shape:
        raise ArgumentError("weights, pilot counts, costs and sizes need one shape (strata,)", "shape")
    if not (np.all((x >= 0) & (x <= m)) and np.all(w >= 0) and np.all(cost > 0)):
        raise ArgumentError(
            "Neyman allocation needs 0 <= events <= trials, weights >= 0 and costs > 0", "counts"
        )
    p = (x + 0.5) / (m + 1.0)
    # By a power of two, so that shares stay what they are and products of the least weights do not vanish.
    w = np.ldexp(w, -np.frexp(w.max(initial=0.0))[1])
    return _divide(total, w * np.sqrt(p * (1.0 - p) / cost), members, minimum)


def _members(sizes: npt.ArrayLike) -> FloatArray:
    members = np.asarray(sizes, dtype=np.float64)
    if members.ndim != 1 or not np.all(members >= 0):
        raise ArgumentError(f"sizes need shape (strata,) and values >= 0, found {members.tolist()}", "sizes")
    return members


def _divide(total: int, shares: FloatArray, members: FloatArray, minimum: npt.ArrayLike) -> tuple[int, ...]:
    fewest = np.asarray(minimum, dtype=np.float64)
    lower = np.minimum(fewest, members)
    upper = np.where(shares > 0, np.minimum(members, float(total)), lower)
    if total < lower.sum():
        where = "each" if np.unique(fewest).size == 1 else "some"
        raise ArgumentError(
            f"a minimum of {fewest.max():.0f} in {where} of {len(members)} strata needs "
            f"{int(lower.sum())} injections, and {total} were given: give more or lower the minimum",
            "minimum",
        )
    if total > upper.sum():
        raise ArgumentError(
            f"{total} injections were given for strata that can take {int(upper.sum())}: give fewer",
            "injections",
        )
    ideal = np.minimum(_ideal(total, shares, lower, upper), upper)
    whole = np.floor(ideal + 1e-9)
    while (missing := total - int(whole.sum())) > 0:
        open_ended = np.flatnonzero(whole < upper)
        order = open_ended[np.argsort(-(ideal - whole)[open_ended], kind="stable")]
        whole[order[:missing]] += 1
    return tuple(int(v) for v in whole)


def _ideal(total: int, shares: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return shares times one factor, clipped to the bounds, that sum to `total` but for rounding.

    The sum grows with the factor, in straight pieces between the factors at which a stratum leaves its
    lower or
    reaches its upper bound: the piece is found by bisection, the factor in it by the rule of three.
    """
    some = shares > 0
    share, low, high = shares[some] / shares[some].max(initial=1e-300), lower[some], upper[some]
    wanted = float(total) - float(lower[~some].sum())
    with np.errstate(over="ignore"):
        corners = np.unique(np.concatenate(([0.0], low / share, high / share)))
    corners = corners[np.isfinite(corners)]

    def at(factor: float) -> FloatArray:
        clipped: FloatArray = np.clip(share * factor, low, high)
        return clipped

    first, last = 0, len(corners) - 1
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if at(corners[middle]).sum() <= wanted else (first, middle)
    below, above = at(corners[first]), at(corners[last])
    rise = float((above - below).sum())
    part = min(max((wanted - float(below.sum())) / rise, 0.0), 1.0) if rise > 0.0 else 0.0
    ideal = lower.copy()
    ideal[some] = below + part * (above - below)
    return ideal
