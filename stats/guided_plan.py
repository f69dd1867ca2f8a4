# SPDX-License-Identifier: Apache-2.0
"""The plan that predictions guide: more injections where they foresee more, as far as the first batch agrees.

The first batch is spread over all faults in proportion to their weights. If its outcomes fit the predicted
risks clearly better than one rate for all (`stats.guided.agrees`), all that follow go to groups of similar
risk by Neyman's shares under the predictions; with the first batch that is a defensive mixture. If not, they
are proportional too, and the whole is one plain sample: useless predictions cost nothing.

Without a margin or a budget the first batch is half of the injections, and there is one look at the end. With
one, the first batch is half of what the predictions say is needed; the first look comes where its outcomes
say that enough is known, and further ones share the rest of the error (`stats.looks`).

References:
    J. Neyman, J. Royal Stat. Soc. 97 (1934) 558-625.
    T. Hesterberg, Technometrics 37 (1995) 185-194 (defensive mixtures).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from resil.stats.allocation import allocate_shares
from resil.stats.designs import SamplingDesign
from resil.stats.guided import agrees, bounded
from resil.stats.intervals import Interval
from resil.stats.looks import look_confidences, look_sizes
from resil.stats.plans import (
    Batch,
    PlanStep,
    SamplingPlan,
    interval_over_inputs,
    settled,
    why_ended,
)
from resil.stats.strata import Strata, spread
from resil.stats.weighted import weighted_sum

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_FIRST = 0.5
_FEWEST_FIRST = 100
_TRUSTED = 20.0
_GROWTH = 1.4


@dataclass(frozen=True, eq=False)
class _RiskGroups:
    """Strata of similar risk.

    Attributes:
        strata: The population.
        risks: Predicted for each stratum.
    """

    strata: Strata
    risks: npt.ArrayLike

    @cached_property
    def owner(self) -> IntArray:
        """Group of each stratum: those with the same kind of storage and level of risk."""
        names = sorted({label[1:3] for label in self.strata.labels})
        return np.array([names.index(label[1:3]) for label in self.strata.labels], dtype=np.int64)

    @property
    def size(self) -> int:
        return int(self.owner.max()) + 1

    @cached_property
    def weight(self) -> FloatArray:
        return self.total(self.strata.weights)

    @cached_property
    def risk(self) -> FloatArray:
        mean = self.total(self.strata.weights * np.asarray(self.risks, dtype=np.float64))
        return bounded(mean / np.maximum(self.weight, 1e-300))

    @property
    def shares(self) -> FloatArray:
        """Neyman's, not scaled."""
        return self.weight * np.sqrt(self.risk * (1.0 - self.risk))

    def total(self, values: npt.ArrayLike) -> FloatArray:
        return np.bincount(self.owner, np.asarray(values, dtype=np.float64), self.size).astype(np.float64)

    def interval(self, events: FloatArray, trials: FloatArray, guided: bool, confidence: float) -> Interval:
        """Return the interval of the total from the counts of the groups."""
        if guided:
            return weighted_sum(events, trials, self.weight, confidence, mid_p=True)
        sums = [[float(np.sum(values))] for values in (events, trials, self.weight)]
        return weighted_sum(sums[0], sums[1], sums[2], confidence)


def guided_step(
    strata: Strata, risks: npt.ArrayLike, plan: SamplingPlan, seed: int, done: Sequence[Batch]
) -> PlanStep:
    """Return the next step of a guided campaign, as `stats.plans.next_step` does of others.

    Args:
        strata: The population; strata with the same second and third name (kind of storage, level of risk)
            are one group.
        risks: Predicted for each stratum.
        plan: What is asked, of the kind "guided".
        seed: Of the campaign.
        done: Batches so far, in order, each as the step before asked for it.
    """
    groups = _RiskGroups(strata, risks)
    plan = replace(plan, maximum=min(plan.maximum, int(strata.sizes.sum(dtype=object))))
    if not done:
        counts = _spread_all(groups, _first(groups, plan), np.zeros(len(strata), np.int64), seed, "batch 0")
        return PlanStep("main", counts, _plain(strata), 0, plan.confidence)
    x, n = groups.total(done[0].events), groups.total(done[0].injections)
    guided = agrees(groups.risk, x, n)
    sizes = _looks(groups, plan, x, n, guided)
    confidences = look_confidences(len(sizes), plan.confidence, plan.budget is not None)
    design = (
        SamplingDesign(groups.owner, np.full(groups.size, 1.0 / groups.size), False)
        if guided
        else _plain(strata)
    )
    drawn = np.sum([batch.injections for batch in done], axis=0)
    look = len(done) - 1
    total, reason, confidence = None, "", confidences[max(look - 1, 0)]
    if look:
        events = groups.total(np.sum([batch.events for batch in done], axis=0))
        total = groups.interval(events, groups.total(drawn), guided, confidence)
        over = interval_over_inputs(done, design.total, design.total(strata.weights), confidence)
        total = total if over is None else over
        reason = why_ended(plan, strata, design, done, total, last=look == len(sizes))
    counts = np.zeros(len(strata), dtype=np.int64)
    if not reason:
        more = sizes[look] - int(drawn.sum())
        add = _by_risk if guided else _spread_all
        counts = add(groups, more, drawn, seed, f"batch {look + 1}")
    return PlanStep("done" if reason else "main", counts, design, 0, confidence, total, reason)


