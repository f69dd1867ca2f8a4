# SPDX-License-Identifier: Apache-2.0
"""Bars per block: where FIT comes from against where area is, and what the faults did."""

from __future__ import annotations

from resil.record import numbers
from resil.record.blocks import Block
from resil.record.outcomes import OUTCOMES
from resil.record.summary import Summary
from resil.reports.layout import (
    AXIS_HEIGHT,
    LegendKey,
    axis_below,
    fit_order,
    label_column,
    legend,
    row_label,
)
from resil.reports.scales import LinearScale, linear_scale
from resil.reports.svg import Canvas, Drawing, text_width

_PAIR_ROW = 38.0
_MIX_ROW = 28.0
# Latent state last: it stands beside the AVF, not in it.
_STACKED = sorted((o for o in OUTCOMES if o.key != "masked"), key=lambda outcome: outcome.key == "latent")


def fit_against_area(summary: Summary, name: str, width: float) -> Drawing:
    """Draw each block's share of the FIT above its share of the area.

    If no hazardous event was seen at all, shares of the upper limits are drawn, hatched.
    """
    blocks = fit_order(summary.blocks)
    seen = sum(block.fit or 0.0 for block in blocks) > 0.0
    fits = [(block.fit or 0.0) if seen else block.fit_interval.hi for block in blocks]
    fit_sum, area_sum = sum(fits), sum(block.area for block in blocks)
    fit_shares = [value / fit_sum if fit_sum else 0.0 for value in fits]
    area_shares = [block.area / area_sum if area_sum else 0.0 for block in blocks]
    fit_text = "share of FIT" if seen else "share of FIT upper limits (no event seen)"
    canvas = Canvas(name, width)
    left = label_column((block.name for block in blocks), width)
    top = legend(
        canvas,
        [LegendKey("bar-fit", fit_text, not seen), LegendKey("bar-area", "share of area")],
        left,
        4.0,
        width,
    )
    top += 6.0
    bottom = top + _PAIR_ROW * len(blocks)
    longest = [*fit_shares, *area_shares]
    scale = linear_scale(longest, left, width - text_width("99.9 %") - 8.0, count=max(3, int(width // 100)))
    axis_below(canvas, scale, top, bottom, "share of the whole, %", lambda value: f"{100.0 * value:g}")
    for index, block in enumerate(blocks):
        y = top + _PAIR_ROW * index + 5.0
        row_label(canvas, block.name, left, y + 18.0)
        _bar(canvas, scale, y, fit_shares[index], "bar-fit", f"{block.name}: {fit_text}", not seen)
        _bar(canvas, scale, y + 14.0, area_shares[index], "bar-area", f"{block.name}: share of area")
    caption = "; ".join(
        f"{block.name}: {numbers.percent(fit_share)} of FIT, {numbers.percent(area_share)} of area"
        for block, fit_share, area_share in zip(blocks, fit_shares, area_shares, strict=True)
    )
    return canvas.finish("Where FIT comes from, and where area is", f"{caption}.", bottom + AXIS_HEIGHT)


def _bar(
    canvas: Canvas, scale: LinearScale, y: float, share: float, css: str, tip: str, hatched: bool = False
) -> None:
    end = scale.at(share)
    canvas.rect(scale.start, y, end - scale.start, 13.0, css, f"{tip}: {numbers.percent(share)}")
    if hatched:
        canvas.hatched(scale.start, y, end - scale.start, 13.0)
    canvas.text(end + 5.0, y + 10.5, numbers.percent(share), "small")


def outcome_mix(summary: Summary, name: str, width: float) -> Drawing:
    """Draw the rates of all outcomes but `masked`, stacked; those of the AVF first, with its interval."""
    blocks = [*summary.blocks, summary.total]
    hazardous = summary.campaign.hazardous
    canvas = Canvas(name, width)
    keys = [
        LegendKey(
            outcome.key,
            outcome.title + (" (hazardous)" if outcome.key in hazardous else ""),
            outcome.key in hazardous,
        )
        for outcome in _STACKED
    ]
    left = label_column((block.name for block in blocks), width)
    top = legend(canvas, keys, 8.0, 4.0, width) + 6.0
    bottom = top + _MIX_ROW * len(blocks) + 2.0
    limits = [max(block.avf_interval.hi, _seen(block) + (block.latent_share or 0.0)) for block in blocks]
    scale = linear_scale(limits, left, width - 16.0, count=max(3, int(width // 90)))
    sure = numbers.confidence(summary.campaign.confidence)
    axis = f"P(outcome | flip), %; whisker: {sure} interval of the AVF"
    axis_below(canvas, scale, top, bottom, axis, lambda value: f"{100.0 * value:g}")
    for index, block in enumerate(blocks):
        y = top + _MIX_ROW * index + 6.0
        total = block is summary.total
        if total:
            canvas.line(4.0, y - 5.0, width - 4.0, y - 5.0, "rule")
        row_label(canvas, block.name, left, y + 12.0, total)
        _stack(canvas, scale, y, block, hazardous)
    caption = "; ".join(f"{block.name}: {_mix(block)}" for block in blocks)
    return canvas.finish(_title(summary), f"{caption}.", bottom + AXIS_HEIGHT)


def _title(summary: Summary) -> str:
    predicted = "What is predicted to become of bit flips in each block"
    return predicted if summary.predicted else "What became of the bit flips in each block"


def _stack(canvas: Canvas, scale: LinearScale, y: float, block: Block, hazardous: tuple[str, ...]) -> None:
    if not block.sampled:
        canvas.text(scale.start + 6.0, y + 12.0, "not injected", "small quiet halo")
        return
    done = 0.0
    for outcome in _STACKED:
        rate = block.rate(outcome.key)
        if not rate.estimate:
            continue
        x, end = scale.at(done), scale.at(done + rate.estimate)
        tip = (
            f"{block.name}, {outcome.title}: {numbers.percent(rate.estimate)} {numbers.percent_range(rate)},"
            f" {_counted(block, outcome.key)}"
        )
        canvas.rect(x, y, end - x, 16.0, outcome.key, tip)
        if outcome.key in hazardous:
            canvas.hatched(x, y, end - x, 16.0)
        done += rate.estimate
    low, high, middle = scale.at(block.avf_interval.lo), scale.at(block.avf_interval.hi), y + 8.0
    canvas.line(low, middle, high, middle, "whisker")
    for x in (low, high):
        canvas.line(x, middle - 4.0, x, middle + 4.0, "whisker")


def _seen(block: Block) -> float:
    return sum(block.rate(o.key).estimate or 0.0 for o in _STACKED if o.key != "latent")


def _counted(block: Block, outcome: str) -> str:
    return f"{block.counts[outcome]} of {block.injections} injections" if block.injections else "predicted"


def _mix(block: Block) -> str:
    if not block.sampled:
        return "not injected"
    parts = [
        f"{outcome.title} {numbers.percent(block.rate(outcome.key).estimate)}"
        for outcome in OUTCOMES
        if block.rate(outcome.key).estimate
    ]
    return ", ".join(parts)
