# SPDX-License-Identifier: Apache-2.0
"""`report.html`: one page that holds everything it needs."""

from __future__ import annotations

from markupsafe import Markup

from resil.record.detail import Detail
from resil.record.protection_state import ProtectionState
from resil.record.summary import Summary
from resil.reports.figures import NARROW, WIDE, catalogue
from resil.reports.html_view import detail_view, page_view
from resil.reports.page_data import packed, script, script_hash
from resil.reports.svg import clean
from resil.reports.templates import page_style, page_template


def report_html(
    summary: Summary, protection: ProtectionState | None = None, detail: Detail | None = None
) -> str:
    """Return the page. It loads nothing, runs no script but its own, and escapes every text it is given.

    Args:
        summary: Of the run or the estimate.
        protection: The chosen protection, if there is one.
        detail: What is known below the level of blocks; None of an estimate.
    """
    wide = catalogue(summary, protection, WIDE, "wide", detail)
    narrow = catalogue(summary, protection, NARROW, "narrow", detail)
    figures = {name: Markup(wide[name].inline("wide") + narrow[name].inline("narrow")) for name in wide}
    data = packed(summary, protection, detail)
    page = page_template("report.html.j2").render(
        figures=figures,
        style=page_style(),
        data=data,
        script=Markup(script()) if data else "",
        script_hash=script_hash(),
        **page_view(summary, protection),
        **detail_view(detail),
    )
    return clean(page)
