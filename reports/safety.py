# SPDX-License-Identifier: Apache-2.0
"""The safety verdict as text for any output."""

from __future__ import annotations

from collections.abc import Sequence

from resil.record import numbers
from resil.record.interval import RecordedInterval
from resil.record.logic_share import LogicShare
from resil.record.safety import Safety
from resil.reports.table import Column, Table

HEADINGS = {
    "met": "All safety claims met",
    "missed": "A safety claim is missed",
    "inconclusive": "Safety claims not decided yet",
    "not assessed": "A safety claim is not assessed",
}


def safety_table(safety: Safety) -> Table:
    """Return every row with its state, figures, target and confidence; claimed rows are marked."""
    columns = (
        Column("row", numeric=False),
        Column("claimed", numeric=False),
        Column("state", numeric=False),
        Column("value"),
        Column("limit"),
        Column("target"),
        Column("confidence"),
        Column("decided at", numeric=False),
        Column("unaided", numeric=False),
    )
    rows = tuple(
        (
            row.title,
            "yes" if row.name in safety.claims else "",
            row.state,
            row.shown_value,
            row.shown_limit,
            row.shown_target,
            row.shown_confidence,
            row.shown_corner,
            row.shown_unaided,
        )
        for row in safety.rows
    )
    level = f", ASIL {safety.asil}" if safety.asil else ""
    return Table(f"Safety verdict{level}", columns, rows)


def sensitivity_table(safety: Safety) -> Table:
    """Return the rows that were judged again, a line for each variation and row."""
    columns = (
        Column("judged again with", numeric=False),
        Column("row", numeric=False),
        Column("state", numeric=False),
        Column("value"),
        Column("limit"),
    )
    rows = tuple(
        (variation.title, row.title, row.state, row.shown_value, row.shown_limit)
        for variation in safety.sensitivity
        for row in variation.rows
        if row.interval is not None
    )
    return Table("Sensitivity of the verdict", columns, rows, keys=2)


def logic_table(shares: Sequence[LogicShare]) -> Table:
    """Return which part of the hazardous rate lies in logic, a line for each sort of faults and block."""
    columns = (
        Column("faults", numeric=False),
        Column("block", numeric=False),
        Column("FIT of storage"),
        Column("FIT of logic"),
        Column("in logic"),
        Column("limits"),
        Column("the other way"),
    )
    rows = tuple(
        (
            own.faults,
            own.block,
            _fit(own.storage_fit, own.storage_lo, own.storage_hi),
            _fit(own.logic_fit, own.logic_lo, own.logic_hi),
            numbers.percent(own.share),
            f"{numbers.percent(own.share_lo)} to {numbers.percent(own.share_hi)}",
            numbers.percent(own.other_share),
        )
        for own in shares
    )
    return Table(
        "Hazardous FIT in logic (the other way: pulses derated if the rows are not, else not)",
        columns,
        rows,
        keys=2,
    )


def _fit(value: float, lo: float, hi: float) -> str:
    return f"{numbers.fit(value)} {numbers.fit_range(RecordedInterval(value, lo, hi))}"


def safety_line(safety: Safety, population: str) -> str:
    """Return the verdict in one line, with the networks, inputs and cycles that it is about."""
    said = f"SAFETY CLAIMS {safety.result.upper()}: {safety.reason} {safety.shown_confidence}".rstrip()
    return f"{said} It is about {population}." if population else said


def beside_protection(safety: Safety | None) -> str:
    """Return what a choice of protection leaves open: claims that are not met."""
    if safety is None or safety.result == "met":
        return ""
    return (
        f"The safety claims stay {safety.result}: protection is chosen for the target that was asked, and no "
        "claim is judged with it."
    )


def safety_reasons(safety: Safety) -> list[str]:
    """Return why each row is as it is, one line a row."""
    return [
        f"{row.title}: {row.state}. {row.reason}{f' From {row.origin}.' if row.origin else ''}"
        for row in safety.rows
    ]
