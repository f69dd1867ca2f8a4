# SPDX-License-Identifier: Apache-2.0
"""The plan that goes by rates foreseen, without a pilot: every injection counts.

Rates and costs come from elsewhere, as from a sensitivity model, so the design (`stats.designs`) and the size
of the first batch are fixed before any result is known: the first look is one at a plain stratified sample.
Where the margin is missed there, the result says how many more are wanted, and later looks share the rest of
the error. A total of inputs like those that are run has a part of its variance between these, which takes
injections too: they are planned for inputs that differ as much as such inputs did. Each look costs a walk
through the golden run of every input, so a first one that falls short is dearer than one that is too large.
Wrong predictions cost injections, and nothing else: a quarter of the shares is in proportion to
weights at least, and each block and kind has its fewest. Where the first batch shows that a design of its own
reaches the margin sooner, that batch becomes a pilot (`stats.plans`) and counts no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from resil.stats.designs import SamplingDesign, optimal_design, stratified_design
from resil.stats.guided import bounded
from resil.stats.intervals import Interval
from resil.stats.looks import look_confidences, look_sizes
from resil.stats.plans import (
    ADAPTIVE_FROM,
    Batch,
    PlanStep,
    SamplingPlan,
    Schedule,
    enough,
    next_step,
    schedule_after,
    scheduled_step,
    total_interval,
)
from resil.stats.shrinkage import shrunken_costs, shrunken_rates
from resil.stats.strata import Strata

FloatArray = npt.NDArray[np.float64]

# Fewest injections of the first look, and in each block and kind as far as a third of them goes.
_LEAST, _FEWEST, _FEWEST_SHARE = 1000, 500, 1.0 / 3.0
# Later looks: what is added to what the last one says is needed, and bounds of the step from look to look.
_RESERVE, _GROWTH, _MOST_GROWTH = 1.1, 1.4, 4.0
# Part of the shares that is in proportion to weights, at least.
_EVEN = 0.25
# By how much inputs are taken to differ, standard deviation over mean: those of networks had nothing to 0.4.
# Between them lies at most so much of the margin, squared; the rest is that of draws.
_VARIATION, _BETWEEN = 0.2, 0.75
# The first batch is taken for a pilot if going on costs so many times what beginning anew does.
_ANEW = 1.25


@dataclass(frozen=True, eq=False)
class Foreseen:
    """What is foreseen of each stratum.

    Attributes:
        rates: Of hazardous outcomes, shape (strata,).
        costs: Mean cost of an injection in any unit, > 0, shape (strata,).
        inputs: How many are run, if the total is one of inputs like these; 0 if it is one of these alone.
    """

    rates: FloatArray
    costs: FloatArray
    inputs: int = 0


def foreseen_step(
    strata: Strata, foreseen: Foreseen, plan: SamplingPlan, seed: int, done: Sequence[Batch]
) -> PlanStep:
    """Return the next step of a campaign, as `stats.plans.next_step` does of those that have a pilot.

    Args:
        strata: The population.
        foreseen: Its rates and costs.
        plan: What is asked, of the kind "adaptive". With too few injections for that it is stratified.
        seed: Of the campaign.
        done: Batches so far, in order, each as the step before asked for it.
    """
    if plan.maximum < ADAPTIVE_FROM:
        return next_step(strata, plan, seed, done)
    plan, whole = _for_draws(plan, strata, foreseen), plan
    design, first = _planned(strata, plan, foreseen)
    if done and _misled(strata, plan, design, first, done[0]):
        return scheduled_step(strata, whole, schedule_after(strata, whole, done[:1]), seed, done, 1)
    looks = _looks(whole, strata, design, first, done)
    confidences = look_confidences(len(looks), plan.confidence, plan.budget is not None)
    fewest = min(_FEWEST, int(_FEWEST_SHARE * looks[0] / len(strata.owners(2)[0])))
    return scheduled_step(strata, whole, Schedule(design, looks, confidences), seed, done, 0, max(fewest, 1))


def _for_draws(plan: SamplingPlan, strata: Strata, foreseen: Foreseen) -> SamplingPlan:
    """Return the plan with the margin that is left to draws if inputs differ as much as is foreseen.

    A width that comes of inputs is itself an estimate, with Student's quantiles. If it is expected below the
    margin by its standard error, five of six campaigns meet that.
    """
    if plan.margin is None or foreseen.inputs < 2:
        return plan
    degrees, level = foreseen.inputs - 1, 0.5 + look_confidences(2, plan.confidence)[0] / 2.0
    normal = float(ndtri(level))
    margin = plan.margin * normal / float(stdtrit(degrees, level)) / (1.0 + (0.5 / degrees) ** 0.5)
    between = normal * _VARIATION / foreseen.inputs**0.5
    if not plan.relative:
        between *= float((strata.weights * foreseen.rates).sum())
    left = max(1.0 - (between / margin) ** 2, 1.0 - _BETWEEN)
    return replace(plan, margin=margin * left**0.5)


@lru_cache(maxsize=4)
def _planned(strata: Strata, plan: SamplingPlan, foreseen: Foreseen) -> tuple[SamplingDesign, int]:
    """Return the design, and the number of injections at the first look."""
    rates, most = bounded(foreseen.rates), plan.maximum
    least = min(_LEAST, most)
    first = enough(strata, stratified_design(strata, most), rates, plan, least, most)
    design = optimal_design(strata, rates, foreseen.costs, first, plan.confidence)
    even = design.total(strata.weights)
    shares = np.maximum(design.shares, _EVEN * even / max(float(even.sum()), 1e-300))
    design = SamplingDesign(design.owner, shares / shares.sum(), design.jitter)
    return design, enough(strata, design, rates, plan, least, most)


def _misled(strata: Strata, plan: SamplingPlan, design: SamplingDesign, first: int, batch: Batch) -> bool:
    """Return whether a design that follows from the first batch reaches the margin at less cost from nothing.

    Then the batch is a pilot, as if nothing had been foreseen. Whether it is does not depend on whether the
    margin was reached.
    """
    drawn = int(batch.injections.sum())
    most = plan.maximum - drawn
    if plan.margin is None or plan.budget is not None or most < _LEAST:
        return False
    rates = shrunken_rates(strata, batch.events, batch.injections)
    costs = shrunken_costs(strata, batch.costs, batch.injections)
    on = enough(strata, design, rates, plan, min(drawn, most), plan.maximum) - drawn
    other = optimal_design(strata, rates, costs, max(on, _LEAST), plan.confidence)
    anew = enough(strata, other, rates, plan, _LEAST, most)
    return on > _ANEW * anew and anew < most


def _looks(
    plan: SamplingPlan, strata: Strata, design: SamplingDesign, first: int, done: Sequence[Batch]
) -> tuple[int, ...]:
    """Return the numbers of injections at which the results are looked at; known up to the next of them.

    How many a verdict needs is not foreseen, since it depends on the distance to the budget: those looks are
    at every doubling, whatever the results.
    """
    most = plan.maximum
    if plan.budget is not None:
        least = min(_LEAST, most)
        return look_sizes(max(least, round(most / 2 ** int(np.log2(most / least)))), most, 2.0)
    sizes = look_sizes(first, most, _GROWTH)
    if len(sizes) == 1 or not done:
        return sizes
    seen = total_interval(strata, design, done[:1], look_confidences(2, plan.confidence)[0])
    return (sizes[0], *look_sizes(_needed(plan, seen, sizes[0]), most, _GROWTH))


def _needed(plan: SamplingPlan, seen: Interval, injections: int) -> int:
    """Return how many injections the margin takes, as an interval after some of them says."""
    asked = (plan.margin or 0.0) * (seen.estimate if plan.relative else 1.0)
    growth = _RESERVE * (seen.width / 2.0 / asked) ** 2 if asked > 0.0 else _MOST_GROWTH
    return min(round(injections * min(max(growth, _GROWTH), _MOST_GROWTH)), plan.maximum)
