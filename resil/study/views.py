# SPDX-License-Identifier: Apache-2.0
"""Both views of the host in a cell of a study: it reacts to what the design detects, or nobody does."""

from __future__ import annotations

from collections.abc import Iterable

from resil.record.interval import RecordedInterval
from resil.record.safety import SafetyRow, UnaidedRow
from resil.record.study_cell import INCONCLUSIVE, MET, MISSED, NONE, NOT_ASSESSED, CellView
from resil.record.summary import Summary

SPFM = "spfm_transient"
# The worst first: the verdict of several claims is that of the first which is among them.
_WORST_FIRST = (MISSED, INCONCLUSIVE, NOT_ASSESSED, MET, NONE)


def aided(summary: Summary, verdict: str) -> CellView:
    """Return the view with the error flag and a host that reacts; `verdict` is the cell's own."""
    budget = summary.verdict
    corner, least = _spfm_corner(summary, _rows(summary).get(SPFM))
    return CellView(
        verdict=verdict,
        fit=budget.fit_interval,
        corner=budget.corner,
        corner_fit=budget.corner_fit,
        spfm=summary.metrics.spfm,
        spfm_corner=corner,
        spfm_corner_lo=least,
    )


def unaided(summary: Summary, *, claimed: bool) -> CellView:
    """Return the view with nobody to react; `claimed` as of `verdict_of`."""
    bare, row = summary.verdict.unaided, _rows(summary).get(SPFM)
    corner, least = _spfm_corner(summary, None if row is None else row.unaided or row)
    return CellView(
        verdict=_unaided_verdict(summary, claimed=claimed),
        fit=None if bare is None else RecordedInterval(bare.fit, bare.fit_lo, bare.fit_hi),
        corner=None if bare is None else bare.corner,
        corner_fit=None if bare is None else bare.corner_fit,
        spfm=summary.metrics.spfm_unaided,
        spfm_corner=corner,
        spfm_corner_lo=least,
    )


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
    worst = _worst(results)
    if predicted and worst != NONE:
        return NOT_ASSESSED if claimed else INCONCLUSIVE
    return worst


def _unaided_verdict(summary: Summary, *, claimed: bool) -> str:
    budget, safety = summary.verdict, summary.safety
    alone = [budget.result if budget.unaided is None else budget.unaided.result]
    if claimed:
        rows, claims = _rows(summary), () if safety is None else safety.claims
        alone += [(rows[name].unaided or rows[name]).state for name in claims] or [NOT_ASSESSED]
    return _worst(alone)


def _worst(results: Iterable[str]) -> str:
    found = set(results)
    return next(result for result in _WORST_FIRST if result in found)


def _rows(summary: Summary) -> dict[str, SafetyRow]:
    return {} if summary.safety is None else {row.name: row for row in summary.safety.rows}


def _spfm_corner(summary: Summary, row: SafetyRow | UnaidedRow | None) -> tuple[str | None, float | None]:
    """Return the corner that decides the claim on SPFM, and the limit there; None where none is claimed."""
    if row is None or summary.safety is None or SPFM not in summary.safety.claims:
        return None, None
    return row.corner, row.corner_limit