def _plain(strata: Strata) -> SamplingDesign:
    return SamplingDesign(np.zeros(len(strata), dtype=np.int64), np.ones(1), jitter=False)


def _first(groups: _RiskGroups, plan: SamplingPlan) -> int:
    """Return the size of the first batch."""
    half = round(_FIRST * plan.maximum)
    if not plan.stops:
        return half

    def expected(total: float) -> tuple[FloatArray, FloatArray]:
        even = groups.weight / groups.weight.sum() + groups.shares / groups.shares.sum()
        return groups.risk, total / 2.0 * even

    needed = _enough(groups, plan, expected, 2 * _FEWEST_FIRST, True, 1.0)
    return min(max(round(_FIRST * needed), _FEWEST_FIRST), half)


def _looks(
    groups: _RiskGroups, plan: SamplingPlan, x: FloatArray, n: FloatArray, guided: bool
) -> tuple[int, ...]:
    """Return the numbers of injections at which the results are looked at.

    Rates are guessed for that from the first batch and the predictions, these scaled to its events. The first
    look has a reserve for the error of that guess, since a further one has little of the error left.
    """
    drawn = float(n.sum())
    if not plan.stops:
        return (plan.maximum,)
    prior = np.full(groups.size, (float(x.sum()) + 0.5) / (drawn + 1.0))
    if guided:
        scale = (float(x.sum()) + 1.0) / (float((n * groups.risk).sum()) + 1.0)
        prior = np.minimum(scale * groups.risk, 1.0)
    rates = bounded((x + _TRUSTED * prior) / (n + _TRUSTED))

    def expected(total: float) -> tuple[FloatArray, FloatArray]:
        share = groups.shares if guided else groups.weight
        return rates, n + (total - drawn) * share / share.sum()

    least = min(round(drawn) + 1, plan.maximum)
    if plan.budget is not None and plan.margin is None:
        return look_sizes(min(max(least, round(_GROWTH * drawn)), plan.maximum), plan.maximum, 2.0)
    reserve = 1.0 + (0.5 if guided else 1.0) / float(np.sqrt(x.sum() + 1.0))
    return look_sizes(_enough(groups, plan, expected, least, guided, reserve), plan.maximum, _GROWTH)


def _enough(
    groups: _RiskGroups,
    plan: SamplingPlan,
    expected: Callable[[float], tuple[FloatArray, FloatArray]],
    least: int,
    guided: bool,
    reserve: float,
) -> int:
    """Return `reserve` times the injections after which the expected counts settle what is asked."""
    confidence = look_confidences(2, plan.confidence)[0]
    low, high = float(least), float(plan.maximum)
    while high > low * 1.02:
        middle = (low * high) ** 0.5
        rates, trials = expected(middle / reserve)
        trials = np.maximum(trials, 1.0)
        found = groups.interval(rates * trials, trials, guided, confidence)
        low, high = (low, middle) if settled(plan, found) else (middle, high)
    return min(round(high), plan.maximum)


def _spread_all(groups: _RiskGroups, total: int, drawn: IntArray, seed: int, name: str) -> IntArray:
    """Spread injections in proportion to weight, evenly over the groups too."""
    order = np.argsort(groups.owner, kind="stable")
    counts = np.zeros(len(order), dtype=np.int64)
    room = (groups.strata.sizes - drawn)[order]
    counts[order] = spread(total, groups.strata.weights[order], room, seed, name)
    return counts


def _by_risk(groups: _RiskGroups, total: int, drawn: IntArray, seed: int, name: str) -> IntArray:
    room = groups.strata.sizes - drawn
    rooms = [int(room[groups.owner == g].sum(dtype=object)) for g in range(groups.size)]
    missing = 1 if np.any((groups.total(drawn) == 0) & (groups.weight > 0)) else 0
    counts = np.zeros(len(drawn), dtype=np.int64)
    for g, k in enumerate(allocate_shares(total, groups.shares, rooms, missing)):
        own = np.flatnonzero(groups.owner == g)
        counts[own] = spread(k, groups.strata.weights[own], room[own], seed, f"{name}/{g}")
    return counts
