# SPDX-License-Identifier: Apache-2.0
"""Rows of `summary.json`: figures of a block, of a kind of storage, of a register class, of a stratum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, model_validator

from resil.record.interval import NOTHING_KNOWN, Ordered, RecordedInterval, ShareInterval, require_order
from resil.record.outcomes import OUTCOME_KEYS
from resil.record.typed import Amount, Count, OneOf, Share, Typed, wrong

# Kinds of storage in hardware, and in memory outside it.
KINDS = ("ff", "macro", "sram")
EXTERNAL_KINDS = ("weights", "activations")
LOGIC = "logic"
# What is said of cells that are no fault sites.
NO_SITES = "cells of the netlist have no sites"
Kind = Annotated[str, OneOf((*KINDS, *EXTERNAL_KINDS, LOGIC))]
Outcome = Annotated[str, OneOf(OUTCOME_KEYS)]
LATENT = ("latent_share", "latent_lo", "latent_hi")
_FIGURES = ("avf", "avf_lo", "avf_hi", *LATENT, "fit_raw", "fit", "fit_lo", "fit_hi")


class Counted(Typed):
    """Injections by outcome."""

    injections: Count
    """Faults that were simulated."""
    masked: Count
    """Injections after which outputs and final state were as without a fault."""
    latent: Count
    """Injections after which the state alone differed."""
    sdc_tolerable: Count
    """Injections that changed outputs silently, and not the decision."""
    sdc_critical: Count
    """Injections that changed the decision silently."""
    due: Count
    """Injections that were detected."""
    hang: Count
    """Injections after which the inference did not end in time."""

    @property
    def counts(self) -> Mapping[str, int]:
        """Injections of each outcome, in report order."""
        return {key: getattr(self, key) for key in OUTCOME_KEYS}

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if (found := sum(self.counts.values())) != self.injections:
            wrong("injections", f"{found}, the sum of this row's outcomes", self.injections)
        return self


class Figures(Counted):
    """What was found of some storage. AVF: P(SDC, DUE or hang | a bit of it flips at a random time)."""

    avf: Share | None
    """AVF: the part of upsets that is seen in outputs, alarms or time; latent state is no part of it."""
    avf_lo: Share | None
    """Its lower limit."""
    avf_hi: Share | None
    """Its upper limit."""
    fit_raw: Amount | None
    """Upsets of all its bits in 10^9 hours."""
    fit: Amount | None
    """Hazardous failures in 10^9 hours."""
    fit_lo: Amount | None
    """Its lower limit."""
    fit_hi: Amount | None
    """Its upper limit."""

    @property
    def avf_interval(self) -> RecordedInterval:
        """AVF with its limits; (None, 0, 0) where nothing is known."""
        return _interval(self.avf, self.avf_lo, self.avf_hi)

    @property
    def fit_interval(self) -> RecordedInterval:
        """FIT with its limits; likewise."""
        return _interval(self.fit, self.fit_lo, self.fit_hi)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        require_order(self.avf_interval, "avf with avf_lo and avf_hi")
        require_order(self.fit_interval, "fit with fit_lo and fit_hi")
        return self


class Rates(Typed):
    """P(outcome | a bit of the storage flips at a random time): estimate, lower and upper limit."""

    masked: ShareInterval
    """Outputs and final state are as without a fault."""
    latent: ShareInterval
    """The state alone differs."""
    sdc_tolerable: ShareInterval
    """Outputs change silently, and the decision does not."""
    sdc_critical: ShareInterval
    """The decision changes silently."""
    due: ShareInterval
    """It is detected."""
    hang: ShareInterval
    """The inference does not end in time."""


class Rated(Figures):
    """Figures with the rate of each outcome."""

    latent_share: Share | None
    """P(latent state | a bit of it flips at a random time); it is no part of the AVF."""
    latent_lo: Share | None
    """Its lower limit."""
    latent_hi: Share | None
    """Its upper limit."""
    rates: Rates | None
    """Of each outcome; null where nothing is known."""

    @property
    def latent_interval(self) -> RecordedInterval:
        """P(latent state) with its limits; (None, 0, 0) where nothing is known."""
        return _interval(self.latent_share, self.latent_lo, self.latent_hi)

    @property
    def sampled(self) -> bool:
        """Whether the campaign says anything about this storage; if not, it has no figures."""
        return self.rates is not None

    def rate(self, outcome: str) -> RecordedInterval:
        """Return P(outcome); (None, 0, 0) where nothing is known."""
        found: RecordedInterval = getattr(self.rates, outcome, NOTHING_KNOWN)
        return found

    @model_validator(mode="after")
    def _known_or_not(self) -> Self:
        if self.rates is None:
            for name in _FIGURES:
                if (found := getattr(self, name)) is not None:
                    wrong(name, "no figure, as there are no rates", found)
            if self.injections:
                wrong("injections", "0, as there are no rates", self.injections)
            return self
        for name in (name for name in _FIGURES if name not in ("avf", "fit", "latent_share")):
            if getattr(self, name) is None:
                wrong(name, "a number, as there are rates", None)
        require_order(self.latent_interval, "latent_share with latent_lo and latent_hi")
        return self


class StoredBits(Typed):
    """Storage of a block or of the target, by kind."""

    ff_bits: Count
    """Flip-flops that synthesis leaves, those inside SRAM macros apart."""
    macro_bits: Count
    """Flip-flops inside SRAM macros."""
    sram_bits: Count
    """Memory bits that synthesis leaves."""
    weights_bits: Count
    """Bits of weights in memory outside the NPU."""
    activations_bits: Count
    """Bits of activations in memory outside the NPU."""
    logic_bits: Count = 0
    """Outputs of cells at which a pulse can begin; 0 where the campaign is not about logic."""
    ff_bits_source: Count
    """Flip-flops of the source code, those included that are no hardware."""
    macro_bits_source: Count
    """Likewise those inside SRAM macros."""
    sram_bits_source: Count
    """Likewise memory bits."""

    def bits(self, kind: str) -> int:
        """Return the bits of a kind of storage that are hardware, or lie outside it."""
        found: int = getattr(self, f"{kind}_bits")
        return found


class Block(Rated, StoredBits):
    """A block of the target. Figures of one that the campaign says nothing about are null, not zero."""

    name: str = Field(alias="block")
    """The block, or `total`."""
    area: Amount
    """Of logic and memories, in `area_unit`."""
    sram_area: Amount
    """Of memories alone."""
    area_unit: str
    """`GE` (gate equivalents) or `um2`."""


class Total(Block):
    """All blocks together; its figures are always there."""

    avf_lo: Share
    """Lower limit of the AVF."""
    avf_hi: Share
    """Its upper limit."""
    fit_raw: Amount
    """Upsets of all bits in 10^9 hours."""
    fit: Amount
    """Hazardous failures in 10^9 hours."""
    fit_lo: Amount
    """Its lower limit."""
    fit_hi: Amount
    """Its upper limit; the interval is made for the sum, and is narrower than the sum of those of blocks."""
    rates: Rates
    """Of each outcome."""


class StorageTotals(Rated):
    """A kind of storage in all blocks together."""

    kind: Kind
    """`ff`, `macro` (flip-flops inside SRAM macros), `sram`, `weights`, `activations` or `logic`."""
    bits: Count
    """Bits that were injected into."""
    fit_raw: Amount
    """Upsets of all its bits in 10^9 hours."""


class RegisterClass(Figures):
    """A register class over all blocks and kinds of storage."""

    register_class: str
    """The class: what its registers are for."""
    bits: Count
    """Bits of the class."""


class RecordedStratum(Typed):
    """Injections into a part of the faults that was sampled by itself."""

    block: str
    """Block that it belongs to."""
    kind: Kind
    """Kind of storage."""
    bits: Count
    """Its storage bits."""
    counts: Mapping[Outcome, Count]
    """Injections by outcome; what is missing is 0."""
    share: Share
    """Part of the exposure time of these bits that it stands for."""
    fit_raw: Amount
    """Upsets of that part in 10^9 hours."""


class PartLimit(Typed):
    """What is known of a kind of storage of a block; what a choice of protection rests on."""

    block: str
    """The block."""
    kind: Kind
    """The kind of storage."""
    bits: Count
    """Its bits."""
    fit_raw: Amount
    """Upsets of them in 10^9 hours."""
    fit: Ordered
    """Hazardous failures in 10^9 hours: estimate, lower and upper limit."""
    fit_hi_joint: Amount
    """Upper limit; those of all parts hold together as often as one upper limit of `fit` does."""
    predicted: bool
    """Whether a model foresees it."""


def _interval(estimate: float | None, lo: float | None, hi: float | None) -> RecordedInterval:
    return NOTHING_KNOWN if lo is None or hi is None else RecordedInterval(estimate, lo, hi)
