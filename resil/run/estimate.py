# SPDX-License-Identifier: Apache-2.0
"""`resil estimate`: a campaign judged without simulating the RTL."""

from __future__ import annotations

import time
from pathlib import Path

from resil.campaign.campaign import Campaign
from resil.campaign.rules import TIMEOUTS, UNTIL
from resil.campaign.text import resolved_text
from resil.errors import CampaignError, ExitCode, StoreError
from resil.files import write_text
from resil.folder.finished import seal
from resil.folder.provenance import made_with, now
from resil.folder.store import CAMPAIGN, INJECTIONS, PROVENANCE, SUMMARY, recorded_provenance
from resil.progress import Progress
from resil.record.provenance import ESTIMATE, Provenance
from resil.record.summary import Summary
from resil.results.summarise import upset_rates
from resil.results.write import Results
from resil.rtl_harness.cache import file_digest
from resil.rtl_harness.npu.work import operation_work
from resil.run.campaign import verdict_code
from resil.sensitivity.campaign_inference import infer_campaign
from resil.sensitivity.correct import correct
from resil.sensitivity.intervals import ModelError, block_estimates, part_limits
from resil.sensitivity.model import SHIPPED, SensitivityModel, load_model
from resil.sensitivity.observations import read_run
from resil.sensitivity.predict import predict_parts
from resil.sensitivity.summarise import summarise_estimate
from resil.work.network import network_facts, operation_facts

_ACCEPTED = {
    "to meet": ExitCode.MET,
    "to miss": ExitCode.MISSED,
    "undecided": ExitCode.INCONCLUSIVE,
}
_PACKAGES = ("ethos-u-vela", "numpy", "scipy", "tflite")


def estimate_campaign(
    campaign: Campaign,
    out: Path,
    *,
    model_file: Path | None = None,
    run_dir: Path | None = None,
    progress: Progress | None = None,
) -> Results:
    """Predict a campaign, and write results and reports to the folder `out`.

    Args:
        campaign: Network, inputs, target, technology, budget and confidence count; how many faults are to be
            injected, and how, does not.
        out: Folder of an earlier estimate, or an empty or new one.
        model_file: Sensitivity model; the one that comes with resil if None.
        run_dir: A run of the same network on the same target that corrects the FIT; None for none.
        progress: Shows what goes on.

    Raises:
        CampaignError: the campaign asks for something that the model does not know.
        ResilError: the model cannot be read, or the run cannot correct it.
        StoreError: the folder holds a run, or the run that shall correct is not whole and finished.
        ConsistencyError: that run has failed an audit.
        NetworkError: the network cannot be read or compiled.
    """
    began, started = time.monotonic(), now()
    progress = progress or Progress()
    _check_folder(out)
    if campaign.faults.external:
        raise CampaignError(
            f"{campaign.file}: [faults] kinds: expected storage of the NPU, found "
            f"{campaign.faults.kinds[0]}: sensitivity models know nothing of memory outside it; "
            "inject: resil run",
            "faults.kinds",
        )
    if campaign.faults.logic:
        raise CampaignError(
            f"{campaign.file}: [faults] kinds: expected storage, found logic: sensitivity models know "
            "nothing of it; inject: resil run",
            "faults.kinds",
        )
    if campaign.faults.permanent:
        raise CampaignError(
            f'{campaign.file}: [faults] model: expected "upset", found "{campaign.faults.model}": '
            "sensitivity models have learnt from upsets and know nothing of permanent faults; inject them: "
            "resil run",
            "faults.model",
        )
    if campaign.inferences > 1:
        raise CampaignError(
            f"{campaign.file}: [campaign] inferences: expected 1, found {campaign.inferences}: sensitivity "
            "models have learnt from single inferences; inject: resil run",
            "campaign.inferences",
        )
    if campaign.execution.limits_operations:
        raise CampaignError(
            f'{campaign.file}: [execution] timeout: expected "{TIMEOUTS[0]}", found '
            f'"{campaign.execution.timeout}": sensitivity models have learnt from runs in which the whole '
            "inference alone has a time-out, so they count other hangs; remove the key, or inject: resil run",
            "execution.timeout",
        )
    if campaign.execution.ends_at_detection:
        raise CampaignError(
            f'{campaign.file}: [execution] until: expected "{UNTIL[0]}", found "{campaign.execution.until}": '
            "sensitivity models have learnt from whole runs; remove the key, or inject: resil run",
            "execution.until",
        )
    run = None if run_dir is None else read_run(run_dir)
    technology = upset_rates(campaign)
    settings = campaign.network
    path = model_file or SHIPPED
    model = load_model(path)
    target = _target(campaign, model)
    progress.stage(f"compiling {settings.path} for {target} with Vela")
    inferred = infer_campaign(campaign, target)
    work = operation_work(inferred.compiled)
    progress.stage("drawing corruptions and finishing the inference with them")
    kinds = campaign.faults.kinds
    parts = predict_parts(model, target, work, inferred.of_inputs, kinds, campaign.seed)
    fit_per_bit = {kind: technology.fit_per_bit(kind) for kind in kinds}
    asked = (fit_per_bit, campaign.hazardous, campaign.confidence)
    error = ModelError(model.left_out)
    estimates, total = block_estimates(parts, model.severity, error, *asked)
    limits = part_limits(parts, model.severity, error, *asked)
    operations = operation_facts(inferred.compiled, work)
    facts = network_facts(settings, inferred.compiled, operations, inferred.decision)
    correction = None
    if run is not None:
        correction = correct(model, parts, run, facts, target, *asked)
        estimates = [correction.applied(own, campaign.confidence) for own in estimates]
        total = correction.applied(total, campaign.confidence)
        limits = [correction.limited(own, campaign.confidence) for own in limits]
    made = _made_with(campaign, path, facts.sha256).changed(
        started=started, finished=now(), seconds=round(time.monotonic() - began, 1)
    )
    predicted = (estimates, total, limits)
    summary = summarise_estimate(
        campaign, model, inferred, facts, work, technology, *predicted, made, correction
    )
    results = Results(summary)
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / PROVENANCE, made.text())
    write_text(out / CAMPAIGN, resolved_text(campaign))
    results.write(out)
    write_text(out / SUMMARY, summary.text())
    write_text(out / PROVENANCE, made.changed(results=seal(out, ESTIMATE)).text())
    return results


