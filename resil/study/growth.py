# SPDX-License-Identifier: Apache-2.0
"""What grows with the size of the array: trends over targets that differ in one parameter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isclose, log2

from resil.record.interval import RecordedInterval
from resil.record.study import injected_cells
from resil.record.study_cell import TOTAL, CellBlock, CellRecord, CellResults
from resil.record.study_growth import (
    AREA,
    BITS,
    CONSTANT,
    FIT,
    GROWS,
    NOT_SHOWN,
    RAW_FIT,
    SHRINKS,
    Growth,
    Trend,
)
from resil.stats.contrast import mean, slope
from resil.stats.intervals import Interval

_USUAL = "Macs"

Injected = Sequence[tuple[CellRecord, CellResults]]
Figure = Callable[[CellBlock, float], Interval | None]


def growth(cells: Sequence[CellRecord]) -> Growth:
    """Return trends of FIT and hardware over the sizes of the targets, from injected cells alone.

    The size is the target's parameter that has another value, above 0, on each target with injections. FIT
    is the mean over the networks that were injected into on all these targets. Rates of cells are
    independent, so limits are those of a contrast of them.
    """
    found = injected_cells(cells)
    sizes = _sizes(found)
    if sizes is None:
        return _nothing("the targets with injections do not differ in one parameter alone")
    parameter, by_target = sizes
    ran = {
        target: {cell.network: own for cell, own in found if cell.target == target} for target in by_target
    }
    targets = sorted(by_target, key=by_target.__getitem__)
    networks = tuple(name for name in ran[targets[0]] if all(name in own for own in ran.values()))
    if not networks:
        return _nothing("no network was injected into on all targets")
    table = [[ran[target][name] for name in networks] for target in targets]
    return Growth(
        parameter=parameter,
        targets=tuple(targets),
        sizes=tuple(by_target[target] for target in targets),
        networks=networks,
        trends=_trends(table, [log2(by_target[target]) for target in targets]),
        reason="",
    )


def _nothing(reason: str) -> Growth:
    return Growth(parameter=None, targets=(), sizes=(), networks=(), trends=(), reason=reason)


def _trends(table: Sequence[Sequence[CellResults]], places: Sequence[float]) -> tuple[Trend, ...]:
    """Return the trend of each figure of each block that is known of all cells.

    Args:
        table: Results of each network, for each target.
        places: Of the targets on the axis of sizes.
    """
    names = list(dict.fromkeys(row.name for own in table for cell in own for row in cell.blocks))
    trends = []
    for name in [*(own for own in names if own != TOTAL), TOTAL]:
        for what, figure in _FIGURES.items():
            values = [_over(own, name, figure) for own in table]
            known = [own for own in values if own is not None]
            if len(known) == len(values):
                trends.append(_trend(what, name, known, places))
    return tuple(trends)


def _sizes(cells: Injected) -> tuple[str, Mapping[str, int]] | None:
    """Return the parameter that sets the targets apart, and its value on each."""
    parameters = {
        cell.target: {name: value for name, value in found.parameters.items() if isinstance(value, int)}
        for cell, found in cells
    }
    if len(parameters) < 2:
        return None
    common = set.intersection(*(set(own) for own in parameters.values()))
    distinct = [
        name
        for name in sorted(common)
        if len({own[name] for own in parameters.values()}) == len(parameters)
        and all(own[name] > 0 for own in parameters.values())
    ]
    if _USUAL in distinct:
        distinct = [_USUAL]
    if len(distinct) != 1:
        return None
    return distinct[0], {target: own[distinct[0]] for target, own in parameters.items()}


def _fit(block: CellBlock, confidence: float) -> Interval | None:
    found = block.fit_interval
    if found is None or found.estimate is None:
        return None
    return Interval(found.estimate, found.lo, found.hi, confidence)


def _exact(value: float | None, confidence: float) -> Interval | None:
    return None if value is None else Interval(value, value, value, confidence)


def _bits(block: CellBlock, confidence: float) -> Interval | None:
    return _exact(float(block.ff_bits + block.macro_bits + block.sram_bits), confidence)


_FIGURES: Mapping[str, Figure] = {
    FIT: _fit,
    BITS: _bits,
    RAW_FIT: lambda block, level: _exact(block.fit_raw, level),
    AREA: lambda block, level: _exact(block.area, level),
}


def _over(cells: Sequence[CellResults], block: str, figure: Figure) -> Interval | None:
    """Return the mean over networks of a figure of a block; None where one of them does not know it."""
    found = []
    for cell in cells:
        row = next((own for own in cell.blocks if own.name == block), None)
        if row is None or (value := figure(row, cell.confidence)) is None:
            return None
        found.append(value)
    return mean(found)


def _trend(what: str, block: str, values: Sequence[Interval], places: Sequence[float]) -> Trend:
    constant = all(own.lo == own.hi and isclose(own.estimate, values[0].estimate) for own in values)
    trend = Interval(0.0, 0.0, 0.0, values[0].confidence) if constant else slope(values, places)
    return Trend(
        what=what,
        block=block,
        values=tuple(map(_recorded, values)),
        per_doubling=_recorded(trend),
        trend=CONSTANT if constant else _word(trend),
    )


def _recorded(interval: Interval) -> RecordedInterval:
    return RecordedInterval(interval.estimate, interval.lo, interval.hi)


def _word(trend: Interval) -> str:
    return GROWS if trend.lo > 0.0 else SHRINKS if trend.hi < 0.0 else NOT_SHOWN
