# SPDX-License-Identifier: Apache-2.0
"""All files of a report, from the two documents that hold the results."""

from __future__ import annotations

from resil.record.detail import Detail
from resil.record.errors import ReportError
from resil.record.protection_state import ProtectionState
from resil.record.summary import Summary
from resil.reports.blocks_csv import blocks_csv
from resil.reports.figure_data import figure_data
from resil.reports.figures import figure_files, framed_figures
from resil.reports.fmeda import fmeda_xlsx
from resil.reports.html import report_html
from resil.reports.pdf import pdf_of, require_matplotlib

REPORT = "report.html"


def render(
    summary: Summary, protection: ProtectionState | None = None, detail: Detail | None = None
) -> dict[str, str | bytes]:
    """Return the report files of a run by name. Pure: the same documents give the same bytes.

    Args:
        summary: Of the run or the estimate.
        protection: The chosen protection, if there is one.
        detail: What is known below the level of blocks; None of an estimate.

    Returns:
        Text of `blocks.csv` and `report.html`, bytes of `fmeda.xlsx`.

    Raises:
        ReportError: A document lacks a field or has a wrong one; the message names it.
    """
    return {
        "blocks.csv": blocks_csv(summary),
        "fmeda.xlsx": fmeda_xlsx(summary, protection, detail),
        REPORT: report_html(summary, protection, detail),
    }


def render_figures(
    summary: Summary,
    protection: ProtectionState | None = None,
    names: frozenset[str] | None = None,
    detail: Detail | None = None,
) -> dict[str, str]:
    """Return figures of a run as SVG files by name, such as those that the README shows.

    Args:
        summary: Of the run or the estimate.
        protection: The chosen protection, if there is one.
        names: File names wanted, such as `overview.svg`; all figures by default.
        detail: As of `render`.

    Raises:
        ReportError: A document is wrong, or the run has no figure of such a name.
    """
    made = figure_files(summary, protection, detail)
    if unknown := sorted((names or frozenset()) - made.keys()):
        raise ReportError(
            f"expected figures among {', '.join(sorted(made))}, found {', '.join(unknown)}; name others"
        )
    return {name: text for name, text in made.items() if names is None or name in names}


def render_for_papers(
    summary: Summary, protection: ProtectionState | None = None, detail: Detail | None = None
) -> dict[str, str | bytes]:
    """Return every figure as SVG and PDF, and its data as CSV, by file name.

    `overview` is made of two others and has no data of its own.

    Raises:
        ReportError: matplotlib, which draws PDF, is not installed.
    """
    require_matplotlib("figures as PDF")
    files: dict[str, str | bytes] = {}
    data = figure_data(summary, protection, detail)
    for name, drawing in framed_figures(summary, protection, detail).items():
        stem = name.replace("_", "-")
        files[f"{stem}.svg"], files[f"{stem}.pdf"] = drawing.standalone(), pdf_of(drawing)
        if name in data:
            files[f"{stem}.csv"] = data[name]
    return files
