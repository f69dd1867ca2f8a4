# SPDX-License-Identifier: Apache-2.0
"""How often the intervals of an estimate hold: each figure that is printed, of networks left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from resil.sensitivity.intervals import TOTAL, ModelError
from resil.sensitivity.model import HoldOutBlock, JudgedFigure
from resil.stats.model_error import PredictedPart, surprise
from resil.stats.rates import HAZARDOUS, OUTCOMES, VISIBLE
from resil.stats.technology import load_technology

# Of the FIT that is judged; a block's shares of flip-flops and SRAM follow from it.
TECHNOLOGY = "finfet-16nm"
FIT = "FIT"
QUANTITIES: Mapping[str, tuple[str, ...]] = {
    FIT: HAZARDOUS,
    "AVF": VISIBLE,
    **{outcome: (outcome,) for outcome in OUTCOMES[1:]},
}

Bits = Mapping[tuple[str, str], int]


def judge(rows: Sequence[HoldOutBlock], bits: Mapping[str, Bits]) -> tuple[JudgedFigure, ...]:
    """Judge each figure of each network that was left out by the errors on the other networks.

    Args:
        rows: Observed and expected outcomes of every block and kind of storage, and of the totals.
        bits: Of each accelerator, the storage bits of each block and kind.
    """
    found: list[JudgedFigure] = []
    for network in dict.fromkeys(row.network for row in rows):
        error = ModelError([row for row in rows if row.network != network])
        own = [row for row in rows if row.network == network]
        for accelerator in dict.fromkeys(row.accelerator for row in own):
            there = [row for row in own if row.accelerator == accelerator]
            for block in dict.fromkeys(row.block for row in there):
                members = _by_kind(row for row in there if row.block == block)
                for quantity in QUANTITIES:
                    weights = _weights(block, members, bits[accelerator], quantity)
                    found.append(_judged(quantity, members, weights, error))
    return tuple(found)


def _by_kind(rows: Iterable[HoldOutBlock]) -> dict[str, HoldOutBlock]:
    """Return one row for each kind of storage; those of several runs are added up."""
    found: dict[str, HoldOutBlock] = {}
    for row in rows:
        if row.kind in found:
            before = found[row.kind]
            row = replace(
                row,
                trials=before.trials + row.trials,
                events=tuple(a + b for a, b in zip(before.events, row.events, strict=True)),
                expected=tuple(a + b for a, b in zip(before.expected, row.expected, strict=True)),
                rests_on=min(before.rests_on, row.rests_on),
            )
        found[row.kind] = row
    return found


def _weights(block: str, kinds: Iterable[str], bits: Bits, quantity: str) -> dict[str, float]:
    """Return what an upset in each kind of storage counts for: its share of all bits, or of the raw FIT."""
    technology = load_technology(TECHNOLOGY)
    found = {}
    for kind in kinds:
        own = sum(n for (name, other), n in bits.items() if other == kind and block in (name, TOTAL))
        found[kind] = own * (technology.fit_per_bit(kind) if quantity == FIT else 1.0)
    whole = 1.0 if quantity == FIT else sum(found.values())
    return {kind: weight / whole for kind, weight in found.items()}


def _judged(
    quantity: str, members: Mapping[str, HoldOutBlock], weights: Mapping[str, float], error: ModelError
) -> JudgedFigure:
    outcomes = QUANTITIES[quantity]
    parts = [
        PredictedPart(
            weights[kind],
            min(row.predicted(outcomes) / row.trials, 1.0),
            error.spread(row.block, kind, outcomes),
            row.rests_on or error.injections(row.block, kind),
            row.trials,
        )
        for kind, row in sorted(members.items())
    ]
    observed = sum(weights[kind] * row.observed(outcomes) / row.trials for kind, row in members.items())
    first = next(iter(members.values()))
    return JudgedFigure(
        first.network,
        first.accelerator,
        first.block,
        quantity,
        tuple(sorted(members)),
        _digits(observed),
        _digits(sum(part.weight * part.prediction for part in parts)),
        round(surprise(observed, parts), 5),
    )


def held(judged: Sequence[JudgedFigure], confidence: float) -> dict[str, tuple[int, int]]:
    """Return how many intervals at this confidence hold, of how many: totals and blocks, by quantity.

    Only what was measured in all storage that an estimate prints counts as a total.
    """
    found: dict[str, tuple[int, int]] = {}
    widest = max((len(own.kinds) for own in judged if own.block == TOTAL), default=0)
    for whole, name in ((True, "totals"), (False, "blocks")):
        for quantity in QUANTITIES:
            own = [
                one
                for one in judged
                if one.quantity == quantity
                and (one.block == TOTAL) == whole
                and (not whole or len(one.kinds) == widest)
            ]
            inside = sum(one.surprise > (1.0 - confidence) / 2.0 for one in own)
            found[f"{quantity} of {name}"] = (inside, len(own))
    return found


def _digits(value: float) -> float:
    return float(f"{value:.6g}")
