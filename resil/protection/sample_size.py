# SPDX-License-Identifier: Apache-2.0
"""How many new injections a confirmation needs, and where: a plan that is right is not refused by chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.stats.allocation import allocate_shares
from resil.stats.clusters import weighted_sum_over_inputs
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
# Draws where inputs differ: each has its own limit to be found.
_DRAWS_OVER_INPUTS = 200
# Draws around the turn that are looked at one by one.
_NEAR = 12
# What differs between inputs is looked at where without it a plan is kept this often at least.
_WORTH = 0.8
# More than any confirmation injects.
ENDLESS = 10**12


@dataclass(frozen=True, slots=True)
class ExpectedStorage:
    """Storage of one kind in one block, as a plan sees it.

    Attributes:
        block: Block.
        kind: Kind of storage.
        fit_raw: Its upset rate in FIT.
        share: Part of its upsets that is hazardous by the plan's prediction, 0 to 1.
        fixed: Fewest injections that it gets, beside those that are spread: these, or in proportion to its
            rate; None if it shares in those that are spread.
        faults: How many there are in it: no more are injected.
        due: Part of its upsets that is detected by the plan's prediction, 0 to 1; with `share` at most 1.
    """

    block: str
    kind: str
    fit_raw: float
    share: float
    fixed: int | None = None
    faults: int = ENDLESS
    due: float = 0.0


@dataclass(frozen=True, slots=True)
class InputsLikeThese:
    """What a confirmation runs where it is about inputs like those that it runs.

    Attributes:
        inputs: How many it runs.
        variation: Coefficient of variation of what they have in hazardous failures, as far as is known.
    """

    inputs: int
    variation: float


@dataclass(frozen=True, slots=True)
class InjectionSpread:
    """Injections into each storage, and what they can show.

    Attributes:
        by_storage: Number by block and kind of storage.
        power: How often all limits that judge stay below what is allowed on all networks if the prediction
            is true, 0 to 1, at least.
    """

    by_storage: Mapping[tuple[str, str], int]
    power: float


def spread_needed(
    expected: Sequence[ExpectedStorage],
    allowed: float | None,
    confidence: float,
    sizes: Sequence[int] = SIZES,
    networks: int = 1,
    allowed_due: float | None = None,
    drawn: InputsLikeThese | None = None,
) -> InjectionSpread:
    """Return the smallest spread that shows, at `POWER`, that rates are below what is allowed.

    The best of the largest size that is tried if none does, as where the plan has hardly any reserve.

    Args:
        expected: All storage.
        allowed: Most that the upper limit of its hazardous FIT may be; None if nothing is asked.
        confidence: Of the two-sided interval that judges, `resil.stats.weighted.weighted_sum`.
        sizes: Numbers of injections that are spread, ascending.
        networks: How many such spreads, one each, have to show it together.
        allowed_due: Most that the upper limit of detected failures may be; None if nothing is asked of them.
        drawn: Inputs, where limits are for inputs like these; None if they are for these.

    Examples:
        Where the failures are expected there is much to be learnt:

        >>> storage = [Expected("a", "ff", 1.0, 0.02), Expected("a", "sram", 3.0, 0.0)]
        >>> spread_needed(storage, 0.04, 0.95).by_storage
        {('a', 'ff'): 1529, ('a', 'sram'): 1471}
    """
    expected = [one for one in expected if one.fit_raw > 0.0]
    if not expected:
        return InjectionSpread({}, 1.0)
    asked = [(np.array([one.share for one in expected]), allowed)]
    if allowed_due is not None:
        asked.append((np.array([one.due for one in expected]), allowed_due))
    demands = [_Demand(shares, most) for shares, most in asked if most is not None]
    found: list[InjectionSpread] = []
    for size in sizes:
        leads = demands or [_Demand(asked[0][0], None)]
        found = [
            _spread(size, expected, part, lead, demands, confidence, networks, drawn)
            for lead in leads
            for part in _DEFENSIVE
        ]
        if not demands:
            return found[0]
        if max(found, key=lambda one: one.power).power >= POWER:
            break
    return max(found, key=lambda one: one.power)


@dataclass(frozen=True, slots=True)
class _Demand:
    """Parts of the upsets with some outcome, shape (storage,), and the most FIT that they may be."""

    shares: FloatArray
    allowed: float | None


def _spread(
    size: int,
    expected: Sequence[ExpectedStorage],
    by_rate: float,
    lead: _Demand,
    demands: Sequence[_Demand],
    confidence: float,
    networks: int,
    drawn: InputsLikeThese | None,
) -> InjectionSpread:
    """Return a spread whose part that does not go by the raw rate goes by one of the demands."""
    free = np.array([one.fixed is None for one in expected])
    weights = np.array([one.fit_raw for one in expected])
    whole = float(weights.sum())
    floor = 0.0 if lead.allowed is None else min(_WIDEST, _FLOOR * lead.allowed / whole)
    risks = np.maximum(lead.shares, floor)
    wanted = weights * (by_rate + (1.0 - by_rate) * _normal(np.sqrt(risks * (1.0 - risks)), weights))
    least = [max(one.fixed or 0, math.ceil(size * one.fit_raw / whole)) for one in expected]
    rooms = np.array([one.faults for one in expected], dtype=np.int64)
    counts = np.minimum(np.array(least, dtype=np.int64), rooms)
    if free.any():
        most, shares_wanted = min(size, int(rooms[free].sum())), wanted[free] / wanted[free].sum()
        counts[free] = allocate_shares(most, shares_wanted, rooms[free], minimum=1)
    # Outcomes exclude each other, so that what is much of one is little of the other.
    power = math.prod(_power(counts, weights, own, confidence, drawn) for own in demands) ** networks
    keys = [(one.block, one.kind) for one in expected]
    return InjectionSpread(dict(zip(keys, counts.tolist(), strict=True)), power)


def _normal(factors: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the factors with a weighted mean of 1."""
    mean = float((factors * weights).sum() / weights.sum())
    return factors / mean if mean > 0.0 else np.ones_like(factors)


