# SPDX-License-Identifier: Apache-2.0
"""What grows with the array and what does not, as a table and in sentences."""

from __future__ import annotations

from resil.record import numbers
from resil.record.interval import RecordedInterval
from resil.record.study import StudyRecord
from resil.record.study_growth import Trend
from resil.reports.table import Column, Table

# A change by less than this part of the mean is called none: nobody builds on a ten-thousandth.
_VISIBLE = 1e-3
_SIGN = {
    "grows": "grows",
    "shrinks": "shrinks",
    "constant": "the same",
    "tiny": "the same within 0.1 %",
    "not shown": "no trend shown",
}
_WHAT = {"fit": "FIT", "raw fit": "raw FIT", "bits": "storage bits", "area": "area"}
_SPOKEN = _WHAT | {"bits": "storage"}
_SAID = {
    "grows": "grows in {}",
    "shrinks": "shrinks in {}",
    "constant": "is the same in {}",
    "tiny": "changes by less than 0.1 % in {}",
    "not shown": "no trend is shown in {}",
}


def growth_lines(study: StudyRecord) -> list[str]:
    """Return for each figure in which blocks it grows or shrinks, by how much, or does neither visibly."""
    lines = []
    for what, name in _SPOKEN.items():
        own = [trend for trend in study.growth.trends if trend.what == what]
        parts = [
            text.format(", ".join(_where(study, trend) for trend in own if _word(trend) == word))
            for word, text in _SAID.items()
            if any(_word(trend) == word for trend in own)
        ]
        if parts:
            lines.append(f"By a doubling of {study.growth.parameter}, {name} {'; '.join(parts)}.")
    return lines


def _where(study: StudyRecord, trend: Trend) -> str:
    block = study.titled(trend.block)
    return f"{block} {_of_mean(trend)}" if _word(trend) in ("grows", "shrinks") else block


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
            _SIGN[_word(trend)],
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


def _word(trend: Trend) -> str:
    """Return the trend, and `tiny` for a change that is there and that nobody would see."""
    part = relative(trend)
    if part is None or trend.trend not in ("grows", "shrinks"):
        return trend.trend
    if max(abs(part.lo), abs(part.hi)) < _VISIBLE:
        return "tiny"
    return trend.trend


def relative(trend: Trend) -> RecordedInterval | None:
    """Return what a doubling adds as a part of the mean over the sizes; None where that is 0."""
    mean = sum(own.estimate or 0.0 for own in trend.values) / len(trend.values)
    return trend.per_doubling.scaled(1.0 / mean) if mean > 0.0 else None


def _of_mean(trend: Trend) -> str:
    part = relative(trend)
    if part is None:
        return numbers.NOT_KNOWN
    if _word(trend) == "tiny":
        return "<0.1 %"
    return f"{100.0 * (part.estimate or 0.0):+.2g} %"
