# SPDX-License-Identifier: Apache-2.0
"""Predicted parts into estimates of blocks and of the total, with intervals for the model's own error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from resil.record.blocks import PartLimit
from resil.results.figures import shown
from resil.sensitivity.model import HoldOutBlock
from resil.sensitivity.predict import PartPrediction, outcome_index, part_rates
from resil.sensitivity.severity import SDC, Part, Severity
from resil.stats.intervals import Interval
from resil.stats.model_error import ErrorSpread, fit_spread, predicted_interval
from resil.stats.rates import NOT_MASKED, OUTCOMES, VISIBLE, BlockEstimate

FloatArray = npt.NDArray[np.float64]

TOTAL = "total"
_FEWEST_NETWORKS = 2
_BELIEFS = (1.0, 0.5, 1.5)


class ModelError:
    """How far predictions of networks that were left out were from the truth.

    Args:
        left_out: Observed and expected outcomes.
    """

    def __init__(self, left_out: Sequence[HoldOutBlock]) -> None:
        self._rows = left_out
        self._spread = cache(self._fit_spread)
        self._typical = cache(self._fit_typical)

    def interval(
        self,
        block: str,
        kind: str,
        outcomes: Sequence[str],
        prediction: float,
        confidence: float,
        injections: float = 0.0,
    ) -> Interval:
        """Return the interval of P(outcomes) of one block, or of `TOTAL`.

        A block without injections behind it may have any rate up to 1.

        Args:
            block: Its name, or `TOTAL`.
            kind: Of storage.
            outcomes: Those that count.
            prediction: Of their share.
            confidence: Of the interval.
            injections: That the prediction rests on; 0 if it is learnt from those that this knows.
        """
        spread = self.spread(block, kind, outcomes)
        rests_on = injections or self.injections(block, kind)
        return predicted_interval(min(prediction, 1.0), spread, rests_on, confidence)

    def spread(self, block: str, kind: str, outcomes: Sequence[str]) -> ErrorSpread:
        """Return the spread of predictions of one block, or of `TOTAL`.

        Of the shared buffer it is that of all data corruptions: they show how well its contents are timed,
        and which of them change the decision is not learnt.
        """
        followed = any(row.rests_on for row in self._rows if (row.block, row.kind) == (block, kind))
        if followed and set(outcomes) <= {*OUTCOMES[SDC.start :]}:
            outcomes = OUTCOMES[SDC]
        return self._spread(block, kind, tuple(outcomes))

    def injections(self, block: str, kind: str) -> float:
        """Return the injections into a block of these rows, at least 1."""
        return max(self._injections(block, kind), 1.0)

    def _injections(self, block: str, kind: str) -> float:
        return sum(row.trials for row in self._rows if (row.block, row.kind) == (block, kind))

    def _fit_spread(self, block: str, kind: str, outcomes: tuple[str, ...]) -> ErrorSpread:
        around = None if block == TOTAL else self._typical(kind, outcomes)
        return self._fit(block, kind, outcomes, around)

    def _fit_typical(self, kind: str, outcomes: tuple[str, ...]) -> float:
        """Return the spread that blocks have in the geometric mean."""
        blocks = sorted({row.block for row in self._rows if row.kind == kind} - {TOTAL})
        found = [self._fit(block, kind, outcomes, None).typical for block in blocks]
        return float(np.exp(np.mean(np.log(found)))) if found else 1.0

    def _fit(self, block: str, kind: str, outcomes: tuple[str, ...], around: float | None) -> ErrorSpread:
        rows = [row for row in self._rows if (row.block, row.kind) == (block, kind)]
        networks = [row.network for row in rows]
        if len(set(networks)) < _FEWEST_NETWORKS:
            return fit_spread([], [], [], around)
        learnt = self.injections(block, kind)
        expected = [row.predicted(outcomes) + row.trials / (row.rests_on or learnt) for row in rows]
        return fit_spread([row.observed(outcomes) for row in rows], expected, networks, around)


@dataclass(frozen=True)
class PartLimits:
    """Predicted hazardous FIT of the storage of one kind of one block.

    Attributes:
        part: Block and kind of storage.
        bits: Storage bits.
        fit_raw: Upsets of them all in 1e9 hours.
        fit: Hazardous ones, with the interval at the campaign's confidence.
        joint: The same; its upper limits hold for all parts together as often as one of `fit` does.
    """

    part: Part
    bits: int
    fit_raw: float
    fit: Interval
    joint: Interval

    @property
    def record(self) -> PartLimit:
        """The same as documents hold it."""
        return PartLimit(
            block=self.part[0],
            kind=self.part[1],
            bits=self.bits,
            fit_raw=self.fit_raw,
            fit=shown(self.fit),
            fit_hi_joint=self.joint.hi,
            predicted=True,
        )


def part_limits(
    parts: Mapping[Part, PartPrediction],
    severity: Severity,
    error: ModelError,
    fit_per_bit: Mapping[str, float],
    hazardous: Sequence[str],
    confidence: float,
) -> list[PartLimits]:
    """Return what a choice of protection needs of every block and kind of storage.

    With m parts each joint limit has the error `(1 - confidence) / (2 m)` (Bonferroni): whichever parts are
    chosen by looking at them, the sum of their limits holds.
    """
    joint = 1.0 - (1.0 - confidence) / max(len(parts), 1)
    rates, places = _believed(parts, severity), outcome_index(hazardous)
    found = []
    for part, own in parts.items():
        raw = own.bits * fit_per_bit[part[1]]

        def interval(level: float, part: Part = part) -> Interval:
            return _hull(
                error.interval(
                    *part, hazardous, float(own_rates[part][places].sum()), level, parts[part].injections
                )
                for own_rates in rates
            )

        found.append(
            PartLimits(part, own.bits, raw, interval(confidence).scaled(raw), interval(joint).scaled(raw))
        )
    return found


def block_estimates(
    parts: Mapping[Part, PartPrediction],
    severity: Severity,
    error: ModelError,
    fit_per_bit: Mapping[str, float],
    hazardous: Sequence[str],
    confidence: float,
) -> tuple[list[BlockEstimate], BlockEstimate]:
    """Return the estimates of every block and of the total; no injections are counted in them.

    Errors of the kinds of storage of a block, or of the total, are added up as if one caused the other.
    """
    believed = _believed(parts, severity)

    def interval(
        name: str, members: list[Part], outcomes: tuple[str, ...], weight: Mapping[Part, float]
    ) -> Interval:
        return _hull(one(name, members, outcomes, weight, rates) for rates in believed)

    def one(
        name: str,
        members: list[Part],
        outcomes: tuple[str, ...],
        weight: Mapping[Part, float],
        rates: Mapping[Part, FloatArray],
    ) -> Interval:
        places = outcome_index(outcomes)
        found = [0.0, 0.0, 0.0]
        for kind in sorted({kind for _, kind in members}):
            own = [part for part in members if part[1] == kind]
            scale = sum(weight[part] for part in own)
            value = sum(weight[part] * float(rates[part][places].sum()) for part in own)
            rests_on = min(parts[part].injections for part in own)
            share = value / scale if scale else 0.0
            predicted = error.interval(name, kind, outcomes, share, confidence, rests_on)
            found = [a + scale * b for a, b in zip(found, predicted.as_list(), strict=True)]
        return Interval(found[0], found[1], found[2], confidence)

    def estimate(name: str, members: list[Part]) -> BlockEstimate:
        bits = {part: float(parts[part].bits) for part in members}
        whole = sum(bits.values())
        by_bits = {part: own / whole for part, own in bits.items()}
        raw = {part: own * fit_per_bit[part[1]] for part, own in bits.items()}
        seen = {outcome: interval(name, members, (outcome,), by_bits) for outcome in OUTCOMES[1:]}
        return BlockEstimate(
            block=name,
            bits={
                kind: sum(parts[part].bits for part in members if part[1] == kind)
                for kind in sorted({kind for _, kind in members})
            },
            counts=dict.fromkeys(OUTCOMES, 0),
            rates={"masked": interval(name, members, NOT_MASKED, by_bits).complement(), **seen},
            avf=interval(name, members, VISIBLE, by_bits),
            fit_raw=sum(raw.values()),
            fit=interval(name, members, tuple(hazardous), raw),
        )

    names = list(dict.fromkeys(block for block, _ in parts))
    blocks = [estimate(name, [part for part in parts if part[0] == name]) for name in names]
    return blocks, estimate(TOTAL, list(parts))


def _believed(parts: Mapping[Part, PartPrediction], severity: Severity) -> tuple[dict[Part, FloatArray], ...]:
    """Return P(outcome) of every part, and the same if a margin beyond those known says less, or more."""
    if not severity.beyond({part: own.drawn for part, own in parts.items()}):
        return (part_rates(parts, severity),)
    return tuple(part_rates(parts, severity, belief) for belief in _BELIEFS)


def _hull(intervals: Iterable[Interval]) -> Interval:
    """Return the first interval, widened to hold the others' limits."""
    first, *others = intervals
    known = [first, *others]
    lo, hi = min(own.lo for own in known), max(own.hi for own in known)
    return Interval(first.estimate, lo, hi, first.confidence)
