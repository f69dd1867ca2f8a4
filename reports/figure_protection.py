# SPDX-License-Identifier: Apache-2.0
"""Protection: the front of area against FIT, and what the chosen set does to each block."""

from __future__ import annotations

from dataclasses import dataclass

from resil.record import numbers
from resil.record.protection_parts import BlockChoice, FrontPoint
from resil.record.protection_state import ProtectionState
from resil.reports.labels import Box, Labels, Spot
from resil.reports.layout import AXIS_HEIGHT, axis_below, label_column, log_tick, row_label
from resil.reports.scales import LinearScale, LogScale, linear_scale, log_scale
from resil.reports.svg import Canvas, Drawing, text_width, two_lines

_MOST_DOTS = 150
_ROW = 30.0


@dataclass(frozen=True, slots=True)
class _Plane:
    x: LinearScale
    y: LogScale
    top: float
    bottom: float

    def at(self, overhead: float, fit_hi: float) -> tuple[float, float]:
        return self.x.at(overhead), self.y.at(fit_hi)


def pareto_front(protection: ProtectionState, name: str, width: float) -> Drawing:
    """Draw the front, the budget, the chosen set, and what duplicating everything would cost."""
    height = 350.0 if width > 450 else 320.0
    canvas = Canvas(name, width)
    plane = _plane(protection, width, height)
    labels = Labels(Box(plane.x.start, plane.top - 4.0, plane.x.end, plane.bottom))
    _frame(canvas, plane)
    budget = protection.plan.budget_fit
    if budget:
        y = plane.y.at(budget)
        canvas.rect(plane.x.start, plane.top, plane.x.end - plane.x.start, y - plane.top, "over")
        canvas.line(plane.x.start, y, plane.x.end, y, "budget")
    if protection.plan.area_overhead_lockstep is not None:
        _lockstep(canvas, labels, plane, protection.plan.area_overhead_lockstep)
    _front(canvas, plane, protection.plan.pareto)
    _unprotected(canvas, labels, plane, protection.plan.fit_hi_unprotected)
    if budget:
        text = f"budget {numbers.pretty(numbers.given(budget))} FIT"
        y = plane.y.at(budget)
        steps = (plane.x.end - 4.0 - 20.0 * step for step in range(12))
        labels.add([text], "small strong", [Spot(x, y + drop, "end") for x in steps for drop in (14.0, -6.0)])
    if protection.plan.result == "optimal" and protection.plan.fit_hi is not None:
        _chosen(canvas, labels, plane, protection.area_overhead or 0.0, protection.plan.fit_hi)
    labels.write(canvas)
    across, up = plane.x, plane.y
    places = {"x0": across.start, "x1": across.end, "xtop": across.top}
    canvas.anchor("front-plane", **places, y0=up.start, y1=up.end, low=up.low, high=up.high)
    return canvas.finish("Area against residual FIT", _front_caption(protection), height)


