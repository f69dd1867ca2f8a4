# SPDX-License-Identifier: Apache-2.0
"""Sampling plans: what to inject next, and when to stop.

A plan is played by calling `next_step` with what was found so far, injecting what it asks for, and calling
it again. It is a pure function of its arguments: an interrupted campaign that plays its results again gets
the same steps.

- `uniform`: every fault of the population is as likely as any other.
- `stratified`: a group for each block and kind of storage, shares proportional to the raw rate, with a
  minimum for each.
- `adaptive`: a pilot (stratified; a hundred injections, then up to a tenth of what these say is needed)
  shows where events and costs are; from it follow a design (`stats.designs.optimal_design`) and the sizes
  at which to look at the results. Then come injections by that design until the margin or the verdict is
  settled, or the most is spent.

The pilot decides how to sample and is left out of the intervals. This is what makes them hold: given the
pilot, everything that comes after it is an ordinary stratified sample with fixed sizes, and looks at it
share the error between them (`stats.looks`). With the pilot's own counts in the sum, strata in which it
happened to see nothing would be sampled less *and* keep that luck, a bias towards too few failures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from resil.stats.clusters import weighted_sum_over_inputs
from resil.stats.designs import (
    SamplingDesign,
    expected_limits,
    optimal_design,
    stratified_design,
    uniform_design,
)
from resil.stats.errors import ArgumentError
from resil.stats.input_spread import spread_of
from resil.stats.intervals import Interval, check_confidence
from resil.stats.looks import look_confidences, look_sizes
from resil.stats.shrinkage import shrunken_costs, shrunken_rates
from resil.stats.strata import Strata
from resil.stats.weighted import weighted_sum

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Kind = Literal["uniform", "stratified", "adaptive", "guided"]

ADAPTIVE_FROM = 1000
_PILOT = 100
_PILOT_SHARE = 0.1
_PILOT_MOST = 2000
_RESERVE = 1.2
_AFTER_FORESEEN = 1.4
# Before more injections are given up: part of the variance that is between inputs at least, and how far their
# part of the half width is above the margin.
_MOSTLY, _SURELY = 0.75, 1.6


@dataclass(frozen=True)
class SamplingPlan:
    """What is asked of a campaign.

    Attributes:
        kind: How to sample. An adaptive plan of fewer than 1000 injections is stratified; a guided one is
            that of `stats.guided_plan`.
        maximum: Most injections.
        minimum: Fewest in each block and kind, as far as the maximum goes.
        confidence: Of the intervals.
        margin: Half width of the interval of the total at which an adaptive or guided campaign stops;
            None for none.
        relative: The margin is a multiple of the estimate, not in FIT.
        budget: FIT that the total may have; such a campaign stops when the interval leaves it out.
        pilot: Fewest injections of an adaptive plan's pilot in each block and kind. Where strata are few, a
            design that sees too little in one of them leaves most of the variance there.

        highest: How many times the total can be higher, as raw rates are known within ranges: a budget is met
            only if it is then, too.

    Raises:
        ValueError: a number is out of range, or the kind is none.
    """

    kind: Kind
    maximum: int
    minimum: int = 0
    confidence: float = 0.95
    margin: float | None = None
    relative: bool = False
    budget: float | None = None
    pilot: int = 0
    highest: float = 1.0

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if self.kind not in get_args(Kind):
            raise ValueError(f"a plan is one of {', '.join(get_args(Kind))}, found {self.kind!r}")
        if self.maximum < 1 or self.minimum < 0 or self.pilot < 0:
            raise ValueError("a plan needs a maximum >= 1, and minima >= 0")
        if (self.margin is not None and not self.margin > 0) or (self.budget is not None and self.budget < 0):
            raise ValueError("a margin is > 0 and a budget >= 0")

    @property
    def stops(self) -> bool:
        """Whether the results decide how many injections there are."""
        asked = self.margin is not None or self.budget is not None
        return self.kind in ("adaptive", "guided") and asked


@dataclass(frozen=True, eq=False)
class Batch:
    """What came of the injections of one step.

    Attributes:
        injections: Into each stratum, shape (strata,): as the step asked for.
        events: Hazardous ones among them.
        costs: Sum of what they cost, in any unit; all 0 if not known.
        inputs: Injections and events of each input alone, by its label, if what is asked is about inputs
            like those that were run; else nothing.
    """

    injections: IntArray
    events: IntArray
    costs: FloatArray
    inputs: Mapping[int, tuple[IntArray, IntArray]] = field(default_factory=dict)

    @staticmethod
    def of(
        injections: npt.ArrayLike,
        events: npt.ArrayLike,
        costs: npt.ArrayLike | None = None,
        inputs: Mapping[int, tuple[IntArray, IntArray]] | None = None,
    ) -> Batch:
        """Convert."""
        n, x = np.asarray(injections, dtype=np.int64), np.asarray(events, dtype=np.int64)
        c = np.zeros(n.shape) if costs is None else np.asarray(costs, dtype=np.float64)
        return Batch(n, x, c, inputs or {})


@dataclass(frozen=True, eq=False)
class Schedule:
    """A design and when to look at what it brings.

    Attributes:
        design: With which all injections of the schedule are drawn.
        looks: Injections at each look, ascending.
        confidences: Of the intervals at each look: they hold together with the plan's confidence.
    """

    design: SamplingDesign
    looks: tuple[int, ...]
    confidences: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class PlanStep:
    """What to do next.

    Attributes:
        stage: "pilot", "main", or "done".
        injections: To make now into each stratum, shape (strata,); all 0 when done, and possibly all 0 in
            the second part of a pilot, whose batch is recorded all the same.
        design: Of the injections that count; None in the pilot.
        counts_from: Number of the first batch that counts for the intervals: 2 after a pilot, else 0.
        confidence: Of the intervals to be reckoned if the campaign ends with the batches so far; the plan's
            confidence then holds for them, however many looks there were.
        total: Interval of the total hazardous FIT from the batches so far; None before the first that
            counts.
        reason: When done, why: "margin", "budget" (it lies outside the interval), "inputs" (they differ so
            much that injections do not bring the margin), "maximum", or "exhausted" (every fault was
            injected; then all batches count, and the total is known).
    """

    stage: Literal["pilot", "main", "done"]
    injections: IntArray
    design: SamplingDesign | None
    counts_from: int
    confidence: float
    total: Interval | None = None
    reason: str = ""


def next_step(strata: Strata, plan: SamplingPlan, seed: int, done: Sequence[Batch]) -> PlanStep:
    """Return the next step of a plan.

    Args:
        strata: The population.
        plan: What is asked.
        seed: Of the campaign.
        done: Batches so far, in order, each as the step before asked for it.

    Examples:
        >>> strata = Strata.of([("mac", "ff"), ("wd", "ff")], [3.0, 1.0], [10**9, 10**9])
        >>> plan = SamplingPlan("stratified", 100)
        >>> step = next_step(strata, plan, 1, [])
        >>> step.stage, step.injections.tolist()
        ('main', [75, 25])
        >>> done = Batch.of(step.injections, [2, 0])
        >>> step = next_step(strata, plan, 1, [done])
        >>> step.stage, step.reason, round(step.total.estimate, 3)
        ('done', 'maximum', 0.08)
    """
    if plan.kind == "guided":
        raise ArgumentError(
            "a guided plan needs predictions: play it with resil.stats.guided_plan.guided_step", "predictions"
        )
    first = 2 if plan.kind == "adaptive" and plan.maximum >= ADAPTIVE_FROM else 0
    if len(done) < first:
        counts = _pilot(strata, plan, seed, done)
        return PlanStep("pilot", counts, None, first, plan.confidence)
    return scheduled_step(strata, plan, schedule_after(strata, plan, done[:first]), seed, done, first)


def schedule_after(strata: Strata, plan: SamplingPlan, pilots: Sequence[Batch]) -> Schedule:
    """Return the schedule that follows from the batches of a pilot; without any, the only one there is."""
    pilot = _joined(strata, pilots)
    parts = (pilot.injections, pilot.events, pilot.costs)
    return _schedule(strata, plan, *(part.tobytes() for part in parts))


def scheduled_step(
    strata: Strata,
    plan: SamplingPlan,
    schedule: Schedule,
    seed: int,
    done: Sequence[Batch],
    first: int,
    fewest: int = 1,
) -> PlanStep:
    """Return the next step of a schedule.

    Args:
        strata: The population.
        plan: What is asked.
        schedule: Design and looks; up to the next look they do not change.
        seed: Of the campaign.
        done: Batches so far, in order, each as the step before asked for it.
        first: Number of the first batch that counts.
        fewest: Injections of the first look in each block and kind, as far as they go.
    """
    nothing = np.zeros(len(strata), dtype=np.int64)
    drawn = _joined(strata, done).injections
    look = len(done) - first
    confidence = schedule.confidences[max(look - 1, 0)]
    total, reason = None, ""
    if look:
        total = total_interval(strata, schedule.design, done[first:], confidence)
        last = look >= len(schedule.looks)
        reason = why_ended(plan, strata, schedule.design, done[first:], total, last=last)
    counts = nothing
    if not reason:
        wanted = schedule.looks[look] - (schedule.looks[look - 1] if look else 0)
        minimum = max(plan.minimum, fewest) if look == 0 else 0
        counts = schedule.design.injections(wanted, strata, drawn, seed, f"main {look}", minimum)
        if not counts.any():
            reason, first = "exhausted", 0
            total = total_interval(strata, schedule.design, done, confidence)
    stage: Literal["main", "done"] = "done" if reason else "main"
    return PlanStep(stage, counts, schedule.design, first, confidence, total, reason)


def total_interval(
    strata: Strata, design: SamplingDesign, batches: Sequence[Batch], confidence: float
) -> Interval:
    """Return the interval of `sum w_i p_i` from the batches drawn with `design`.

    Args:
        strata: The population.
        design: Of all these batches.
        batches: At least one.
        confidence: Of the interval.
    """
    found = _joined(strata, batches)
    if not design.jitter:
        design = _by_kind(strata)
    parts = (found.events, found.injections, strata.weights)
    x, n, w = map(design.total, parts)
    if (over := interval_over_inputs(batches, design.total, w, confidence)) is not None:
        return over
    return weighted_sum(x, n, w, confidence, sizes=strata.members(design.owner, design.groups))


def interval_over_inputs(
    batches: Sequence[Batch],
    total: Callable[[npt.ArrayLike], FloatArray],
    weights: FloatArray,
    confidence: float,
) -> Interval | None:
    """Return the interval of the total for inputs like those that were run; None if that is not asked.

    Of one input nothing is known beyond it, and there is none either.

    Args:
        batches: At least one.
        total: Sums values of strata over the groups that are analysed together.
        weights: Of these groups.
        confidence: Of the interval.
    """
    found = _of_inputs(batches, total)
    return None if found is None else weighted_sum_over_inputs(*found, weights, confidence).interval


def why_ended(
    plan: SamplingPlan,
    strata: Strata,
    design: SamplingDesign,
    batches: Sequence[Batch],
    total: Interval,
    *,
    last: bool,
) -> str:
    """Return why a plan ends at a look, as `PlanStep.reason`; "" if it goes on.

    Args:
        plan: What is asked.
        strata: The population.
        design: With which the batches were drawn.
        batches: That count, at least one.
        total: The interval that they give.
        last: Whether there is no further look.
    """
    if reason := settled(plan, total):
        return reason
    if last:
        return "maximum"
    weights = design.total(strata.weights)
    return "inputs" if _beyond_injections(plan, batches, design.total, weights, total) else ""


def _beyond_injections(
    plan: SamplingPlan,
    batches: Sequence[Batch],
    total: Callable[[npt.ArrayLike], FloatArray],
    weights: FloatArray,
    found: Interval,
) -> bool:
    """Whether inputs differ so much that more injections would not narrow the total to the margin.

    The variance of the mean over inputs has a part that is between them, which only more inputs make less.
    Where it is most of the variance, its part of the half width is set against the margin, with a reserve: it
    is an estimate itself.

    Args:
        plan: Has the margin; without one, or with a budget that may be settled first, the answer is no.
        batches: That count, at least one.
        total: Sums values of strata over the groups that are analysed together.
        weights: Of these groups.
        found: The interval so far.
    """
    counts = _of_inputs(batches, total)
    if counts is None or plan.margin is None or plan.budget is not None or found.estimate <= 0.0:
        return False
    spread = spread_of(*counts, weights)
    of_inputs, of_draws = spread.between / spread.inputs, spread.within / counts[1].sum()
    share = of_inputs / (of_inputs + of_draws) if of_inputs > 0.0 else 0.0
    half = found.width / 2.0 * share**0.5
    return share >= _MOSTLY and half > _SURELY * plan.margin * (found.estimate if plan.relative else 1.0)


def _of_inputs(
    batches: Sequence[Batch], total: Callable[[npt.ArrayLike], FloatArray]
) -> tuple[FloatArray, FloatArray] | None:
    """Return events and injections of each input in each group; None where inputs are not asked about."""
    labels = sorted({label for batch in batches for label in batch.inputs})
    if len(labels) < 2:
        return None

    def counts(place: int) -> FloatArray:
        none = np.zeros(len(batches[0].injections), dtype=np.int64)
        return np.array(
            [
                total(sum((b.inputs[label][place] for b in batches if label in b.inputs), none))
                for label in labels
            ]
        )

    return counts(1), counts(0)


def _by_kind(strata: Strata) -> SamplingDesign:
    kinds = sorted({label[1] for label in strata.labels})
    owner = np.array([kinds.index(label[1]) for label in strata.labels], dtype=np.int64)
    return SamplingDesign(owner, np.full(len(kinds), 1.0 / len(kinds)), jitter=False)


@lru_cache(maxsize=4)
def _schedule(strata: Strata, plan: SamplingPlan, injections: bytes, events: bytes, costs: bytes) -> Schedule:
    """Return the schedule that follows from a pilot, or without injections in it the only one there is.

    It is kept, since every step of a campaign asks for it again.
    """
    n, x, c = np.frombuffer(injections, np.int64), np.frombuffer(events, np.int64), np.frombuffer(costs)
    return _after_pilot(strata, plan, Batch(n, x, c)) if n.any() else _fixed(strata, plan)


def _fixed(strata: Strata, plan: SamplingPlan) -> Schedule:
    design = uniform_design(strata) if plan.kind == "uniform" else stratified_design(strata, plan.maximum)
    return Schedule(design, (plan.maximum,), (plan.confidence,))


def _pilot(strata: Strata, plan: SamplingPlan, seed: int, done: Sequence[Batch]) -> IntArray:
    """Return the injections of the pilot: some, then as many as they promise to be worth, perhaps none."""
    so_far = _joined(strata, done)
    size, name = _PILOT, "pilot"
    if done:
        rates = shrunken_rates(strata, so_far.events, so_far.injections)
        needed = enough(strata, stratified_design(strata), rates, plan, _PILOT, plan.maximum)
        groups = len(strata.owners(2)[0])
        size, name = min(round(_PILOT_SHARE * needed), _PILOT_MOST) - _PILOT, "pilot, more"
        size = max(size, min(plan.pilot * groups, round(_PILOT_SHARE * plan.maximum)))
    minimum = plan.pilot if done else max(plan.minimum, 4)
    return stratified_design(strata).injections(max(size, 0), strata, so_far.injections, seed, name, minimum)


def _joined(strata: Strata, batches: Sequence[Batch]) -> Batch:
    none = Batch.of(*np.zeros((3, len(strata))))
    return Batch(
        sum((b.injections for b in batches), none.injections),
        sum((b.events for b in batches), none.events),
        sum((b.costs for b in batches), none.costs),
    )


def _after_pilot(strata: Strata, plan: SamplingPlan, pilot: Batch) -> Schedule:
    """Choose the design and the looks from the pilot.

    How many injections a margin needs is foreseen well, so the first look is there. How many a verdict
    needs is not, since it depends on the distance to the budget: looks are at every doubling.
    """
    rates = shrunken_rates(strata, pilot.events, pilot.injections)
    costs = shrunken_costs(strata, pilot.costs, pilot.injections)
    spent = int(pilot.injections.sum())
    most = plan.maximum - spent
    least = min(spent, most)
    first = enough(strata, stratified_design(strata, most), rates, plan, least, most)
    design = optimal_design(strata, rates, costs, first, plan.confidence)
    first = enough(strata, design, rates, plan, least, most)
    if plan.budget is None:
        looks = look_sizes(first, most, _AFTER_FORESEEN)
    else:
        looks = look_sizes(max(least, round(most / 2 ** int(np.log2(most / least)))), most, 2.0)
    return Schedule(design, looks, look_confidences(len(looks), plan.confidence, plan.budget is not None))


def enough(
    strata: Strata, design: SamplingDesign, rates: FloatArray, plan: SamplingPlan, least: int, most: int
) -> int:
    """Return the number of injections after which the expected counts settle what is asked.

    Args:
        strata: The population.
        design: With which they are drawn.
        rates: Foreseen of each stratum.
        plan: What is asked; without a margin or a budget the answer is the most.
        least: Fewest that are considered.
        most: Most of them.
    """
    if plan.margin is None and plan.budget is None:
        return most
    estimate = float((strata.weights * rates).sum())
    confidence = look_confidences(2, plan.confidence)[0]
    low, high = float(least), float(most)
    while high > low * 1.05:
        middle = (low * high) ** 0.5
        lo, hi = expected_limits(design, strata, rates, middle / _RESERVE, confidence)
        found = Interval(min(max(estimate, lo), hi), lo, hi, confidence)
        low, high = (low, middle) if settled(plan, found) else (middle, high)
    return min(round(high), most)


def settled(plan: SamplingPlan, total: Interval) -> str:
    """Return what lets a campaign stop with this total, "margin" or "budget"; "" if nothing does."""
    if plan.stops:
        budget = plan.budget
        if budget is not None and (total.lo > budget or total.hi * plan.highest <= budget):
            return "budget"
        margin = plan.margin
        if margin is not None and total.width / 2 <= margin * (total.estimate if plan.relative else 1.0):
            return "margin"
    return ""
