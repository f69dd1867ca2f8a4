# SPDX-License-Identifier: Apache-2.0
"""`resil estimate --correct RUN_DIR`: predictions of all faults, corrected by injections into a few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from resil.bench.bench import NetworkFacts
from resil.errors import ResilError
from resil.record.campaign_facts import CorrectionRecord
from resil.results.figures import shown
from resil.sensitivity.intervals import PartLimits
from resil.sensitivity.model import SensitivityModel
from resil.sensitivity.observations import START_CYCLES, START_KIND, ObservedRun, SensitivityCell
from resil.sensitivity.predict import PartPrediction, outcome_index
from resil.sensitivity.severity import Part, critical_share, log_odds, shifted, with_critical
from resil.stats.intervals import Interval
from resil.stats.prediction import PredictedStratum, PredictionPowered, prediction_powered
from resil.stats.rates import BlockEstimate
from resil.stats.weighted import weighted_sum

FloatArray = npt.NDArray[np.float64]

_EVEN_PLANS = ("proportional", "uniform")


@dataclass(frozen=True)
class Correction:
    """What injections make of a prediction.

    Attributes:
        run: The injections.
        total: FIT of the total, corrected, and from the injections alone.
        parts: Block and kind of storage of each stratum of `total`.
        weights: FIT of each if every upset were hazardous.
    """

    run: ObservedRun
    total: PredictionPowered
    parts: tuple[Part, ...]
    weights: tuple[float, ...]

    @property
    def record(self) -> CorrectionRecord:
        """The same as documents hold it."""
        return CorrectionRecord(
            run=str(self.run.folder),
            campaign=self.run.provenance.hashes["campaign"],
            injections=self.run.summary.total.injections,
            fit=shown(self.total.interval),
            fit_without_predictions=shown(self.total.plain),
            tuning=self.total.tuning,
            gain=self.total.gain,
        )

    def applied(self, estimate: BlockEstimate, confidence: float) -> BlockEstimate:
        """Return an estimate with its FIT corrected; one of the total if no part has the block's name."""
        own = [i for i, (block, _) in enumerate(self.parts) if block == estimate.block]
        if not own:
            return replace(estimate, fit=self.total.interval)
        return replace(estimate, fit=self._sum(own, confidence))

    def limited(self, limits: PartLimits, confidence: float) -> PartLimits:
        """Return the limits of one part corrected; the joint ones keep their confidence."""
        own = [self.parts.index(limits.part)]
        return replace(limits, fit=self._sum(own, confidence), joint=self._sum(own, limits.joint.confidence))

    def _sum(self, own: Sequence[int], confidence: float) -> Interval:
        events, trials = ([values[i] for i in own] for values in (self.total.events, self.total.trials))
        return weighted_sum(events, trials, [self.weights[i] for i in own], confidence)


