# SPDX-License-Identifier: Apache-2.0
"""Cycles of each operation on the RTL against the compiler's own estimate."""

from __future__ import annotations

from resil.record import numbers
from resil.record.campaign_facts import RecordedOperation
from resil.record.numbers import TIMES
from resil.record.summary import Summary
from resil.reports.layout import (
    AXIS_HEIGHT,
    LegendKey,
    axis_below,
    label_column,
    legend,
    row_label,
)
from resil.reports.scales import linear_scale
from resil.reports.svg import Canvas, Drawing, text_width

MOST_SHOWN = 20
_ROW = 38.0


def shown_operations(summary: Summary) -> list[RecordedOperation]:
    """Return the operations that the figure shows: all, or the costliest, in order of execution."""
    operations = list(summary.network.operations)
    costliest = sorted(operations, key=lambda o: max(o.cycles or 0, o.vela_cycles or 0), reverse=True)
    kept = {operation.index for operation in costliest[:MOST_SHOWN]}
    return [operation for operation in operations if operation.index in kept]


def operation_cycles(summary: Summary, name: str, width: float) -> Drawing:
    """Draw cycles measured on the RTL above Vela's estimate, an operation a row."""
    operations = shown_operations(summary)
    labels = [f"{operation.index} {operation.name}" for operation in operations]
    quotients = [numbers.ratio(operation.cycles, operation.vela_cycles) for operation in operations]
    texts = ["" if value is None else f"{value:.2f}{TIMES}" for value in quotients]
    canvas = Canvas(name, width)
    left = label_column(labels, width, 0.34)
    keys = [
        LegendKey("bar-rtl", "measured on the RTL"),
        LegendKey("bar-vela", "Vela's estimate; RTL / estimate at the right"),
    ]
    top = legend(canvas, keys, 8.0, 4.0, width) + 6.0
    bottom = top + _ROW * len(operations)
    column = max((text_width(text) for text in texts), default=0.0) + 12.0
    counts = [float(count or 0) for o in operations for count in (o.cycles, o.vela_cycles)]
    scale = linear_scale(counts, left, width - column - 8.0, count=max(2, int(width // 140)))
    axis_below(canvas, scale, top, bottom, "clock cycles", lambda value: f"{value:,.0f}")
    for index, operation in enumerate(operations):
        y = top + _ROW * index + 5.0
        row_label(canvas, labels[index], left, y + 18.0)
        for offset, cycles, css in (
            (0.0, operation.cycles, "bar-rtl"),
            (14.0, operation.vela_cycles, "bar-vela"),
        ):
            if cycles is None:
                canvas.text(left + 4.0, y + offset + 10.5, "not known", "small quiet halo")
            else:
                span = scale.at(cycles) - left
                canvas.rect(left, y + offset, span, 13.0, css, f"{labels[index]}: {cycles:,d} cycles")
        canvas.text(width - 4.0, y + 17.0, texts[index], "small", anchor="end")
    caption = "; ".join(
        f"{o.name}: {numbers.count(o.cycles)} measured, {numbers.count(o.vela_cycles)} estimated"
        for o in operations
    )
    return canvas.finish("Cycles of each operation", f"{caption}.", bottom + AXIS_HEIGHT)
