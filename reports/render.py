"""All files of a report, from the two documents that hold the results."""

from __future__ import annotations

from collections.abc import Mapping

from reports.blocks_csv import blocks_csv
from reports.fmeda import fmeda_xlsx
from reports.html import report_html
from reports.protection import parse_protection
from reports.summary_json import parse_summary

REPORT = "report.html"


def render(
    summary: Mapping[str, object], protection: Mapping[str, object] | None = None
) -> dict[str, str | bytes]:
    """Return the report files of a run by name. Pure: the same documents give the same bytes.

    Args:
        summary: Decoded `summary.json`.
        protection: Decoded `protection.json`, if protection was planned.

    Returns:
        Text of `blocks.csv` and `report.html`, bytes of `fmeda.xlsx`.

    Raises:
        ReportError: A document lacks a field or has a wrong one; the message names it.
    """
    results = parse_summary(summary)
    plan = None if protection is None else parse_protection(protection)
    return {
        "blocks.csv": blocks_csv(results),
        "fmeda.xlsx": fmeda_xlsx(results, plan),
        REPORT: report_html(results, plan),
    }
