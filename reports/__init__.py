"""Reports: tables, figures, HTML, CSV and FMEDA, rendered purely from a run's two documents."""

from reports.errors import ReportError
from reports.protection import parse_protection
from reports.render import REPORT, render
from reports.run_folder import load_run, write_figures
from reports.summary_json import parse_summary
from reports.tables import rich_report, text_report, verdict_line
from reports.writer import write_files

__all__ = [
    "REPORT",
    "ReportError",
    "load_run",
    "parse_protection",
    "parse_summary",
    "render",
    "rich_report",
    "text_report",
    "verdict_line",
    "write_figures",
    "write_files",
]
