# SPDX-License-Identifier: Apache-2.0
"""A small drawing surface that yields accessible, self-contained SVG."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from xml.sax.saxutils import escape as _escape_markup
from xml.sax.saxutils import quoteattr

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW = set("fijlrtIJ.,:;'|!()[]{}/\\ ")
_WIDE = set("mwMW%@—")


def clean(text: str) -> str:
    """Return the text with characters that markup cannot hold replaced."""
    return _NOT_XML.sub("\ufffd", text)


def escape(text: str) -> str:
    """Return text safe inside an element."""
    return _escape_markup(clean(text))


def text_width(text: str, size: float = 12.0, bold: bool = False) -> float:
    """Return about how wide a text is, on the generous side, whatever sans-serif font is there."""
    units = sum(0.36 if c in _NARROW else 0.92 if c in _WIDE else 0.7 if c.isupper() else 0.62 for c in text)
    return units * size * (1.12 if bold else 1.0)


def shorten(text: str, width: float, size: float = 12.0, bold: bool = False) -> str:
    """Return the text, cut with an ellipsis if it is wider than `width`."""
    if text_width(text, size, bold) <= width + 0.01:
        return text
    while text and text_width(text + "…", size, bold) > width:
        text = text[:-1]
    return text.rstrip() + "…"


def two_lines(text: str, width: float, size: float = 12.0, bold: bool = False) -> list[str]:
    """Return the text in one line or two, broken at a space, each cut to `width`."""
    words = text.split(" ")
    kept = len(words)
    while kept > 1 and text_width(" ".join(words[:kept]), size, bold) > width + 0.01:
        kept -= 1
    lines = [" ".join(words[:kept]), " ".join(words[kept:])]
    return [shorten(line, width, size, bold) for line in lines if line]


@cache
def style_sheet() -> str:
    """Return the style sheet of figures."""
    return files("resil.reports").joinpath("figure.css").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished figure.

    Attributes:
        name: Identifier, unique in a document.
        title: What the figure shows, in a few words.
        description: What there is to see, for who cannot see it.
        width: In user units; one unit is one CSS pixel at natural size.
        height: Likewise.
        body: SVG elements.
    """

    name: str
    title: str
    description: str
    width: float
    height: float
    body: str

    def inline(self, css_class: str = "") -> str:
        """Return an `<svg>` element for an HTML page that has the style sheet."""
        return self._svg(f' class="{("figure " + css_class).strip()}"', "")

    def standalone(self) -> str:
        """Return a complete SVG file with its style, on a background of its own."""
        style = f"<style>{style_sheet()}</style>"
        ground = f'<rect class="ground" width="{self.width:g}" height="{self.height:g}" rx="6"/>'
        return self._svg(f' class="figure" width="{self.width:g}" height="{self.height:g}"', style + ground)

    def _svg(self, attributes: str, prelude: str) -> str:
        title, description = f"{self.name}-title", f"{self.name}-desc"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg"{attributes}'
            f' viewBox="0 0 {self.width:g} {self.height:g}"'
            f' role="img" aria-labelledby="{title} {description}">'
            f'<title id="{title}">{escape(self.title)}</title>'
            f'<desc id="{description}">{escape(self.description)}</desc>'
            f"{prelude}{self.body}</svg>\n"
        )


class Canvas:
    """Collects the elements of one figure.

    Args:
        name: Identifier of the figure, unique in a document.
        width: In user units.
    """

    def __init__(self, name: str, width: float) -> None:
        self.name = name
        self.width = width
        self._elements: list[str] = []

    def finish(self, title: str, description: str, height: float) -> Drawing:
        """Return the figure drawn so far."""
        return Drawing(self.name, title, description, self.width, height, "".join(self._elements))

    def rect(self, x: float, y: float, width: float, height: float, css: str, tip: str = "") -> None:
        """Draw a rectangle; `tip` is shown on hovering."""
        self._shape(
            "rect",
            f'x="{_n(x)}" y="{_n(y)}" width="{_n(max(0.0, width))}" height="{_n(max(0.0, height))}"',
            css,
            tip,
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str) -> None:
        """Draw a straight line."""
        self._shape("line", f'x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"', css)

    def circle(self, x: float, y: float, radius: float, css: str, tip: str = "") -> None:
        """Draw a circle."""
        self._shape("circle", f'cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"', css, tip)

    def polygon(self, points: list[tuple[float, float]], css: str, tip: str = "") -> None:
        """Draw a closed polygon."""
        self._shape("polygon", f'points="{" ".join(f"{_n(x)},{_n(y)}" for x, y in points)}"', css, tip)

    def polyline(self, points: list[tuple[float, float]], css: str) -> None:
        """Draw an open line through points."""
        self._shape("polyline", f'points="{" ".join(f"{_n(x)},{_n(y)}" for x, y in points)}"', css)

    def diamond(self, x: float, y: float, radius: float, css: str, tip: str = "") -> None:
        """Draw a square standing on its corner."""
        self.polygon([(x - radius, y), (x, y - radius), (x + radius, y), (x, y + radius)], css, tip)

    def text(
        self, x: float, y: float, text: str, css: str = "", anchor: str = "start", turn: float = 0.0
    ) -> None:
        """Write a text with its baseline at `y`, turned by `turn` degrees about its anchor."""
        anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
        turned = f' transform="rotate({_n(turn)} {_n(x)} {_n(y)})"' if turn else ""
        self._elements.append(
            f'<text x="{_n(x)}" y="{_n(y)}"{_class(css)}{anchored}{turned}>{escape(text)}</text>'
        )

    def hatch(self) -> str:
        """Define the hatching of this figure once and return the fill that refers to it."""
        pattern = f"{self.name}-hatch"
        definition = (
            f'<defs><pattern id="{pattern}" width="5" height="5" patternUnits="userSpaceOnUse"'
            ' patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="5"/></pattern>'
            "</defs>"
        )
        if definition not in self._elements:
            self._elements.append(definition)
        return f"url(#{pattern})"

    def hatched(self, x: float, y: float, width: float, height: float) -> None:
        """Lay hatching over a rectangle."""
        fill = self.hatch()
        self._elements.append(
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(max(0.0, width))}" height="{_n(height)}"'
            f' fill="{fill}" pointer-events="none"/>'
        )

    def anchor(self, css: str, **places: float) -> None:
        """Leave an empty group for a script, with the places that it needs to draw into it."""
        data = "".join(f' data-{key}="{value:g}"' for key, value in places.items())
        self._elements.append(f"<g{_class(css)}{data}/>")

    def place(self, drawing: Drawing, x: float, y: float) -> None:
        """Put another figure's elements here."""
        self._elements.append(f'<g transform="translate({_n(x)} {_n(y)})">{drawing.body}</g>')

    def _shape(self, element: str, geometry: str, css: str, tip: str = "") -> None:
        if tip:
            self._elements.append(
                f"<{element} {geometry}{_class(css)}><title>{escape(tip)}</title></{element}>"
            )
        else:
            self._elements.append(f"<{element} {geometry}{_class(css)}/>")


def _class(css: str) -> str:
    return f" class={quoteattr(css)}" if css else ""


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
