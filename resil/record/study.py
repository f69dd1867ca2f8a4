# SPDX-License-Identifier: Apache-2.0
"""What the cells of a study say together: `study.json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from resil.record.interval import ShareInterval
from resil.record.study_cell import INCONCLUSIVE, MET, MISSED, NONE, CellRecord, CellResults
from resil.record.study_growth import Growth
from resil.record.typed import Amount, Document, OneOf, Share, Typed, wrong

NOT_NEEDED, REACHED, NOT_REACHED = "not needed", "reached", "not reached"
UNASSESSED = "not assessed"
SUPPORTED, REFUTED, OPEN = "supported", "refuted", "open"


class ProtectionAsked(Typed):
    """What a set of protection has to keep on every network; null is not asked."""

    budget_fit: Amount | None
    """Most hazardous failures in 10^9 hours."""
    spfm_target: Share | None
    """Least SPFM of transient faults."""
    fit_share: Share | None
    """Most hazardous FIT, as a part of that without protection."""
    due_budget: Amount | None
    """Most detected failures in 10^9 hours."""
    waived: tuple[str, ...]
    """Limits of the study that were waived, or replaced by laxer ones, in words."""


class Asked(Typed):
    """What the verdicts are about, so that none of them is read as more."""

    budget_fit: Amount | None
    """Most hazardous failures in 10^9 hours of a cell; null without a budget."""
    rationale: str | None
    """Where the budget comes from."""
    hazardous: tuple[str, ...]
    """Outcomes that it counts."""
    claims: tuple[str, ...]
    """Safety rows that are claimed of every cell; without any, met is the budget alone."""
    asil: str | None
    """Level that gives their targets; null if none does."""
    protection: ProtectionAsked | None
    """What a set of protection has to keep; null if none is asked for."""


class StudyVerdict(Typed):
    """The verdict of all cells together."""

    result: Annotated[str, OneOf((MET, MISSED, INCONCLUSIVE, NONE))]
    """`met` if each cell is, by injections into it; `missed` if one is missed."""
    reason: str
    """How many cells have which verdict."""


class TargetProtection(Typed):
    """What is known of the protection of a target that holds for all its networks."""

    target: str
    """Name of the target."""
    result: Annotated[str, OneOf((NOT_NEEDED, REACHED, NOT_REACHED, UNASSESSED))]
    """Whether there is a set that keeps what is asked."""
    overhead: float | None
    """Area added, as a part: by synthesis if the set was built and has no hardened cells, else by the
    options' figures. Null if no set was found."""
    overhead_lockstep: float | None
    """Area that a second copy of everything adds, as a part; null if not known."""
    networks: tuple[str, ...]
    """Networks that it was judged on."""
    corner: str | None
    """Corner of the ranges of raw rates that decides `fit_hi`; null without a set, empty without ranges."""
    fit_hi: Amount | None
    """Upper limit there of the hazardous FIT that is left on the worst of them; null if not known."""
    unaided_hi: Amount | None
    """The same where nobody reacts to alarms; null if not known of each of them."""
    spfm_lo: Share | None
    """Least lower limit of SPFM over all corners, on the worst; null if not known of each of them."""
    waived: tuple[str, ...]
    """Limits of the study that the set need not keep, or only in a laxer form, in words."""
    confirmed: bool | None
    """Whether injections into the protected RTL have confirmed it; null if that was not tried."""
    plan: str | None
    """Name of the plan in the cells' folders; null if there is none."""
    reason: str
    """On what it rests, or why there is none."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.overhead is None) != (self.result in (NOT_REACHED, UNASSESSED)):
            wrong("overhead", "an area of a set that was found, and null where there is none", self.overhead)
        return self


class Claim(Typed):
    """A sentence about all configurations."""

    claim: str
    """The sentence."""
    result: Annotated[str, OneOf((SUPPORTED, REFUTED, OPEN))]
    """`supported`, `refuted` or `open`."""
    evidence: tuple[str, ...]
    """A line for each target."""


class ClassMean(Typed):
    """AVF of a register class on a target, the mean over the networks that were injected into."""

    target: str
    """Name of the target."""
    register_class: str
    """The class."""
    networks: tuple[str, ...]
    """Networks whose mean it is."""
    avf: ShareInterval
    """The mean, lower and upper limit."""


class TimeSpent(Typed):
    """Where the time of a target went, in seconds by the clock, over all goes.

    Of cells side by side each counts its part of a second.
    """

    target: str
    """Name of the target."""
    builds: Amount
    """Elaboration, simulators, gates, synthesis: what the cache then holds."""
    cells: Amount
    """Everything else that its cells took."""
    protection: Amount
    """Choice, build and confirmation of its protection."""


class StudyRecord(Document):
    """What `resil study` leaves beside the folders of its cells."""

    FILE: ClassVar[str] = "study.json"
    SCHEMA: ClassVar[Literal[6]] = 6
    REMEDY: ClassVar[str] = (
        "the file is damaged or of another version: move the folder away, or choose another one with --out"
    )

    schema_number: Literal[6] = Field(alias="schema")
    """Of this file: another one is of another version, and is refused."""
    name: str
    """Name of the study."""
    resil: str
    """Version of resil that made it."""
    asked: Asked
    """What the verdicts are about."""
    verdict: StudyVerdict
    """Of all cells together."""
    cells: tuple[CellRecord, ...]
    """Each network on each target that it runs on, target by target."""
    protection: tuple[TargetProtection, ...]
    """That of each target; none if none is asked for."""
    claims: tuple[Claim, ...]
    """The [two claims](../how-to/studies.md#the-report) of a study."""
    growth: Growth
    """What goes with the size of the array."""
    classes: tuple[ClassMean, ...]
    """AVF by register class."""
    confidence: Share
    """With which intervals and verdicts hold."""
    seconds: Amount
    """Time that all goes took, in seconds."""
    spent: tuple[TimeSpent, ...]
    """Where it went."""
    started: str
    """When the work began (ISO 8601, UTC)."""
    finished: str | None
    """When it ended; null of an unfinished study."""
    definition: Mapping[str, str]
    """What its cells are made of, part by part: two studies that differ in it share no folder."""

    @property
    def targets(self) -> list[str]:
        """In the order of the file."""
        return list(dict.fromkeys(cell.target for cell in self.cells))

    @property
    def networks(self) -> list[str]:
        """In the order of the file."""
        return list(dict.fromkeys(cell.network for cell in self.cells))

    @property
    def answered(self) -> list[tuple[CellRecord, CellResults]]:
        """Cells that have results, injected or predicted, with these."""
        return [(cell, cell.results) for cell in self.cells if cell.results is not None]

    def titled(self, block: str) -> str:
        """Return a block in words, with its name; the name alone if it has no words."""
        found = (own.titles[block] for _, own in self.answered if own.titles.get(block))
        words = next(found, "")
        return f"{words} ({block})" if words else block

    def cell(self, target: str, network: str) -> CellRecord | None:
        """Return the cell of a network on a target; None if it does not run there."""
        return next((own for own in self.cells if (own.target, own.network) == (target, network)), None)

    def _wanted(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs that there have to be: of a network with places these, of any other all."""
        for network in self.networks:
            named = [target for target in self.targets if place_of(network, target) in self.definition]
            yield from ((target, network) for target in named or self.targets)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        pairs = [(cell.target, cell.network) for cell in self.cells]
        if sorted(pairs) != sorted(self._wanted()):
            wrong("cells", "each network once on each target that it runs on", pairs)
        if self.verdict.result == MET and not all(
            cell.verdict == MET and cell.injected is not None for cell in self.cells
        ):
            wrong("verdict.result", "met only where each cell is, by injections into it", MET)
        return self


def place_of(network: str, target: str) -> str:
    """Return the part of the definition that says that a network, which has places, runs on a target."""
    return f"place {network} on {target}"


def injected_cells(cells: Iterable[CellRecord]) -> list[tuple[CellRecord, CellResults]]:
    """Return the cells whose figures rest on injections into them, with these figures."""
    return [(cell, own) for cell in cells if (own := cell.injected) is not None]
