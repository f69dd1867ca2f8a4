# SPDX-License-Identifier: Apache-2.0
"""`report.html` of a study: one page that holds everything it needs."""

from __future__ import annotations

from markupsafe import Markup

from resil.record import numbers
from resil.record.study import StudyRecord
from resil.reports.figures import NARROW, WIDE
from resil.reports.study_figures import stacked_fit
from resil.reports.study_growth import growth_lines, growth_table
from resil.reports.study_growth_figure import growth_figure
from resil.reports.study_open import open_reason
from resil.reports.study_tables import (
    NOT_RUN_THERE,
    asked_lines,
    class_table,
    fit_matrix,
    margin_line,
    open_lines,
    protection_lines,
    protection_table,
    scope_lines,
    spfm_matrix,
    study_heading,
    time_table,
    verdict_cell,
)
from resil.reports.study_views import corner_table
from resil.reports.svg import clean
from resil.reports.templates import page_style, page_template

STUDY_REPORT = "report.html"
_TONES = {"met": "met", "missed": "missed", "failed": "missed", "none": "none", "not run": "none"}


def render_study(study: StudyRecord) -> dict[str, str | bytes]:
    """Return the report files of a study by name. Pure: the same document gives the same bytes."""
    return {STUDY_REPORT: study_html(study)}


def study_html(study: StudyRecord) -> str:
    """Return the page. It loads nothing, runs no script, and escapes every text it is given."""
    figure = Markup(
        stacked_fit(study, "stacked-wide", WIDE).inline("wide")
        + stacked_fit(study, "stacked-narrow", NARROW).inline("narrow")
    )
    answered = study.answered
    page = page_template("study.html.j2").render(
        study=study,
        heading=_first_up(study_heading(study)),
        asked=asked_lines(study),
        style=page_style(),
        figure=figure if answered else None,
        matrix=[
            (
                network,
                [
                    (NOT_RUN_THERE, "", "", "")
                    if cell is None
                    else (
                        verdict_cell(cell),
                        _tone(cell.verdict, cell.predicted),
                        "" if cell.results is None else cell.run,
                        open_reason(cell),
                    )
                    for cell in (study.cell(target, network) for target in study.targets)
                ],
            )
            for network in study.networks
        ],
        fits=fit_matrix(study),
        margin=margin_line(study),
        spfm=spfm_matrix(study),
        corners=corner_table(study),
        classes=class_table(study),
        growth=growth_table(study, titles=True),
        growth_lines=growth_lines(study),
        growth_figure=_growth(study),
        protection=protection_table(study),
        protection_notes=protection_lines(study),
        open=open_lines(study),
        scope=scope_lines(study),
        confidence=numbers.confidence(study.confidence),
        times=time_table(study),
        duration=numbers.duration(study.seconds),
        injections=numbers.count(sum(found.injections for _, found in answered)),
        injected=sum(not cell.predicted for cell, _ in answered),
    )
    return clean(page)


def _growth(study: StudyRecord) -> Markup | None:
    drawn = (growth_figure(study, "growth-wide", 900.0), growth_figure(study, "growth-narrow", NARROW))
    sized = zip(("wide whole", "narrow"), drawn, strict=True)
    parts = [drawing.inline(size) for size, drawing in sized if drawing is not None]
    return Markup("".join(parts)) if parts else None


def _tone(verdict: str, predicted: bool) -> str:
    return "inconclusive" if predicted and verdict != "none" else _TONES.get(verdict, "inconclusive")


def _first_up(text: str) -> str:
    return text[:1].upper() + text[1:]
