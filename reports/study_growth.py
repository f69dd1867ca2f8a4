# SPDX-License-Identifier: Apache-2.0
"""What grows with the array and what does not, as a table and in sentences."""

from __future__ import annotations

from resil.record import numbers
from resil.record.study import StudyRecord
from resil.record.study_growth import Trend
from resil.reports.table import Column, Table

_SIGN = {"grows": "grows", "shrinks": "shrinks", "constant": "the same", "not shown": "no trend shown"}
_WHAT = {"fit": "FIT", "raw fit": "raw FIT", "bits": "storage bits", "area": "area"}
_SPOKEN = _WHAT | {"bits": "storage"}
_SAID = {
    "grows": "grows in {}",
    "shrinks": "shrinks in {}",
    "constant": "is the same in {}",
    "not shown": "no trend is shown in {}",
}


def growth_lines(study: StudyRecord) -> list[str]:
    """Return for each figure in which blocks it grows or shrinks, by how much, or does neither visibly."""
    lines = []
    for what, name in _SPOKEN.items():
        own = [trend for trend in study.growth.trends if trend.what == what]
        parts = [
            text.format(", ".join(_where(study, trend) for trend in own if trend.trend == word))
            for word, text in _SAID.items()
            if any(trend.trend == word for trend in own)
        ]
        if parts:
            lines.append(f"By a doubling of {study.growth.parameter}, {name} {'; '.join(parts)}.")
    return lines


def _where(study: StudyRecord, trend: Trend) -> str:
    block = study.titled(trend.block)
    return f"{block} {_of_mean(trend)}" if trend.trend in ("grows", "shrinks") else block


def growth_table(study: StudyRecord, *, titles: bool = False) -> Table | None:
    """Return what grows with the size of the array, and what does not; None if nothing can be said.

    Args:
        study: What it is about.
        titles: Name blocks in words.
    """
    growth = study.growth
    if not growth.trends:
        return None
    heads = [f"{growth.parameter} {size}" for size in growth.sizes]
    columns = (
        Column("of", numeric=False),
        Column("block", numeric=False),
        *map(Column, heads),
        Column("a doubling adds"),
        Column("of the mean"),
        Column("trend", numeric=False),
    )
    rows = tuple(
        (
            _WHAT.get(trend.what, trend.what),
            study.titled(trend.block) if titles else trend.block,
            *(_figure(trend, own.estimate) for own in trend.values),
            _added(trend),
            _of_mean(trend),
            _SIGN[trend.trend],
        )
        for trend in _ordered(study)
    )
    networks = f"mean over {', '.join(growth.networks)}"
    return Table(f"What grows with {growth.parameter}; FIT is the {networks}", columns, rows, keys=2)


def _ordered(study: StudyRecord) -> list[Trend]:
    """Return the trends figure by figure: those of one are compared with each other."""
    order = list(_WHAT)
    return sorted(study.growth.trends, key=lambda own: order.index(own.what) if own.what in order else 9)


def _figure(trend: Trend, value: float | None) -> str:
    if trend.what == "bits":
        return numbers.count(None if value is None else round(value))
    return numbers.area(value) if trend.what == "area" else numbers.fit(value)


def _added(trend: Trend) -> str:
    own = trend.per_doubling
    if own.lo == own.hi:
        return _figure(trend, own.estimate)
    return f"{numbers.fit(own.estimate)} {numbers.fit_range(own)}"


def _of_mean(trend: Trend) -> str:
    """Return what a doubling adds as a part of the mean over the sizes."""
    mean = sum(own.estimate or 0.0 for own in trend.values) / len(trend.values)
    return f"{100.0 * (trend.per_doubling.estimate or 0.0) / mean:+.2g} %" if mean else numbers.NOT_KNOWN
