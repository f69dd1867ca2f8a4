# SPDX-License-Identifier: Apache-2.0
"""Injections as evidence for rates: groups with counts, whatever the counted outcomes are called."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from resil.stats.clusters import weighted_sum_over_inputs
from resil.stats.errors import ArgumentError
from resil.stats.intervals import Interval, check_confidence, clopper_pearson
from resil.stats.weighted import weighted_sum

_EQUAL = 1e-6


@dataclass(frozen=True, slots=True)
class PooledGroup:
    """Injections into storage that is analysed together: one binomial proportion for each set of outcomes.

    Attributes:
        block: Block that it belongs to; "" if it spans several.
        kind: Kind of storage, "ff", "macro" or "sram".
        fit_raw: Rate in FIT of the faults that it stands for.
        counts: Injections of each outcome, by names that exclude each other.
        members: Faults that there are, as of `rates.StratumCounts`; None if there is no end of them.

    Raises:
        ValueError: the rate or a count is negative.
    """

    block: str
    kind: str
    fit_raw: float
    counts: Mapping[str, int] = field(default_factory=dict)
    members: int | None = None

    def __post_init__(self) -> None:
        if self.fit_raw < 0.0 or min(self.counts.values(), default=0) < 0:
            raise ArgumentError(f"a group has a rate and counts >= 0, found {self}", "group")

    @property
    def injections(self) -> int:
        """Injections of all outcomes."""
        return sum(self.counts.values())

    @property
    def size(self) -> float:
        """Faults that there are; infinite if there is no end of them."""
        return math.inf if self.members is None else self.members

    def events(self, outcomes: Collection[str]) -> int:
        """Return the injections whose outcome is among `outcomes`."""
        return sum(n for outcome, n in self.counts.items() if outcome in outcomes)


@dataclass(frozen=True)
class Evidence:
    """What some campaigns say together about rates of outcomes.

    Attributes:
        groups: Of all injections; groups without any count with their whole rate in upper limits.
        confidence: Of two-sided intervals as they are reckoned: looks may have used up part of the error.
        stated: Of the same intervals as they are stated: what holds with the looks taken into account.
        inputs: The groups of each input, in the same order, if the intervals are for inputs like these.
        labels: Of these inputs.
        known: Intervals in FIT that were found in a better way, by the set of outcomes.
    """

    groups: tuple[PooledGroup, ...]
    confidence: float = 0.95
    stated: float = 0.95
    inputs: tuple[tuple[PooledGroup, ...], ...] = ()
    known: Mapping[frozenset[str], Interval] = field(default_factory=dict)
    labels: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_confidence(self.confidence)

    @property
    def injections(self) -> int:
        """Injections of all groups."""
        return sum(group.injections for group in self.groups)

    @property
    def fit_raw(self) -> float:
        """Rate of all faults that the groups stand for, in FIT."""
        return sum(group.fit_raw for group in self.groups)

    def count(self, outcomes: Collection[str]) -> int:
        """Return how many injections had one of these outcomes."""
        return sum(group.events(outcomes) for group in self.groups)

    def at(self, confidence: float) -> Evidence:
        """Return the same with another confidence; both are shifted by the same factor of the error."""
        factor = (1.0 - confidence) / (1.0 - self.stated)
        return replace(self, confidence=1.0 - (1.0 - self.confidence) * factor, stated=confidence, known={})

    def scaled(self, factors: Mapping[str, float]) -> Evidence:
        """Return the same injections with the rates of kinds of storage multiplied."""

        def scale(groups: Sequence[PooledGroup]) -> tuple[PooledGroup, ...]:
            return tuple(replace(g, fit_raw=g.fit_raw * factors.get(g.kind, 1.0)) for g in groups)

        kinds = {g.kind for g in self.groups if g.fit_raw}
        same = {factors.get(kind, 1.0) for kind in kinds}
        known = (
            {k: v.scaled(factor) for factor in same for k, v in self.known.items()} if len(same) == 1 else {}
        )
        return replace(
            self, groups=scale(self.groups), inputs=tuple(scale(own) for own in self.inputs), known=known
        )

    def where(self, chosen: Callable[[PooledGroup], bool]) -> Evidence:
        """Return the part of the evidence in some groups."""
        keep = [i for i, group in enumerate(self.groups) if chosen(group)]

        def some(groups: Sequence[PooledGroup]) -> tuple[PooledGroup, ...]:
            return tuple(groups[i] for i in keep)

        if len(keep) == len(self.groups):
            return self
        return replace(self, groups=some(self.groups), inputs=tuple(some(g) for g in self.inputs), known={})

    @property
    def enumerated(self) -> bool:
        """Whether every fault that has a rate was injected, and no other inputs are asked about."""
        groups = [group for group in self.groups if group.fit_raw > 0.0]
        return not self.inputs and bool(groups) and all(group.injections == group.size for group in groups)

    def rate(self, outcomes: Collection[str]) -> Interval:
        """Return the rate of these outcomes in FIT with two-sided limits, `sum_g fit_raw_g P_g(outcome)`.

        See `stats.weighted.weighted_sum`, and `resil.stats.clusters` for inputs like those that were run.
        """
        if (found := self.known.get(frozenset(outcomes))) is not None:
            return replace(found, confidence=self.stated)
        weights = [group.fit_raw for group in self.groups]
        if self.inputs:
            events = np.array([[g.events(outcomes) for g in groups] for groups in self.inputs])
            trials = np.array([[g.injections for g in groups] for groups in self.inputs])
            found = weighted_sum_over_inputs(events, trials, weights, self.confidence).interval
        else:
            counts = [group.events(outcomes) for group in self.groups]
            made, sizes = [g.injections for g in self.groups], [g.size for g in self.groups]
            found = weighted_sum(counts, made, weights, self.confidence, sizes=sizes)
        return replace(found, confidence=self.stated)

    def part(self, some: Collection[str], others: Collection[str]) -> Interval | None:
        """Return the part that some outcomes have in the rate of these and others, with two-sided limits.

        If every injection stands for the same rate, the injections with any of these outcomes are a sample of
        such faults and the part is a proportion (Clopper and Pearson); where every fault was injected it is
        what was counted. Else the limits join those of the two rates at their worst, each at half of the
        error (Bonferroni).

        Returns:
            None if no injection had any of these outcomes.

        Raises:
            ValueError: an outcome is in both sets.
        """
        if set(some) & set(others):
            raise ArgumentError(
                f"parts exclude each other, found {sorted(set(some) & set(others))} in both", "parts"
            )
        x, y = self.count(some), self.count(others)
        if x + y == 0:
            return None
        if self.enumerated:
            known = _share(self.rate(some).estimate, self.rate(others).estimate)
            return Interval(known, known, known, self.stated)
        if not self.inputs and self._evenly_spread():
            return replace(clopper_pearson(x, x + y, self.confidence), confidence=self.stated)
        half = self.at(0.5 + self.stated / 2.0)
        one, other = half.rate(some), half.rate(others)
        estimate = _share(one.estimate, other.estimate)
        lo = min(_share(one.lo, other.hi), estimate)
        return Interval(estimate, lo, max(_share(one.hi, other.lo), estimate), self.stated)

    def joined(self, other: Evidence) -> Evidence:
        """Return the evidence of two campaigns whose injections are independent, at the lower confidence.

        For inputs like those that were run both must have run the same ones: an input is one unit, with what
        both campaigns say of it.

        Raises:
            ValueError: one is for inputs like those that were run, and the other has not run these.
        """
        if (self.inputs or other.inputs) and self.labels != other.labels:
            raise ArgumentError(
                "evidence for inputs like those that were run is joined for the same inputs only", "inputs"
            )
        stated = min(self.stated, other.stated)
        confidence = max(self.at(stated).confidence, other.at(stated).confidence)
        inputs = tuple((*own, *more) for own, more in zip(self.inputs, other.inputs, strict=True))
        labels = self.labels if inputs else ()
        return Evidence((*self.groups, *other.groups), confidence, stated, inputs, labels=labels)

    def _evenly_spread(self) -> bool:
        """Whether every injection stands for the same rate and no group went without."""
        groups = [group for group in self.groups if group.fit_raw > 0.0]
        if any(not group.injections for group in groups):
            return False
        each = [group.fit_raw / group.injections for group in groups]
        return not each or max(each) <= min(each) * (1.0 + _EQUAL)


def _share(one: float, other: float) -> float:
    return one / (one + other) if one + other > 0.0 else 0.0
