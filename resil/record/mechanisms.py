# SPDX-License-Identifier: Apache-2.0
"""What each mechanism caught of which storage, and what none did: `mechanisms.json`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from resil.record.interval import ShareInterval
from resil.record.typed import Amount, Count, Document, OneOf, Share, Typed, wrong


class CaughtStorage(Typed):
    """What a mechanism caught of the storage of one kind and class in a block."""

    block: str
    """The block that was struck."""
    kind: str
    """`ff`, `macro` or `sram`."""
    register_class: str
    """What the registers are for."""
    injections: Count
    """Into this storage."""
    caught: Count
    """Of these, in how many the alarm was the first to report, in time."""
    late: Count
    """In how many it was, after the fault-tolerant time."""
    harmless: Count
    """Of those caught, faults that would have done no harm: outputs equal those without a fault."""
    share: ShareInterval
    """Share of faults in this storage that it caught, by weight."""


class MechanismRecord(Typed):
    """An alarm of the design, with what it reported."""

    name: str
    """Of the alarm."""
    reports: Annotated[str, OneOf(("detected", "corrected"))]
    """What it reports."""
    caught: Count
    """Injections in which it was the first to report, in time."""
    late: Count
    """In which it was, after the fault-tolerant time."""
    harmless: Count
    """Of those caught, faults that would have done no harm: false alarms, if a reaction costs anything."""
    unseen: Count
    """Of those caught, whose run the alarm ended: what they would have done is not known."""
    median_cycles: Amount | None
    """From flip to alarm, of those caught and late; null if it never rose."""
    slowest_cycles: Count | None
    """Likewise the most."""
    storage: tuple[CaughtStorage, ...]
    """Where it caught any, the most first; no row says that it caught nothing there."""


class UncoveredStorage(Typed):
    """Hazardous faults in storage of one kind and class in a block, and how many were detected."""

    block: str
    """The block that was struck."""
    kind: str
    """`ff`, `macro` or `sram`."""
    register_class: str
    """What the registers are for."""
    injections: Count
    """Into this storage."""
    caught: Count
    """Faults that would have been hazardous, and that an alarm detected in time."""
    missed: Count
    """Hazardous faults that none did."""
    coverage: ShareInterval
    """Share of hazardous faults that were detected in time, by weight; no estimate where there were none."""
    examples: tuple[Count, ...]
    """Injections that were missed: `resil replay` and `resil trace` simulate them again."""


class MechanismAudit(Document):
    """Which alarm caught what, and the hazardous faults that none did, by storage."""

    FILE: ClassVar[str] = "mechanisms.json"
    SCHEMA: ClassVar[Literal[1]] = 1
    REMEDY: ClassVar[str] = "make it again with: resil explain RUN_DIR --mechanisms"

    schema_number: Literal[1] = Field(alias="schema")
    """Of this file."""
    content: str
    """SHA-256 of the injections that were looked at, as `provenance.json` has it."""
    hazardous: tuple[str, ...]
    """Outcomes that count as hazardous."""
    detection_cycles: Count | None
    """Cycles from fault to alarm after which that is late; null if it never is."""
    confidence: Share
    """Of each interval by itself."""
    injections: Count
    """That the results rest on."""
    mechanisms: tuple[MechanismRecord, ...]
    """Each alarm of the target."""
    storage: tuple[UncoveredStorage, ...]
    """All storage that hazardous faults were found in, detected or not; most missed first."""
    notes: tuple[str, ...]
    """What limits what is said here."""
    made: str
    """When (ISO 8601, UTC)."""

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        for index, one in enumerate(self.mechanisms):
            where = f"mechanisms[{index}]"
            if (found := sum(row.caught for row in one.storage)) != one.caught:
                wrong(f"{where}.storage", f"{one.caught} caught injections in all", found)
            if one.harmless + one.unseen > one.caught:
                wrong(f"{where}.harmless", f"at most {one.caught}, those caught", one.harmless + one.unseen)
        for index, row in enumerate(self.storage):
            if len(row.examples) > row.missed or bool(row.examples) != bool(row.missed):
                wrong(f"storage[{index}].examples", f"some of {row.missed} missed injections", row.examples)
        return self
