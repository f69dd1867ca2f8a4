# SPDX-License-Identifier: Apache-2.0
"""Where, when and what: registers ranked, a treemap, cycles by blocks, outcomes by operation and by class."""

from __future__ import annotations

import math
from collections.abc import Sequence

from resil.record import numbers
from resil.record.detail import Detail, PartShare
from resil.record.outcomes import OUTCOMES
from resil.reports.figure_intervals import Mark, interval_chart
from resil.reports.layout import AXIS_HEIGHT, LegendKey, axis_below, label_column, legend, row_label
from resil.reports.scales import LinearScale
from resil.reports.svg import Canvas, Drawing, shorten
from resil.reports.treemap import Tile, squarified

_RANKED = 15
_LINE = 20.0
_MIX_ROW = 24.0
_MOST_ROWS = 24


def heat(value: float, top: float) -> str:
    """Return the shade of a value: `heat-0` for none, to `heat-6` for the largest, half a decade a step."""
    if value <= 0.0 or top <= 0.0:
        return "heat-0"
    return f"heat-{max(1, 6 - math.floor(-2.0 * math.log10(value / top)))}"


def short_path(path: str, room: int = 34) -> str:
    """Return the end of a hierarchical path, from a whole name on where there is room for one."""
    if len(path) <= room:
        return path
    kept = path.split(".")
    while len(kept) > 1 and len(".".join(kept)) + 2 > room:
        kept = kept[1:]
    text = "…." + ".".join(kept)
    return text if len(text) <= room else "…" + text[-room + 1 :]


def register_ranking(detail: Detail, name: str, width: float) -> Drawing:
    """Draw the registers of the largest FIT with their intervals."""
    rows = detail.registers[:_RANKED]
    room = 34 if width > 450.0 else 16
    marks = [Mark(short_path(row.path, room), row.fit_interval, sampled=row.injections > 0) for row in rows]
    axis = f"hazardous failures, FIT, {numbers.confidence(detail.confidence)} interval"
    title = f"The {len(rows)} registers and memories of the largest FIT"
    return interval_chart(name, title, marks, None, width, axis, labels=0.46)


def treemap(detail: Detail, name: str, width: float) -> Drawing:
    """Draw blocks, and in each its registers, by bits; the colour says FIT a bit."""
    height = 0.5 * width if width > 450.0 else 1.1 * width
    canvas = Canvas(name, width)
    top = max((row.fit or 0.0) / max(1, row.bits) for row in detail.registers)
    by_block = {block: [r for r in detail.registers if r.block == block] for block in detail.blocks}
    blocks = [Tile(block, sum(row.bits for row in rows)) for block, rows in by_block.items()]
    for spot in squarified(blocks, 0.0, 18.0, width, height):
        rows = by_block[spot.tile.name]
        tiles = [Tile(str(place), row.bits) for place, row in enumerate(rows)]
        head = 16.0 if spot.height > 40.0 and spot.width > 40.0 else 0.0
        inner = squarified(
            tiles, spot.x + 1.0, spot.y + 1.0 + head, spot.width - 2.0, spot.height - 2.0 - head
        )
        for place in inner:
            row = rows[int(place.tile.name)]
            shade = heat((row.fit or 0.0) / max(1, row.bits), top)
            fit = f"{numbers.fit(row.fit)} {numbers.fit_range(row.fit_interval)} FIT"
            canvas.rect(
                place.x, place.y, place.width - 0.6, place.height - 0.6, shade,
                f"{row.path}: {numbers.count(row.bits)} bits, {fit}",
            )  # fmt: skip
        if head:
            text = f"{spot.tile.name}, {numbers.count(int(spot.tile.size))} bits"
            canvas.text(
                spot.x + 4.0, spot.y + 13.0, shorten(text, spot.width - 8.0, 11.0, bold=True), "small strong"
            )
    _shades(canvas, "hazardous FIT a bit")
    caption = "; ".join(f"{tile.name}: {numbers.count(int(tile.size))} bits" for tile in blocks)
    return canvas.finish("Registers by size, and their FIT a bit", f"{caption}.", height + 20.0)


def _shades(canvas: Canvas, what: str) -> None:
    canvas.text(2.0, 11.0, f"{what}: none", "small quiet")
    x = 12.0 + 6.2 * len(what) + 36.0
    for step in range(7):
        canvas.rect(x + 14.0 * step, 2.0, 13.0, 10.0, f"heat-{step}")
    canvas.text(x + 102.0, 11.0, "largest", "small quiet")


def time_map(detail: Detail, name: str, width: float) -> Drawing | None:
    """Draw the hazardous FIT of each block by the cycle of the fault; None of held faults."""
    time = detail.timeline
    if time is None:
        return None
    blocks = [block for block in detail.blocks if any(row.block == block for row in detail.registers)]
    cells = time_cells(detail)
    canvas = Canvas(name, width)
    left = label_column(blocks, width)
    scale = LinearScale(float(time.cycles), left, width - 14.0, 5 if width > 450.0 else 2)
    step = (scale.end - scale.start) / time.bins
    for index, span in enumerate(time.operations):
        x, end = scale.at(span.start), scale.at(span.end)
        canvas.rect(x, 18.0, max(0.6, end - x - 0.6), 16.0, "op-b" if index % 2 else "op-a", span.name)
        if end - x > 30.0:
            canvas.text(x + 3.0, 30.0, shorten(span.name, end - x - 4.0, 11.0), "small")
    top = 38.0 if time.operations else 20.0
    most = max((fit for _, _, fit in cells.values()), default=0.0)
    for line, block in enumerate(blocks):
        y = top + _LINE * line
        row_label(canvas, block, left, y + 14.0)
        for bin_ in range(time.bins):
            n, k, fit = cells.get((block, bin_), (0, 0, 0.0))
            said = f"{k} of {n} injections hazardous, {numbers.fit(fit)} FIT" if n else "nothing injected"
            shade = heat(fit, most) if n else "heat-none"
            canvas.rect(
                left + step * bin_, y + 1.0, max(0.4, step - 0.4), _LINE - 2.0, shade, f"{block}: {said}"
            )
    bottom = top + _LINE * len(blocks) + 2.0
    axis_below(canvas, scale, bottom, bottom, "cycle of the fault", lambda value: f"{value:,.0f}")
    _shades(canvas, "hazardous FIT of a part of the time")
    caption = "; ".join(
        f"{block}: {sum(k for (own, _), (_, k, _) in cells.items() if own == block)} hazardous"
        for block in blocks
    )
    return canvas.finish("When a fault does harm, by block", f"{caption}.", bottom + AXIS_HEIGHT)


