# SPDX-License-Identifier: Apache-2.0
"""What `resil estimate` writes: a summary of the shape of a run's, with nothing injected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from resil.bench.bench import NetworkFacts
from resil.bench.site_list import STORAGE, no_bits
from resil.campaign.campaign import Campaign
from resil.record.blocks import Block, Total
from resil.record.campaign_facts import CampaignRecord, EstimateRecord, Golden, TargetRecord
from resil.record.provenance import Provenance
from resil.record.summary import Summary, Verdict
from resil.results.figures import block_fields, stored_bits
from resil.results.population import population_text
from resil.results.safety_rows import predicted_verdict as predicted_safety
from resil.results.summary_parts import (
    campaign_record,
    hazards_text,
    metrics_record,
    network_record,
    scope_text,
    technology_record,
    verdict_record,
)
from resil.rtl_harness.design.snapshot import rtl_digest
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.npu.work import OperationWork
from resil.sensitivity.campaign_inference import CampaignInference
from resil.sensitivity.correct import Correction
from resil.sensitivity.coverage import held
from resil.sensitivity.intervals import PartLimits
from resil.sensitivity.model import Accelerator, SensitivityModel
from resil.stats.metrics import safety_metrics
from resil.stats.rates import BlockEstimate
from resil.stats.technology import Technology

ENGINE = "none: sensitivity model"


def summarise_estimate(
    campaign: Campaign,
    model: SensitivityModel,
    inferred: CampaignInference,
    facts: NetworkFacts,
    work: Sequence[OperationWork],
    technology: Technology,
    estimates: Sequence[BlockEstimate],
    total: BlockEstimate,
    limits: Sequence[PartLimits],
    provenance: Provenance,
    correction: Correction | None = None,
) -> Summary:
    """Return the results of an estimate.

    Nothing was injected, so there are no `strata`; `limits` holds the limits of every block and kind of
    storage in their place.
    """
    name = inferred.compiled.accelerator
    accelerator = model.accelerators[name]
    bits = _bits(model, name)
    by_name = {estimate.block: estimate for estimate in estimates}
    everything = {kind: sum(own[kind] for own in bits.values()) for kind in STORAGE}
    areas = accelerator.blocks
    unit = next(iter(areas.values()))[2]
    whole = (sum(a for a, _, _ in areas.values()), sum(s for _, s, _ in areas.values()), unit)
    cycles = [round(model.cycles.predict(own)) for own in work]
    judge = predicted_verdict if correction is None else verdict_record
    return Summary(
        schema=Summary.SCHEMA,
        estimate=EstimateRecord(
            model=model.source,
            known_network=_known(model, facts.sha256),
            held=held(model.judged, campaign.confidence),
            rests_on=_rests_on(correction is not None),
            correction=None if correction is None else correction.record,
        ),
        campaign=_campaign(campaign, inferred, provenance),
        sampling=None,
        network=network_record(facts, cycles),
        target=_target(name, accelerator, whole, everything),
        golden=Golden(
            cycles=(round(sum(cycles) + model.cycles.tail),) * len(inferred.labels),
            vela_cycles=facts.vela_cycles,
            output_hash=tuple(own.output_hash for own in inferred.of_inputs),
            longest_operation=(),
            comparison=inferred.compared,
        ),
        inferences=None,
        technology=technology_record(technology),
        sanity=None,
        verdict=judge(campaign, total, scope_text(campaign.faults.kinds, everything, "left out")).changed(
            population=population_text(campaign, facts.name, inferred.labels)
        ),
        blocks=tuple(
            Block.model_validate(
                block_fields(block, stored_bits(bits.get(block, no_bits())), by_name.get(block), *area)
            )
            for block, area in areas.items()
        ),
        strata=(),
        limits=tuple(own.record for own in limits),
        storage=(),
        classes=(),
        total=Total.model_validate(block_fields("total", stored_bits(everything), total, *whole)),
        detection=None,
        metrics=metrics_record(safety_metrics(total)),
        evidence=None,
        safety=None if campaign.safety is None else predicted_safety(campaign.safety),
        logic=(),
        assumptions=(),
        notes=(
            *([] if correction is None else [_corrected(correction)]),
            *_notes(campaign, model, facts, name, everything, len(inferred.labels)),
            inferred.compared.sentence,
        ),
        provenance=provenance,
    )


def _campaign(campaign: Campaign, inferred: CampaignInference, provenance: Provenance) -> CampaignRecord:
    return campaign_record(
        campaign,
        detection_cycles=None,
        injections=0,
        inputs=tuple(inferred.labels),
        engine=ENGINE,
        workers=1,
        seconds=provenance.seconds,
    )


def _target(
    name: str, accelerator: Accelerator, whole: tuple[float, float, str], bits: Mapping[str, int]
) -> TargetRecord:
    target = load_target(name)
    return TargetRecord.model_validate(
        {
            "name": name,
            "top": accelerator.top,
            **stored_bits(bits),
            "unmapped_sites": 0,
            "area": whole[0],
            "area_unit": whole[2],
            "area_library": None,
            "titles": dict(target.titles),
            "logic_faults": None,
            "parameters": dict(target.parameters),
        }
    )


def predicted_verdict(campaign: Campaign, total: BlockEstimate, scope: str) -> Verdict:
    """Return what a prediction says of the budget: it decides nothing, whatever it foresees."""
    found = verdict_record(campaign, total, scope)
    if found.budget_fit is None:
        return found
    lo, hi, budget = (f"{value:.3g} FIT" for value in (found.fit_lo, found.fit_hi, found.budget_fit))
    foreseen = {
        "met": ("to meet", f"the predicted upper limit of {hi} is within the budget of {budget}"),
        "missed": ("to miss", f"even the predicted lower limit of {lo} is above the budget of {budget}"),
        "inconclusive": ("undecided", f"the budget of {budget} lies inside the predicted {lo} to {hi}"),
    }
    predicted, reason = foreseen[found.result]
    return found.changed(
        result="inconclusive",
        predicted=predicted,
        reason=f"A prediction from other networks: {reason}. Nothing was injected, nothing is decided. "
        + hazards_text(campaign.hazardous, ()),
    )


def _corrected(correction: Correction) -> str:
    plain, injections = correction.total.plain, correction.run.summary.total.injections
    return (
        f"FIT is corrected by {injections:,} injections into this network, which alone would give "
        f"{plain.estimate:.3g} [{plain.lo:.3g}, {plain.hi:.3g}]; with the predictions they count "
        f"{correction.total.gain:.2f} times. AVF and rates of outcomes are the model's."
    )


def _rests_on(corrected: bool) -> dict[str, str]:
    """Return what each kind of figure is made from."""
    model = "predicted: rates of other networks' injections, this network's operations and drawn corruptions"
    fit = "predictions corrected by injections into this network" if corrected else model
    return {
        "fit": fit,
        "metrics": fit,
        "avf": model,
        "rates": model,
        "shared buffer": "followed on the functional model: liveness from the command stream, nothing learnt",
        "cycles": "predicted: work of each operation",
        "area": "model file",
        "bits": "model file",
    }


def _bits(model: SensitivityModel, accelerator: str) -> dict[str, dict[str, int]]:
    bits: dict[str, dict[str, int]] = {}
    for cell, count in model.accelerators[accelerator].bits.items():
        bits.setdefault(cell.block, no_bits())[cell.kind] += count
    return bits


def _known(model: SensitivityModel, sha256: str) -> bool:
    return sha256 in model.source.networks


def _judged(model: SensitivityModel) -> str:
    runs = {(own.network, own.accelerator) for own in model.judged}
    return f"{len({network for network, _ in runs})} networks on {len({name for _, name in runs})} targets"


def _reached(model: SensitivityModel, confidence: float) -> str:
    found = held(model.judged, confidence)
    return ", ".join(f"{name} {inside} of {of}" for name, (inside, of) in found.items())


def _notes(
    campaign: Campaign,
    model: SensitivityModel,
    facts: NetworkFacts,
    target: str,
    bits: Mapping[str, int],
    inputs: int,
) -> list[str]:
    runs, networks = model.source.runs, len(model.source.networks)
    notes = [
        "ESTIMATE: nothing was injected into this network. A sensitivity model predicts it from "
        f"{model.source.injections:,} injections in {len(runs)} campaigns on {networks} networks; the "
        "intervals hold its own error, measured by predicting networks that it was not learnt from.",
        f"Coverage of intervals at {100 * campaign.confidence:.4g} %, measured on {_judged(model)} that were "
        "left out, of each figure as it is printed, over all its storage: "
        f"{_reached(model, campaign.confidence)}.",
    ]
    notes += [f"Of the model: {run.name}. {run.golden}" for run in runs if run.golden]
    if model.accelerators[target].rtl != rtl_digest(load_target(target)):
        notes.insert(
            1,
            f"OTHER RTL: the model was learnt from another state of {target} than the one here. Storage, "
            "areas and rates are those of that state; how wrong they are for this one was not measured. "
            "Learn a model from runs on this RTL (resil learn), or inject (resil run).",
        )
    if campaign.safety is not None:
        notes.append("[safety]: not assessed. Its rows take injections; a model foresees none of them.")
    if _known(model, facts.sha256):
        notes.append("The model has seen injections into this network: expect less error than stated.")
    if not any(run.target == target for run in runs):
        others = ", ".join(sorted({run.target for run in runs}))
        notes.append(
            f"The model has seen no injections into {target}, only into {others}: registers are taken for "
            "those of the same name there, and the intervals do not say how wrong that is."
        )
    notes += [
        f"{bits[kind]:,} {STORAGE[kind]} are left out, as the campaign asks; their failures are not in here."
        for kind in STORAGE
        if kind not in campaign.faults.kinds and bits[kind]
    ]
    notes.append("Cycles are predicted from the work of each operation; areas are those of the model file.")
    notes.append("Single-bit upsets only: transients in logic and multi-cell upsets are not in here.")
    notes.append("FIT assumes that the NPU runs this network all the time.")
    notes += facts.remarks
    if inputs == 1:
        notes.append("One input was looked at: how the figures vary with the input is not in the intervals.")
    return notes