def correct(
    model: SensitivityModel,
    predictions: Mapping[Part, PartPrediction],
    run: ObservedRun,
    network: NetworkFacts,
    accelerator: str,
    fit_per_bit: Mapping[str, float],
    hazardous: Sequence[str],
    confidence: float,
) -> Correction:
    """Correct what a model predicts by the injections of a run.

    Args:
        model: It must not have learnt from that run.
        predictions: Of the same network on the same target.
        run: Its faults must have been chosen evenly within each block and kind of storage.
        network: The network.
        accelerator: Name of the target.
        fit_per_bit: Raw rate of a bit, by kind of storage.
        hazardous: Outcomes that count.
        confidence: Of the interval.

    Raises:
        ResilError: the run is of another network, decision or target, was learnt from, or chose its faults
            unevenly.
    """
    _check(run, model, network, accelerator, predictions)
    shares = _shares(run)
    places = outcome_index(hazardous)
    beyond = model.severity.beyond({part: own.drawn for part, own in predictions.items()})
    strata = []
    for part, own in predictions.items():
        found = model.severity.share(part, own.learnt, own.drawn, beyond)
        shift = log_odds(found) - log_odds(own.learnt)

        def risk(cell: SensitivityCell, kind: str, shift: float = shift, own: PartPrediction = own) -> float:
            if own.injections:
                return float(own.outcomes[places].sum())
            rates = model.outcomes(cell, kind)
            share = shifted(critical_share(rates), shift)
            return float(with_critical(rates, share)[places].sum())

        cells = {c: n for c, n in run.bits.items() if (c.block, c.kind) == part}
        mean = sum(n * share * risk(c, k) for c, n in cells.items() for k, share in shares.items())
        events, risks = [], []
        for (cell, operation), counts in run.counts.items():
            if (cell.block, cell.kind) == part:
                hit = sum(counts[place] for place in places)
                events += [1.0] * hit + [0.0] * (sum(counts) - hit)
                risks += [risk(cell, run.kind_of(operation))] * sum(counts)
        order = np.random.default_rng(len(events)).permutation(len(events))
        weight = sum(cells.values()) * fit_per_bit[part[1]]
        strata.append(
            PredictedStratum(
                weight, np.array(events)[order], np.array(risks)[order], mean / sum(cells.values())
            )
        )
    weights = tuple(stratum.weight for stratum in strata)
    return Correction(run, prediction_powered(strata, confidence), tuple(predictions), weights)


def _shares(run: ObservedRun) -> dict[str, float]:
    """Return the part of the time that each kind of operation takes."""
    shares: dict[str, float] = {START_KIND: 0.0}
    left = float(START_CYCLES)
    for operation, cycles in enumerate(run.cycles):
        before = min(left, cycles)
        left -= before
        for kind, own in ((START_KIND, before), (run.kind_of(operation), cycles - before)):
            shares[kind] = shares.get(kind, 0.0) + own / sum(run.cycles)
    return shares


def _check(
    run: ObservedRun,
    model: SensitivityModel,
    network: NetworkFacts,
    accelerator: str,
    predictions: Mapping[Part, object],
) -> None:
    if run.network != network.sha256 or run.accelerator != accelerator:
        raise ResilError(
            f"{run.folder}: expected injections into the campaign's network on {accelerator}, found "
            f"{run.summary.network.name} on {run.accelerator}; give a run of the same campaign",
            "network",
        )
    if run.decision != network.decision:
        raise ResilError(
            f"{run.folder}: expected the decision {network.decision}, found {run.decision}: outcomes mean "
            "different things; run again with the campaign's [network] decision",
            "network.decision",
        )
    if any(known.campaign == run.provenance.hashes["campaign"] for known in model.source.runs):
        raise ResilError(
            f"{run.folder}: the model was learnt from this run, so it cannot be corrected by it; give a run "
            "with another seed, or another model",
            "campaign.seed",
        )
    sampling = run.summary.sampling
    if (plan := "none" if sampling is None else sampling.plan) not in _EVEN_PLANS:
        raise ResilError(
            f"{run.folder}: expected faults chosen evenly within a block ({' or '.join(_EVEN_PLANS)}), found "
            f"the plan {plan}; set [sampling] plan and run again",
            "sampling.plan",
        )
    struck = {(cell.block, cell.kind) for cell, _ in run.counts}
    if unknown := sorted("/".join(part) for part in struck - set(predictions)):
        raise ResilError(
            f"{run.folder}: expected injections into storage that the model predicts, found "
            f"{', '.join(unknown)}, which it does not know or the campaign leaves out; take the run's "
            "[faults] kinds, or learn a model from runs on this target",
            "faults.kinds",
        )
    if missing := sorted("/".join(part) for part in predictions if part not in struck):
        raise ResilError(
            f"{run.folder}: expected injections into every block, found none into {', '.join(missing)}; "
            "raise [faults] minimum_per_block",
            "faults.minimum_per_block",
        )
