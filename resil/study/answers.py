# SPDX-License-Identifier: Apache-2.0
"""What is said of a cell in `study.json`, from the folder of its run or estimate."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Self

from resil.campaign.fault_settings import UPSET
from resil.campaign.sampling_settings import EVENLY
from resil.files import json_text
from resil.folder.finished import Finished
from resil.record.blocks import Block
from resil.record.interval import RecordedInterval
from resil.record.provenance import ESTIMATE, RUN
from resil.record.study_cell import CellBlock, CellClass, CellRecord, CellResults
from resil.record.summary import Summary
from resil.results.run import FinishedRun
from resil.study.study import StudyCell
from resil.study.views import SPFM, aided, unaided, verdict_of


@dataclass(frozen=True, slots=True)
class CellBasis:
    """Digests of the campaigns and injections that are behind what is said of a cell.

    Attributes:
        cell: Of its run or estimate.
        permanent: Of the run of permanent faults that its safety rows use; None if there is none.
    """

    cell: str
    permanent: str | None

    @classmethod
    def of(cls, found: Finished, permanent: Finished | None) -> Self:
        """Return the digests of finished folders."""
        return cls(_digest(found), None if permanent is None else _digest(permanent))


@dataclass(frozen=True, slots=True)
class Precision:
    """How well the total of a cell is known, and whether that is what was asked.

    Attributes:
        margin: Half width of the interval, as part of the estimate, that was asked for; None if none was.
        half_width: That of the interval that is given; None without a failure, or if nothing was injected.
        reached: Whether it is at most the margin, whatever the sampling stopped for; None if none was asked
            for, or nothing was injected.
    """

    margin: float | None
    half_width: float | None
    reached: bool | None

    @classmethod
    def of(cls, summary: Summary, *, predicted: bool) -> Self:
        """Return how well the total of a summary is known."""
        total = summary.total
        margin = None if predicted or summary.sampling is None else summary.sampling.margin
        half = (total.fit_hi - total.fit_lo) / 2.0
        known = not predicted and total.fit > 0.0
        reached = None if margin is None else known and half <= margin * total.fit
        return cls(margin, half / total.fit if known else None, reached)


def answered(cell: StudyCell, found: Finished, permanent: Finished | None) -> CellRecord:
    """Return what a finished folder says of a cell, and by digests on which results that rests.

    Args:
        cell: The cell.
        found: Its run or estimate.
        permanent: The run of permanent faults that its safety rows use; None if there is none.
    """
    summary = found.summary
    claimed = cell.campaign.safety is not None
    return CellRecord(
        target=cell.target,
        network=cell.network,
        verdict=verdict_of(summary, predicted=found.kind == ESTIMATE, claimed=claimed),
        predicted=found.kind == ESTIMATE,
        run=cell.folder,
        error=None,
        internal=False,
        results=_results(cell, found, permanent),
    )


def unanswered(
    cell: StudyCell, verdict: str, error: str | None = None, *, internal: bool = False
) -> CellRecord:
    """Return what is said of a cell that has no results: it failed, with its error, or has not been run."""
    return CellRecord(
        target=cell.target,
        network=cell.network,
        verdict=verdict,
        predicted=cell.predicted,
        run=cell.folder,
        error=error,
        internal=internal,
        results=None,
    )


def _results(cell: StudyCell, found: Finished, permanent: Finished | None) -> CellResults:
    summary, predicted = found.summary, found.kind == ESTIMATE
    total, campaign, target, budget = summary.total, summary.campaign, summary.target, summary.verdict
    basis, precision = CellBasis.of(found, permanent), Precision.of(summary, predicted=predicted)
    due = next((row for row in budget.left_out if row.outcome == "due"), None)
    claimed = cell.campaign.safety is not None
    alarms = () if summary.detection is None else summary.detection.alarms
    return CellResults(
        basis=basis.cell,
        permanent=cell.permanent_folder if permanent is not None else None,
        permanent_basis=basis.permanent,
        fit=total.fit,
        fit_lo=total.fit_lo,
        fit_hi=total.fit_hi,
        injections=0 if predicted else campaign.injections,
        foreseen=budget.predicted,
        budget=budget.result,
        budget_fit=budget.budget_fit,
        safety=None if summary.safety is None else summary.safety.result,
        spfm_asked=_spfm_asked(cell),
        scope=budget.scope,
        golden=summary.golden.comparison.remark,
        aided=aided(summary, verdict_of(summary, predicted=predicted, claimed=claimed)),
        unaided=unaided(summary, claimed=claimed),
        due_fit=None if due is None else RecordedInterval(due.fit, due.fit_lo, due.fit_hi),
        slowest_alarm=max((a.slowest_cycles for a in alarms if a.slowest_cycles), default=None),
        confidence=campaign.confidence,
        inputs=campaign.inputs,
        cycles=summary.golden.cycles,
        parameters=target.parameters,
        margin=precision.margin,
        half_width=precision.half_width,
        reached=precision.reached,
        blocks=tuple(_block(block) for block in (*summary.blocks, total)),
        area_unit=target.area_unit,
        titles=target.titles,
        classes=_classes(found),
    )


def _digest(found: Finished) -> str:
    """Return a digest of what was injected into what, whenever that was, and in how many goes."""
    sealed = found.provenance.results
    made = [dict(found.provenance.hashes), None if sealed is None else sealed.content]
    return sha256(json_text({"made": made}).encode()).hexdigest()


def _spfm_asked(cell: StudyCell) -> float | None:
    """Return the least SPFM that is claimed of a cell's transient faults; None if none is."""
    safety = cell.campaign.safety
    return safety.spfm if safety is not None and SPFM in safety.claims else None


def _classes(found: Finished) -> tuple[CellClass, ...]:
    """Return the rows of register classes: those of the summary, or counted from injections that are even."""
    summary = found.summary
    even = found.kind == RUN and summary.sampling is not None and summary.sampling.plan in EVENLY
    if summary.classes or not even or summary.campaign.fault_model != UPSET:
        return tuple(
            CellClass(
                register_class=own.register_class,
                bits=own.bits,
                injections=own.injections,
                avf=own.avf,
                avf_lo=own.avf_interval.lo,
                avf_hi=own.avf_interval.hi,
            )
            for own in summary.classes
        )
    return tuple(
        CellClass(
            register_class=str(row.register_class),
            bits=int(row.bits),
            injections=int(row.injections),
            avf=float(row.avf),
            avf_lo=float(row.avf_lo),
            avf_hi=float(row.avf_hi),
        )
        for row in FinishedRun(found.path).classes().itertuples()
    )


def _block(block: Block) -> CellBlock:
    return CellBlock(
        block=block.name,
        ff_bits=block.ff_bits,
        macro_bits=block.macro_bits,
        sram_bits=block.sram_bits,
        area=block.area,
        fit_raw=block.fit_raw,
        fit=block.fit,
        fit_lo=block.fit_lo,
        fit_hi=block.fit_hi,
    )