def _power(
    counts: IntArray,
    weights: FloatArray,
    demand: _Demand,
    confidence: float,
    drawn: InputsLikeThese | None,
) -> float:
    assert demand.allowed is not None
    draws = np.random.default_rng(0).binomial(counts, demand.shares, (_DRAWS, len(counts)))
    kinds, times = np.unique(draws, axis=0, return_counts=True)
    met = _met(kinds, counts, weights, demand.allowed, confidence)
    power = float(times[met].sum() / _DRAWS)
    if drawn is None or power < _WORTH:
        return power
    return min(power, _power_over_inputs(counts, weights, demand, confidence, drawn))


def _power_over_inputs(
    counts: IntArray, weights: FloatArray, demand: _Demand, confidence: float, drawn: InputsLikeThese
) -> float:
    """Return how often the limit for inputs like those that are drawn is allowed; each has its own rates."""
    rng = np.random.default_rng(0)
    of_input = np.arange(drawn.inputs)[:, None]
    trials = counts // drawn.inputs + (of_input < counts % drawn.inputs)
    square = drawn.variation**2
    met = 0
    for _ in range(_DRAWS_OVER_INPUTS):
        moved = rng.gamma(1.0 / square, square, drawn.inputs) if square > 0.0 else np.ones(drawn.inputs)
        events = rng.binomial(trials, np.minimum(1.0, moved[:, None] * demand.shares))
        found = weighted_sum_over_inputs(events, trials, weights, confidence).interval
        met += found.hi <= (demand.allowed or 0.0)
    return met / _DRAWS_OVER_INPUTS


def _met(
    events: IntArray, counts: IntArray, weights: FloatArray, allowed: float, confidence: float
) -> npt.NDArray[np.bool_]:
    """Return which draws, shape (draws, storage), have an upper limit that is allowed.

    Where most storage has events hardly two draws are the same. Limits rise with the estimate but for little,
    so the draws are looked at from that on at which they turn, found by halving, until a run of them agrees.
    """
    order = np.argsort((events * (weights / np.maximum(counts, 1))).sum(axis=1), kind="stable")
    known: dict[int, bool] = {}

    def keeps(place: int) -> bool:
        if place not in known:
            found = weighted_sum(events[order[place]], counts, weights, confidence)
            known[place] = found.hi <= allowed
        return known[place]

    first, last = 0, len(order)
    while first < last:
        middle = (first + last) // 2
        first, last = (middle + 1, last) if keeps(middle) else (first, middle)
    met = np.zeros(len(order), dtype=bool)
    met[order[:first]] = True
    near = range(max(0, first - _NEAR), min(len(order), first + _NEAR))
    for place in near:
        met[order[place]] = keeps(place)
    return met
