# SPDX-License-Identifier: Apache-2.0
"""Risks of small groups of storage, shrunk: what a choice rests on, never what it is judged by.

A cell of eight bits gets a handful of injections, so its own maximum is mostly luck, and a choice that ranks
cells by what was found in them protects the lucky ones. Each rate is drawn towards that of the register, the
register class and the block around it over all networks, as strongly as predicts other injections best
(`stats.sensitivity`), and what is left of error, mostly that cells in which nothing was found are not as
harmless as that, is taken from what injections that did not predict say of the predictions (`calibration`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression

from resil.protection.corners import Corner
from resil.protection.logic import BlockLogic
from resil.protection.units import Cells
from resil.protection.watchdog_pace import WatchdogPace
from resil.stats.sampling import mix
from resil.stats.sensitivity import Levels, pooled_rates, tune_strengths

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# What came of an injection, as far as protection asks: no harm and no alarm; a hazardous outcome that is no
# hang, or a hang, that no alarm reported; the same two, detected; and an alarm without harm.
HARMLESS, HARMFUL, HANG, HARMFUL_DETECTED, HANG_DETECTED, DETECTED = range(6)
OUTCOME_KINDS = 6

# Inputs of which two choose and two judge.
_DIVISIBLE = 4


@dataclass(frozen=True)
class RateLimits:
    """What a summary says of each cell, where cells are a block's storage of one kind. Rates in FIT.

    Attributes:
        fit: Estimates of the hazardous rates, shape (cells,).
        fit_hi: Upper limits that all hold together, so for every set that may be chosen, shape (cells,).
        whole: Estimate and upper limit of the design as it is, which are the run's own.
        injections: Behind them; 0 of an estimate.
        kinds: Of storage, of each cell.
    """

    fit: FloatArray
    fit_hi: FloatArray
    whole: tuple[float, float]
    injections: int
    kinds: tuple[str, ...] = ()

    def scaled(self, corner: Corner) -> RateLimits:
        """Return them with other raw rates; the design as a whole by the highest factor, to the safe side."""
        own = np.array([corner.factor(kind) for kind in self.kinds])
        most = float(own.max(initial=0.0)) if len(own) else 1.0
        whole = self.whole[0] * most, self.whole[1] * most
        return replace(self, fit=self.fit * own, fit_hi=self.fit_hi * own, whole=whole)


@dataclass(frozen=True)
class Network:
    """One run: what was injected into one network, or the limits that are known of it.

    Attributes:
        name: Of the run.
        bit: Bit of the storage that each injection struck, shape (injections,).
        outcome: What came of it, one of those above.
        number: Of each injection: what `halves` divides by.
        fit_per_bit: Raw upset rate of a bit, by block and kind.
        confidence: Of the run's intervals.
        hazardous: Outcomes that count as failures.
        pace: Of its operations; None if it is not known, or there are none.
        clusters: Part of the upsets that flip 1, 2, ... bits, as the campaign declares them.
        size: Bits that each injection flipped, shape (injections,); None if each flipped one.
        drawn: Of what size each was drawn, likewise: at the end of a word fewer flip.
        limits: By which it is judged in place of injections, as an estimate is; None for injections.
        corners: Of the ranges of raw rates, and of the sizes of upsets, by name.
        input: Label of the input of each injection, shape (injections,), where what is judged is inputs like
            those that were run; None where it is these inputs.
        labels: Of all inputs that were run, likewise; those without an injection count as well.
        population: What its figures are about, in words.
        logic: Faults in logic, pulses or permanent ones as those of storage are; None where nothing is known
            of them.
        stuck: The faults are permanent ones: bits that are stuck.
        permanent: The same network with its permanent faults; None where nothing is asked of them.
    """

    name: str
    bit: IntArray
    outcome: IntArray
    number: IntArray
    fit_per_bit: dict[tuple[str, str], float]
    confidence: float
    hazardous: tuple[str, ...]
    pace: WatchdogPace | None = None
    limits: RateLimits | None = None
    clusters: tuple[float, ...] = (1.0,)
    size: IntArray | None = None
    drawn: IntArray | None = None
    corners: Mapping[str, Corner] = field(default_factory=dict)
    input: IntArray | None = None
    labels: tuple[int, ...] = ()
    population: str = ""
    logic: BlockLogic | None = None
    stuck: bool = False
    permanent: Network | None = None

    def at(self, corner: str) -> Network:
        """Return the network at a corner: with its raw rates, and the injections of its size alone."""
        own = self.corners[corner]
        rates = {key: rate * own.factor(key[1]) for key, rate in self.fit_per_bit.items()}
        limits = None if self.limits is None else self.limits.scaled(own)
        logic = None if self.logic is None else self.logic.scaled(own.logic)
        found = replace(self, fit_per_bit=rates, limits=limits, corners={}, logic=logic)
        return found if own.size is None else found._of_size(own.size)

    def _of_size(self, size: int) -> Network:
        """Return the network as if all upsets were drawn of one size."""
        chosen = np.full(len(self.bit), size == 1) if self.drawn is None else self.drawn == size
        alone = tuple(float(own == size) for own in range(1, len(self.clusters) + 1))
        return replace(self.where(chosen), clusters=alone)

    def highest(self) -> frozenset[str]:
        """Return the corners in which every rate is highest, one for each size; none without corners."""
        sums = {name: sum(own.rates.values()) for name, own in self.corners.items()}
        most = max(sums.values(), default=0.0)
        return frozenset(name for name, own in sums.items() if own == most)

    def where(self, chosen: BoolArray) -> Network:
        """Return some of the injections."""
        named = ("bit", "outcome", "number", "size", "drawn", "input")
        arrays = {name: own for name in named if (own := getattr(self, name)) is not None}
        return replace(self, **{name: own[chosen] for name, own in arrays.items()})

    def halves(self) -> tuple[Network, Network]:
        """Return the half that chooses and the half that judges; limits that hold for any set are both.

        Where other inputs are judged, an input chooses or judges: a set fits the inputs that chose it.
        Of fewer than four each half would have one at most, which says nothing of others.
        """
        if self.limits is not None:
            return self, self
        if self.input is not None and len(self.labels) >= _DIVISIBLE:
            order = np.array(self.labels)[np.argsort(_mixed(np.array(self.labels)), kind="stable")].tolist()
            own = self._of_inputs(order[::2]), self._of_inputs(order[1::2])
        else:
            chooses = _mixed(self.number) % 2 == 0
            own = self.where(chooses), self.where(~chooses)
        if self.permanent is None:
            return own
        chosen, judged = self.permanent.halves()
        return replace(own[0], permanent=chosen), replace(own[1], permanent=judged)

    def _of_inputs(self, labels: Sequence[int]) -> Network:
        """Return the injections of some inputs."""
        assert self.input is not None
        return replace(self.where(np.isin(self.input, labels)), labels=tuple(sorted(labels)))

    def raw(self, cells: Cells) -> FloatArray:
        """Return the raw upset rate of each cell in FIT."""
        own = zip(cells.block, cells.kind, strict=True)
        return np.array([self.fit_per_bit.get(key, 0.0) for key in own]) * cells.bits


def risks_at_limits(network: Network, cells: Cells) -> FloatArray:
    """Return P(outcome | a bit of the cell flips) at the upper limits, shape (cells, `OUTCOME_KINDS`)."""
    assert network.limits is not None
    raw = network.raw(cells)
    risks = np.zeros((len(raw), OUTCOME_KINDS))
    risks[:, HARMFUL] = np.divide(network.limits.fit_hi, raw, out=np.zeros_like(raw), where=raw > 0.0)
    return risks


def shrunk_risks(networks: Sequence[Network], cells: Cells, prior: FloatArray | None = None) -> FloatArray:
    """Return P(outcome | a bit of the cell flips) of each network, drawn towards what is around the cell.

    Args:
        networks: Injections that choose.
        cells: Of the storage.
        prior: Counts of other injections, of networks of their own, shape (cells, `OUTCOME_KINDS`); None for
            none.

    Returns:
        Shape (networks, cells, `OUTCOME_KINDS`), each row summing to 1.
    """
    folds = [_fold(network) for network in networks]
    counts = np.concatenate(
        [_counts(n, cells, fold == f) for n, fold in zip(networks, folds, strict=True) for f in (0, 1)]
    )
    size = len(cells.bits)
    rows = np.tile(np.arange(size), 2 * len(networks))
    network = np.repeat(np.arange(len(networks)), 2 * size)
    fold = np.tile(np.repeat([0, 1], size), len(networks))
    groups = (*(level[rows] for level in cells.levels), network * size + rows)
    struck = counts.sum(axis=1) > 0
    strengths = tune_strengths(
        Levels(tuple(_renumbered(group[struck]) for group in groups)), counts[struck], fold[struck]
    )
    whole = len(networks) * size
    known = np.zeros((size, OUTCOME_KINDS)) if prior is None else prior
    inner = (*cells.levels, whole + np.arange(size))
    around = Levels(tuple(np.concatenate(pair) for pair in zip(groups, inner, strict=True)))

    def pooled(own: FloatArray) -> FloatArray:
        return pooled_rates(around, np.concatenate((own, known)), strengths)[-1][:whole]

    rates = pooled(counts)
    predicted, events, trials = [], [], []
    for own in (0, 1):
        half = np.where((fold == own)[:, None], counts, 0.0)
        predicted.append(_harmful(pooled(half)))
        other = np.zeros((whole, OUTCOME_KINDS))
        np.add.at(other, groups[-1][fold != own], counts[fold != own])
        events.append(_harmful(other))
        trials.append(other.sum(axis=1))
    curve = calibration(*(np.concatenate(values) for values in (predicted, events, trials)))
    old = _harmful(rates)
    new = np.minimum(curve(old), 1.0 - (rates.sum(axis=1) - rates[:, HARMLESS] - old))
    rates[:, [HARMFUL, HANG]] *= (new / np.maximum(old, 1e-300))[:, None]
    rates[:, HARMLESS] = np.maximum(0.0, 1.0 - rates[:, 1:].sum(axis=1))
    return rates.reshape(len(networks), size, OUTCOME_KINDS)


def calibration(
    predicted: FloatArray, events: FloatArray, trials: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """Return what a predicted rate is worth, from predictions and what was then seen.

    Cells in the order of their predictions are pooled until the rates that were seen rise with them (isotonic
    regression), half an event more in each pool: where a prediction says nearly nothing, what is left of many
    such cells together is still counted.

    References:
        R. E. Barlow et al., "Statistical Inference under Order Restrictions" (1972); B. Zadrozny, C. Elkan,
        KDD 2002, for its use on predictions.

    Examples:
        Predictions that are five times too low at the bottom:

        >>> curve = calibration(np.array([0.001, 0.1]), np.array([5.0, 100.0]), np.array([1000.0, 1000.0]))
        >>> curve(np.array([0.001, 0.1])).round(4).tolist()
        [0.0055, 0.1005]
    """
    known = trials > 0.0
    if not known.any():
        return lambda rate: rate
    order = np.argsort(predicted[known], kind="stable")
    p, x, n = predicted[known][order], events[known][order], trials[known][order]
    blocks = isotonic_regression(x / n, weights=n).blocks
    sums = [np.add.reduceat(values, blocks[:-1]) for values in (p * n, x, n)]
    mean, seen = sums[0] / sums[2], (sums[1] + 0.5) / sums[2]
    seen = isotonic_regression(seen, weights=sums[2]).x
    return lambda rate: np.interp(rate, mean, seen)


def _harmful(rates: FloatArray) -> FloatArray:
    return np.asarray(rates[:, HARMFUL] + rates[:, HANG], dtype=np.float64)


def _renumbered(group: IntArray) -> IntArray:
    return np.unique(group, return_inverse=True)[1].astype(np.int64)


def _fold(network: Network) -> IntArray:
    return _mixed(network.number) // 2 % 2


def _mixed(number: IntArray) -> IntArray:
    """Return numbers with all bits mixed, so that no order in which injections were drawn is left in them.

    Strata take turns as injections are numbered: by the number itself a stratum could fall into one half.
    """
    return (mix(number.astype(np.uint64)) >> np.uint64(1)).astype(np.int64)


def _counts(network: Network, cells: Cells, chosen: BoolArray) -> FloatArray:
    key = cells.of_bit[network.bit[chosen]] * OUTCOME_KINDS + network.outcome[chosen]
    found = np.bincount(key, minlength=len(cells.bits) * OUTCOME_KINDS)
    return found.reshape(len(cells.bits), OUTCOME_KINDS).astype(np.float64)
