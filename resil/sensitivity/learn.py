# SPDX-License-Identifier: Apache-2.0
"""`resil learn`: a sensitivity model from run folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.campaign.campaign import load_campaign
from resil.errors import CampaignError, ResilError
from resil.folder.finished import require_distinct
from resil.folder.provenance import now
from resil.folder.store import CAMPAIGN, SUMMARY
from resil.networks.errors import NetworkError
from resil.record.model_source import LearntRun, ModelSource
from resil.rtl_harness.cache import file_digest
from resil.sensitivity.campaign_inference import infer_campaign
from resil.sensitivity.coverage import judge
from resil.sensitivity.cycles import CycleModel
from resil.sensitivity.facts import facts_of_target
from resil.sensitivity.left_out import Prediction, fit_severity, left_out_rows, without
from resil.sensitivity.model import Accelerator, SensitivityModel, number_groups
from resil.sensitivity.observations import ObservedRun, SensitivityCell, read_run
from resil.sensitivity.predict import predict_parts
from resil.sensitivity.severity import Severity
from resil.stats.sensitivity import tune_strengths
from resil.version import __version__
from resil.work.inference import Inference
from resil.work.patterns import Pattern

FloatArray = npt.NDArray[np.float64]

PATTERNS_EACH = 80
_LEVELS = 5
_DEFAULT_STRENGTHS = (4.0, 60.0, 15.0, 15.0, 60.0)
_SEED = 1


def learn(
    folders: Sequence[Path], targets: Sequence[str] = (), say: Callable[[str], None] = lambda _: None
) -> SensitivityModel:
    """Return a model of finished runs.

    Runs of one network are one population, whatever the target. With two networks or more, each is left out
    once and predicted from the others; that sets how far the parts of the model are trusted, and how wide
    its intervals are. Networks that cannot be had any more (see `inferences_of`) are learnt from, but
    nothing is learnt about predicting them.

    Args:
        folders: Finished runs.
        targets: Names of further targets that the model shall know, though no run was made on them.
        say: Called with the progress.

    Raises:
        StoreError: a folder is no finished run of a network on the NPU, or two hold the same injections.
        ResilError: there are fewer than two networks.
    """
    runs = [read_run(folder) for folder in folders]
    require_distinct((run.folder, run.provenance) for run in runs)
    if len({run.network for run in runs}) < 2:
        raise ResilError(
            "learning needs runs of at least two networks, so that one can be predicted from the others; "
            f"found {len(runs)} runs of one: add runs of another network",
            "runs",
        )
    for run in runs:
        if not run.patterns:
            say(f"{run.folder}: shows no corruption; the engine records them in long campaigns")
    strengths = fit_strengths(runs)
    say(f"{len(runs)} runs read, strengths {strengths}")
    predictions = []
    for run in runs:
        inferences = inferences_of(run)
        if inferences:
            predictions.append(leave_out(run, runs, strengths, inferences))
            say(f"predicted {run.folder.name} from the other networks")
    model = finish(build(runs, strengths), predictions)
    known = dict(model.accelerators)
    for name in targets:
        say(f"elaborating and synthesising {name}")
        known.setdefault(name, facts_of_target(name))
    return replace(model, accelerators=dict(sorted(known.items())))


def inferences_of(run: ObservedRun) -> tuple[Inference, ...]:
    """Return the inferences of a run's inputs; none if its network, inputs or decision cannot be had."""
    try:
        found = infer_campaign(load_campaign(run.folder / CAMPAIGN), run.accelerator)
    except (NetworkError, CampaignError):
        return ()
    same = found.compiled.source_sha256 == run.network and found.decision.name == run.decision
    return found.of_inputs if same else ()


def fit_strengths(runs: Sequence[ObservedRun]) -> tuple[float, ...]:
    """Return the strengths that predict left-out networks best."""
    networks = sorted({run.network for run in runs})
    rows = [(key, networks.index(run.network)) for run in runs for key in _counts([run]).items()]
    keys = [cell.levels(kind) for ((cell, kind), _), _ in rows]
    counts = np.array([own for (_, own), _ in rows], dtype=np.float64)
    levels, _ = number_groups(keys)
    return tune_strengths(levels, counts, np.array([n for _, n in rows], dtype=np.int64))


def build(runs: Sequence[ObservedRun], strengths: tuple[float, ...]) -> SensitivityModel:
    """Return the model of these runs, without what leaving networks out shows."""
    library: dict[tuple[str, str, str], list[Pattern]] = {}
    for run in runs:
        for block, kind, pattern, _ in run.patterns:
            if pattern.count:
                library.setdefault((block, kind, run.kind_of(pattern.operation)), []).append(pattern)
    pairs = [(own, cycles) for run in runs for own, cycles in zip(run.work, run.cycles[:-1], strict=True)]
    return SensitivityModel(
        counts=_counts(runs),
        strengths=strengths,
        severity=Severity({}, {}),
        patterns={key: _thinned(own) for key, own in sorted(library.items())},
        cycles=CycleModel.fit([w for w, _ in pairs], [c for _, c in pairs], [r.cycles[-1] for r in runs]),
        accelerators=_accelerators(runs),
        left_out=(),
        judged=(),
        source=_source(runs),
    )


