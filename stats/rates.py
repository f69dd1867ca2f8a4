# SPDX-License-Identifier: Apache-2.0
"""From counted outcomes to AVF and FIT, per block and in total, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from resil.stats.errors import ArgumentError
from resil.stats.intervals import Interval, Side
from resil.stats.weighted import weighted_sum

OUTCOMES = ("masked", "latent", "sdc_tolerable", "sdc_critical", "due", "hang")
HAZARDOUS = ("sdc_critical", "hang")
# What is seen of a fault while it lasts: in the outputs, by a detector, or because no output comes.
VISIBLE = ("sdc_tolerable", "sdc_critical", "due", "hang")
NOT_MASKED = OUTCOMES[1:]


@dataclass(frozen=True)
class StratumCounts:
    """What came of the injections into one stratum.

    Attributes:
        block: Block that it belongs to.
        kind: "ff", "macro" or "sram".
        bits: Storage bits.
        counts: Injections of each outcome; what is missing is 0.
        share: Part of the exposure time of those bits that the stratum stands for. Strata that divide the
            cycles or the inputs of the same bits have shares that sum to 1.
        relative: How often faults come in the bits, on average, beside the rate of the kind.
        members: Faults that there are, if each is injected once at most: where all were, the rates are known
            and have no error of a sample. None if there is no end of them.

    Raises:
        ValueError: an outcome has an unknown name, a number is negative, or the share is not in 0 .. 1.
    """

    block: str
    kind: str
    bits: int
    counts: Mapping[str, int] = field(default_factory=dict)
    share: float = 1.0
    relative: float = 1.0
    members: int | None = None

    def __post_init__(self) -> None:
        unknown = set(self.counts) - set(OUTCOMES)
        if unknown:
            raise ArgumentError(
                f"outcomes are {', '.join(OUTCOMES)}; block {self.block} has {sorted(unknown)}", "outcomes"
            )
        if self.bits < 0 or min(self.counts.values(), default=0) < 0 or not 0.0 <= self.share <= 1.0:
            raise ArgumentError(
                f"a stratum has bits and counts >= 0 and a share in 0 .. 1, found {self}", "counts"
            )

    @property
    def injections(self) -> int:
        """Injections of all outcomes."""
        return sum(self.counts.values())

    @property
    def exposure(self) -> float:
        """Bits times share, as many as come to the rate of the kind."""
        return self.bits * self.share * self.relative

    def events(self, outcomes: Iterable[str]) -> int:
        """Return the injections whose outcome is among `outcomes`."""
        return sum(self.counts.get(o, 0) for o in outcomes)


@dataclass(frozen=True)
class BlockEstimate:
    """Estimates for a block, or for the total.

    Attributes:
        block: Name of the block, or "total".
        bits: Storage bits that were sampled, by kind.
        counts: Injections of each outcome.
        rates: P(outcome | a bit flips at a uniformly random time), for each outcome.
        avf: P(outcome among `VISIBLE`), likewise; latent state stands beside it, in `rates`.
        fit_raw: Upsets of all its bits, per 1e9 h.
        fit: Hazardous outcomes per 1e9 h.
    """

    block: str
    bits: Mapping[str, int]
    counts: Mapping[str, int]
    rates: Mapping[str, Interval]
    avf: Interval
    fit_raw: float
    fit: Interval

    @property
    def injections(self) -> int:
        """Injections of all outcomes."""
        return sum(self.counts.values())


def outcome_probability(
    strata: Sequence[StratumCounts],
    outcomes: Iterable[str],
    confidence: float = 0.95,
    side: Side = "two-sided",
) -> Interval:
    """Return P(outcome among `outcomes`) for a bit of these strata, each bit and moment weighing the same.

    For one stratum this is the interval of Clopper and Pearson.

    Raises:
        ValueError: there is no stratum, or `confidence` or `side` is not one.

    Examples:
        >>> counts = StratumCounts("mac", "ff", 100, {"masked": 9, "hang": 1})
        >>> outcome_probability([counts], ["hang"]).estimate
        0.1
    """
    if not strata:
        raise ArgumentError("a probability needs at least one stratum", "strata")
    exposure = sum(s.exposure for s in strata)
    weights = [s.exposure / exposure if exposure else 1.0 / len(strata) for s in strata]
    found = _sum(strata, tuple(outcomes), weights, confidence, side)
    return Interval(min(found.estimate, 1.0), found.lo, min(found.hi, 1.0), confidence)


def block_average(
    strata: Sequence[StratumCounts],
    block_weights: Mapping[str, float],
    outcomes: Iterable[str] = VISIBLE,
    confidence: float = 0.95,
) -> Interval:
    """Return `sum a_b P_b(outcome) / sum a_b` over blocks: with their areas as a, the area-weighted AVF.

    Within a block each bit and moment weighs the same.

    Args:
        strata: Counts; a block may have several.
        block_weights: a >= 0 of each block; blocks that it does not name, or without strata, do not count.
        outcomes: Which outcomes count.
        confidence: Of the interval.

    Raises:
        ValueError: no block with strata has weight, or `confidence` is not one.

    Examples:
        >>> strata = [StratumCounts("mac", "ff", 9, {"hang": 50, "masked": 50}),
        ...     StratumCounts("wd", "ff", 1, {"masked": 100})]
        >>> block_average(strata, {"mac": 300.0, "wd": 100.0}).estimate
        0.375
    """
    exposure: dict[str, float] = {}
    for s in strata:
        exposure[s.block] = exposure.get(s.block, 0.0) + s.exposure
    whole = sum(block_weights.get(block, 0.0) for block, size in exposure.items() if size > 0)
    if whole <= 0.0:
        raise ArgumentError("an average over blocks needs a weight > 0 for a block that has strata", "weight")
    weights = [
        block_weights.get(s.block, 0.0) / whole * s.exposure / exposure[s.block] if s.exposure else 0.0
        for s in strata
    ]
    return _sum(strata, tuple(outcomes), weights, confidence, "two-sided")


def fit(
    strata: Sequence[StratumCounts],
    fit_per_bit: Mapping[str, float],
    outcomes: Iterable[str] = HAZARDOUS,
    confidence: float = 0.95,
    side: Side = "two-sided",
) -> Interval:
    """Return the rate of these outcomes in FIT: `sum bits x share x FIT of a bit x P(outcome)`.

    Args:
        strata: Counts; strata without injections count with their whole raw rate in the upper limit.
        fit_per_bit: Raw rate of one bit, by kind ("ff", "macro", "sram").
        outcomes: Which outcomes count.
        confidence: Of the interval.
        side: Which limits are wanted.

    Raises:
        KeyError: a kind has no raw rate.
        ValueError: there is no stratum, or `confidence` or `side` is not one.

    Examples:
        >>> round(fit([StratumCounts("mac", "ff", 1000, {"masked": 99, "hang": 1})], {"ff": 1e-4}).hi, 5)
        0.00545
    """
    if not strata:
        raise ArgumentError("a rate needs at least one stratum: nothing known is not zero", "strata")
    weights = [s.exposure * fit_per_bit[s.kind] for s in strata]
    return _sum(strata, tuple(outcomes), weights, confidence, side)


def raw_fit(strata: Sequence[StratumCounts], fit_per_bit: Mapping[str, float]) -> float:
    """Return the upset rate of all bits in FIT, whatever comes of it."""
    return sum(s.exposure * fit_per_bit[s.kind] for s in strata)


def estimate_blocks(
    strata: Sequence[StratumCounts],
    fit_per_bit: Mapping[str, float],
    hazardous: Iterable[str] = HAZARDOUS,
    confidence: float = 0.95,
    whole: Sequence[StratumCounts] | None = None,
) -> tuple[tuple[BlockEstimate, ...], BlockEstimate]:
    """Return the estimates of every block, in order of first appearance, and of the total.

    Args:
        strata: Counts of all strata; a block may have several (kinds, inputs, operations).
        fit_per_bit: Raw rate of one bit, by kind.
        hazardous: Outcomes that count as failures.
        confidence: Of every interval by itself.
        whole: The same injections as the total is to be reckoned from, if they were not sampled block by
            block: a uniform sample has one stratum for each kind of storage.

    Raises:
        KeyError: a kind has no raw rate.
        ValueError: there is no stratum, or `confidence` is none.
    """
    wanted = tuple(hazardous)
    members: dict[str, list[StratumCounts]] = {}
    for s in strata:
        members.setdefault(s.block, []).append(s)
    blocks = tuple(_estimate(name, own, fit_per_bit, wanted, confidence) for name, own in members.items())
    total = _estimate("total", list(strata if whole is None else whole), fit_per_bit, wanted, confidence)
    return blocks, total


def _estimate(
    name: str,
    strata: list[StratumCounts],
    fit_per_bit: Mapping[str, float],
    hazardous: tuple[str, ...],
    confidence: float,
) -> BlockEstimate:
    return BlockEstimate(
        block=name,
        bits=_bits(strata),
        counts={o: sum(s.events([o]) for s in strata) for o in OUTCOMES},
        rates={o: outcome_probability(strata, [o], confidence) for o in OUTCOMES},
        avf=outcome_probability(strata, VISIBLE, confidence),
        fit_raw=raw_fit(strata, fit_per_bit),
        fit=fit(strata, fit_per_bit, hazardous, confidence),
    )


def _bits(strata: list[StratumCounts]) -> dict[str, int]:
    kinds = sorted({s.kind for s in strata})
    return {kind: round(sum(s.exposure for s in strata if s.kind == kind)) for kind in kinds}


def _sum(
    strata: Sequence[StratumCounts],
    outcomes: tuple[str, ...],
    weights: list[float],
    confidence: float,
    side: Side,
) -> Interval:
    events = [s.events(outcomes) for s in strata]
    sizes = [np.inf if s.members is None else s.members for s in strata]
    return weighted_sum(events, [s.injections for s in strata], weights, confidence, side, sizes)
