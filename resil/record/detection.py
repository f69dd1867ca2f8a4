# SPDX-License-Identifier: Apache-2.0
"""What the design told of its faults: detected ones by what they would have done, and alarms by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from resil.record.node import Node

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
