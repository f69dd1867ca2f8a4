# SPDX-License-Identifier: Apache-2.0
"""What the page shows, as text ready to be set: the template only lays it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from resil.record import numbers
from resil.record.blocks import Block
from resil.record.detail import Detail
from resil.record.interval import RecordedInterval
from resil.record.outcomes import OUTCOMES
from resil.record.protection_parts import FrontPoint
from resil.record.protection_state import ProtectionState
from resil.record.summary import Summary
from resil.reports.answer import answer
from resil.reports.confirmed import confirmed_table
from resil.reports.detail_tables import memory_table, register_table, share_table, time_table
from resil.reports.detection import detection_tables
from resil.reports.figure_operations import shown_operations
from resil.reports.figure_protection import point_text
from resil.reports.figures import MOST_MEMORIES
from resil.reports.narrative import heading, meaning, protection_meaning
from resil.reports.safety import HEADINGS as SAFETY_HEADINGS
from resil.reports.safety import logic_table, sensitivity_table
from resil.reports.tables import logic_counts, operation_table, storage_counts, storage_table

_MOST_POINTS = 40


@dataclass(frozen=True, slots=True)
class Value:
    """A figure with its interval as two texts; the second may be empty."""

    main: str
    range: str = ""


@dataclass(frozen=True, slots=True)
class RateCell:
    """A cell of the outcome table: texts, and the whisker's places in percent of its width."""

    main: str
    range: str
    low: float
    dot: float
    high: float


def fit_value(interval: RecordedInterval) -> Value:
    """Return an interval in FIT as two texts."""
    return Value(numbers.fit(interval.estimate), numbers.fit_range(interval))


def percent_value(interval: RecordedInterval) -> Value:
    """Return an interval of fractions as two texts."""
    return Value(numbers.percent(interval.estimate), numbers.percent_range(interval))


def spfm_value(interval: RecordedInterval) -> Value:
    """Return an interval of shares near one as two texts."""
    lo, hi = (numbers.spfm(end).removesuffix(" %") for end in (interval.lo, interval.hi))
    return Value(numbers.spfm(interval.estimate), f"[{lo}, {hi}]")


def page_view(summary: Summary, protection: ProtectionState | None) -> Mapping[str, object]:
    """Return everything that the template of the page refers to."""
    verdict = summary.verdict
    return {
        "summary": summary,
        "protection": protection,
        "answer": answer(summary, protection),
        "confirmed": confirmed_table(protection.confirmation)
        if protection and protection.confirmation
        else None,
        "heading": heading(summary),
        "safety_heading": SAFETY_HEADINGS[summary.safety.result] if summary.safety else "",
        "meaning": meaning(summary),
        "confidence": numbers.confidence(summary.campaign.confidence),
        "unit": numbers.unit(summary.total.area_unit),
        "budget": None if verdict.budget_fit is None else numbers.given(verdict.budget_fit),
        "total_fit": fit_value(verdict.fit_interval),
        "tiles": _tiles(summary),
        "outcomes": OUTCOMES,
        "block_rows": [_block_row(block, summary) for block in (*summary.blocks, summary.total)],
        "has_sram": summary.total.sram_bits > 0,
        "has_macros": summary.total.macro_bits > 0,
        "storage": storage_table(summary),
        "rate_rows": _rate_rows(summary),
        "in_logic": logic_table(summary.logic) if summary.logic else None,
        "sensitivity": sensitivity_table(summary.safety)
        if summary.safety and summary.safety.sensitivity
        else None,
        "hazardous": [outcome for outcome in OUTCOMES if outcome.key in summary.campaign.hazardous],
        "operations": operation_table(summary),
        "detection_tables": detection_tables(summary.detection),
        "operations_cut": len(summary.network.operations) - len(shown_operations(summary)),
        "metrics": _metrics(summary),
        "plan": None if protection is None else _plan(summary, protection),
        "duration": numbers.duration(summary.campaign.seconds),
    }


def detail_view(detail: Detail | None) -> Mapping[str, object]:
    """Return what the template refers to of registers, times, operations and memories."""
    if detail is None:
        return {"detail": None}
    return {
        "detail": detail,
        "register_table": register_table(detail),
        "operation_shares": share_table(detail, "operation", detail.operations),
        "class_shares": share_table(detail, "register class", detail.classes),
        "times": time_table(detail),
        "memory_tables": [memory_table(detail, own) for own in detail.memories[:MOST_MEMORIES]],
        "sure": numbers.confidence(detail.confidence),
    }


