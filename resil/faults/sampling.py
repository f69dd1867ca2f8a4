# SPDX-License-Identifier: Apache-2.0
"""A campaign's sampling plan, played: what to inject next, from what was found so far."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from resil.campaign.campaign import Campaign
from resil.errors import CampaignError
from resil.faults.content import Content
from resil.faults.plan import FaultPlan, IntArray
from resil.faults.population import Population
from resil.stats.allocation import allocate_proportional
from resil.stats.costs import costs_of
from resil.stats.designs import SamplingDesign, stratified_design
from resil.stats.foreseen_plan import Foreseen, foreseen_step
from resil.stats.guided_plan import guided_step
from resil.stats.intervals import Interval
from resil.stats.metrics import fit_verdict
from resil.stats.plans import Batch, Kind, PlanStep, SamplingPlan, next_step, total_interval
from resil.stats.rates import OUTCOMES
from resil.stats.strata import Strata

# Fewest injections of the pilot of the plan "neyman" in each block and kind of storage.
_PILOT = 500


@dataclass(frozen=True)
class SamplingLook:
    """What was known when the plan looked at the results.

    Attributes:
        injections: That counted by then.
        total: Interval of the total hazardous FIT.
    """

    injections: int
    total: Interval


@dataclass(frozen=True, eq=False)
class Sample:
    """The injections that the estimates are made from.

    Attributes:
        strata: The population.
        design: With which they were drawn.
        counts: Injections of each outcome into each stratum.
        inputs: The same for each input alone, by its label.
        classes: Injections of each class (`Content.classes`) into each stratum, for each input by its label.
        by_size: The same of upsets of each declared cluster size alone; empty where all flip one bit.
        slowest_alarm: Most cycles from a fault to its alarm; -1 if none rose.
        reported: The injections that an alarm reported, as they are judged.
        reported_strata: Stratum of each of these.
        confidence: Of the intervals: looks at the results have used up some of the error.
        pilots: Injections into each stratum that planned the sampling and do not count: its first draws.
        looks: Every look at the results, in order.
        reason: Why it stopped: "margin", "budget", "inputs", "maximum" or "exhausted".
        guided: Predictions chose all injections but the first batch; the last look has the total then.
        foreseen: A sensitivity model decided where injections went, and how many at first.
        relative: As `Population.relative`.
    """

    strata: Strata
    design: SamplingDesign
    counts: Mapping[str, IntArray]
    inputs: Mapping[int, Mapping[str, IntArray]]
    classes: Mapping[int, Mapping[str, IntArray]]
    by_size: Mapping[int, Mapping[int, Mapping[str, IntArray]]]
    slowest_alarm: int
    reported: Content
    reported_strata: IntArray
    confidence: float
    pilots: IntArray
    looks: tuple[SamplingLook, ...]
    reason: str
    guided: bool = False
    foreseen: bool = False
    relative: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @property
    def injections(self) -> int:
        """Number of injections that count."""
        return sum(int(counts.sum()) for counts in self.counts.values())

    @property
    def pilot(self) -> int:
        """Number of injections that planned the sampling."""
        return int(self.pilots.sum())


# Injections of each class into each stratum, by the label of the input.
_Classes = Mapping[int, Mapping[str, IntArray]]


@dataclass(frozen=True, eq=False)
class _Tally:
    inputs: Mapping[int, IntArray]
    classes: _Classes
    by_size: Mapping[int, _Classes]
    slowest_alarm: int
    reported: Content
    counts: IntArray


class Sampling:
    """Asks for injections until the campaign's plan is content.

    What it asks for is a function of the campaign and of the results: if they are given again, it asks for
    the same again. So an interrupted campaign goes on as if nothing had happened.

    Args:
        campaign: Says which plan, how many injections, margin and budget.
        population: The faults.
        fit_per_bit: Raw rate of one bit, by kind of storage.
        highest: By how much a raw rate can be higher at most: a budget is met if it is so then, too.
        foreseen: Rates and costs of the strata, with which the plan "neyman" needs no pilot; None if nothing
            is known of them.

    Raises:
        CampaignError: the campaign asks for more injections than there are faults, or for fewer than its
            minima need.
    """

    def __init__(
        self,
        campaign: Campaign,
        population: Population,
        fit_per_bit: Mapping[str, float],
        highest: float = 1.0,
        foreseen: Foreseen | None = None,
    ) -> None:
        self._campaign = campaign
        self._population = population
        self._strata = population.for_statistics(fit_per_bit)
        self._limit = campaign.detection_cycles
        self._hazardous = np.array([outcome in campaign.hazardous for outcome in OUTCOMES])
        self._foreseen = foreseen if campaign.sampling.plan == "neyman" else None
        self._next = _planner(campaign, self._strata, population.risks, highest, self._foreseen)
        self._tallies: list[_Tally] = []
        self._looks: list[SamplingLook] = []
        self._step = self._next([])

    @property
    def wanted(self) -> FaultPlan | None:
        """The injections that are to be made now; None if the plan is content."""
        if self._step.stage == "done":
            return None
        drawn = _drawn(self._tallies, len(self._strata))
        return self._population.faults(drawn, self._step.injections)

    @property
    def stage(self) -> str:
        """ "pilot", "main" or "done"."""
        return self._step.stage

    @property
    def total(self) -> Interval | None:
        """Interval of the total hazardous FIT, as of the last look."""
        return self._looks[-1].total if self._looks else None

    def record(self, found: Content) -> None:
        """Take the results of the injections that were wanted."""
        self._tallies.append(self._tally(found))
        self._step = self._next([self._batch(tally) for tally in self._tallies])
        if self._step.total is not None:
            counted = sum(int(tally.counts.sum()) for tally in self._tallies[self._step.counts_from :])
            self._looks.append(SamplingLook(counted, self._step.total))

    @property
    def sample(self) -> Sample:
        """What the campaign has to go by; the plan must be content."""
        step = self._step
        assert step.stage == "done"
        assert step.design is not None
        counting = self._tallies[step.counts_from :]
        labels = sorted({label for tally in counting for label in tally.inputs})
        inputs = {
            label: sum((t.inputs[label] for t in counting if label in t.inputs), self._none())
            for label in labels
        }
        pilots = _drawn(self._tallies[: step.counts_from], len(self._strata))
        reported = Content.joined(tally.reported for tally in counting)
        return Sample(
            self._strata,
            step.design,
            _by_outcome(sum((t.counts for t in counting), self._none())),
            {label: _by_outcome(counts) for label, counts in inputs.items()},
            {label: self._classes([t.classes for t in counting], label) for label in labels},
            {
                size: {label: self._classes([t.by_size[size] for t in counting], label) for label in labels}
                for size in self._sizes
            },
            max((tally.slowest_alarm for tally in counting), default=-1),
            reported,
            self._population.owners(reported.injections),
            step.confidence,
            pilots,
            tuple(self._looks),
            step.reason,
            self._campaign.sampling.plan == "predicted" and step.design.groups > 1,
            self._foreseen is not None and step.counts_from == 0,
            self._population.relative,
        )

    def _none(self) -> IntArray:
        return np.zeros((len(self._strata), len(OUTCOMES)), dtype=np.int64)

    @property
    def _sizes(self) -> range:
        """Cluster sizes that are counted apart; none where all upsets flip one bit."""
        return (
            range(1, len(self._population.clusters) + 1) if len(self._population.clusters) > 1 else range(0)
        )

    def _classes(self, counting: Sequence[_Classes], label: int) -> dict[str, IntArray]:
        """Return the counts of every class of an input, those of the plain outcomes always."""
        found = {outcome: np.zeros(len(self._strata), dtype=np.int64) for outcome in OUTCOMES}
        for classes in counting:
            for name, counts in classes.get(label, {}).items():
                found[name] = found.get(name, 0) + counts
        return found

    def _tally(self, found: Content) -> _Tally:
        found = found.within(self._limit)
        owner = self._population.owners(found.injections)
        names, place = found.classes()
        inputs: dict[int, IntArray] = {}
        classes: dict[int, dict[str, IntArray]] = {}
        by_size: dict[int, dict[int, dict[str, IntArray]]] = {size: {} for size in self._sizes}
        drawn = self._population.cluster_sizes(found.injections)

        def counted(chosen: npt.NDArray[np.bool_]) -> dict[str, IntArray]:
            return {
                name: np.bincount(owner[chosen & (place == i)], minlength=len(self._strata)).astype(np.int64)
                for i, name in enumerate(names)
            }

        for label in np.unique(found.inputs).tolist():
            own = found.inputs == label
            inputs[label] = self._none()
            np.add.at(inputs[label], (owner[own], found.outcomes[own]), 1)
            classes[label] = counted(own)
            for size, apart in by_size.items():
                apart[label] = counted(own & (drawn == size))
        whole = sum(inputs.values(), self._none())
        reported = found.at(np.flatnonzero((found.alarms != "") | (found.corrections != "")))
        return _Tally(inputs, classes, by_size, found.slowest_alarm, reported, whole)

    def _batch(self, tally: _Tally) -> Batch:
        events = tally.counts[:, self._hazardous].sum(axis=1)
        inputs = {
            label: (counts.sum(axis=1), counts[:, self._hazardous].sum(axis=1))
            for label, counts in tally.inputs.items()
            if self._campaign.over_inputs
        }
        return Batch.of(tally.counts.sum(axis=1), events, costs_of(tally.counts), inputs)


def _drawn(tallies: Sequence[_Tally], strata: int) -> IntArray:
    return sum((t.counts.sum(axis=1) for t in tallies), np.zeros(strata, np.int64))


def _by_outcome(counts: IntArray) -> dict[str, IntArray]:
    return {outcome: counts[:, i] for i, outcome in enumerate(OUTCOMES)}


def _planner(
    campaign: Campaign,
    strata: Strata,
    risks: tuple[float, ...],
    highest: float,
    foreseen: Foreseen | None,
) -> Callable[[list[Batch]], PlanStep]:
    settings, faults = campaign.sampling, campaign.faults
    if settings.plan == "proportional":
        return _proportional(campaign, strata)
    kinds: dict[str, Kind] = {"uniform": "uniform", "stratified": "stratified", "predicted": "guided"}
    asked = SamplingPlan(
        kinds.get(settings.plan, "adaptive"),
        faults.injections,
        faults.minimum_per_block,
        campaign.confidence,
        settings.margin,
        relative=True,
        budget=campaign.budget.fit if campaign.budget and settings.until_decided else None,
        pilot=_PILOT if settings.plan == "neyman" else 0,
        highest=highest,
    )
    if settings.plan == "predicted":
        return lambda done: guided_step(strata, risks, asked, campaign.seed, done)
    if foreseen is not None:
        return lambda done: foreseen_step(strata, foreseen, asked, campaign.seed, done)
    return lambda done: next_step(strata, asked, campaign.seed, done)


def _proportional(campaign: Campaign, strata: Strata) -> Callable[[list[Batch]], PlanStep]:
    """Return the plan that shares out all injections at once in proportion to the faults."""
    faults = campaign.faults
    blocks = [label[0] for label in strata.labels]
    if unknown := sorted(set(faults.minimum_in) - set(blocks)):
        raise CampaignError(
            f"{campaign.file}: [faults] minimum_in: expected blocks with storage that is injected into, "
            f"{', '.join(sorted(set(blocks)))}, found {', '.join(unknown)}; correct the names",
            "faults.minimum_in",
        )
    parts = Counter(label[:2] for label in strata.labels)
    # What has other rates within a block is a stratum by itself: it has its share of the block's minimum, and
    # is injected into at least once, as nothing else says anything of it.
    minima = [
        min(size, max(1, math.ceil(faults.minimum(label[0], label[1]) / parts[label[:2]])))
        if parts[label[:2]] > 1
        else faults.minimum(label[0], label[1])
        for label, size in zip(strata.labels, strata.sizes.tolist(), strict=True)
    ]
    try:
        counts = allocate_proportional(faults.injections, strata.sizes, minima)
    except ValueError as error:
        raise CampaignError(f"{campaign.file}: [faults] injections: {error}", "faults.injections") from None
    design = _each_apart(strata) if max(parts.values()) > 1 else stratified_design(strata)

    def step(done: list[Batch]) -> PlanStep:
        if not done:
            return PlanStep("main", np.array(counts, dtype=np.int64), design, 0, campaign.confidence)
        total = total_interval(strata, design, done, campaign.confidence)
        nothing = np.zeros(len(strata), dtype=np.int64)
        return PlanStep("done", nothing, design, 0, campaign.confidence, total, "maximum")

    return step


def _each_apart(strata: Strata) -> SamplingDesign:
    """Return the design in which every stratum is a group."""
    return SamplingDesign(np.arange(len(strata)), strata.sizes / strata.sizes.sum())


def look_text(sampling: Sampling, campaign: Campaign) -> str:
    """Return a line for people: what is known by now, and whether that is enough."""
    total = sampling.total
    if total is None:
        return "first batch done: choosing where injections say most"
    width = (
        f"\N{PLUS-MINUS SIGN}{50 * total.width / total.estimate:.0f} %" if total.estimate else "no event yet"
    )
    text = f"{total.estimate:.3g} FIT, {total.lo:.3g} to {total.hi:.3g} ({width})"
    if campaign.budget is None:
        return text
    verdict = fit_verdict(total, campaign.budget.fit).result
    return f"{text}; budget {campaign.budget.fit:g} FIT: {verdict}"
