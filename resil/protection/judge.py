# SPDX-License-Identifier: Apache-2.0
"""A chosen set of protections, judged by injections that did not choose it.

The bound is that of a stratified sample: storage that has the same option in the same block and kind is a
stratum of known raw rate, its injections of the judging half a sample of it. As these injections had no part
in the choice, the set is a fixed one to them, and an upper limit of its residual rate holds as often as it
says, whatever the choice was. Several sets, from the strongest to weaker ones in an order that the choosing
half gave, are judged one after the other, up to the first that fails: the error of all is that of one.

Where a run is about inputs like those that it drew, inputs are the sampled units
(`resil.stats.clusters`), and those that judge did not choose.

References:
    Fixed-sequence testing: W. Maurer et al. (1995); A. N. Angelopoulos et al., "Learn then Test",
    arXiv 2110.01052, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from resil.protection.effects import Effect, Mechanisms, harmful, undetected
from resil.protection.logic import LogicCover, PulseRates
from resil.protection.risks import Network, RateLimits
from resil.protection.targets import Targets
from resil.protection.units import Cells
from resil.stats.clusters import weighted_sum_over_inputs
from resil.stats.intervals import Interval

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """What a network says of a protected set. Rates in FIT.

    Attributes:
        network: Its name.
        injections: That judged.
        fit_before: Estimate of the hazardous rate without protection, as the campaign counts it.
        fit: Residual hazardous rate of storage with limits, options at their weak ends.
        fit_raw: Upset rate that remains, at the strong ends.
        spfm: `1 - fit / fit_raw`, of storage and of what is known of logic; None without faults.
        spfm_lo: Lower limit.
        due: Detected failures of both with limits; every upset under a mechanism that detects is one. None
            if what was detected before is not known of each block.
        unaided: Hazardous rate of storage where nobody reacts to alarms. None where it is not known.
        corners: The same at the corners of the ranges of raw rates, by their names.
        inputs: Whose injections judge.
        population: What the figures are about, in words.
        logic: What is left of pulses in logic; None where nothing is known of them: all is of storage alone.
        permanent: The same of permanent faults; None where nothing is known of them.
        logic_before: Hazardous rate in logic without protection; 0 where nothing is known of it.
    """

    network: str
    injections: int
    fit_before: float
    fit: Interval
    fit_raw: float
    spfm: float | None
    spfm_lo: float | None
    due: Interval | None
    unaided: Interval | None = None
    corners: Mapping[str, JudgedSet] = field(default_factory=dict)
    inputs: int = 1
    population: str = ""
    logic: PulseRates | None = None
    permanent: JudgedSet | None = None
    logic_before: float = 0.0

    @property
    def most(self) -> float:
        """The upper limit of hazardous failures, those in logic included."""
        return self.fit.hi + (0.0 if self.logic is None else self.logic.fit_hi)

    @property
    def worst(self) -> tuple[str, JudgedSet]:
        """The corner with the highest limit of FIT, and what is left there; "" without ranges."""
        return max(self.corners.items(), key=lambda own: own[1].most, default=("", self))

    @property
    def least_spfm(self) -> float | None:
        """The least limit of SPFM over all corners."""
        return min((o.spfm_lo for o in (self, *self.corners.values()) if o.spfm_lo is not None), default=None)

    def missed(self, targets: Targets) -> list[str]:
        """Return the targets that are not shown to be met at every corner, in words."""
        return [*self._missed_anywhere(targets), *self._permanent_missed(targets.of_permanent)]

    def _permanent_missed(self, targets: Targets) -> list[str]:
        if targets.names_none:
            return []
        if self.permanent is None:
            return ["permanent faults not known, and a limit of them is asked"]
        return [f"of permanent faults {why}" for why in self.permanent._missed_anywhere(targets)]

    def _missed_anywhere(self, targets: Targets) -> list[str]:
        if at_centre := self._missed(targets):
            return at_centre
        found = {corner: own._missed(targets) for corner, own in self.corners.items()}
        _, corner = max(((self.corners[c].most, c) for c, why in found.items() if why), default=(0.0, ""))
        return [f"{why} ({corner})" for why in found.get(corner, [])]

    def _missed(self, targets: Targets) -> list[str]:
        share = None if targets.fit_share is None else targets.fit_share * self.fit_before
        missed = []
        if targets.budget_fit is not None and self.most > targets.budget_fit:
            of_logic = "" if self.logic is None else f", {self.logic.fit_hi:.3g} of them in logic"
            missed.append(f"{self.most:.3g} FIT at most{of_logic}, asked {targets.budget_fit:g}")
        if share is not None and self.fit.hi > share:
            of_storage = "" if self.logic is None else " of storage"
            missed.append(f"{self.fit.hi:.3g} FIT{of_storage} at most, asked {share:.3g}")
        least = 0.0 if self.spfm_lo is None else self.spfm_lo
        if targets.spfm is not None and least < targets.spfm:
            missed.append(f"SPFM at least {least:.5f}, asked {targets.spfm:g}")
        if targets.due_fit is not None and self.due is None:
            missed.append(f"detected failures not known, asked {targets.due_fit:g} FIT at most")
        elif targets.due_fit is not None and self.due is not None and self.due.hi > targets.due_fit:
            missed.append(f"{self.due.hi:.3g} FIT detected at most, asked {targets.due_fit:g}")
        return missed


def judge_over_corners(
    network: Network,
    cells: Cells,
    effects: Callable[[Network], Sequence[Effect]],
    mechanisms: Mechanisms,
    covers: Mapping[str, LogicCover] | None = None,
) -> JudgedSet:
    """Return `judge` at the centre, with what it is at each corner of raw rates and sizes of upsets.

    Args:
        network: As for `judge`.
        cells: Likewise.
        effects: Those of the option of each cell, by how a network declares clusters.
        mechanisms: Of the whole NPU.
        covers: What is made of the logic of blocks.
    """
    by_clusters: dict[tuple[float, ...], Sequence[Effect]] = {}

    def judged(own: Network) -> JudgedSet:
        if own.clusters not in by_clusters:
            by_clusters[own.clusters] = effects(own)
        return judge_with_logic(own, cells, by_clusters[own.clusters], mechanisms, covers or {})

    found = judged(network)
    corners = {name: judged(network.at(name)) for name in network.corners}
    return replace(found, corners=corners, inputs=max(1, len(network.labels)), population=network.population)


def judge_with_logic(
    network: Network,
    cells: Cells,
    effects: Sequence[Effect],
    mechanisms: Mechanisms,
    covers: Mapping[str, LogicCover],
) -> JudgedSet:
    """Return `judge` with pulses in logic, where they are known: limits are sums of both.

    The two come from samples of their own, each with its own limit at the network's confidence.
    """
    found = judge(network, cells, effects, mechanisms)
    if network.logic is None:
        return found
    flagged, watched = mechanisms.error_flag is not None, mechanisms.watches(network)
    logic = network.logic.left(covers, flagged=flagged, watched=watched)
    both = Interval(found.fit.estimate + logic.fit, 0.0, found.fit.hi + logic.fit_hi, network.confidence)
    due = found.due
    if due is not None:
        due = Interval(due.estimate + logic.due, due.lo, due.hi + logic.due_hi, due.confidence)
    spfm, least = _spfm(both, found.fit_raw + logic.raw)
    before = network.logic.whole[0].fit
    return replace(found, spfm=spfm, spfm_lo=least, due=due, logic=logic, logic_before=before)


def judge(network: Network, cells: Cells, effects: Sequence[Effect], mechanisms: Mechanisms) -> JudgedSet:
    """Return what injections into storage that did not choose say of a set.

    Args:
        network: Those injections.
        cells: Of the storage.
        effects: Of the option of each cell.
        mechanisms: Of the whole NPU.
    """
    raw = network.raw(cells)
    names = ("residual", "raw", "due_of_raw", "due_kept")
    column = {name: np.array([getattr(e, name) for e in effects]) for name in names}
    if network.limits is not None:
        return _by_limits(network, network.limits, raw, column, bare=all(own == Effect() for own in effects))
    sampled = _Sampled(network, cells, raw)
    before = sampled.rate([np.ones(len(raw))], undetected()).estimate
    kept = [np.array([e.left_of(size) for e in effects]) for size in range(1, sampled.sizes + 1)]
    fit = sampled.rate(kept, mechanisms.hazardous(network))
    made = float(raw @ column["due_of_raw"])
    if "due" in network.hazardous:
        fit = _raised(fit, made)
    detected = _raised(sampled.rate([column["due_kept"]], mechanisms.detected(network)), made)
    left = float(raw @ column["raw"])
    alone = sampled.rate([np.array([e.unaided for e in effects])], harmful())
    return JudgedSet(network.name, len(network.bit), before, fit, left, *_spfm(fit, left), detected, alone)


def _by_limits(
    network: Network, limits: RateLimits, raw: FloatArray, column: Mapping[str, FloatArray], *, bare: bool
) -> JudgedSet:
    """Judge by limits that hold together: the bound of a set is the sum of what options leave of them."""
    kept, left = column["residual"], float(raw @ column["raw"])
    estimate, most = limits.whole if bare else (float(limits.fit @ kept), float(limits.fit_hi @ kept))
    if "due" in network.hazardous:
        made = float(raw @ column["due_of_raw"])
        estimate, most = estimate + made, most + made
    fit = Interval(estimate, 0.0, most, network.confidence)
    return JudgedSet(network.name, limits.injections, limits.whole[0], fit, left, *_spfm(fit, left), None)


def _raised(rate: Interval, more: float) -> Interval:
    return Interval(rate.estimate + more, rate.lo + more, rate.hi + more, rate.confidence)


def _spfm(fit: Interval, fit_raw: float) -> tuple[float | None, float | None]:
    estimate, least = (max(0.0, 1.0 - r / fit_raw) if fit_raw > 0.0 else None for r in (fit.estimate, fit.hi))
    return estimate, least


class _Sampled:
    """Injections as a stratified sample: what is kept apart are block, kind and the shares that remain.

    Attributes:
        sizes: Bits that the largest upset flips.
    """

    def __init__(self, network: Network, cells: Cells, raw: FloatArray) -> None:
        self._confidence = network.confidence
        self._raw = raw
        self._domain = cells.levels[0]
        # What is declared may happen, though no injection of it was drawn.
        largest = 1 if network.size is None else int(network.size.max(initial=1))
        self.sizes = max(len(network.clusters), largest)
        self._cell, self._outcome = cells.of_bit[network.bit], network.outcome
        self._size = np.zeros_like(network.bit) if network.size is None else network.size - 1
        # Of one input alone nothing of others is known, whatever is asked.
        self._inputs, self._input = 1, np.zeros_like(network.bit)
        if network.input is not None and len(network.labels) > 1:
            self._inputs = len(network.labels)
            self._input = np.searchsorted(np.array(network.labels), network.input)

    def rate(self, kept: Sequence[FloatArray], share: FloatArray) -> Interval:
        """Return the rate of the outcomes, each times its share, in cells that keep a part of them.

        Args:
            kept: Part that each cell keeps, of upsets of 1, 2, ... bits; one of all sizes if there is one.
            share: Of each outcome.
        """
        counted = self._raw > 0.0
        every = [kept[min(size, len(kept) - 1)] for size in range(self.sizes)]
        apart = np.stack((self._domain, *every), axis=1)[counted]
        rows, stratum = np.unique(apart, axis=0, return_inverse=True)
        events, trials, weights = [], [], []
        count = len(rows)
        of_cell = np.full(len(self._raw), -1)
        of_cell[counted] = stratum
        place = of_cell[self._cell]
        raw = np.bincount(stratum, self._raw[counted], count)
        struck = self._count(place, place >= 0, count)
        for level in np.unique(share[share > 0.0]):
            chosen = (place >= 0) & (share[self._outcome] == level)
            found = np.stack(
                [self._count(place, chosen & (self._size == n), count) for n in range(self.sizes)], axis=2
            )
            # Sizes of which the same part is left are counted together.
            for number in range(self.sizes):
                part = rows[:, 1 + number]
                alike = rows[:, 1:] == part[:, None]
                first = np.argmax(alike, axis=1) == number
                events.append((found * alike).sum(axis=2))
                trials.append(struck)
                weights.append(raw * part * level * first)
        if not events:
            return Interval(0.0, 0.0, 0.0, self._confidence)
        x, n = (np.concatenate(values, axis=1) for values in (events, trials))
        w = np.concatenate(weights)
        some = w > 0.0
        if not some.any():
            return Interval(0.0, 0.0, 0.0, self._confidence)
        return weighted_sum_over_inputs(x[:, some], n[:, some], w[some], self._confidence).interval

    def _count(self, place: IntArray, chosen: BoolArray, count: int) -> FloatArray:
        """Return how many of some injections lie in each stratum, shape (inputs, strata)."""
        key = self._input[chosen] * count + place[chosen]
        found = np.bincount(key, minlength=self._inputs * count)
        return found.reshape(self._inputs, count).astype(np.float64)
