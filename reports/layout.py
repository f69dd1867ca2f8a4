# SPDX-License-Identifier: Apache-2.0
"""Parts that several figures share: row labels, legends, axes with their ticks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from resil.record import numbers
from resil.record.blocks import Block
from resil.reports.scales import LogScale, Scale
from resil.reports.svg import Canvas, shorten, text_width

TICK_GAP = 16.0
AXIS_HEIGHT = 38.0


@dataclass(frozen=True, slots=True)
class LegendKey:
    """One entry of a legend: a swatch of a style, hatched or not, with its text."""

    css: str
    text: str
    hatched: bool = False


def label_column(labels: Iterable[str], width: float, share: float = 0.3) -> float:
    """Return the width of the column that row labels need, at most a share of the figure."""
    widest = max((text_width(label, bold=True) for label in labels), default=0.0)
    return min(max(44.0, widest + 10.0), share * width)


def row_label(canvas: Canvas, text: str, right: float, y: float, strong: bool = False) -> None:
    """Write a row's label so that it ends before `right`, cut if need be."""
    css = "strong" if strong else ""
    canvas.text(right - 8.0, y, shorten(text, right - 10.0, bold=strong), css, anchor="end")


def legend(canvas: Canvas, keys: Sequence[LegendKey], left: float, top: float, right: float) -> float:
    """Draw a legend that wraps within [left, right]; return the y below it."""
    x, y = left, top
    for key in keys:
        span = 17.0 + text_width(key.text, 11.0) + 14.0
        if x > left and x + span - 14.0 > right:
            x, y = left, y + 17.0
        canvas.rect(x, y, 11.0, 11.0, key.css)
        if key.hatched:
            canvas.hatched(x, y, 11.0, 11.0)
        canvas.text(x + 16.0, y + 9.5, shorten(key.text, right - x - 16.0, 11.0), "small quiet")
        x += span
    return y + 17.0


def axis_below(
    canvas: Canvas, scale: Scale, top: float, bottom: float, title: str, write: Callable[[float], str]
) -> None:
    """Draw grid lines between `top` and `bottom`, tick labels and the axis title below."""
    for value in scale.ticks():
        x = scale.at(value)
        canvas.line(x, top, x, bottom, "grid")
        canvas.text(x, bottom + TICK_GAP, write(value), "small quiet", anchor="middle")
    canvas.line(scale.start, bottom, scale.end, bottom, "axis")
    middle = (scale.start + scale.end) / 2.0
    room = 2.0 * min(middle, canvas.width - middle)
    canvas.text(middle, bottom + TICK_GAP + 17.0, shorten(title, room, 11.0), "small quiet", anchor="middle")


def budget_line(canvas: Canvas, scale: Scale, budget: float, top: float, bottom: float) -> None:
    """Draw the budget across the rows between `top` and `bottom`, with its value above."""
    x = scale.at(budget)
    canvas.line(x, top - 6.0, x, bottom, "budget")
    text = f"budget {numbers.pretty(numbers.given(budget))} FIT"
    half = text_width(text, 11.0, bold=True) / 2.0
    anchor, at = "middle", x
    if x - half < 2.0:
        anchor, at = "start", max(2.0, x - 4.0)
    elif x + half > canvas.width - 2.0:
        anchor, at = "end", min(canvas.width - 2.0, x + 4.0)
    canvas.text(at, top - 10.0, text, "small strong", anchor=anchor)


def log_tick(scale: LogScale) -> Callable[[float], str]:
    """Return how the ticks of a logarithmic axis are written: all plain, or all as powers of ten."""
    plain = scale.low >= -4 and scale.high <= 4

    def write(value: float) -> str:
        if plain:
            return f"{value:,.0f}" if value >= 1.0 else f"{value:.{-round(math.log10(value))}f}"
        return numbers.pretty(f"1e{round(math.log10(value)):+d}").removeprefix(f"1{numbers.TIMES}")

    return write


def fit_order(blocks: Iterable[Block]) -> list[Block]:
    """Return the blocks by descending FIT, then by descending upper limit, then by name."""
    return sorted(blocks, key=lambda block: (-(block.fit or 0.0), -block.fit_interval.hi, block.name))
