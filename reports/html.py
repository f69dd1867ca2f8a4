# SPDX-License-Identifier: Apache-2.0
"""`report.html`: one page that holds everything it needs."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup, escape

from resil.record import numbers
from resil.record.protection_state import ProtectionState
from resil.record.summary import Summary
from resil.reports.figures import NARROW, WIDE, catalogue
from resil.reports.html_view import page_view
from resil.reports.svg import clean, style_sheet


def report_html(summary: Summary, protection: ProtectionState | None = None) -> str:
    """Return the page. It loads nothing, runs no script, and escapes every text it is given."""
    wide = catalogue(summary, protection, WIDE, "wide")
    narrow = catalogue(summary, protection, NARROW, "narrow")
    figures = {name: Markup(wide[name].inline("wide") + narrow[name].inline("narrow")) for name in wide}
    style = Markup(style_sheet() + _part("report.css"))
    return clean(_template().render(figures=figures, style=style, **page_view(summary, protection)))


def _breakable(name: str) -> Markup:
    """Return an identifier that may break after its underscores."""
    return Markup(escape(name).replace("_", Markup("_<wbr/>")))


def _part(name: str) -> str:
    return files("resil.reports").joinpath(name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["pretty"] = numbers.pretty
    environment.filters["breakable"] = _breakable
    return environment.from_string(_part("report.html.j2"))
