# SPDX-License-Identifier: Apache-2.0
"""How many new injections a confirmation needs, and where: a plan that is right is not refused by chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.stats.allocation import allocate_shares
from resil.stats.weighted import weighted_sum

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Sizes that are tried, and how often a plan whose prediction is true is to keep its limits on all networks.
SIZES = (2000, 3000, 4000, 6000, 8000, 12000, 16000, 20000)
POWER = 0.95

# How much of the spread goes by the raw rate, whatever is predicted; the rest by Neyman's rule.
_DEFENSIVE = (1.0, 0.5, 0.25)
# No storage is taken for better than this part of what is allowed on average; of a share, 0.5 spreads most.
_FLOOR = 0.1
_WIDEST = 0.5
_DRAWS = 600
# More than any confirmation injects.
ENDLESS = 10**12


@dataclass(frozen=True, slots=True)
class Expected:
    """Storage of one kind in one block, as a plan sees it.

    Attributes:
        block: Block.
        kind: Kind of storage.
        fit_raw: Its upset rate in FIT.
        share: Part of its upsets that is hazardous by the plan's prediction, 0 to 1.
        fixed: Fewest injections that it gets, beside those that are spread: these, or in proportion to its
            rate; None if it shares in those that are spread.
        faults: How many there are in it: no more are injected.
    """

    block: str
    kind: str
    fit_raw: float
    share: float
    fixed: int | None = None
    faults: int = ENDLESS


@dataclass(frozen=True, slots=True)
class Spread:
    """Injections into each storage, and what they can show.

    Attributes:
        by_storage: Number by block and kind of storage.
        power: How often the limits that judge stay below what is allowed on all networks if the prediction is
            true, 0 to 1.
    """

    by_storage: Mapping[tuple[str, str], int]
    power: float


def spread_needed(
    expected: Sequence[Expected],
    allowed: float | None,
    confidence: float,
    sizes: Sequence[int] = SIZES,
    networks: int = 1,
) -> Spread:
    """Return the smallest spread that shows, at `POWER`, that a rate is below what is allowed.

    The best of the largest size that is tried if none does, as where the plan has hardly any reserve.

    Args:
        expected: All storage.
        allowed: Most that the upper limit of its hazardous FIT may be; None if nothing is asked.
        confidence: Of the two-sided interval that judges, `resil.stats.weighted.weighted_sum`.
        sizes: Numbers of injections that are spread, ascending.
        networks: How many such spreads, one each, have to show it together.

    Examples:
        Where the failures are expected there is much to be learnt:

        >>> storage = [Expected("a", "ff", 1.0, 0.02), Expected("a", "sram", 3.0, 0.0)]
        >>> spread_needed(storage, 0.04, 0.95).by_storage
        {('a', 'ff'): 1529, ('a', 'sram'): 1471}
    """
    expected = [one for one in expected if one.fit_raw > 0.0]
    if not expected:
        return Spread({}, 1.0)
    found: list[Spread] = []
    for size in sizes:
        found = [_spread(size, expected, part, allowed, confidence, networks) for part in _DEFENSIVE]
        if allowed is None:
            return found[0]
        if max(found, key=lambda one: one.power).power >= POWER:
            break
    return max(found, key=lambda one: one.power)


def _spread(
    size: int,
    expected: Sequence[Expected],
    by_rate: float,
    allowed: float | None,
    confidence: float,
    networks: int,
) -> Spread:
    free = np.array([one.fixed is None for one in expected])
    weights = np.array([one.fit_raw for one in expected])
    shares = np.array([one.share for one in expected])
    whole = float(weights.sum())
    floor = 0.0 if allowed is None else min(_WIDEST, _FLOOR * allowed / whole)
    risks = np.maximum(shares, floor)
    wanted = weights * (by_rate + (1.0 - by_rate) * _normal(np.sqrt(risks * (1.0 - risks)), weights))
    least = [max(one.fixed or 0, math.ceil(size * one.fit_raw / whole)) for one in expected]
    rooms = np.array([one.faults for one in expected], dtype=np.int64)
    counts = np.minimum(np.array(least, dtype=np.int64), rooms)
    if free.any():
        most, shares_wanted = min(size, int(rooms[free].sum())), wanted[free] / wanted[free].sum()
        counts[free] = allocate_shares(most, shares_wanted, rooms[free], minimum=1)
    power = 1.0 if allowed is None else _power(counts, weights, shares, allowed, confidence) ** networks
    keys = [(one.block, one.kind) for one in expected]
    return Spread(dict(zip(keys, counts.tolist(), strict=True)), power)


def _normal(factors: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the factors with a weighted mean of 1."""
    mean = float((factors * weights).sum() / weights.sum())
    return factors / mean if mean > 0.0 else np.ones_like(factors)


def _power(
    counts: IntArray, weights: FloatArray, shares: FloatArray, allowed: float, confidence: float
) -> float:
    draws = np.random.default_rng(0).binomial(counts, shares, (_DRAWS, len(counts)))
    kinds, times = np.unique(draws, axis=0, return_counts=True)
    met = [weighted_sum(events, counts, weights, confidence).hi <= allowed for events in kinds]
    return float(times[np.array(met)].sum() / _DRAWS)
