# SPDX-License-Identifier: Apache-2.0
"""What the faults of a class have in common, by their causal paths: `explanation.json`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from resil.record.interval import Ordered
from resil.record.trace import Trace
from resil.record.typed import Amount, Count, Document, OneOf, Share, Typed, wrong

STOPPED = ("all", "limit", "time")


class StruckRegister(Typed):
    """A register in which faults of a group began."""

    name: str
    """Its path without indices, so that lanes and words of an array are one."""
    traced: Count
    """Faults of the group that struck it."""


class FaultGroup(Typed):
    """Faults that took the same way: same kind of register, same blocks in the same order, same end."""

    block: str
    """The block that was struck."""
    register_class: str
    """What the struck registers are for."""
    route: tuple[str, ...]
    """Blocks that the causal path reached, in the order in which it did; the first is the struck one."""
    to: str
    """Where the difference was seen: `output`, `done`, `alarm NAME` or `state`; empty without a path."""
    problem: str
    """Why no path was found; empty if one was."""
    traced: Count
    """Faults of the group, of those that were traced."""
    share: Share
    """Their share of the weight of all that were traced."""
    fit: Ordered
    """FIT of the group. Where not all were traced, the lower limit takes it that none of the others is of it,
    the upper limit that all are."""
    registers: tuple[StruckRegister, ...]
    """Those most often struck first."""
    fewest_moves: Count
    """From bit to bit, of the shortest path of the group; 0 if it has none."""
    median_moves: Amount
    """The median of the shortest paths."""
    median_cycles: Amount
    """The median of cycles from the fault to where it was seen; 0 without a path."""
    example: Count
    """The injection of the group with the fewest moves."""
    example_path: tuple[str, ...]
    """Registers that its path goes through, without indices; the same one twice in a row is one."""
    injections: tuple[Count, ...]
    """All that were traced, by number."""


class Explanation(Document):
    """Injections of a class, grouped by the shortest causal path of each."""

    FILE: ClassVar[str] = "explanation.json"
    SCHEMA: ClassVar[Literal[1]] = 1
    REMEDY: ClassVar[str] = "make it again with: resil explain RUN_DIR"

    schema_number: Literal[1] = Field(alias="schema")
    """Of this file."""
    content: str
    """SHA-256 of the injections that were looked at, as `provenance.json` has it."""
    outcomes: tuple[str, ...]
    """The class: injections of these outcomes, of those that the results rest on."""
    injections: Count
    """How many there are of it."""
    traced: Count
    """How many of them were traced: drawn at random from all of the class."""
    stopped: Annotated[str, OneOf(STOPPED)]
    """Why no more were: `all` were, or the `limit` or the `time` that was asked for was reached."""
    limit: Count
    """The most that were to be traced."""
    seconds: Amount
    """The time that was given for that."""
    seed: Count
    """Of the draw."""
    confidence: Share
    """Of each interval by itself."""
    fit: Ordered
    """FIT of the class."""
    groups: tuple[FaultGroup, ...]
    """The largest FIT first."""
    traces: tuple[Trace, ...]
    """The examples of the first groups, in their order."""
    notes: tuple[str, ...]
    """What limits what is said here."""
    made: str
    """When (ISO 8601, UTC)."""

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if (found := sum(group.traced for group in self.groups)) != self.traced:
            wrong("groups", f"{self.traced} traced injections in all", found)
        for index, group in enumerate(self.groups):
            if len(group.injections) != group.traced or group.example not in group.injections:
                wrong(f"groups[{index}].injections", f"{group.traced} numbers", len(group.injections))
        if self.traced > self.injections or (self.stopped == "all") != (self.traced == self.injections):
            wrong("stopped", f"what {self.traced} traced of {self.injections} say", self.stopped)
        return self
