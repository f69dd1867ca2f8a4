# SPDX-License-Identifier: Apache-2.0
"""The figures of a report: a catalogue for the HTML page, and stand-alone files for other documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from resil.record import numbers
from resil.record.detail import Detail
from resil.record.protection_state import ProtectionState
from resil.record.summary import Summary
from resil.reports.confirmed import confirmed_chart
from resil.reports.figure_blocks import fit_against_area, outcome_mix
from resil.reports.figure_detail import memory_map, register_ranking, share_mix, time_map, treemap
from resil.reports.figure_intervals import fit_intervals, verdict_strip
from resil.reports.figure_operations import operation_cycles
from resil.reports.figure_protection import pareto_front, protection_effect
from resil.reports.svg import Canvas, Drawing

WIDE = 540.0
NARROW = 350.0
MOST_MEMORIES = 4
_FILE_WIDTH = 640.0
_MARGIN = 16.0


def catalogue(
    summary: Summary,
    protection: ProtectionState | None,
    width: float,
    suffix: str,
    detail: Detail | None = None,
) -> dict[str, Drawing]:
    """Draw every figure that the data allow.

    Args:
        summary: The results.
        protection: The chosen protection, if there is one.
        width: Of each figure.
        detail: What is known below the level of blocks; None of an estimate.
        suffix: Put after each figure's identifier, so that two sizes can live in one page.

    Returns:
        Figures by name: `verdict`, `fit_area`, `fit_intervals`, `outcomes`; `operations` if the
        network has any; with detail `registers`, `treemap`, `time` but of held faults, `operation_mix`,
        `class_mix` and `memory_0`, `memory_1`, ...; `front` with a protection that has a front, `effect` if
        it protects, `confirmed` if it was injected into.
    """
    figures: dict[str, Drawing] = {}

    def add(name: str, draw: Callable[[str], Drawing]) -> None:
        figures[name] = draw(f"{name}-{suffix}")

    add("verdict", lambda name: verdict_strip(summary, protection, name, width))
    add("fit_area", lambda name: fit_against_area(summary, name, width))
    add("fit_intervals", lambda name: fit_intervals(summary, name, width))
    add("outcomes", lambda name: outcome_mix(summary, name, width))
    if summary.network.operations:
        add("operations", lambda name: operation_cycles(summary, name, width))
    if detail is not None:
        figures |= _of_detail(detail, summary, width, suffix)
    if protection is not None and protection.plan.pareto:
        add("front", lambda name: pareto_front(protection, name, width))
    if protection is not None and protection.plan.protects:
        add("effect", lambda name: protection_effect(protection, name, width))
    if protection is not None and (found := protection.confirmation) is not None:
        budget = protection.plan.budget_fit
        add("confirmed", lambda name: confirmed_chart(found, budget, name, width))
    return figures


def _of_detail(detail: Detail, summary: Summary, width: float, suffix: str) -> dict[str, Drawing]:
    """Draw what is known below the level of blocks."""
    hazardous = summary.campaign.hazardous
    wider = 2.0 * width if width > 450.0 else width
    drawn: dict[str, Drawing | None] = {
        "registers": register_ranking(detail, f"registers-{suffix}", width),
        "treemap": treemap(detail, f"treemap-{suffix}", wider),
        "time": time_map(detail, f"time-{suffix}", wider),
        "operation_mix": share_mix(
            detail.operations,
            "What upsets become in each operation",
            hazardous,
            f"operation_mix-{suffix}",
            width,
        ),
        "class_mix": share_mix(
            detail.classes,
            "What upsets become in each register class",
            hazardous,
            f"class_mix-{suffix}",
            width,
        ),
    }
    for index in range(min(MOST_MEMORIES, len(detail.memories))):
        drawn[f"memory_{index}"] = memory_map(detail, index, f"memory_{index}-{suffix}", wider)
    return {name: drawing for name, drawing in drawn.items() if drawing is not None}


def framed_figures(
    summary: Summary, protection: ProtectionState | None = None, detail: Detail | None = None
) -> dict[str, Drawing]:
    """Return every figure by name, each with its title and a margin; `overview` has the two that say most."""
    figures = catalogue(summary, protection, _FILE_WIDTH, "file", detail)
    framed = {name: _framed(drawing) for name, drawing in figures.items()}
    return framed | {"overview": overview(summary, protection)}


def figure_files(
    summary: Summary, protection: ProtectionState | None = None, detail: Detail | None = None
) -> Mapping[str, str]:
    """Return every figure as a stand-alone SVG file."""
    figures = framed_figures(summary, protection, detail)
    return {f"{name.replace('_', '-')}.svg": drawing.standalone() for name, drawing in figures.items()}


def _framed(drawing: Drawing) -> Drawing:
    canvas = Canvas(drawing.name, drawing.width + 2 * _MARGIN)
    canvas.text(_MARGIN, _MARGIN + 8.0, drawing.title, "heading")
    canvas.place(drawing, _MARGIN, _MARGIN + 22.0)
    return canvas.finish(drawing.title, drawing.description, drawing.height + 2 * _MARGIN + 22.0)


def overview(summary: Summary, protection: ProtectionState | None = None) -> Drawing:
    """Draw the picture for a front page: FIT against area, beside the front or the intervals."""
    left = fit_against_area(summary, "overview-left", 470.0)
    if protection is not None and protection.plan.pareto:
        right = pareto_front(protection, "overview-right", 470.0)
    else:
        right = fit_intervals(summary, "overview-right", 470.0)
    gap, head = 36.0, 62.0
    canvas = Canvas("overview", 2 * _MARGIN + left.width + gap + right.width)
    name = f"{summary.network.name} on {summary.target.name}"
    canvas.text(_MARGIN, _MARGIN + 10.0, f"{name}: {_headline(summary, protection)}", "heading")
    for drawing, x in ((left, _MARGIN), (right, _MARGIN + left.width + gap)):
        canvas.text(x, head - 12.0, drawing.title, "quiet")
        canvas.place(drawing, x, head)
    height = head + max(left.height, right.height) + _MARGIN
    return canvas.finish(f"{name}: overview", f"{left.description} {right.description}", height)


def _headline(summary: Summary, protection: ProtectionState | None) -> str:
    fit = summary.verdict.fit_interval
    text = f"{numbers.fit(fit.estimate)} FIT {numbers.fit_range(fit)} unprotected"
    if summary.verdict.budget_fit is not None:
        text += f", budget {numbers.given(summary.verdict.budget_fit)}"
    if protection is not None and protection.plan.result == "optimal":
        text += f"; {numbers.percent(protection.area_overhead)} more area meets it"
    return numbers.pretty(text)