def estimate_code(summary: Summary, campaign: Campaign, accept: bool = False) -> ExitCode:
    """Return the exit code of an estimate: where something is claimed, a prediction alone decides nothing.

    Args:
        summary: Of the estimate.
        campaign: A `[safety]` section claims what no estimate assesses.
        accept: Take what is predicted of the budget for decided.
    """
    if campaign.safety is not None:
        return ExitCode.INCONCLUSIVE
    predicted = summary.verdict.predicted
    if accept and predicted is not None:
        return _ACCEPTED[predicted]
    return verdict_code(summary)


def _check_folder(out: Path) -> None:
    if (out / INJECTIONS).exists() or ((out / PROVENANCE).exists() and _made_by_a_run(out)):
        raise StoreError(f"{out}: holds a run; choose another folder for the estimate with --out", "--out")


def _made_by_a_run(out: Path) -> bool:
    return recorded_provenance(out).kind != ESTIMATE


def _target(campaign: Campaign, model: SensitivityModel) -> str:
    name = str(campaign.target)
    if name not in model.accelerators:
        raise CampaignError(
            f"{campaign.file}: [target]: expected one of the model's ({', '.join(model.accelerators)}), "
            f"found {name}; learn a model from runs on this target with: resil learn RUN_DIR... -o FILE",
            "target",
        )
    if campaign.faults.clusters != (1.0,):
        raise CampaignError(
            f"{campaign.file}: [faults] clusters: the model was learnt from single-bit upsets; leave it out, "
            "or inject with: resil run",
            "faults.clusters",
        )
    known = {cell.kind for cell, _ in model.counts}
    there = {cell.kind for cell in model.accelerators[name].bits}
    if missing := [kind for kind in campaign.faults.kinds if kind in there and kind not in known]:
        raise CampaignError(
            f"{campaign.file}: [faults] kinds: the model knows {', '.join(sorted(known))}, not "
            f"{', '.join(missing)}; learn from runs with these kinds, or leave them out",
            "faults.kinds",
        )
    return name


def _made_with(campaign: Campaign, model: Path, network: str) -> Provenance:
    hashes = {"network": network, "model": file_digest(model)}
    return made_with(campaign, _PACKAGES, ESTIMATE, hashes, {})
