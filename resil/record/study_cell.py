# SPDX-License-Identifier: Apache-2.0
"""A cell of a study in `study.json`: a network on a target, and what its run or estimate says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, model_validator

from resil.record.interval import Ordered, RecordedInterval, ShareInterval, require_order
from resil.record.typed import Amount, Count, OneOf, Share, Typed, wrong

MET, MISSED, INCONCLUSIVE, NOT_ASSESSED, NONE = "met", "missed", "inconclusive", "not assessed", "none"
FAILED, WAITING = "failed", "not run"
DECIDED = (MET, MISSED)
ANSWERS = (MET, MISSED, INCONCLUSIVE, NOT_ASSESSED, NONE)
VERDICTS = (*ANSWERS, FAILED, WAITING)
TOTAL = "total"
_Answer = Annotated[str, OneOf(ANSWERS)]


class CellBlock(Typed):
    """A block of the target, or all of them together, as `summary.json` has it."""

    name: str = Field(alias="block")
    """The block, or `total`."""
    ff_bits: Count
    """Flip-flops that synthesis leaves, those inside SRAM macros apart."""
    macro_bits: Count
    """Flip-flops inside SRAM macros."""
    sram_bits: Count
    """Memory bits that synthesis leaves."""
    area: Amount
    """Of logic and memories, in `area_unit`."""
    fit_raw: Amount | None
    """Upsets of all its bits in 10^9 hours; null where nothing was injected."""
    fit: Amount | None
    """Hazardous failures in 10^9 hours; null likewise."""
    fit_lo: Amount | None
    """Its lower limit."""
    fit_hi: Amount | None
    """Its upper limit."""

    @property
    def fit_interval(self) -> RecordedInterval | None:
        """FIT with its limits; None where nothing was injected."""
        if self.fit_lo is None or self.fit_hi is None:
            return None
        return require_order(
            RecordedInterval(self.fit, self.fit_lo, self.fit_hi), "fit with fit_lo and fit_hi"
        )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        _ = self.fit_interval
        return self


class CellClass(Typed):
    """A register class of the target, as `summary.json` has it, or counted from injections that are even."""

    register_class: str
    """The class: what its registers are for."""
    bits: Count
    """Bits of the class."""
    injections: Count
    """Faults that were simulated in it."""
    avf: Share | None
    """AVF of the class."""
    avf_lo: Share
    """Its lower limit."""
    avf_hi: Share
    """Its upper limit."""


class CellView(Typed):
    """What a cell says under one view of the host: it reacts to what the design detects, or nobody does."""

    verdict: _Answer
    """Of budget and safety claims together, at the worst corner of the raw rates."""
    fit: Ordered | None
    """Hazardous failures in 10^9 hours, at the centre of the raw rates; null if not known."""
    corner: str | None
    """Corner of the ranges of raw rates where their upper limit is highest; null of a prediction."""
    corner_fit: Ordered | None
    """Hazardous failures there."""
    spfm: ShareInterval | None
    """SPFM of the injected faults, at the centre; null if there is none."""
    spfm_corner: str | None
    """Corner that decides the claim on SPFM; null if none is claimed."""
    spfm_corner_lo: Share | None
    """Lower limit of SPFM there."""


class CellResults(Typed):
    """What a finished run or estimate says of a cell."""

    basis: str
    """Digest of what was injected into what; a folder that holds something else is looked at again."""
    permanent: str | None
    """Folder of the run of permanent faults that its safety rows use; null if there is none."""
    permanent_basis: str | None
    """Digest of what was injected there."""
    fit: Amount
    """Hazardous failures in 10^9 hours."""
    fit_lo: Amount
    """Its lower limit."""
    fit_hi: Amount
    """Its upper limit."""
    injections: Count
    """How many were made; 0 of a prediction."""
    foreseen: Annotated[str, OneOf(("to meet", "to miss", "undecided"))] | None
    """What a prediction foresees of the budget; else null."""
    budget: _Answer
    """Verdict on the FIT budget by itself."""
    budget_fit: Amount | None
    """The budget; null if there is none."""
    safety: _Answer | None
    """Verdict on the safety claims by themselves; null if there are none."""
    spfm_asked: Share | None
    """Least SPFM of transient faults that is claimed; null if none is."""
    scope: str
    """Which storage the verdict is about."""
    golden: str
    """What is to be said of the golden output; empty if it equals that of an independent reference."""
    aided: CellView
    """With the error flag and a host that reacts; the cell's own verdict."""
    unaided: CellView
    """If nobody reacts to what the design detects; the first claim rests on it."""
    due_fit: Ordered | None
    """Detected failures in 10^9 hours, which do not count as hazardous; null if there is none."""
    slowest_alarm: Count | None
    """Most cycles from a fault to its alarm; null if none rose."""
    confidence: Share
    """With which the intervals hold."""
    inputs: tuple[int, ...]
    """Labels of the inputs that were run."""
    cycles: tuple[Count, ...]
    """Cycles of the run without a fault, for each input."""
    parameters: Mapping[str, int | str]
    """Of the target."""
    margin: Amount | None
    """Half width of the total's interval, as a part of the estimate, that was asked for; null if none was."""
    half_width: Amount | None
    """That of the interval that is given; null where no failure was found, or of a prediction."""
    reached: bool | None
    """Whether that is within the margin; null if none was asked for."""
    blocks: tuple[CellBlock, ...]
    """Each block of the target, and their total."""
    area_unit: str
    """`GE` (gate equivalents) or `um2`."""
    titles: Mapping[str, str]
    """Blocks in words."""
    classes: tuple[CellClass, ...]
    """Each register class; none where the injections are not spread so that they can be counted."""

    @property
    def fit_interval(self) -> RecordedInterval:
        """FIT with its limits."""
        return RecordedInterval(self.fit, self.fit_lo, self.fit_hi)

    @property
    def fit_by_block(self) -> Mapping[str, RecordedInterval]:
        """FIT of each block that was injected into, without their total."""
        known = {row.name: row.fit_interval for row in self.blocks if row.name != TOTAL}
        return {name: fit for name, fit in known.items() if fit is not None}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        require_order(self.fit_interval, "fit with fit_lo and fit_hi")
        if (self.margin is None) != (self.reached is None):
            wrong("reached", "whether a margin is reached where one was asked for, else null", self.reached)
        if self.reached and self.half_width is None:
            wrong("half_width", "a width, as it is within the margin", None)
        if (self.permanent is None) != (self.permanent_basis is None):
            wrong("permanent_basis", "a digest where there is a run of permanent faults", None)
        return self


class CellRecord(Typed):
    """A network on a target."""

    target: str
    """Name of the target."""
    network: str
    """Name of the network."""
    verdict: Annotated[str, OneOf(VERDICTS)]
    """Of budget and safety claims together; `none`: nothing was asked; `failed` and `not run`: no results."""
    predicted: bool
    """Whether it is foreseen by a model, and nothing is injected."""
    run: str
    """Its folder, relative to that of the study."""
    error: str | None
    """Why it has failed; else null."""
    internal: bool
    """Whether it has failed by an audit, or by a fault of resil."""
    results: CellResults | None
    """What its run or estimate says; null of a cell that has failed or was not run."""

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.network} on {self.target}"

    @property
    def injected(self) -> CellResults | None:
        """Results that rest on injections into the cell; None if there are none."""
        return None if self.predicted else self.results

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.results is None) != (self.verdict in (FAILED, WAITING)):
            wrong("results", "those of a cell with a verdict, and none where there is none", self.verdict)
        if self.predicted and self.verdict in DECIDED:
            wrong("verdict", "no decision, as the cell is only predicted", self.verdict)
        if (self.error is None) != (self.verdict != FAILED):
            wrong("error", "why a cell has failed, and null of one that has not", self.error)
        return self
