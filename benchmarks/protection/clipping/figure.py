# SPDX-License-Identifier: Apache-2.0
"""The figure: accuracy against the rate of upsets, a panel for each network."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from resil.reports.scales import LinearScale, LogScale
from resil.reports.svg import Canvas, Drawing

_WIDTH, _PANEL, _HEIGHT, _LEFT, _TOP = 900.0, 450.0, 190.0, 52.0, 58.0
_ROW = _HEIGHT + 74.0
_COLOURS = {"not clipped": "fit", "clipped": "chosen"}
_SHIFT = {"not clipped": -3.0, "clipped": 3.0}


def draw(found: dict[str, Any]) -> Drawing:
    """Return the figure: mean over seeds as dots and lines, one standard deviation as whiskers."""
    canvas = Canvas("clipping", _WIDTH)
    for place, (variant, colour) in enumerate(_COLOURS.items()):
        x = 16.0 + 110.0 * place
        canvas.circle(x, 14.0, 4.0, f"dot-{colour}")
        canvas.text(x + 10.0, 18.0, variant)
    canvas.text(240.0, 18.0, "mean and standard deviation over seeds; memory as stored; dashed: int8 weights")
    networks = found["networks"]
    for number, network in enumerate(networks):
        _panel(canvas, network, found["rates"], _PANEL * (number % 2), _TOP + _ROW * (number // 2))
    told = "; ".join(
        f"{n['name']}, {c['memory']}, {c['variant']}: {c['mean'][-1]:.3f} at {found['rates'][-1]:.0e}"
        for n in networks
        for c in n["curves"]
    )
    rows = -(-len(networks) // 2)
    return canvas.finish("Answers against the rate of upsets in weights", f"{told}.", _TOP + _ROW * rows)


def _panel(canvas: Canvas, network: dict[str, Any], rates: list[float], left: float, top: float) -> None:
    across = LogScale(-8, -4, left + _LEFT, left + _PANEL - 16.0)
    up = LinearScale(1.0, top + _HEIGHT, top)
    canvas.text(left + _LEFT, top - 10.0, f"{network['name']} ({network['measure']})", "strong")
    for value in up.ticks():
        canvas.line(across.start, up.at(value), across.end, up.at(value), "grid")
        canvas.text(left + _LEFT - 6.0, up.at(value) + 4.0, f"{value:.1f}", "small quiet", anchor="end")
    for rate in across.ticks():
        canvas.text(across.at(rate), top + _HEIGHT + 16.0, f"{rate:.0e}", "small quiet", anchor="middle")
    canvas.text(
        (across.start + across.end) / 2,
        top + _HEIGHT + 34.0,
        "upsets per bit",
        "small quiet",
        anchor="middle",
    )
    for curve in network["curves"]:
        colour, shift = _COLOURS[curve["variant"]], _SHIFT[curve["variant"]]
        points = [(across.at(r) + shift, up.at(m)) for r, m in zip(rates, curve["mean"], strict=True)]
        if curve["memory"] != "stored":
            for (x1, y1), (x2, y2) in pairwise(points):
                canvas.line(x1, y1, x2, y2, "lockstep")
            continue
        canvas.polyline(points, f"whisker-{colour}")
        for (x, y), mean, spread in zip(points, curve["mean"], curve["sd"], strict=True):
            canvas.line(x, up.at(mean - spread), x, up.at(mean + spread), "whisker")
            canvas.circle(x, y, 3.5, f"dot-{colour}", f"{curve['variant']}: {mean:.4f}, sd {spread:.4f}")
