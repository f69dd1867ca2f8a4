# SPDX-License-Identifier: Apache-2.0
"""What grows with the size of the array: trends over targets that differ in one parameter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isclose, log2
from typing import Any

from resil.stats.contrast import mean, slope
from resil.stats.intervals import Interval
from resil.study.answers import is_injected

_USUAL = "Macs"
_TOTAL = "total"

Record = Mapping[str, Any]


def growth(cells: Sequence[Record]) -> dict[str, Any]:
    """Return trends of FIT and hardware over the sizes of the targets, from injected cells alone.

    The size is the target's parameter that has another value, above 0, on each target with injections. FIT
    is the mean over the networks that were injected into on all these targets. Rates of cells are
    independent, so limits are those of a contrast of them.

    Returns:
        `parameter`, `targets`, `sizes` and `networks` that count; `rows`: `what` ("fit", "bits", "area" or
        "raw fit"), `block`, `values` of each target with `lo` and `hi`, `per_doubling`, `per_doubling_lo` and
        `per_doubling_hi`: what a doubling of the size adds; `trend`: "grows", "shrinks", "constant" (known
        exactly, and the same on all targets) or "not shown";
        `reason`: why there is nothing, "" if there is.
    """
    nothing: dict[str, Any] = {"parameter": None, "targets": [], "sizes": [], "networks": [], "rows": []}
    found = [cell for cell in cells if is_injected(cell)]
    sizes = _sizes(found)
    if sizes is None:
        return nothing | {"reason": "the targets with injections do not differ in one parameter alone"}
    parameter, by_target = sizes
    ran = {
        target: {cell["network"]: cell for cell in found if cell["target"] == target} for target in by_target
    }
    targets = sorted(by_target, key=by_target.__getitem__)
    networks = [name for name in ran[targets[0]] if all(name in own for own in ran.values())]
    if not networks:
        return nothing | {"reason": "no network was injected into on all targets"}
    places = [log2(by_target[target]) for target in targets]
    table = {target: [ran[target][name] for name in networks] for target in targets}
    names = list(
        dict.fromkeys(row["block"] for own in table.values() for cell in own for row in cell["blocks"])
    )
    rows = []
    for name in [*(own for own in names if own != _TOTAL), _TOTAL]:
        for what, figure in _FIGURES.items():
            values = [_over(table[target], name, figure) for target in targets]
            if all(own is not None for own in values):
                rows.append(_row(what, name, [own for own in values if own is not None], places))
    return {
        "parameter": parameter,
        "targets": targets,
        "sizes": [by_target[target] for target in targets],
        "networks": networks,
        "rows": rows,
        "reason": "",
    }


def _sizes(cells: Sequence[Record]) -> tuple[str, dict[str, int]] | None:
    """Return the parameter that tells the targets apart, and its value on each."""
    parameters = {cell["target"]: cell["parameters"] for cell in cells}
    if len(parameters) < 2:
        return None
    common = set.intersection(*(set(own) for own in parameters.values()))
    telling = [
        name
        for name in sorted(common)
        if len({own[name] for own in parameters.values()}) == len(parameters)
        and all(own[name] > 0 for own in parameters.values())
    ]
    if _USUAL in telling:
        telling = [_USUAL]
    if len(telling) != 1:
        return None
    return telling[0], {target: own[telling[0]] for target, own in parameters.items()}


def _fit(block: Record, confidence: float) -> Interval | None:
    if block["fit"] is None:
        return None
    return Interval(block["fit"], block["fit_lo"], block["fit_hi"], confidence)


def _exact(value: float | None, confidence: float) -> Interval | None:
    return None if value is None else Interval(value, value, value, confidence)


_FIGURES: dict[str, Callable[[Record, float], Interval | None]] = {
    "fit": _fit,
    "bits": lambda block, level: _exact(
        float(block["ff_bits"] + block["macro_bits"] + block["sram_bits"]), level
    ),
    "raw fit": lambda block, level: _exact(block["fit_raw"], level),
    "area": lambda block, level: _exact(block["area"], level),
}


def _over(
    cells: Sequence[Record], block: str, figure: Callable[[Record, float], Interval | None]
) -> Interval | None:
    """Return the mean over networks of a figure of a block; None where one of them does not know it."""
    found = []
    for cell in cells:
        row = next((own for own in cell["blocks"] if own["block"] == block), None)
        if row is None or (value := figure(row, cell["confidence"])) is None:
            return None
        found.append(value)
    return mean(found)


def _row(what: str, block: str, values: Sequence[Interval], places: Sequence[float]) -> dict[str, Any]:
    constant = all(own.lo == own.hi and isclose(own.estimate, values[0].estimate) for own in values)
    trend = Interval(0.0, 0.0, 0.0, values[0].confidence) if constant else slope(values, places)
    return {
        "what": what,
        "block": block,
        "values": [own.estimate for own in values],
        "lo": [own.lo for own in values],
        "hi": [own.hi for own in values],
        "per_doubling": trend.estimate,
        "per_doubling_lo": trend.lo,
        "per_doubling_hi": trend.hi,
        "trend": "constant" if constant else _word(trend),
    }


def _word(trend: Interval) -> str:
    return "grows" if trend.lo > 0.0 else "shrinks" if trend.hi < 0.0 else "not shown"
