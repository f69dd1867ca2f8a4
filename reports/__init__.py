"""Reports: tables, figures, HTML, CSV and FMEDA, rendered purely from a run's two documents."""

from reports.errors import ReportError
from reports.protection import parse_protection
from reports.render import REPORT, render, render_figures
from reports.summary_json import parse_summary
from reports.tables import rich_report, text_report, verdict_line
from reports.writer import write_files

__all__ = [
    "REPORT",
    "ReportError",
    "parse_protection",
    "parse_summary",
    "render",
    "render_figures",
    "rich_report",
    "text_report",
    "verdict_line",
    "write_files",
]
