# SPDX-License-Identifier: Apache-2.0
"""What the design reported of its faults: detected ones by what they would have done, and alarms by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from resil.record.typed import Amount, Count, OneOf, Typed, wrong

# Detected faults of runs that the alarm ended.
UNSEEN = "due_unseen"

# Columns of detected faults by what was seen, then others of what was reported.
CAUGHT = {
    "due_harmless": "harmless",
    "due_sdc_tolerable": "SDC tol.",
    "due_sdc_critical": "SDC crit.",
    "due_hang": "hang",
    UNSEEN: "not seen",
}
COLUMNS = (*CAUGHT, "late", "corrected")


class AlarmRecord(Typed):
    """In how many injections an alarm was the first of its kind."""

    name: str
    """Of the alarm."""
    reports: Annotated[str, OneOf(("detected", "corrected"))]
    """What it reports."""
    injections: Count
    """In which it came in time."""
    late: Count
    """In which it came after the fault-tolerant time."""
    median_cycles: Amount | None
    """From fault to alarm; null if it never rose, or reports something corrected."""
    slowest_cycles: Count | None
    """Likewise the most."""


class DetectionRow(Typed):
    """What was reported of faults in a block."""

    name: str = Field(alias="block")
    """The block, or `total`."""
    due_harmless: Count
    """Detected faults that would have done no harm."""
    due_sdc_tolerable: Count
    """Detected faults that would have changed outputs, and not the decision."""
    due_sdc_critical: Count
    """Detected faults that would have changed the decision."""
    due_hang: Count
    """Detected faults after which the inference would not have ended."""
    due_unseen: Count
    """Detected faults whose run the alarm ended: what they would have done is not known."""
    late: Count
    """Faults whose alarm came too late to count."""
    corrected: Count
    """Faults that were corrected."""

    @property
    def counts(self) -> Mapping[str, int]:
        """The counts of `COLUMNS`."""
        return {key: getattr(self, key) for key in COLUMNS}


class Detection(Typed):
    """What the design reported of its faults."""

    blocks: tuple[DetectionRow, ...]
    """Each block, and the total."""
    alarms: tuple[AlarmRecord, ...]
    """Each alarm of the target."""

    def check(self, due: Mapping[str, int]) -> None:
        """Refuse rows that do not add up to the detected faults of each block and of the total, by name."""
        for index, row in enumerate(self.blocks):
            where = f"detection.blocks[{index}]"
            if row.name not in due:
                wrong(f"{where}.block", f"one of {', '.join(map(repr, due))}", row.name)
            if (found := sum(row.counts[key] for key in CAUGHT)) != due[row.name]:
                wrong(where, f"{due[row.name]} detected faults in block {row.name}", found)
        if [row.name for row in self.blocks] != list(due):
            wrong("detection.blocks", f"the blocks {', '.join(due)}", [row.name for row in self.blocks])
