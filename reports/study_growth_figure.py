# SPDX-License-Identifier: Apache-2.0
"""What a doubling of the array adds to each block, as a part of its mean: one panel for each figure."""

from __future__ import annotations

from resil.record.study import StudyRecord
from resil.record.study_growth import Trend
from resil.reports.layout import AXIS_HEIGHT, label_column, row_label
from resil.reports.scales import nice_step
from resil.reports.study_growth import relative
from resil.reports.svg import Canvas, Drawing

_ROW = 22.0
_HEAD = 20.0
_PANELS = {"fit": "FIT", "raw fit": "raw FIT", "bits": "storage bits", "area": "area"}


def growth_figure(study: StudyRecord, name: str, width: float) -> Drawing | None:
    """Draw what a doubling adds, a row for each block and a panel for each figure; None without trends.

    A dot with its interval where figures are estimated; a bar where they are known exactly.
    """
    trends = study.growth.trends
    panels = [what for what in _PANELS if any(trend.what == what for trend in trends)]
    if not panels:
        return None
    blocks = list(dict.fromkeys(trend.block for trend in trends))
    canvas = Canvas(name, width)
    left = label_column(blocks, width)
    low, high = _limits(trends)
    across = 2 if width < 450.0 else len(panels)
    span = (width - left - 8.0) / across
    below = _HEAD + _ROW * len(blocks) + AXIS_HEIGHT
    for place, what in enumerate(panels):
        top = _HEAD + below * (place // across)
        start = left + span * (place % across)
        panel = _Panel(canvas, start + 6.0, start + span - 10.0, top, low, high)
        panel.frame(_PANELS[what], len(blocks))
        for index, block in enumerate(blocks):
            if place % across == 0:
                row_label(canvas, block, left, top + _ROW * (index + 0.5) + 4.0, block == "total")
            for trend in (own for own in trends if (own.what, own.block) == (what, block)):
                panel.draw(trend, index)
    caption = "; ".join(f"{_PANELS[own.what]} of {own.block}: {_said(own)}" for own in trends)
    height = below * (-(-len(panels) // across)) + _HEAD
    title = f"What a doubling of {study.growth.parameter} adds, % of the mean"
    return canvas.finish(title, f"{caption}.", height)


def _limits(trends: tuple[Trend, ...]) -> tuple[float, float]:
    parts = [part for trend in trends if (part := relative(trend)) is not None]
    lows = [max(part.lo, -2.0) for part in parts]
    highs = [min(part.hi, 2.0) for part in parts]
    return min([0.0, *lows]) - 0.02, max([0.05, *highs]) + 0.02


def _said(trend: Trend) -> str:
    part = relative(trend)
    if part is None:
        return "none there"
    limits = "" if part.lo == part.hi else f" [{100.0 * part.lo:+.2g}, {100.0 * part.hi:+.2g}]"
    return f"{100.0 * (part.estimate or 0.0):+.2g}{limits} %"


class _Panel:
    """One figure of all blocks, over an axis that all panels share."""

    def __init__(self, canvas: Canvas, start: float, end: float, top: float, low: float, high: float) -> None:
        self._canvas, self._start, self._end, self._top = canvas, start, end, top
        self._low, self._high = low, high

    def at(self, value: float) -> float:
        """Return the position of a value, clamped to the axis."""
        share = (value - self._low) / (self._high - self._low)
        return self._start + min(1.0, max(0.0, share)) * (self._end - self._start)

    def frame(self, title: str, rows: int) -> None:
        """Draw head, grid and ticks."""
        bottom = self._top + _ROW * rows
        self._canvas.text(self._start, self._top - 6.0, title, "small strong")
        step = nice_step(self._high - self._low, 3)
        first, last = int(self._low / step), int(self._high / step)
        for number in range(first, last + 1):
            x = self.at(step * number)
            self._canvas.line(x, self._top, x, bottom, "axis" if number == 0 else "grid")
            self._canvas.text(x, bottom + 15.0, f"{100.0 * step * number:g}", "small quiet", anchor="middle")

    def draw(self, trend: Trend, index: int) -> None:
        """Draw one block."""
        y, part = self._top + _ROW * (index + 0.5), relative(trend)
        if part is None:
            self._canvas.text(self.at(0.0) + 4.0, y + 4.0, "none", "small quiet")
            return
        middle = self.at(part.estimate or 0.0)
        tip = f"{trend.block}: {_said(trend)}"
        if part.lo == part.hi:
            zero = self.at(0.0)
            self._canvas.rect(min(zero, middle), y - 5.0, abs(middle - zero), 10.0, "bar-area", tip)
            return
        self._canvas.line(self.at(part.lo), y, self.at(part.hi), y, "whisker-fit")
        self._canvas.circle(middle, y, 4.0, "dot-fit", tip)
