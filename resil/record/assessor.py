# SPDX-License-Identifier: Apache-2.0
"""What an assessor gets of a run: `kit.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from resil.record.interval import RecordedInterval
from resil.record.typed import Amount, Count, Document, OneOf, Share, Typed, wrong

SECTIONS = ("use", "scope", "assumption", "not modelled")
IMPACTS = ("TI1", "TI2")
DETECTIONS = ("TD1", "TD2", "TD3")
LEVELS = ("TCL1", "TCL2", "TCL3")
INJECTED, IN_PART, NOT_INJECTED = INJECTIONS = ("injected", "injected in part", "not injected")
CURRENT, STALE, MISSING = EVIDENCE = ("current", "stale", "missing")


def level_of(impact: str, detection: str) -> str:
    """Return the tool confidence level of an impact and a detection (ISO 26262-8, table 3).

    >>> level_of("TI2", "TD2"), level_of("TI1", "TD3")
    ('TCL2', 'TCL1')
    """
    return "TCL1" if impact == "TI1" else LEVELS[DETECTIONS.index(detection)]


class Reservation(Typed):
    """Something that a reader must know before any figure."""

    topic: str
    """What it is about, in a word or two."""
    text: str
    """What is so, and what it means."""


class ManualEntry(Typed):
    """An entry of the safety manual."""

    section: Annotated[str, OneOf(SECTIONS)]
    """Where it stands."""
    topic: str
    """In a word or two."""
    text: str
    """What holds, or has to."""


class ToolUse(Typed):
    """A use of resil, with the errors that it may make."""

    name: str
    """What is done."""
    error: str
    """How the tool could be wrong."""
    effect: str
    """What would come of it if nobody noticed."""
    detection: str
    """What would notice it."""
    evidence: str
    """What of that was done for this run."""
    impact: Annotated[str, OneOf(IMPACTS)]
    """Tool impact."""
    detected: Annotated[str, OneOf(DETECTIONS)]
    """Tool error detection, by the evidence that is there."""
    level: Annotated[str, OneOf(LEVELS)]
    """Tool confidence level: of impact and detection."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.level != (expected := level_of(self.impact, self.detected)):
            wrong("level", expected, self.level)
        return self


class EvidenceLine(Typed):
    """A check of the validation evidence, as it bears on this run."""

    name: str
    """Of the check."""
    state: str
    """What came of it."""
    text: str
    """What was done and found."""


class Dependent(Typed):
    """An initiator of dependent failures, and what of it was injected."""

    initiator: str
    """Such as a shared reset."""
    effect: str
    """What it could do to several parts at once."""
    answer: Annotated[str, OneOf(INJECTIONS)]
    """Whether this run injected it; never more than `in part` where trees or supplies are no storage."""
    injections: Count
    """Injections of this run that bear on it."""
    injected: str
    """What was injected, in words."""
    left: str
    """What was not, and who has to show it."""


class Change(Typed):
    """An entry of the change history."""

    when: str
    """When (ISO 8601, UTC)."""
    what: str
    """What was made or done."""
    digest: str
    """Of what was made; empty if it has none."""


class FailureModeRow(Typed):
    """A row of the FMEDA for programs. Rates in FIT; null is not known, which is not zero."""

    part: str
    """Block of the element."""
    failure_mode: str
    """In words."""
    outcome: str
    """As results name it."""
    base_rate: Amount | None
    """Raw rate of the part."""
    share: RecordedInterval | None
    """Part of the base rate that leads to this failure mode, with limits."""
    rate: RecordedInterval | None
    """Of this failure mode, without protection."""
    violates: bool
    """Whether it violates the safety goal."""
    mechanism: str
    """Safety mechanism chosen for it; `none`."""
    base_factor: Amount
    """Part of the rate that is left with hardened cells."""
    coverage: Share
    """Diagnostic coverage of the mechanism for what violates."""
    residual: RecordedInterval | None
    """Rate that is left."""
    source: str
    """Where share and coverage come from."""


class MetricRow(Typed):
    """A row of the safety verdict for programs."""

    metric: str
    """As campaigns claim it."""
    state: str
    """What came of it."""
    claimed: bool
    """Whether the campaign claims it."""
    unit: str
    """Of the figures: `share` or `FIT`."""
    value: Amount | None
    """Estimate."""
    lo: Amount | None
    """Its lower limit."""
    hi: Amount | None
    """Its upper limit."""
    target: Amount | None
    """What was asked."""


class AssessorKit(Document):
    """What an assessor gets of a run. What has to be known first stands first: the reservations."""

    FILE: ClassVar[str] = "kit.json"
    SCHEMA: ClassVar[Literal[2]] = 2
    REMEDY: ClassVar[str] = "make it again with: resil report RUN_DIR --assessor DIR"

    schema_number: Literal[2] = Field(alias="schema")
    """Of this file."""
    usable: bool
    """Whether the run's results may be used at all; if not, the kit has no figure."""
    reservations: tuple[Reservation, ...]
    """What a reader must know before any figure."""
    title: str
    """Campaign, target and network."""
    identity: str
    """Identity of the run; empty if it cannot be read."""
    results: str
    """SHA-256 of `summary.json`; empty if results may not be used."""
    answers: Mapping[str, str]
    """What the run answers, in words."""
    manual: tuple[ManualEntry, ...]
    """The safety manual."""
    uses: tuple[ToolUse, ...]
    """Confidence in the tool, by use."""
    evidence: Annotated[str, OneOf(EVIDENCE)]
    """Whether the validation evidence is of this installation and of the tools of the run."""
    validation: tuple[EvidenceLine, ...]
    """The validation evidence."""
    exchange: str
    """How far the two fields below follow the exchange format of IEEE 2851."""
    failure_modes: tuple[FailureModeRow, ...]
    """The FMEDA, a row for each part and failure mode."""
    metrics: tuple[MetricRow, ...]
    """Rows of the safety verdict; none if none was asked for."""
    dependent: tuple[Dependent, ...]
    """The checklist of dependent failures."""
    changes: tuple[Change, ...]
    """The change history, the oldest first."""
    resil: str
    """Version of resil that made the kit."""
    made: str
    """When (ISO 8601, UTC)."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        figures = self.answers or self.failure_modes or self.metrics
        if not self.usable and (figures or not self.reservations):
            wrong("usable", "no figures and a reservation, as results may not be used", dict(self.answers))
        if self.evidence != CURRENT and not any("validation" in own.topic for own in self.reservations):
            wrong("reservations", f"one about the validation evidence, which is {self.evidence}", None)
        return self
