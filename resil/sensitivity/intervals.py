"""Predicted parts into estimates of blocks and of the total, with intervals for the model's own error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from resil.sensitivity.model import LeftOut
from resil.sensitivity.predict import PartPrediction, outcome_index
from resil.sensitivity.severity import Part, Severity
from stats.intervals import Interval
from stats.rates import NOT_MASKED, OUTCOMES, BlockEstimate
from stats.sensitivity import fit_shape, predicted_interval

TOTAL = "total"
_FEWEST_NETWORKS = 2
_WITHOUT_EVIDENCE = 0.5


class ModelError:
    """How far predictions of networks that were left out were from the truth.

    Args:
        left_out: Observed and expected outcomes.
    """

    def __init__(self, left_out: Sequence[LeftOut]) -> None:
        self._rows = left_out
        self.shape = cache(self._shape)

    def _shape(self, block: str, kind: str, outcomes: tuple[str, ...]) -> float:
        """Return the shape of the gamma variable for one block, or `TOTAL`, and these outcomes."""
        same_kind = [row for row in self._rows if row.kind == kind]
        alike = [row for row in same_kind if (row.block == TOTAL) == (block == TOTAL)]
        whole = self._fit(alike, outcomes, None)
        return self._fit([row for row in same_kind if row.block == block], outcomes, whole)

    def _fit(self, rows: Sequence[LeftOut], outcomes: tuple[str, ...], around: float | None) -> float:
        if len({row.network for row in rows}) < _FEWEST_NETWORKS:
            return _WITHOUT_EVIDENCE if around is None else around
        places = outcome_index(outcomes)
        events = [sum(row.events[place] for place in places) for row in rows]
        expected = [sum(row.expected[place] for place in places) for row in rows]
        return fit_shape(events, expected, around)


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

    def as_dict(self) -> dict[str, Any]:
        """Return an entry of `predicted_strata` in `summary.json`."""
        return {
            "block": self.part[0],
            "kind": self.part[1],
            "bits": self.bits,
            "fit_raw": self.fit_raw,
            "fit": self.fit.as_list(),
            "fit_hi_joint": self.joint.hi,
            "predicted": True,
        }


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
    found = []
    for part, own in parts.items():
        raw = own.bits * fit_per_bit[part[1]]

        def interval(level: float, part: Part = part, own: PartPrediction = own) -> Interval:
            share = min(1.0, float(own.rates(part, severity)[outcome_index(hazardous)].sum()))
            return predicted_interval(share, error.shape(*part, tuple(hazardous)), 1.0, level)

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
    rates = {part: own.rates(part, severity) for part, own in parts.items()}

    def share(part: Part, outcomes: Sequence[str]) -> float:
        return min(1.0, float(rates[part][outcome_index(outcomes)].sum()))

    def interval(
        name: str, members: list[Part], outcomes: tuple[str, ...], weight: Mapping[Part, float]
    ) -> Interval:
        found = [0.0, 0.0, 0.0]
        for kind in sorted({kind for _, kind in members}):
            own = [part for part in members if part[1] == kind]
            scale = sum(weight[part] for part in own)
            value = sum(weight[part] * share(part, outcomes) for part in own) / scale if scale else 0.0
            predicted = predicted_interval(
                min(value, 1.0), error.shape(name, kind, outcomes), 1.0, confidence
            )
            found = [a + scale * b for a, b in zip(found, predicted.as_list(), strict=True)]
        return Interval(found[0], found[1], found[2], confidence)

    def estimate(name: str, members: list[Part]) -> BlockEstimate:
        bits = {part: float(parts[part].bits) for part in members}
        whole = sum(bits.values())
        by_bits = {part: own / whole for part, own in bits.items()}
        raw = {part: own * fit_per_bit[part[1]] for part, own in bits.items()}
        avf = interval(name, members, NOT_MASKED, by_bits)
        seen = {outcome: interval(name, members, (outcome,), by_bits) for outcome in OUTCOMES[1:]}
        return BlockEstimate(
            block=name,
            bits={
                kind: sum(parts[part].bits for part in members if part[1] == kind)
                for kind in sorted({kind for _, kind in members})
            },
            counts=dict.fromkeys(OUTCOMES, 0),
            rates={"masked": avf.complement(), **seen},
            avf=avf,
            fit_raw=sum(raw.values()),
            fit=interval(name, members, tuple(hazardous), raw),
        )

    names = list(dict.fromkeys(block for block, _ in parts))
    blocks = [estimate(name, [part for part in parts if part[0] == name]) for name in names]
    return blocks, estimate(TOTAL, list(parts))
