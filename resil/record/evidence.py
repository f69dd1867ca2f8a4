# SPDX-License-Identifier: Apache-2.0
"""Parts of `summary.json` that say how injections were chosen and what is counted of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from resil.record.blocks import Kind, Outcome
from resil.record.typed import Amount, Count, OneOf, Share, Typed


class Pilot(Typed):
    """Injections that decided where to inject, and that count nowhere."""

    block: str
    """Where."""
    kind: Kind
    """Kind of storage."""
    injections: Count
    """How many."""


class LookRecord(Typed):
    """What was known when the plan looked at the results."""

    injections: Count
    """That counted by then."""
    fit: Amount
    """The total's FIT."""
    fit_lo: Amount
    """Its lower limit."""
    fit_hi: Amount
    """Its upper limit."""
    confidence: Share
    """That this interval has."""


class ToleranceRecord(Typed):
    """A bound for the total's FIT of most inputs like those that were run."""

    part: Share
    """Of the inputs."""
    confidence: Share
    """That at least this part lies at or below the bound."""
    fit: Amount
    """The bound."""


class InputFit(Typed):
    """The total's FIT of one input, with limits that hold for all inputs together."""

    input: Count
    """Its label."""
    fit: Amount
    """Estimate."""
    fit_lo: Amount
    """Lower limit."""
    fit_hi: Amount
    """Upper limit."""


class OverInputsRecord(Typed):
    """The total's FIT for inputs like those that were run, and how inputs differ."""

    fit_lo: Amount
    """Lower limit."""
    fit_hi: Amount
    """Upper limit."""
    design_effect: Amount
    """How many times the variance is that of inputs which are all alike."""
    data_set: str
    """What the inputs were drawn from at random; empty if they were listed or searched for."""
    searched: bool
    """Whether they were searched for: those whose decision is closest by the functional model."""
    variation: Amount | None
    """Standard deviation of the inputs' own FIT over its mean, noise aside; null of one input, or without a
    failure."""
    within: Amount
    """Variance, in FIT^2, of an input's own FIT that is estimated from one injection."""
    tolerance: ToleranceRecord | None
    """A bound for most inputs; null if they were not drawn, or are fewer than `tolerance_from`."""
    tolerance_from: Count
    """Inputs that such a bound needs at least."""
    worst: tuple[InputFit, ...]
    """The inputs with the highest estimates, the highest first."""


class SamplingRecord(Typed):
    """How injections were chosen, and why they ended."""

    plan: str
    """`[sampling] plan`."""
    margin: Amount | None
    """Half-width of the total's interval that was asked for, as a part; null without."""
    until_decided: bool
    """Whether sampling could end with the verdict."""
    strata: Count
    """Parts of the faults that are sampled by themselves."""
    groups: Count
    """Groups of strata that are estimated together."""
    guided: bool
    """Whether a sensitivity model said where to inject."""
    most: Count
    """Injections that were allowed."""
    pilot: Count
    """Injections of the pilot; they count nowhere."""
    pilots: tuple[Pilot, ...]
    """The same by block and kind of storage."""
    looks: tuple[LookRecord, ...]
    """What was known at each look at the results."""
    reason: Annotated[str, OneOf(("margin", "budget", "inputs", "maximum", "exhausted"))]
    """Why it ended."""
    inputs: str
    """Which inputs intervals are about: `these` or `like these`."""
    over_inputs: OverInputsRecord
    """The total for inputs like those that were run."""


class Inferences(Typed):
    """What was seen after the struck one of several inferences, and in all."""

    number: Count
    """Inferences of a run."""
    between: str
    """What the host does between them; `sequence` of a network with state; empty of a workload."""
    after_first: Mapping[Outcome, Mapping[Outcome, Count]]
    """Injections by the outcome of the inference that was struck and, within it, of the whole run."""
    latent_after_first: Count
    """Injections that were latent state after it."""
    dormant: Count
    """Those of them that became an SDC, a DUE or a hang in a later one."""
    vanished: Count
    """Those that left nothing behind."""
    latent: Count
    """Those that are still there."""


class EvidenceGroup(Typed):
    """Injections into storage of one rate."""

    block: str
    """The block; empty if the group spans several."""
    kind: Kind
    """Kind of storage."""
    fit_raw: Amount
    """Upsets of it in 10^9 hours."""
    counts: Mapping[str, Count]
    """Injections by class: outcome, what was seen, which alarm reported it."""


class EvidenceRecord(Typed):
    """Injections as the safety verdict counts them."""

    confidence: Share
    """Of intervals as they are reckoned: looks at the results have used up some of the error."""
    stated: Share
    """Of intervals as they are stated."""
    groups: tuple[EvidenceGroup, ...]
    """Injections by group."""
