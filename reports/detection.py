# SPDX-License-Identifier: Apache-2.0
"""What detection caught and which alarms rose, as tables."""

from __future__ import annotations

from resil.record import numbers
from resil.record.detection import CAUGHT, COLUMNS, UNSEEN, ToldCounts
from resil.reports.table import Column, Table


def caught_table(told: ToldCounts) -> Table:
    """Return what the detected faults of each block would have done, and what was late or corrected."""
    unseen = any(counts[UNSEEN] for counts in told.blocks.values())
    shown = [key for key in COLUMNS if unseen or key != UNSEEN]
    columns = (
        Column("block", numeric=False),
        Column("DUE"),
        *(Column(CAUGHT[key]) for key in shown if key in CAUGHT),
        Column("late"),
        Column("corrected"),
    )
    rows = tuple(
        (
            name,
            numbers.count(sum(counts[key] for key in CAUGHT)),
            *(numbers.count(counts[key]) for key in shown),
        )
        for name, counts in told.blocks.items()
    )
    return Table("What detection caught (DUE by what was seen)", columns, rows, totals=1)


def alarm_table(told: ToldCounts) -> Table:
    """Return in how many injections each alarm was the first to report, and how fast."""
    columns = (
        Column("alarm", numeric=False),
        Column("tells", numeric=False),
        Column("injections"),
        Column("late"),
        Column("median cycles"),
        Column("slowest"),
    )
    rows = tuple(
        (
            alarm.name,
            alarm.tells,
            numbers.count(alarm.injections),
            numbers.count(alarm.late),
            numbers.NOT_KNOWN if alarm.median_cycles is None else f"{alarm.median_cycles:,.0f}",
            numbers.NOT_KNOWN if alarm.slowest_cycles is None else numbers.count(alarm.slowest_cycles),
        )
        for alarm in told.alarms
    )
    return Table("Alarms that were the first to report", columns, rows)


def told_tables(told: ToldCounts | None) -> list[Table]:
    """Return both tables; none where no alarm reported anything."""
    if told is None or not any(alarm.injections or alarm.late for alarm in told.alarms):
        return []
    return [caught_table(told), alarm_table(told)]
