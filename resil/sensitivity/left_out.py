# SPDX-License-Identifier: Apache-2.0
"""Networks that were left out, and what the errors of their predictions teach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.sensitivity.model import HoldOutBlock
from resil.sensitivity.observations import ObservedRun
from resil.sensitivity.predict import PartPrediction, outcome_index, part_rates
from resil.sensitivity.severity import Drawn, Part, Severity, references
from resil.stats.rates import HAZARDOUS, OUTCOMES

FloatArray = npt.NDArray[np.float64]

TRUSTS = tuple(step / 10 for step in range(13))


@dataclass(frozen=True)
class Prediction:
    """What a model without a run's network predicts of the run."""

    run: ObservedRun
    parts: Mapping[Part, PartPrediction]


def fit_severity(predictions: Sequence[Prediction]) -> Severity:
    """Return what drawn corruptions say of these networks.

    Each kind of storage gets the trust with which the totals of each network, predicted from the draws of the
    others, are best: the mean over networks of the squared error of the logarithm is least.
    """
    trust, reference = {}, _references(predictions)
    for kind in sorted({part[1] for part in reference}):
        errors = [_squared_errors(predictions, network, kind) for network in _networks(predictions)]
        known = [error for error in errors if error is not None]
        if known:
            trust[kind] = TRUSTS[int(np.argmin(np.sum(known, axis=0)))]
    return Severity(trust, reference)


def _squared_errors(predictions: Sequence[Prediction], network: str, kind: str) -> FloatArray | None:
    """Return the mean error of a network's totals with each of `TRUSTS`; None if nothing shows it."""
    reference = _references(without(predictions, network))
    errors = []
    for prediction in (p for p in predictions if p.run.network == network):
        counts = _part_counts(prediction.run)
        weight = _weights(prediction, counts, kind)
        observed = sum(w * _hazard(counts[p]) / counts[p].sum() for p, w in weight.items())
        if not observed or not any(part in reference for part in weight):
            continue
        expected = [
            sum(w * _hazard(rates[p]) for p, w in weight.items())
            for rates in (
                part_rates(prediction.parts, Severity({kind: trust}, reference)) for trust in TRUSTS
            )
        ]
        errors.append(np.square(np.log(np.array(expected) / observed)))
    return np.mean(errors, axis=0) if errors else None


def _hazard(outcomes: FloatArray) -> float:
    return float(outcomes[outcome_index(HAZARDOUS)].sum())


def _networks(predictions: Iterable[Prediction]) -> list[str]:
    return sorted({prediction.run.network for prediction in predictions})


def without(predictions: Iterable[Prediction], network: str) -> list[Prediction]:
    """Return those of other networks."""
    return [prediction for prediction in predictions if prediction.run.network != network]


def _references(predictions: Iterable[Prediction]) -> dict[Part, float]:
    drawn: dict[str, list[dict[Part, Drawn]]] = {}
    for prediction in predictions:
        own = {part: found.drawn for part, found in prediction.parts.items()}
        drawn.setdefault(prediction.run.network, []).append(own)
    return references(drawn)


def left_out_rows(prediction: Prediction, severity: Severity) -> list[HoldOutBlock]:
    """Return observed and expected outcomes of every part, and of the total of each kind of storage."""
    run, rows = prediction.run, []
    counts = _part_counts(run)
    expected = part_rates(prediction.parts, severity)
    for (block, kind), rates in expected.items():
        seen = counts[block, kind]
        trials = float(seen.sum())
        rests_on = prediction.parts[block, kind].injections
        rows.append(_row(run, block, kind, trials, seen, rates * trials, rests_on))
    for kind in sorted({kind for _, kind in expected}):
        weight = _weights(prediction, counts, kind)
        observed = np.sum([w * counts[p] / counts[p].sum() for p, w in weight.items()], axis=0)
        predicted = np.sum([w * expected[p] for p, w in weight.items()], axis=0)
        trials = _effective_trials(counts, weight)
        rests_on = min(prediction.parts[part].injections for part in weight)
        rows.append(_row(run, "total", kind, trials, observed * trials, predicted * trials, rests_on))
    return rows


def _weights(prediction: Prediction, counts: Mapping[Part, FloatArray], kind: str) -> dict[Part, float]:
    """Return the part of the bits of a kind of storage that each part has; of those that were struck."""
    own = {p: part.bits for p, part in prediction.parts.items() if p[1] == kind and counts[p].sum()}
    return {part: bits / sum(own.values()) for part, bits in own.items()}


def _effective_trials(counts: Mapping[Part, FloatArray], weight: Mapping[Part, float]) -> float:
    """Return the size of a plain sample that would give the hazardous share of the total as exactly."""
    places = outcome_index(HAZARDOUS)
    share = variance = 0.0
    for part, w in weight.items():
        n = float(counts[part].sum())
        p = (float(counts[part][places].sum()) + 0.5) / (n + 1.0)
        share += w * p
        variance += w * w * p * (1.0 - p) / n
    return share * (1.0 - share) / variance


def _row(
    run: ObservedRun,
    block: str,
    kind: str,
    trials: float,
    events: FloatArray,
    expected: FloatArray,
    rests_on: float,
) -> HoldOutBlock:
    def plain(values: FloatArray) -> tuple[float, ...]:
        return tuple(round(float(value), 3) for value in values)

    return HoldOutBlock(
        run.network,
        run.accelerator,
        block,
        kind,
        round(trials, 1),
        plain(events),
        plain(expected),
        round(rests_on, 1),
    )


def _part_counts(run: ObservedRun) -> dict[Part, FloatArray]:
    found: dict[Part, FloatArray] = {(c.block, c.kind): np.zeros(len(OUTCOMES)) for c in run.bits}
    for (cell, _), counts in run.counts.items():
        found[cell.block, cell.kind] = found[cell.block, cell.kind] + np.array(counts)
    return found
