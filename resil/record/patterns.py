# SPDX-License-Identifier: Apache-2.0
"""What faults in the RTL did to tensors, for injectors in software: `patterns.json`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from resil.record.interval import ShareInterval
from resil.record.outcomes import OUTCOME_KEYS
from resil.record.typed import Amount, Count, Document, OneOf, Share, Typed, wrong

EXTENTS = ("bit", "element", "map", "channel", "position", "region")
"""The first of these that holds all damaged elements: one bit of one element; one element; nearly all of
the tensor; one channel; one position (all channels at one row and column); anything else."""


class PatternOutcome(Typed):
    """Injections of one outcome, and how many of them have a pattern."""

    outcome: Annotated[str, OneOf(OUTCOME_KEYS)]
    """What became of them on the RTL."""
    injections: Count
    """How many."""
    fit: Amount
    """FIT that these stand for."""
    described: Count
    """How many damaged a tensor that was recorded."""
    described_fit: Amount
    """FIT that those stand for."""


class PatternGroup(Typed):
    """Patterns in the outputs of operations of one kind, of faults in one kind of storage."""

    operation_kind: str
    """Kind of the operation whose output was damaged, as `network.operations[].work.kind` has it."""
    block: str
    """The block that was struck."""
    kind: str
    """`ff`, `macro` or `sram`."""
    register_class: str
    """What the struck registers are for."""
    patterns: Count
    """How many."""
    fit: Amount
    """FIT that they stand for."""
    bit: Share
    """Share of that with one bit of one element damaged: what most injectors in software do."""
    element: Share
    """Share with one element damaged, by one bit or more."""
    saturated: Share
    """Share of damaged elements, of those that are kept, that went to an end of their range."""
    median_elements: Amount
    """The median of damaged elements, each pattern counting once."""
    most_elements: Count
    """The most."""
    median_change: Amount
    """The median, over patterns, of the largest change of an element, in quantisation steps."""
    critical: ShareInterval
    """Share of that FIT that changed the decision on the RTL."""


class ErrorPattern(Typed):
    """What one fault did to the output of an operation."""

    injection: Count
    """Number of the injection: `resil trace` says how it came to that."""
    input: int
    """Label of the input."""
    fit: Amount
    """FIT that it stands for: draw patterns in proportion to it."""
    block: str
    """The block that was struck."""
    kind: str
    """`ff`, `macro` or `sram`."""
    register_class: str
    """What the struck register is for."""
    operation: str
    """Name of the operation whose output was damaged."""
    operation_kind: str
    """Its kind."""
    extent: Annotated[str, OneOf(EXTENTS)]
    """What holds all damaged elements: a `bit`, an `element`, a `channel`, a `position` (one row and
    column), a `region`, or nearly the whole `map`."""
    elements: Count
    """Damaged elements."""
    largest_change: Count
    """The largest change of those that are kept, in quantisation steps."""
    outcome: Annotated[str, OneOf(OUTCOME_KEYS)]
    """What became of it on the RTL."""
    pattern: str
    """The damage, as JSON; the column `corruption` of part files has the same text."""


class ErrorPatterns(Document):
    """What faults in the RTL did to tensors: a library for injectors in software."""

    FILE: ClassVar[str] = "patterns.json"
    SCHEMA: ClassVar[Literal[1]] = 1
    REMEDY: ClassVar[str] = "make it again with: resil patterns RUN_DIR"

    schema_number: Literal[1] = Field(alias="schema")
    """Of this file."""
    content: str
    """SHA-256 of the injections that were looked at, as `provenance.json` has it."""
    target: str
    """What was injected into."""
    network: str
    """What ran."""
    network_sha256: str
    """SHA-256 of its file."""
    decision: str
    """Rule that divides critical from tolerable corruption."""
    inputs: tuple[int, ...]
    """Labels of the inputs whose injections were looked at."""
    confidence: Share
    """Of each interval by itself."""
    injections: Count
    """That were looked at, of those that the results rest on."""
    fit_raw: Amount
    """FIT that all of these stand for: upsets of what was injected into."""
    outcomes: tuple[PatternOutcome, ...]
    """Every outcome that was found. What is not described is no pattern: add its FIT as it stands."""
    groups: tuple[PatternGroup, ...]
    """Patterns by operation and storage, the largest FIT first."""
    patterns: tuple[ErrorPattern, ...]
    """In the order of injections. Of very many some are drawn at random; their `fit` stands for all."""
    left_out: Count
    """Patterns that are not listed."""
    notes: tuple[str, ...]
    """What limits what is said here."""
    made: str
    """When (ISO 8601, UTC)."""

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        described = sum(one.described for one in self.outcomes)
        if (found := len(self.patterns) + self.left_out) != described:
            wrong("patterns", f"{described}, those of all outcomes", found)
        if (found := sum(one.patterns for one in self.groups)) != described:
            wrong("groups", f"{described} patterns, those of all outcomes", found)
        if (found := sum(one.injections for one in self.outcomes)) != self.injections:
            wrong("outcomes", f"{self.injections} injections in all", found)
        for index, one in enumerate(self.outcomes):
            if one.described > one.injections or one.described_fit > one.fit * (1 + 1e-9):
                wrong(f"outcomes[{index}].described", f"at most {one.injections}", one.described)
        listed, whole = sum(one.fit for one in self.patterns), sum(one.described_fit for one in self.outcomes)
        if abs(listed - whole) > 1e-6 * whole and not self.left_out:
            wrong("patterns", f"{whole:.6g} FIT in all", listed)
        return self
