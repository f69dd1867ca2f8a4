# SPDX-License-Identifier: Apache-2.0
"""Dots and whiskers on a logarithmic FIT axis: the total against its budget, and each block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from resil.record import numbers
from resil.record.interval import RecordedInterval
from resil.record.protection_state import ProtectionState
from resil.record.summary import Summary
from resil.reports.layout import (
    AXIS_HEIGHT,
    axis_below,
    budget_line,
    fit_order,
    label_column,
    log_tick,
    row_label,
)
from resil.reports.scales import LogScale, log_scale
from resil.reports.svg import Canvas, Drawing, text_width

_ROW = 30.0


@dataclass(frozen=True, slots=True)
class Mark:
    """One row of an interval chart.

    Attributes:
        label: Name of the row.
        interval: What is drawn; an estimate of 0 or None is drawn as an upper limit.
        style: `fit` or `chosen`, the colour.
        strong: Set off from the rows above by a rule and a bold label.
        sampled: False if nothing is known about the row.
    """

    label: str
    interval: RecordedInterval
    style: str = "fit"
    strong: bool = False
    sampled: bool = True

    @property
    def limit_only(self) -> bool:
        """No event was seen: there is an upper limit, and no estimate to draw."""
        return not self.interval.estimate

    @property
    def value(self) -> str:
        """The figure written beside the row."""
        if not self.sampled:
            return "not injected"
        if self.limit_only:
            return "0" if self.interval.hi == 0.0 else "≤ " + numbers.pretty(numbers.fit(self.interval.hi))
        return numbers.pretty(numbers.fit(self.interval.estimate))


def interval_chart(
    name: str,
    title: str,
    marks: Sequence[Mark],
    budget: float | None,
    width: float,
    axis_title: str,
    labels: float = 0.3,
) -> Drawing:
    """Draw rows of intervals over one logarithmic axis, with the budget as a line across them.

    Row labels take at most the part `labels` of the width.
    """
    canvas = Canvas(name, width)
    left = label_column((mark.label for mark in marks), width, labels)
    value_width = max(text_width(mark.value, bold=mark.strong) for mark in marks) + 12.0
    right = width - value_width
    values = [v for m in marks for v in (m.interval.lo, m.interval.estimate or 0.0, m.interval.hi)]
    scale = log_scale([*values, budget or 0.0], left + 6.0, right - 10.0, count=max(3, int(width // 90)))
    top = 24.0 if budget else 8.0
    bottom = top + _ROW * len(marks) + 2.0
    if budget:
        x = scale.at(budget)
        canvas.rect(x, top, scale.end - x, bottom - top, "over")
    axis_below(canvas, scale, top, bottom, axis_title, log_tick(scale))
    if budget:
        budget_line(canvas, scale, budget, top, bottom)
    for index, mark in enumerate(marks):
        middle = top + _ROW * (index + 0.5)
        if mark.strong and index:
            canvas.line(4.0, middle - _ROW / 2.0, width - 4.0, middle - _ROW / 2.0, "rule")
        row_label(canvas, mark.label, left, middle + 4.0, mark.strong)
        _draw(canvas, scale, mark, middle)
        css = "strong" if mark.strong else "" if mark.sampled else "small quiet"
        canvas.text(width - 4.0, middle + 4.0, mark.value, css, anchor="end")
    caption = "; ".join(f"{mark.label}: {_mark_text(mark)}" for mark in marks)
    bound = f" Budget: {numbers.given(budget)} FIT." if budget else ""
    return canvas.finish(
        title, f"Failures in 1e9 hours with confidence limits. {caption}.{bound}", bottom + AXIS_HEIGHT
    )


def _mark_text(mark: Mark) -> str:
    interval = mark.interval
    if not mark.sampled:
        return "not injected"
    return f"{numbers.fit(interval.estimate)} FIT, limits {numbers.fit_range(interval)}"


def _draw(canvas: Canvas, scale: LogScale, mark: Mark, y: float) -> None:
    interval, style = mark.interval, mark.style
    if interval.hi <= 0.0:
        return
    low, high = scale.at(interval.lo), scale.at(interval.hi)
    canvas.line(low, y, high, y, f"whisker-{style}")
    canvas.line(high, y - 6.0, high, y + 6.0, f"whisker-{style}")
    if interval.lo < 10.0**scale.low * (1.0 - 1e-9):
        tip = scale.start - 5.0
        canvas.polygon([(tip, y), (tip + 8.0, y - 4.5), (tip + 8.0, y + 4.5)], f"arrow-{style}")
    else:
        canvas.line(low, y - 6.0, low, y + 6.0, f"whisker-{style}")
    if not mark.limit_only:
        canvas.circle(
            scale.at(interval.estimate or 0.0), y, 5.0, f"dot-{style}", f"{mark.label}: {_mark_text(mark)}"
        )


def fit_intervals(summary: Summary, name: str, width: float) -> Drawing:
    """Draw FIT of each block and of the total with its interval, against the budget."""
    marks = [
        Mark(block.name, block.fit_interval, sampled=block.sampled) for block in fit_order(summary.blocks)
    ]
    marks.append(Mark("total", summary.total.fit_interval, strong=True))
    axis = f"hazardous failures, FIT, {numbers.confidence(summary.campaign.confidence)} interval"
    return interval_chart(
        name, "FIT of each block with its interval", marks, summary.verdict.budget_fit, width, axis
    )


def verdict_strip(summary: Summary, protection: ProtectionState | None, name: str, width: float) -> Drawing:
    """Draw the total against the budget, and the bound that the chosen protection reaches."""
    marks = [Mark("unprotected", summary.verdict.fit_interval)]
    if protection is not None and protection.plan.result == "optimal" and protection.plan.fit_hi is not None:
        marks.append(Mark("protected", RecordedInterval(None, 0.0, protection.plan.fit_hi), "chosen"))
    budget = summary.verdict.budget_fit
    if budget is None and protection is not None:
        budget = protection.plan.budget_fit
    return interval_chart(
        name, "Total FIT against the budget", marks, budget, width, "hazardous failures, FIT"
    )
