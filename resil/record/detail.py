# SPDX-License-Identifier: Apache-2.0
"""Where, when and what: the injections of a run, summed up by register, cycle, operation and address.

No file of its own: it is made from the stored injections when a report is written, and lies inside the page.
"""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from resil.record.blocks import Counted, Kind
from resil.record.interval import Ordered, RecordedInterval
from resil.record.outcomes import OUTCOME_KEYS
from resil.record.typed import Amount, Count, Typed, wrong


class RegisterRow(Counted):
    """A register or memory that was injected into."""

    block: str
    """The block."""
    path: str
    """Its hierarchical path."""
    rtl_register: str = ""
    """The register of the RTL that a netlist calls it after; empty if it says none, or of RTL."""
    register_class: str
    """What it is for, by a rule on the netlist."""
    kind: Kind
    """Kind of storage."""
    bits: Count
    """Its storage bits."""
    hazardous: Count
    """Injections with a hazardous outcome."""
    fit_raw: Amount
    """Upsets of its bits in 10^9 hours."""
    fit: Amount | None
    """Hazardous failures in 10^9 hours; null where nothing hit it."""
    fit_lo: Amount
    """Its lower limit, of this register by itself."""
    fit_hi: Amount
    """Its upper limit, likewise."""
    fit_shrunk: Amount
    """The same drawn towards that of its class, kind of storage and block: of use to rank, no verdict."""

    @property
    def fit_interval(self) -> RecordedInterval:
        """FIT with its limits."""
        return RecordedInterval(self.fit, self.fit_lo, self.fit_hi)


class PartShare(Typed):
    """An operation or a register class: what faults in it become."""

    name: str
    """Its name."""
    injections: Count
    """Faults that were simulated in it."""
    events: Count
    """Those with a hazardous outcome."""
    fit: Ordered
    """Hazardous failures in 10^9 hours: estimate, lower and upper limit."""
    outcomes: tuple[Amount, ...]
    """Upsets in 10^9 hours that end in each outcome, in report order: estimates."""


class GroupShare(Typed):
    """Registers of a block that are of one class and kind of storage."""

    block: str
    """The block."""
    register_class: str
    """What they are for."""
    kind: Kind
    """Kind of storage."""
    registers: Count
    """How many registers or memories."""
    bits: Count
    """Their storage bits."""
    injections: Count
    """Faults that were simulated in them."""
    events: Count
    """Those with a hazardous outcome."""
    fit_raw: Amount
    """Upsets of their bits in 10^9 hours."""
    fit: Ordered
    """Hazardous failures in 10^9 hours: estimate, null where nothing was injected, lower and upper limit."""


class MixRow(Typed):
    """Injections by operation, register class and block."""

    operation: int
    """Place in `operations`."""
    register_class: Count
    """Place in `classes`."""
    block: Count
    """Place in `blocks`."""
    injections: tuple[Count, ...]
    """By outcome, in report order."""
    outcomes: tuple[Amount, ...]
    """Upsets in 10^9 hours that end in each, likewise."""


class OperationSpan(Typed):
    """When an operation runs."""

    name: str
    """Its name."""
    start: Count
    """First cycle."""
    end: Count
    """Cycle after its last one."""


class Timeline(Typed):
    """Injections by register and time. Arrays are parallel: one entry for each cell that was hit."""

    cycles: Count
    """Of the longest run without a fault."""
    bins: Count
    """Equal parts of these cycles."""
    operations: tuple[OperationSpan, ...]
    """Of the first input; none where they are not known."""
    row: tuple[Count, ...]
    """Place in `registers`."""
    time: tuple[Count, ...]
    """Which part."""
    injections: tuple[Count, ...]
    """Faults that were simulated there."""
    hazardous: tuple[Count, ...]
    """Those with a hazardous outcome."""
    fit: tuple[Amount, ...]
    """Hazardous failures in 10^9 hours that they stand for; empty where each injection into a register
    stands for as much: `fit_raw` over its injections."""


class MemoryMap(Typed):
    """Injections into a memory by address and operation. Arrays are parallel, as of `Timeline`."""

    row: Count
    """Place in `registers`."""
    words: Count
    """Of the memory."""
    bins: Count
    """Equal parts of its addresses."""
    address: tuple[Count, ...]
    """Which part."""
    operation: tuple[int, ...]
    """Place in `operations`."""
    injections: tuple[Count, ...]
    """Faults that were simulated there."""
    hazardous: tuple[Count, ...]
    """Those with a hazardous outcome."""


class TraceLink(Typed):
    """The story of one fault, in a file beside the page."""

    injection: Count
    """Number of the injection."""
    path: str
    """What was hit."""
    outcome: str
    """What became of it."""
    story: str
    """In a sentence."""
    href: str
    """The file, relative to the page."""


class Detail(Typed):
    """What a report shows below the level of blocks."""

    confidence: float
    """Of every interval by itself."""
    even: bool
    """Whether injections are spread evenly over the bits and moments of each kind of storage of a block, so
    that counts of a part are a sample of its own faults."""
    blocks: tuple[str, ...]
    """Names, in report order."""
    registers: tuple[RegisterRow, ...]
    """Each register or memory that was injected into, those of the largest FIT first."""
    operations: tuple[PartShare, ...]
    """In the order in which they run."""
    classes: tuple[PartShare, ...]
    """Register classes, those of the largest FIT first."""
    groups: tuple[GroupShare, ...]
    """Register groups: classes by block and kind of storage, those of the largest FIT first."""
    mix: tuple[MixRow, ...]
    """Outcomes by operation and class."""
    timeline: Timeline | None
    """Null of faults that are held from reset on."""
    memories: tuple[MemoryMap, ...]
    """Memories that were injected into, the largest first."""
    traces: tuple[TraceLink, ...]
    """Faults whose spread was traced; none where none was."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        time = self.timeline
        if time is not None:
            lengths = {len(own) for own in (time.row, time.time, time.injections, time.hazardous)}
            if len(lengths) > 1:
                wrong("timeline", "arrays of one length", sorted(lengths))
            if max(time.row, default=-1) >= len(self.registers):
                wrong("timeline.register", f"places below {len(self.registers)}", max(time.row))
        for index, row in enumerate(self.mix):
            if len(row.outcomes) != len(OUTCOME_KEYS):
                wrong(f"mix[{index}].outcomes", f"{len(OUTCOME_KEYS)} figures", len(row.outcomes))
        return self
