# SPDX-License-Identifier: Apache-2.0
"""The templates of pages, with the parts and filters that all of them share."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from resil.record import numbers
from resil.reports.svg import style_sheet


@cache
def page_template(name: str) -> Template:
    """Return a template of this package by its file name; every text that it is given is escaped."""
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(_part),
    )
    environment.filters["pretty"] = numbers.pretty
    environment.filters["breakable"] = _breakable
    return environment.get_template(name)


def page_style() -> Markup:
    """Return the style sheet of pages, that of figures included."""
    return Markup(style_sheet() + _part("report.css"))


def _breakable(name: str) -> Markup:
    """Return an identifier that may break after its underscores."""
    return Markup(escape(name).replace("_", Markup("_<wbr/>")))


def _part(name: str) -> str:
    return files("resil.reports").joinpath(name).read_text(encoding="utf-8")
