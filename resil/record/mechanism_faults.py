# SPDX-License-Identifier: Apache-2.0
"""What permanent faults in gates do to a design with mechanisms, and in these: `mechanism-faults.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from resil.record.interval import ShareInterval
from resil.record.typed import Count, Document, OneOf, Share, Typed, wrong

CLASSES = ("hazardous", "detected", "false_alarm", "corrected", "quiet")
"""Faults that do harm and that no alarm reports in time; that would and are detected; that are detected and
do no harm; that do none and are reported as corrected; that do none and are reported by nothing."""


class PinFaults(Typed):
    """Pins of cells that were held, and what came of it."""

    name: str
    """A block, a kind of mechanism, or what all rows are about."""
    cells: Count
    """Cells there."""
    faults: Count
    """Pins of these, each held at 0 and at 1."""
    simulated: Count
    """Of these faults."""
    counts: Mapping[Annotated[str, OneOf(CLASSES)], Count]
    """Simulated faults by class."""
    coverage: ShareInterval
    """Diagnostic coverage: detected of those that would do harm; no estimate where none would."""
    hazardous: ShareInterval
    """Share of faults that are hazardous."""

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if (found := sum(self.counts.values())) != self.simulated:
            wrong("counts", f"{self.simulated} simulated faults in all", found)
        if self.simulated > self.faults:
            wrong("simulated", f"at most {self.faults} faults", self.simulated)
        return self


class LatentFaults(Typed):
    """Quiet faults of mechanisms, each followed by second faults in what the mechanism guards."""

    kind: str
    """Of the mechanisms; `all` of the sum."""
    quiet: Count
    """Simulated faults of them that are neither hazardous by themselves nor reported."""
    explored: Count
    """Of these, with second faults."""
    latent: Count
    """Of those explored, with a second fault that is hazardous with it and not without."""
    safe: Count
    """Of those explored, all of whose second faults were simulated, none of which is made hazardous."""
    pairs: Count
    """Pairs of a quiet fault and a second one; none is there twice."""
    held: Count
    """Of these, with a second pin that is held."""
    pulses: Count
    """Of these, with a pulse in logic as the second; the others are with upsets."""
    hazardous_held: Count
    """Pairs with a held pin that are hazardous, and whose second fault by itself is not."""
    hazardous_upsets: Count
    """Likewise with an upset."""
    hazardous_pulses: Count
    """Likewise with a pulse."""
    share: ShareInterval
    """Share of second faults that quiet ones make hazardous, both drawn evenly; no estimate without pairs."""

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.latent + self.safe > self.explored or self.explored > self.quiet:
            wrong("explored", f"latent and safe, and at most {self.quiet} quiet faults", self.explored)
        upsets = self.pairs - self.held - self.pulses
        hazardous = (self.hazardous_held, self.hazardous_pulses, self.hazardous_upsets)
        if any(own > of for own, of in zip(hazardous, (self.held, self.pulses, upsets), strict=True)):
            wrong("pairs", "no more hazardous pairs than there are", self.pairs)
        return self

    @property
    def open(self) -> int:
        """Those of which neither is known, and those that nothing followed: they count as latent."""
        return self.quiet - self.latent - self.safe


class UncoveredPair(Typed):
    """A quiet fault and a second one that it makes hazardous."""

    kind: str
    """Of the mechanism."""
    first: str
    """Pin that is held, and at what."""
    second: str
    """What follows."""
    seen: str
    """What is seen of both."""


class EscapedFault(Typed):
    """A permanent fault that is hazardous by itself: no alarm reports it, or too late."""

    place: str
    """The block, or the kind of mechanism, that its cell belongs to."""
    pin: str
    """Pin that is held, and at what."""
    seen: str
    """What is seen of it."""


class DeclaredMechanism(Typed):
    """A mechanism of the campaign file that names its own storage."""

    alarm: str
    """That reports what it detects."""
    blocks: tuple[str, ...]
    """That it guards; none for all."""
    storage: tuple[str, ...]
    """Paths: what lies at or below one of them belongs to it."""
    memories: tuple[str, ...]
    """Memories in the blocks that it guards, by path: the block map may change where no cell does."""


class MechanismFaults(Document):
    """Coverage of permanent faults in gates, and what faults in mechanisms do, alone and with others."""

    FILE: ClassVar[str] = "mechanism-faults.json"
    SCHEMA: ClassVar[Literal[4]] = 4
    REMEDY: ClassVar[str] = "make it again with: resil mechanisms CAMPAIGN.toml --out DIR"

    schema_number: Literal[4] = Field(alias="schema")
    """Of this file."""
    campaign: str
    """Name of the campaign file's campaign."""
    target: str
    """Name of the target."""
    input: str
    """What ran."""
    hashes: Mapping[str, str]
    """Digests of RTL, netlist and work, as `provenance.json` has them."""
    seed: Count
    """Of all draws."""
    hazardous_outcomes: tuple[str, ...]
    """Outcomes that count as hazardous."""
    detection_cycles: Count | None
    """Cycles from fault to alarm after which that is late; null if it never is."""
    confidence: Share
    """Of each interval by itself."""
    declared: tuple[DeclaredMechanism, ...]
    """Mechanisms of the campaign file that the answer is about, beside those that resil has built."""
    whole: PinFaults
    """All cells."""
    blocks: tuple[PinFaults, ...]
    """Cells of each block that belong to no mechanism."""
    mechanisms: tuple[PinFaults, ...]
    """Cells of mechanisms by kind; the first row is all of them."""
    latent: tuple[LatentFaults, ...]
    """Quiet faults of mechanisms by kind, with second faults; the first row is all of them."""
    latent_share: ShareInterval
    """Share of quiet faults of mechanisms that count as latent: at least those that were shown to be, at most
    all but those that were shown not to be."""
    escaped: tuple[EscapedFault, ...]
    """Faults that are hazardous by themselves, those at hand: at most 20 of each block and kind of mechanism,
    the places first in which mechanisms detect most."""
    examples: tuple[UncoveredPair, ...]
    """Some pairs that are hazardous."""
    notes: tuple[str, ...]
    """What limits what is said here."""
    made: str
    """When (ISO 8601, UTC)."""

    @model_validator(mode="after")
    def _has_all(self) -> Self:
        for name, rows in (("mechanisms", self.mechanisms), ("latent", self.latent)):
            if not rows:
                wrong(name, "a row for all mechanisms first", "none")
        return self
