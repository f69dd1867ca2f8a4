# SPDX-License-Identifier: Apache-2.0
"""What a second simulation of stored injections found: `audit.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from resil.record.typed import Count, Document, Share, Typed


class Compared(Typed):
    """Injections that were simulated again."""

    stored: Count
    """How many the run holds."""
    tried: Count
    """Those of them that were simulated again."""
    differ: Count
    """Those of them that came out otherwise."""


class Disagreement(Typed):
    """A stored injection that came out otherwise."""

    injection: Count
    """Its number."""
    site: str
    """The bit that was struck."""
    cycle: Count
    """When."""
    stored: Mapping[str, int | str]
    """Columns that differ, as the run has them."""
    found: Mapping[str, int | str]
    """The same columns as simulated again."""


class StoredAudit(Document):
    """What `resil audit` found: stored injections, simulated again by another engine or by the same."""

    FILE: ClassVar[str] = "audit.json"
    SCHEMA: ClassVar[Literal[1]] = 1
    REMEDY: ClassVar[str] = "make it again with: resil audit RUN_DIR"

    schema_number: Literal[1] = Field(alias="schema")
    """Of this file."""
    content: str
    """SHA-256 of the injections that were judged, as `provenance.json` has it."""
    engine: str
    """The engine of the run."""
    judge: str
    """The engine that simulated again."""
    seed: Count
    """The seed of the draw."""
    drawn: Compared
    """Drawn at random from all injections of the run."""
    confidence: Share
    """Of `at_most`."""
    at_most: Share
    """Upper limit of the share of injections of the run that the judge would refute (Clopper-Pearson,
    one-sided): where `judge` is `engine`, nothing is said of what both have wrong."""
    outcomes: Mapping[str, Compared]
    """By outcome; rare ones were drawn more of, so `tried` adds up to more than in `drawn`."""
    disagreements: tuple[Disagreement, ...]
    """What differs; empty if all agree."""
    versions: Mapping[str, str]
    """Version of resil and of each package that counts."""
    made: str
    """When (ISO 8601, UTC)."""
