# SPDX-License-Identifier: Apache-2.0
"""Figures of a study: FIT by block, stacked, for each network on each target."""

from __future__ import annotations

from collections.abc import Sequence

from resil.record import numbers
from resil.record.study import StudyRecord
from resil.record.study_cell import CellRecord, CellResults
from resil.reports.layout import (
    AXIS_HEIGHT,
    LegendKey,
    axis_below,
    budget_line,
    label_column,
    legend,
    row_label,
)
from resil.reports.scales import LinearScale, linear_scale
from resil.reports.svg import Canvas, Drawing

_ROW = 20.0
_GROUP = 24.0
_COLOURS = 10  # of figure.css: block-0 .. block-9


def stacked_fit(study: StudyRecord, name: str, width: float) -> Drawing:
    """Draw the FIT of each cell, stacked by block, with the interval of its total; predictions hatched."""
    cells = [found for _, found in study.answered]
    blocks = sorted(
        {block for cell in cells for block in cell.fit_by_block}, key=lambda own: (-_sum(cells, own), own)
    )
    colours = {block: f"block-{min(place, _COLOURS - 1)}" for place, block in enumerate(blocks)}
    canvas = Canvas(name, width)
    predicted = any(cell.predicted for cell, _ in study.answered)
    keys = [LegendKey(colours[block], study.titled(block)) for block in blocks]
    keys += [LegendKey("none", "predicted, not injected", hatched=True)] if predicted else []
    left = label_column(study.targets, width)
    budget = study.asked.budget_fit
    top = legend(canvas, keys, 8.0, 4.0, width) + (6.0 if budget is None else 24.0)
    bottom = top + _GROUP * len(study.networks) + _ROW * len(study.cells)
    tops = [cell.fit_hi for cell in cells]
    tops += [] if budget is None else [budget]
    scale = linear_scale(tops, left, width - 16.0, count=max(3, int(width // 90)))
    sure = numbers.confidence(study.confidence)
    axis_below(
        canvas, scale, top, bottom, f"FIT; whisker: {sure} interval of the total", lambda value: f"{value:g}"
    )
    y = top
    for network in study.networks:
        canvas.text(8.0, y + 16.0, network, "strong halo")
        y += _GROUP
        for cell in (own for own in study.cells if own.network == network):
            row_label(canvas, cell.target, left, y + 12.0)
            _stack(canvas, scale, y + 1.0, cell, colours)
            y += _ROW
    if budget is not None:
        budget_line(canvas, scale, budget, top, bottom)
    caption = "; ".join(f"{cell.name}: {_caption(cell)}" for cell in study.cells)
    return canvas.finish("FIT by block of each network on each target", f"{caption}.", bottom + AXIS_HEIGHT)


def _stack(canvas: Canvas, scale: LinearScale, y: float, cell: CellRecord, colours: dict[str, str]) -> None:
    if (results := cell.results) is None:
        canvas.text(scale.start + 6.0, y + 11.0, cell.verdict, "small quiet halo")
        return
    done, blocks = 0.0, results.fit_by_block
    for block in colours:
        own = blocks.get(block)
        if own is None or not own.estimate:
            continue
        x, end = scale.at(done), scale.at(done + own.estimate)
        shown = f"{numbers.fit(own.estimate)} {numbers.fit_range(own)} FIT"
        tip = f"{cell.name}, {block}: {shown}{', predicted' if cell.predicted else ''}"
        canvas.rect(x, y, end - x, 13.0, colours[block], tip)
        done += own.estimate
    if cell.predicted:
        canvas.hatched(scale.start, y, scale.at(done) - scale.start, 13.0)
    low, high, middle = scale.at(results.fit_lo), scale.at(results.fit_hi), y + 6.5
    canvas.line(low, middle, high, middle, "whisker")
    for x in (low, high):
        canvas.line(x, middle - 4.0, x, middle + 4.0, "whisker")


def _sum(cells: Sequence[CellResults], block: str) -> float:
    return sum(own.estimate or 0.0 for cell in cells if (own := cell.fit_by_block.get(block)) is not None)


def _caption(cell: CellRecord) -> str:
    if (found := cell.results) is None:
        return cell.verdict
    shares = ", ".join(
        f"{block} {numbers.fit(own.estimate)}" for block, own in found.fit_by_block.items() if own.estimate
    )
    head = "predicted " if cell.predicted else ""
    limits = numbers.fit_range(found.fit_interval)
    return f"{head}{numbers.fit(found.fit)} {limits} FIT ({shares or 'no event'})"