def time_cells(detail: Detail) -> dict[tuple[str, int], tuple[int, int, float]]:
    """Return injections, hazardous ones, and the FIT these stand for, by block and part of the time."""
    time = detail.timeline
    if time is None:
        return {}
    found: dict[tuple[str, int], tuple[int, int, float]] = {}
    each = [row.fit_raw / row.injections if row.injections else 0.0 for row in detail.registers]
    rates = time.fit or tuple(k * each[row] for row, k in zip(time.row, time.hazardous, strict=True))
    for row, at, n, k, fit in zip(time.row, time.time, time.injections, time.hazardous, rates, strict=True):
        key = (detail.registers[row].block, at)
        old = found.get(key, (0, 0, 0.0))
        found[key] = (old[0] + n, old[1] + k, old[2] + fit)
    return found


def share_mix(
    shares: Sequence[PartShare], title: str, hazardous: Sequence[str], name: str, width: float
) -> Drawing:
    """Draw what becomes of upsets in each operation or class, as parts of its raw rate; without `masked`."""
    shown = list(shares)[:_MOST_ROWS]
    keys = [
        LegendKey(outcome.key, outcome.title, outcome.key in hazardous)
        for outcome in OUTCOMES
        if outcome.key != "masked"
    ]
    canvas = Canvas(name, width)
    left = label_column([own.name for own in shown], width, 0.34)
    top = legend(canvas, keys, 8.0, 4.0, width) + 6.0
    bottom = top + _MIX_ROW * len(shown) + 2.0
    parts = [_parts(own) for own in shown]
    longest = max((sum(own.values()) for own in parts), default=0.0)
    scale = LinearScale(max(0.01, math.ceil(longest * 20.0) / 20.0), left, width - 14.0, 4)
    axis_below(canvas, scale, top, bottom, "part of the upsets, %", lambda value: f"{100.0 * value:g}")
    for index, (own, mix) in enumerate(zip(shown, parts, strict=True)):
        y, done = top + _MIX_ROW * index + 4.0, 0.0
        row_label(canvas, own.name, left, y + 12.0)
        for key in keys:
            part = mix[key.css]
            x, end = scale.at(done), scale.at(done + part)
            canvas.rect(x, y, end - x, 15.0, key.css, f"{own.name}, {key.text}: {numbers.percent(part)}")
            if key.hatched and part:
                canvas.hatched(x, y, end - x, 15.0)
            done += part
    caption = "; ".join(
        f"{own.name}: {numbers.fit(own.fit.estimate)} {numbers.fit_range(own.fit)} FIT" for own in shown
    )
    return canvas.finish(title, f"{caption}.", bottom + AXIS_HEIGHT)


def _parts(own: PartShare) -> dict[str, float]:
    whole = sum(own.outcomes)
    return {
        outcome.key: rate / whole if whole else 0.0
        for outcome, rate in zip(OUTCOMES, own.outcomes, strict=True)
    }


def memory_map(detail: Detail, index: int, name: str, width: float) -> Drawing:
    """Draw the part of hazardous injections into a memory by operation and address."""
    memory = detail.memories[index]
    names = [own.name for own in detail.operations][:_MOST_ROWS]
    canvas = Canvas(name, width)
    left = label_column(names, width, 0.34)
    scale = LinearScale(float(memory.words), left, width - 14.0, 4)
    step = (scale.end - scale.start) / memory.bins
    cells = {
        (operation, address): (n, k)
        for address, operation, n, k in zip(
            memory.address, memory.operation, memory.injections, memory.hazardous, strict=True
        )
    }
    for line, own in enumerate(names):
        y = 20.0 + _LINE * line
        row_label(canvas, own, left, y + 14.0)
        for bin_ in range(memory.bins):
            n, k = cells.get((line, bin_), (0, 0))
            shade = "heat-none" if not n else f"heat-{math.ceil(6.0 * k / n)}"
            said = f"{k} of {n} injections hazardous" if n else "nothing injected"
            canvas.rect(
                left + step * bin_, y + 1.0, max(0.4, step - 0.4), _LINE - 2.0, shade, f"{own}: {said}"
            )
    bottom = 20.0 + _LINE * len(names) + 2.0
    axis_below(canvas, scale, bottom, bottom, "word of the memory", lambda value: f"{value:,.0f}")
    _shades(canvas, "part of injections that is hazardous")
    path = detail.registers[memory.row].path
    total = f"{sum(memory.hazardous)} of {sum(memory.injections)} injections into {path} were hazardous"
    return canvas.finish(f"{path} by address and operation", f"{total}.", bottom + AXIS_HEIGHT)
