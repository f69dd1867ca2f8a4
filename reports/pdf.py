# SPDX-License-Identifier: Apache-2.0
"""A figure as PDF with its fonts inside, as journals ask for it: its SVG, drawn by matplotlib."""

from __future__ import annotations

import io
import re
from functools import cache
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from resil.record.errors import ReportError
from resil.reports.svg import Drawing, clean, style_sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Style = dict[str, str]

_POINTS = 0.75  # of a CSS pixel
_RULE = re.compile(r"\.figure(?: (?:text)?\.([\w-]+))?\s*\{([^}]*)\}")
_VARIABLE = re.compile(r"var\((--[\w-]+)\)")
_NUMBER = re.compile(r"-?[\d.]+")
_INHERITED = {"fill": "#000000", "font-size": "12"}


def require_matplotlib(what: str) -> None:
    """Raise ReportError if matplotlib, which `what` needs, is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ReportError(
            f"{what}: expected matplotlib, found that it is not installed; install it with: "
            "pip install 'resil[notebook]'",
            "matplotlib",
        ) from None


def pdf_of(drawing: Drawing) -> bytes:
    """Return the figure as a PDF of its natural size. The bytes depend on the figure alone.

    Raises:
        ReportError: matplotlib is not installed.
    """
    require_matplotlib(f"{drawing.name}.pdf")
    from matplotlib import rc_context
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure

    size = (drawing.width * _POINTS / 72.0, drawing.height * _POINTS / 72.0)
    with rc_context({"pdf.fonttype": 42, "font.family": "DejaVu Sans", "hatch.linewidth": 0.6}):
        figure = Figure(figsize=size)
        FigureCanvasPdf(figure)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(0.0, drawing.width)
        axes.set_ylim(drawing.height, 0.0)
        axes.axis("off")
        root = ElementTree.fromstring(f"<g>{clean(drawing.body)}</g>")
        _Painter(axes).group(root, 0.0, 0.0)
        out = io.BytesIO()
        figure.savefig(out, format="pdf", metadata={"CreationDate": None, "Title": drawing.title})
    return out.getvalue()


@cache
def _styles() -> dict[str, Style]:
    """Return the declarations of each class of the style sheet, in its light colours."""
    variables: Style = {}
    rules: list[tuple[str, Style]] = []
    for name, body in _RULE.findall(style_sheet()):
        pairs = [part.split(":", 1) for part in body.split(";") if ":" in part]
        own = {key.strip(): value.strip() for key, value in pairs}
        variables |= {key: value for key, value in own.items() if key.startswith("--")}
        rules.append((name, own))
    found: dict[str, Style] = {}
    for name, own in rules:
        resolved = {
            key: _VARIABLE.sub(lambda m: variables.get(m[1], "#000000"), text) for key, text in own.items()
        }
        found.setdefault(name, {}).update(resolved)
    return found


class _Painter:
    """Draws the elements of a figure, each above those before it."""

    def __init__(self, axes: Axes) -> None:
        self._axes = axes
        self._order = 1.0

    def group(self, element: ElementTree.Element, x: float, y: float) -> None:
        """Draw all children, moved by (x, y)."""
        for child in element:
            self._order += 1.0
            if child.tag == "g":
                moved = _NUMBER.findall(child.attrib.get("transform", "translate(0 0)"))
                self.group(child, x + float(moved[0]), y + float(moved[1]))
            elif child.tag == "text":
                self._text(child, x, y)
            elif child.tag in ("rect", "line", "circle", "polygon", "polyline"):
                self._shape(child, x, y)

    def _style(self, element: ElementTree.Element) -> Style:
        found = dict(_INHERITED)
        if element.tag == "text":
            found["fill"] = _styles()[""]["--ink"]
        for name in element.attrib.get("class", "").split():
            found |= _styles().get(name, {})
        return found

    def _shape(self, element: ElementTree.Element, x: float, y: float) -> None:
        from matplotlib.patches import Circle, Polygon, Rectangle

        style, at = self._style(element), element.attrib
        hatched = at.get("fill", "").startswith("url(")
        look = _look(style, filled=element.tag not in ("line", "polyline"))
        if hatched:
            look = {"fill": False, "hatch": "/////", "edgecolor": "#ffffff", "linewidth": 0.0}
        look["zorder"] = self._order

        def value(name: str) -> float:
            return float(at[name])

        if element.tag == "rect":
            corner = (x + value("x"), y + value("y"))
            self._axes.add_patch(Rectangle(corner, value("width"), value("height"), **look))
        elif element.tag == "circle":
            self._axes.add_patch(Circle((x + value("cx"), y + value("cy")), value("r"), **look))
        elif element.tag == "line":
            points = [(x + value("x1"), y + value("y1")), (x + value("x2"), y + value("y2"))]
            self._axes.add_patch(Polygon(points, closed=False, **look))
        else:
            pairs = [pair.split(",") for pair in at["points"].split()]
            points = [(x + float(one), y + float(other)) for one, other in pairs]
            self._axes.add_patch(Polygon(points, closed=element.tag == "polygon", **look))

    def _text(self, element: ElementTree.Element, x: float, y: float) -> None:
        style, at = self._style(element), element.attrib
        anchor = {"middle": "center", "end": "right"}.get(at.get("text-anchor", ""), "left")
        turned = _NUMBER.findall(at["transform"]) if "transform" in at else ["0"]
        size = float(_NUMBER.findall(style["font-size"])[0]) * _POINTS * 0.93
        weight = "bold" if style.get("font-weight") == "650" else "normal"
        made = self._axes.text(
            x + float(at["x"]), y + float(at["y"]), (element.text or "").replace("$", r"\$"),
            fontsize=size, color=style["fill"], ha=anchor, va="baseline", fontweight=weight,
            rotation=-float(turned[0]), rotation_mode="anchor", zorder=self._order,
        )  # fmt: skip
        if "halo" in at.get("class", ""):
            from matplotlib.patheffects import withStroke

            made.set_path_effects([withStroke(linewidth=3.0, foreground="#ffffff")])


def _look(style: Style, *, filled: bool) -> dict[str, Any]:
    """Return how matplotlib draws a shape of a style."""
    fill, stroke = style["fill"], style.get("stroke", "none")
    look: dict[str, Any] = {
        "facecolor": fill if filled and fill != "none" else "none",
        "edgecolor": stroke,
        "linewidth": float(style.get("stroke-width", "1").removesuffix("px")) * _POINTS
        if stroke != "none"
        else 0.0,
    }
    if "opacity" in style:
        look["alpha"] = float(style["opacity"])
    if "stroke-dasharray" in style:
        dashes = [float(part) * _POINTS for part in style["stroke-dasharray"].split()]
        look["linestyle"] = (0.0, tuple(dashes))
    return look
