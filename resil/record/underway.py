# SPDX-License-Identifier: Apache-2.0
"""What a run that is under way is about to inject: `underway.json`, which goes when the run ends."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from resil.record.blocks import Kind, Outcome
from resil.record.typed import Amount, Count, Document, OneOf, Share, Typed

PILOT, FIGURES = STEPS = ("pilot", "figures")


class PlannedStratum(Typed):
    """Draws of a stratum that this step makes. Injection `i * strata + s` is draw `i` of stratum `s`."""

    block: str
    """The block."""
    kind: Kind
    """Kind of storage."""
    fit_raw: Amount
    """Upsets of it in 10^9 hours."""
    first: Count
    """First draw."""
    injections: Count
    """How many."""


class Underway(Document):
    """A step of a run that is being injected, for who looks on."""

    FILE: ClassVar[str] = "underway.json"
    SCHEMA: ClassVar[Literal[1]] = 1
    REMEDY: ClassVar[str] = "the run is of another version, or ended in between: look again when it has ended"

    schema_number: Literal[1] = Field(alias="schema")
    """Of this file: another one is of another version, and is refused."""
    name: str
    """Of the campaign."""
    since: str
    """When this session began to inject (ISO 8601, UTC)."""
    step: Annotated[str, OneOf(STEPS)]
    """`figures`: these injections count; `pilot`: they plan the others, and are in no figure."""
    bounded: bool
    """Whether limits of the final figures can be said before the end: the plan is even, and looks at no
    results."""
    kept: Count
    """Injections of this step that were there when the session began."""
    workers: Count
    """Simulator processes."""
    confidence: Share
    """Of the limits."""
    hazardous: tuple[Outcome, ...]
    """Outcomes that count as failures."""
    detection_cycles: Count | None
    """Cycles from fault to alarm that count as detection in time; null without such a limit."""
    budget_fit: Amount | None
    """Most FIT that is allowed; null without a budget."""
    strata: tuple[PlannedStratum, ...]
    """What is injected, stratum by stratum."""
