# SPDX-License-Identifier: Apache-2.0
"""What detection caught and which alarms rose, as tables."""

from __future__ import annotations

from resil.record import numbers
from resil.record.detection import CAUGHT, COLUMNS, UNSEEN, Detection
from resil.reports.table import Column, Table


def caught_table(found: Detection) -> Table:
    """Return what the detected faults of each block would have done, and what was late or corrected."""
    unseen = any(row.due_unseen for row in found.blocks)
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
            row.name,
            numbers.count(sum(row.counts[key] for key in CAUGHT)),
            *(numbers.count(row.counts[key]) for key in shown),
        )
        for row in found.blocks
    )
    return Table("What detection caught (DUE by what was seen)", columns, rows, totals=1)


def alarm_table(found: Detection) -> Table:
    """Return in how many injections each alarm was the first to report, and how fast."""
    columns = (
        Column("alarm", numeric=False),
        Column("reports", numeric=False),
        Column("injections"),
        Column("late"),
        Column("median cycles"),
        Column("slowest"),
    )
    rows = tuple(
        (
            alarm.name,
            alarm.reports,
            numbers.count(alarm.injections),
            numbers.count(alarm.late),
            numbers.NOT_KNOWN if alarm.median_cycles is None else f"{alarm.median_cycles:,.0f}",
            numbers.NOT_KNOWN if alarm.slowest_cycles is None else numbers.count(alarm.slowest_cycles),
        )
        for alarm in found.alarms
    )
    return Table("Alarms that were the first to report", columns, rows)


def detection_tables(found: Detection | None) -> list[Table]:
    """Return both tables; none where no alarm reported anything."""
    if found is None or not any(alarm.injections or alarm.late for alarm in found.alarms):
        return []
    return [caught_table(found), alarm_table(found)]