def leave_out(
    run: ObservedRun,
    runs: Sequence[ObservedRun],
    strengths: tuple[float, ...],
    inferences: Sequence[Inference],
) -> Prediction:
    """Predict a run from those of other networks; only the number of bits is its own target's."""
    others = [other for other in runs if other.network != run.network]
    model = build(others, strengths)
    model = replace(model, accelerators=_accelerators([run]))
    kinds = run.summary.campaign.kinds
    parts = predict_parts(model, run.accelerator, run.work, inferences, kinds, _SEED)
    return Prediction(run, parts)


def finish(model: SensitivityModel, predictions: Sequence[Prediction]) -> SensitivityModel:
    """Add to a model what leaving networks out shows of it."""
    rows = []
    for prediction in predictions:
        rows += left_out_rows(prediction, fit_severity(without(predictions, prediction.run.network)))
    found = replace(model, severity=fit_severity(predictions), left_out=tuple(rows))
    return replace(found, judged=judge(rows, _bits(found)))


def judged_outside(model: SensitivityModel, folders: Sequence[Path]) -> SensitivityModel:
    """Return a model whose intervals also know how wrong it was of networks that it has not learnt from.

    Args:
        model: It keeps its rates; only what is known of its errors grows.
        folders: Finished runs of other networks than those that it was learnt from.

    Raises:
        StoreError: a folder is no finished run of a network on the NPU, or two hold the same injections.
        ResilError: the model was learnt from a run's network, or that network cannot be had any more.
    """
    rows, validated = list(model.left_out), list(model.source.validated)
    known = model.source.networks | {run.network_sha256 for run in validated}
    runs = [read_run(folder) for folder in folders]
    require_distinct((run.folder, run.provenance) for run in runs)
    for run in runs:
        inferences = inferences_of(run)
        if run.network in known or not inferences:
            raise ResilError(
                f"{run.folder}: expected a network that the model does not know and that can be had, found "
                f"{run.summary.network.path}; give runs of other networks",
                "network",
            )
        kinds = run.summary.campaign.kinds
        parts = predict_parts(model, run.accelerator, run.work, inferences, kinds, _SEED)
        rows += left_out_rows(Prediction(run, parts), model.severity)
        own = _learnt_run(run)
        validated.append(own.changed(network=Path(own.network).name))
    source = model.source.changed(validated=tuple(validated))
    return replace(model, left_out=tuple(rows), judged=judge(rows, _bits(model)), source=source)


def _bits(model: SensitivityModel) -> dict[str, dict[tuple[str, str], int]]:
    """Return the storage bits of each block and kind of each accelerator."""
    found: dict[str, dict[tuple[str, str], int]] = {}
    for name, accelerator in model.accelerators.items():
        own = found.setdefault(name, {})
        for cell, bits in accelerator.bits.items():
            own[cell.block, cell.kind] = own.get((cell.block, cell.kind), 0) + bits
    return found


def _counts(runs: Sequence[ObservedRun]) -> dict[tuple[SensitivityCell, str], tuple[float, ...]]:
    """Return injections by cell, kind of operation and outcome."""
    sums: dict[tuple[SensitivityCell, str], FloatArray] = {}
    for run in runs:
        for (cell, operation), counts in run.counts.items():
            key = (cell, run.kind_of(operation))
            sums[key] = sums.get(key, 0.0) + np.array(counts, dtype=np.float64)
    return {key: tuple(map(float, own)) for key, own in sums.items()}


def _thinned(patterns: list[Pattern]) -> tuple[Pattern, ...]:
    """Keep at most `PATTERNS_EACH`, evenly by their order."""
    if len(patterns) <= PATTERNS_EACH:
        return tuple(patterns)
    chosen = np.linspace(0, len(patterns) - 1, PATTERNS_EACH).round().astype(int)
    return tuple(patterns[i] for i in chosen)


def _accelerators(runs: Sequence[ObservedRun]) -> dict[str, Accelerator]:
    """Return facts of each target; runs into different kinds of storage of one target share theirs."""
    found: dict[str, Accelerator] = {}
    for run in runs:
        blocks = {row.name: (row.area, row.sram_area, row.area_unit) for row in run.summary.blocks}
        rtl = run.provenance.hashes.get("rtl", "")
        if run.accelerator in found and found[run.accelerator].rtl != rtl:
            raise ResilError(
                f"{run.folder}: its {run.accelerator} is other RTL than that of the runs before it; "
                "registers and areas differ, so learn from runs on one state of the design",
                "rtl",
            )
        top = run.summary.target.top
        found[run.accelerator] = Accelerator(top, dict(run.bits), blocks, rtl)
    return dict(sorted(found.items()))


def _source(runs: Sequence[ObservedRun]) -> ModelSource:
    return ModelSource(
        resil=__version__,
        made=now(),
        injections=sum(run.summary.total.injections for run in runs),
        runs=tuple(map(_learnt_run, runs)),
        versions=dict(runs[0].provenance.versions),
    )


def _learnt_run(run: ObservedRun) -> LearntRun:
    campaign = run.summary.campaign
    return LearntRun(
        name=campaign.name,
        network=run.summary.network.path,
        network_sha256=run.network,
        target=run.accelerator,
        kinds=tuple(campaign.kinds),
        inputs=tuple(campaign.inputs),
        seed=campaign.seed,
        injections=run.summary.total.injections,
        campaign=run.provenance.hashes["campaign"],
        golden=run.summary.golden.comparison.remark,
        summary_sha256=file_digest(run.folder / SUMMARY),
    )
