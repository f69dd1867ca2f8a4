# SPDX-License-Identifier: Apache-2.0
"""What is said of a cell: an entry of `cells` in `study.json`, from the folder of its run or estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from resil.campaign.fault_settings import UPSET
from resil.campaign.sampling_settings import EVENLY
from resil.files import json_text
from resil.folder.finished import Finished
from resil.record.blocks import Block
from resil.record.provenance import ESTIMATE, RUN
from resil.record.summary import Summary
from resil.results.run import Run
from resil.study.study import StudyCell

FAILED, WAITING = "failed", "not run"
MET, MISSED, INCONCLUSIVE, NOT_ASSESSED, NONE = "met", "missed", "inconclusive", "not assessed", "none"
# The worst first: the verdict of several claims is that of the first which is among them.
_WORST_FIRST = (MISSED, INCONCLUSIVE, NOT_ASSESSED, MET, NONE)
_FIGURES = ("fit", "fit_lo", "fit_hi")
_BLOCK_KEYS = ("block", "ff_bits", "macro_bits", "sram_bits", "area", "fit_raw", *_FIGURES)
_CLASS_KEYS = ("register_class", "bits", "injections", "avf", "avf_lo", "avf_hi")


def answered(cell: StudyCell, found: Finished, permanent: Finished | None) -> dict[str, Any]:
    """Return what a finished folder says of a cell, and by digests on which results that rests.

    Args:
        cell: The cell.
        found: Its run or estimate.
        permanent: The run of permanent faults that its safety rows use; None if there is none.
    """
    summary = found.summary
    total, campaign, target = summary.total, summary.campaign, summary.target
    predicted = found.kind == ESTIMATE
    budget, safety = summary.verdict, summary.safety
    return {
        **_head(cell),
        "verdict": verdict_of(summary, predicted=predicted, claimed=cell.campaign.safety is not None),
        **{key: getattr(total, key) for key in _FIGURES},
        "injections": 0 if predicted else campaign.injections,
        "predicted": predicted,
        "run": cell.folder,
        "error": None,
        "permanent": cell.permanent_folder if permanent is not None else None,
        **rests_on(found, permanent),
        "foreseen": budget.predicted,
        "budget": budget.result,
        "budget_fit": budget.budget_fit,
        "safety": None if safety is None else safety.result,
        "spfm_asked": _spfm_asked(cell),
        "scope": budget.scope,
        "golden": summary.golden.comparison.remark,
        **_views(summary, claimed=cell.campaign.safety is not None),
        "confidence": campaign.confidence,
        "inputs": list(campaign.inputs),
        "cycles": list(summary.golden.cycles),
        "parameters": dict(target.parameters),
        **_precision(summary, predicted=predicted),
        "blocks": [_block_row(block) for block in (*summary.blocks, total)],
        "area_unit": target.area_unit,
        "titles": dict(target.titles),
        "classes": [_row(own, _CLASS_KEYS) for own in _classes(found)],
    }


def rests_on(found: Finished, permanent: Finished | None) -> dict[str, Any]:
    """Return digests of the campaigns and injections that are behind what is said of a cell."""
    return {"basis": _basis(found), "permanent_basis": None if permanent is None else _basis(permanent)}


def unanswered(cell: StudyCell, verdict: str, error: str | None = None) -> dict[str, Any]:
    """Return what is said of a cell that has no results: it failed, with its error, or has not been run."""
    return {
        **_head(cell),
        "verdict": verdict,
        **dict.fromkeys(_FIGURES),
        "injections": 0,
        "predicted": cell.predicted,
        "run": cell.folder,
        "error": error,
    }


def is_answered(record: Mapping[str, Any]) -> bool:
    """Whether a cell has results."""
    return record["verdict"] not in (FAILED, WAITING)


def is_injected(record: Mapping[str, Any]) -> bool:
    """Whether a cell's figures rest on injections into it."""
    return is_answered(record) and not record["predicted"]


