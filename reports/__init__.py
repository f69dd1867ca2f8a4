# SPDX-License-Identifier: Apache-2.0
"""Reports: tables, figures, HTML, CSV and FMEDA, rendered purely from a run's two documents."""

from resil.record.errors import ReportError
from resil.reports.assessor import FIRST_PAGE, assessor_files
from resil.reports.failure_modes import failure_modes
from resil.reports.live_page import live_html
from resil.reports.notebook import summary_html
from resil.reports.pdf import require_matplotlib
from resil.reports.protection_answer import rich_protection, text_protection
from resil.reports.render import REPORT, render, render_figures, render_for_papers
from resil.reports.study_html import STUDY_REPORT, render_study
from resil.reports.study_tables import study_text
from resil.reports.tables import rich_report, text_report, verdict_line
from resil.reports.writer import write_files

__all__ = [
    "FIRST_PAGE",
    "REPORT",
    "STUDY_REPORT",
    "ReportError",
    "assessor_files",
    "failure_modes",
    "live_html",
    "render",
    "render_figures",
    "render_for_papers",
    "render_study",
    "require_matplotlib",
    "rich_protection",
    "rich_report",
    "study_text",
    "summary_html",
    "text_protection",
    "text_report",
    "verdict_line",
    "write_files",
]