def _plane(protection: ProtectionState, width: float, height: float) -> _Plane:
    overheads = [protection.area_overhead or 0.0, protection.plan.area_overhead_lockstep or 0.0]
    if not any(overheads):
        overheads = [point.area_overhead for point in protection.plan.pareto]
    fits = [point.fit_hi for point in protection.plan.pareto]
    fits += [
        protection.plan.fit_hi_unprotected,
        protection.plan.fit_hi or 0.0,
        protection.plan.budget_fit or 0.0,
    ]
    left, right, top, bottom = 62.0, width - 18.0, 14.0, height - AXIS_HEIGHT - 4.0
    x = linear_scale([1.1 * max(overheads)], left, right, count=max(4, int(width // 80)))
    return _Plane(x, log_scale(fits, bottom, top, count=7), top, bottom)


def _frame(canvas: Canvas, plane: _Plane) -> None:
    title = "added area, % of the unprotected NPU"
    axis_below(canvas, plane.x, plane.top, plane.bottom, title, lambda value: f"{100.0 * value:g}")
    write = log_tick(plane.y)
    for value in plane.y.ticks():
        y = plane.y.at(value)
        canvas.line(plane.x.start, y, plane.x.end, y, "grid")
        canvas.text(plane.x.start - 7.0, y + 4.0, write(value), "small quiet", anchor="end")
    canvas.line(plane.x.start, plane.top, plane.x.start, plane.bottom, "axis")
    middle = (plane.top + plane.bottom) / 2.0
    canvas.text(13.0, middle, "residual FIT, upper bound", "small quiet", anchor="middle", turn=-90.0)


def _lockstep(canvas: Canvas, labels: Labels, plane: _Plane, overhead: float) -> None:
    x = plane.x.at(overhead)
    canvas.line(x, plane.top, x, plane.bottom, "lockstep")
    text = f"lockstep of everything: +{numbers.percent(overhead)}"
    side = -5.0 if x - plane.x.start > 24.0 else 13.0
    canvas.text(x + side, plane.top + 8.0, text, "small quiet halo", anchor="end", turn=-90.0)
    length = text_width(text, 11.0)
    labels.taken.append(Box(x + side - 10.0, plane.top, x + side + 4.0, plane.top + 8.0 + length))


def _front(canvas: Canvas, plane: _Plane, points: tuple[FrontPoint, ...]) -> None:
    corners: list[tuple[float, float]] = []
    shown = [point for point in points if point.area_overhead <= plane.x.top]
    for point in shown:
        x, y = plane.at(point.area_overhead, point.fit_hi)
        if corners:
            corners.append((x, corners[-1][1]))
        corners.append((x, y))
    if corners:
        corners.append((plane.x.end, corners[-1][1]))
        canvas.polyline(corners, "front")
    step = max(1, -(-len(shown) // _MOST_DOTS))
    for point in shown[::step]:
        x, y = plane.at(point.area_overhead, point.fit_hi)
        canvas.circle(x, y, 3.4, "front-dot", point_text(point))


def point_text(point: FrontPoint) -> str:
    """Return a front point in words: what it costs, what it leaves, and what it protects."""
    chosen = [f"{block} {option}" for block, option in point.choices.items() if option != "none"]
    what = ", ".join(chosen) if chosen else "no protection"
    return f"+{numbers.percent(point.area_overhead)} area, at most {numbers.fit(point.fit_hi)} FIT: {what}"


def _unprotected(canvas: Canvas, labels: Labels, plane: _Plane, fit_hi: float) -> None:
    x, y = plane.at(0.0, fit_hi)
    canvas.circle(x, y, 5.0, "dot-fit", f"unprotected: at most {numbers.fit(fit_hi)} FIT")
    labels.add(["unprotected"], "small", [Spot(x + 9.0, y - 7.0), Spot(x + 9.0, y + 4.0)])


def _chosen(canvas: Canvas, labels: Labels, plane: _Plane, overhead: float, fit_hi: float) -> None:
    x, y = plane.at(overhead, fit_hi)
    lines = [f"chosen: +{numbers.percent(overhead)}", f"≤ {numbers.pretty(numbers.fit(fit_hi))} FIT"]
    right = [
        Spot(x + across, y + up) for across in (12.0, 40.0, 80.0, 120.0) for up in (-24.0, -50.0, 0.0, -76.0)
    ]
    labels.add(
        lines, "strong blue", [Spot(x - 10.0, y + 14.0, "end"), *right, Spot(x - 12.0, y - 24.0, "end")]
    )
    canvas.diamond(x, y, 7.5, "dot-chosen", ", ".join(lines))


def _front_caption(protection: ProtectionState) -> str:
    points = protection.plan.pareto
    caption = f"{len(points)} sets of options that no other set beats in both area and FIT."
    if points:
        caption += f" From {point_text(points[0])}; to {point_text(points[-1])}."
    if protection.plan.result == "optimal":
        caption += (
            f" Chosen: +{numbers.percent(protection.area_overhead)} area,"
            f" at most {numbers.fit(protection.plan.fit_hi)} FIT; asked: {protection.plan.target}."
        )
    if protection.plan.area_overhead_lockstep is not None:
        caption += (
            f" Duplicating everything costs +{numbers.percent(protection.plan.area_overhead_lockstep)} area."
        )
    return caption


def protection_effect(protection: ProtectionState, name: str, width: float) -> Drawing:
    """Draw each block's upper bound before and after its chosen option."""
    choices = sorted(protection.choices, key=lambda choice: (-choice.fit_hi_before, choice.block))
    canvas = Canvas(name, width)
    left = label_column((choice.block for choice in choices), width, 0.22)
    texts = [choice.option_title if choice.option != "none" else "none" for choice in choices]
    column = min(
        max((text_width(text, 11.0, bold=True) for text in texts), default=0.0) + 14.0,
        (0.32 if width > 450.0 else 0.36) * width,
    )
    values = [value for choice in choices for value in (choice.fit_hi_before, choice.fit_hi_after)]
    scale = log_scale(values, left + 8.0, width - column - 8.0, count=max(3, int(width // 110)))
    top, bottom = 8.0, 8.0 + _ROW * len(choices)
    axis_below(canvas, scale, top, bottom, "upper bound of FIT: before ● after ◇", log_tick(scale))
    for index, (choice, text) in enumerate(zip(choices, texts, strict=True)):
        y = top + _ROW * (index + 0.5)
        row_label(canvas, choice.block, left, y + 4.0)
        _arrow(canvas, scale, choice, y)
        css = "small quiet" if choice.option == "none" else "small strong"
        lines = two_lines(text, column - 4.0, 11.0, bold=True)
        for number, line in enumerate(lines):
            canvas.text(width - column + 2.0, y + 4.0 + 12.0 * (number - (len(lines) - 1) / 2.0), line, css)
    caption = "; ".join(
        f"{choice.block}: {choice.option_title},"
        f" from {numbers.fit(choice.fit_hi_before)} to {numbers.fit(choice.fit_hi_after)} FIT"
        for choice in choices
    )
    return canvas.finish("What the chosen protection does to each block", f"{caption}.", bottom + AXIS_HEIGHT)


def _arrow(canvas: Canvas, scale: LogScale, choice: BlockChoice, y: float) -> None:
    before, after = scale.at(choice.fit_hi_before), scale.at(choice.fit_hi_after)
    tip = f"{choice.block}: {choice.option_title}"
    if choice.fit_hi_before <= 0.0:
        return
    if before - after > 1.0:
        canvas.line(after, y, before, y, "whisker-chosen")
        canvas.diamond(
            after, y, 6.0, "hollow-chosen", f"{tip}: at most {numbers.fit(choice.fit_hi_after)} FIT after"
        )
    canvas.circle(before, y, 5.0, "dot-fit", f"{tip}: at most {numbers.fit(choice.fit_hi_before)} FIT before")