def _tiles(summary: Summary) -> list[tuple[str, Value, str]]:
    campaign, total, target = summary.campaign, summary.total, summary.target
    spfm = summary.metrics.spfm
    area = f"{numbers.area(target.area)} {numbers.unit(target.area_unit)}"
    seconds = f"{numbers.duration(campaign.seconds)}, {campaign.engine}, {campaign.workers} workers"
    macros = f"{numbers.count(target.macro_bits)} more in SRAM macros, " if target.macro_bits else ""
    memory = "; ".join(
        [
            f"{macros}and {numbers.count(target.sram_bits)} memory bits",
            *storage_counts(target),
            *logic_counts(summary),
            area,
        ]
    )
    technology = f"{summary.technology.name}, {summary.technology.node}"
    tiles = [
        ("raw fault rate", Value(f"{numbers.fit(total.fit_raw)} FIT"), technology),
        ("AVF", percent_value(total.avf_interval), "a fault is seen: SDC, DUE or hang"),
        ("latent state", percent_value(total.latent_interval), "only the state left behind; not in the AVF"),
        ("injections", Value("none"), "predicted by a sensitivity model")
        if summary.predicted
        else ("injections", Value(numbers.count(total.injections)), seconds),
        ("flip-flops", Value(numbers.count(target.ff_bits)), memory),
    ]  # fmt: skip
    if spfm is not None:
        what, alone = f"SPFM, {campaign.faults} faults", summary.metrics.spfm_unaided
        tiles.insert(2, (what, spfm_value(spfm), "with the error flag and a host that reacts"))
        if alone is not None:
            tiles.insert(2, (f"{what}, unaided", spfm_value(alone), "nobody reacts to what is detected"))
    cycles = sorted(set(summary.golden.cycles))
    if cycles:
        shown = numbers.count(cycles[0]) if len(cycles) == 1 else f"{cycles[0]:,d} to {cycles[-1]:,d}"
        quotient = numbers.ratio(cycles[-1], summary.golden.vela_cycles)
        against = (
            "no estimate to compare"
            if quotient is None
            else f"{quotient:.2f} {numbers.TIMES} Vela's estimate"
        )
        tiles.append(("cycles an inference", Value(shown), against))
    return tiles


def _block_row(block: Block, summary: Summary) -> Mapping[str, object]:
    return {
        "block": block,
        "title": summary.target.titles.get(block.name, ""),
        "is_total": block is summary.total,
        "ff": numbers.count(block.ff_bits),
        "macro": numbers.count(block.macro_bits),
        "sram": numbers.count(block.sram_bits),
        "area": numbers.area(block.area),
        "area_share": numbers.percent(numbers.ratio(block.area, summary.total.area)),
        "injections": numbers.NOT_KNOWN if summary.predicted else numbers.count(block.injections),
        "counts": [
            numbers.NOT_KNOWN if summary.predicted else numbers.count(block.counts[outcome.key])
            for outcome in OUTCOMES
        ],
        "avf": percent_value(block.avf_interval),
        "fit_raw": numbers.fit(block.fit_raw),
        "fit": fit_value(block.fit_interval),
        "fit_share": numbers.percent(numbers.ratio(block.fit, summary.total.fit)),
    }


def _rate_rows(summary: Summary) -> list[tuple[str, list[RateCell | None]]]:
    blocks = (*summary.blocks, summary.total)
    effects = [outcome.key for outcome in OUTCOMES if outcome.key != "masked"]
    top = max((block.rate(key).hi for block in blocks if block.sampled for key in effects), default=1.0)
    tops = {outcome.key: 1.0 if outcome.key == "masked" else max(top, 1e-9) for outcome in OUTCOMES}
    return [
        (block.name, [_rate_cell(block, outcome.key, tops[outcome.key]) for outcome in OUTCOMES])
        for block in blocks
    ]


def _rate_cell(block: Block, outcome: str, top: float) -> RateCell | None:
    if not block.sampled:
        return None
    rate = block.rate(outcome)
    low, dot, high = (
        round(100.0 * min(1.0, value / top), 1) for value in (rate.lo, rate.estimate or 0.0, rate.hi)
    )
    return RateCell(numbers.percent(rate.estimate), numbers.percent_range(rate), low, dot, high)


def _metrics(summary: Summary) -> list[tuple[str, str, Value]]:
    metrics = summary.metrics
    absent = Value("not applicable")
    return [
        ("SPFM", f"single-point fault metric, {summary.campaign.faults} faults of this component",
         absent if metrics.spfm is None else spfm_value(metrics.spfm)),
        ("LFM", "latent fault metric", absent if metrics.lfm is None else percent_value(metrics.lfm)),
        ("PMHF share", f"residual {summary.campaign.faults} faults alone, in FIT; safety verdicts join all",
         absent if metrics.pmhf_share is None else fit_value(metrics.pmhf_share)),
    ]  # fmt: skip


def _plan(summary: Summary, protection: ProtectionState) -> Mapping[str, object]:
    headings = {
        "optimal": "Protection found",
        "infeasible": "Not reachable",
        "not_needed": "No protection needed",
    }
    return {
        "heading": headings[protection.plan.result]
        + (" (predicted)" if protection.plan.from_estimate else ""),
        "meaning": protection_meaning(summary, protection),
        "rows": [
            {
                "choice": choice,
                "area_added": numbers.area(choice.area_added),
                "area_growth": numbers.percent(numbers.ratio(choice.area_added, choice.area)),
                "before": numbers.fit(choice.fit_hi_before),
                "after": numbers.fit(choice.fit_hi_after),
            }
            for choice in (protection.choices if protection.plan.protects else ())
        ],
        "total": {
            "area_added": numbers.area(protection.area_added),
            "area_growth": numbers.percent(protection.area_overhead),
            "before": numbers.fit(protection.plan.fit_hi_unprotected),
            "after": numbers.fit(protection.plan.fit_hi),
        },
        "points": [point_text(point) for point in _points_near_choice(protection)],
        "points_total": len(protection.plan.pareto),
    }


def _points_near_choice(protection: ProtectionState) -> list[FrontPoint]:
    points = list(protection.plan.pareto)
    if len(points) <= _MOST_POINTS:
        return points
    chosen = protection.area_added if protection.area_added is not None else points[-1].area_added
    middle = min(range(len(points)), key=lambda index: abs(points[index].area_added - chosen))
    first = max(0, min(middle - _MOST_POINTS // 2, len(points) - _MOST_POINTS))
    return points[first : first + _MOST_POINTS]