def verdict_of(summary: Summary, *, predicted: bool, claimed: bool) -> str:
    """Return the verdict of budget and safety claims together; a prediction alone decides nothing.

    Args:
        summary: Of the run or the estimate.
        predicted: Nothing was injected.
        claimed: The study claims safety rows.
    """
    results = [summary.verdict.result]
    if claimed:
        results.append(NOT_ASSESSED if summary.safety is None else summary.safety.result)
    worst = next(result for result in _WORST_FIRST if result in results)
    if predicted and worst != NONE:
        return NOT_ASSESSED if claimed else INCONCLUSIVE
    return worst


def _views(summary: Summary, *, claimed: bool) -> dict[str, Any]:
    """Return what stands beside the verdict: the same unaided, both SPFM, the corner that decides, detection.

    Args:
        summary: Of the run or the estimate.
        claimed: The study claims safety rows.
    """
    budget, metrics, safety = summary.verdict, summary.metrics, summary.safety
    alone = [budget.result if budget.unaided is None else budget.unaided.result]
    if claimed:
        rows = {} if safety is None else {row.name: row for row in safety.rows}
        claims = () if safety is None else safety.claims
        alone += [(rows[name].unaided or rows[name]).state for name in claims] or [NOT_ASSESSED]
    due = next((row for row in budget.left_out if row.outcome == "due"), None)
    alarms = () if summary.detection is None else summary.detection.alarms
    return {
        "unaided": next(result for result in _WORST_FIRST if result in alone),
        "spfm": None if metrics.spfm is None else list(metrics.spfm),
        "spfm_unaided": None if metrics.spfm_unaided is None else list(metrics.spfm_unaided),
        "corner": budget.corner,
        "due_fit": None if due is None else [due.fit, due.fit_lo, due.fit_hi],
        "slowest_alarm": max((a.slowest_cycles for a in alarms if a.slowest_cycles), default=None),
    }


def _basis(found: Finished) -> str:
    """Return a digest of what was injected into what, whenever that was, and in how many goes."""
    sealed = found.provenance.results
    made = [dict(found.provenance.hashes), None if sealed is None else sealed.content]
    return sha256(json_text({"made": made}).encode()).hexdigest()


def _spfm_asked(cell: StudyCell) -> float | None:
    """Return the least SPFM that is claimed of a cell's transient faults; None if none is."""
    safety = cell.campaign.safety
    return safety.spfm if safety is not None and "spfm_transient" in safety.claims else None


def _classes(found: Finished) -> Sequence[Mapping[str, Any]]:
    """Return the rows of register classes: those of the summary, or counted from injections that are even."""
    summary = found.summary
    told = [own.plain() for own in summary.classes]
    even = found.kind == RUN and summary.sampling is not None and summary.sampling.plan in EVENLY
    if told or not even or summary.campaign.fault_model != UPSET:
        return told
    rows: list[dict[str, Any]] = Run(found.path).classes().to_dict("records")
    return rows


def _head(cell: StudyCell) -> dict[str, Any]:
    return {"target": cell.target, "network": cell.network}


def _row(values: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: values[key] for key in keys}


def _block_row(block: Block) -> dict[str, Any]:
    return _row(block.plain(), _BLOCK_KEYS)


def _precision(summary: Summary, *, predicted: bool) -> dict[str, Any]:
    """Return how well the total is known, and whether that is what was asked.

    Returns:
        `margin`: half width of the interval, as part of the estimate, that was asked for; None if none was.
        `half_width`: that of the interval that is given; None without a failure, or if nothing was injected.
        `reached`: whether it is at most the margin, whatever the sampling stopped for; None if none was asked
        for, or nothing was injected.
    """
    total = summary.total
    margin = None if predicted or summary.sampling is None else summary.sampling.margin
    half = (total.fit_hi - total.fit_lo) / 2.0
    known = not predicted and total.fit > 0.0
    return {
        "margin": margin,
        "half_width": half / total.fit if known else None,
        "reached": None if margin is None else known and half <= margin * total.fit,
    }
