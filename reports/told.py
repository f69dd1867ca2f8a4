"""What the design told of its faults: detected ones by what they would have done, and alarms by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reports import numbers
from reports.node import Node
from reports.table import Column, Table

# Detected faults of runs that the alarm ended; summaries of earlier versions have none.
UNSEEN = "due_unseen"

# Columns of detected faults by what was seen, then others of what was told.
CAUGHT = {
    "due_harmless": "harmless",
    "due_sdc_tolerable": "SDC tol.",
    "due_sdc_critical": "SDC crit.",
    "due_hang": "hang",
    UNSEEN: "not seen",
}
COLUMNS = (*CAUGHT, "late", "corrected")
KINDS = ("detected", "corrected")


@dataclass(frozen=True, slots=True)
class AlarmCount:
    """In how many injections an alarm was the first of its kind.

    Attributes:
        name: Of the alarm.
        tells: "detected" or "corrected".
        injections: In time.
        late: After the fault-tolerant time.
        median_cycles: From fault to alarm; None if it never rose or tells of something corrected.
        slowest_cycles: Likewise.
    """

    name: str
    tells: str
    injections: int
    late: int
    median_cycles: float | None
    slowest_cycles: int | None


@dataclass(frozen=True, slots=True)
class ToldCounts:
    """Counts of `COLUMNS` by block, the total by the name `total`; and the alarms."""

    blocks: Mapping[str, Mapping[str, int]]
    alarms: tuple[AlarmCount, ...]


def parse_told(node: Node | None, due: Mapping[str, int]) -> ToldCounts | None:
    """Check `told` of a `summary.json`; None of an estimate, which says nothing of alarms.

    Args:
        node: The section.
        due: Detected faults by block, and of the total.

    Raises:
        ReportError: A field is wrong, or what was caught does not add up to a block's detected faults.
    """
    if node is None:
        return None
    blocks = {}
    for row in node.at("blocks").items():
        counts = {key: row.at(key).integer() for key in COLUMNS if key != UNSEEN or UNSEEN in row.mapping()}
        counts.setdefault(UNSEEN, 0)
        name = row.at("block").one_of(tuple(due))
        if sum(counts[key] for key in CAUGHT) != due[name]:
            row.fail(f"{due[name]} detected faults in block {name}")
        blocks[name] = counts
    if set(blocks) != set(due):
        node.at("blocks").fail(f"the blocks {', '.join(due)}")
    return ToldCounts(blocks, tuple(_alarm(item) for item in node.at("alarms").items()))


def _alarm(node: Node) -> AlarmCount:
    median, slowest = node.maybe("median_cycles"), node.maybe("slowest_cycles")
    return AlarmCount(
        node.at("name").text(),
        node.at("tells").one_of(KINDS),
        node.at("injections").integer(),
        node.at("late").integer(),
        None if median is None else median.number(),
        None if slowest is None else slowest.integer(),
    )


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
    """Return in how many injections each alarm was the first to tell, and how fast."""
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
    return Table("Alarms that were the first to tell", columns, rows)


def told_tables(told: ToldCounts | None) -> list[Table]:
    """Return both tables; none where no alarm told of anything."""
    if told is None or not any(alarm.injections or alarm.late for alarm in told.alarms):
        return []
    return [caught_table(told), alarm_table(told)]
