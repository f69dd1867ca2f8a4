# SPDX-License-Identifier: Apache-2.0
"""Runs side by side: what `resil compare` says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from resil.record.interval import Ordered, RecordedInterval
from resil.record.typed import Amount, Count, OneOf, Typed

NEW, GONE, HIGHER, LOWER, NOT_SHOWN = MARKS = ("new", "gone", "higher", "lower", "not shown")


class ComparedRun(Typed):
    """What is compared of a run or an estimate."""

    path: str
    """Its folder."""
    name: str
    """What the comparison calls it."""
    predicted: bool
    """Whether nothing was injected."""
    network: str
    """Its name."""
    target: str
    """Its name."""
    injections: Count
    """How many were made."""
    outcomes: Mapping[str, Count]
    """Injections of each outcome."""
    fit: RecordedInterval
    """Hazardous failures in 10^9 hours: estimate, lower and upper limit."""
    area: Amount
    """In `area_unit`."""
    area_unit: str
    """`GE` (gate equivalents) or `um2`."""
    budget_fit: Amount | None
    """Null without a budget."""
    verdict: str
    """On the budget alone."""
    safety: str | None
    """On the safety claims; null without any."""
    blocks: Mapping[str, RecordedInterval | None]
    """FIT of each block; null where nothing is known."""


class PartDifference(Typed):
    """How the FIT of a block or register differs between a run and the first."""

    name: str
    """The block, or the path of the register."""
    block: str
    """The block that it is, or lies in."""
    first: Ordered | None
    """FIT in the first run; null where that does not have it, or nothing is known of it."""
    other: Ordered | None
    """FIT in the other run; null likewise."""
    difference: RecordedInterval | None
    """The other less the first, of any sign: estimate, lower and upper limit; null where one has none."""
    mark: Annotated[str, OneOf(MARKS)]
    """`new` or `gone` of what only one of them has; `higher` or `lower` where the limits leave out 0."""


class Difference(Typed):
    """How the FIT of a run differs from that of the first."""

    of: str
    """The run."""
    fit: RecordedInterval
    """Its FIT less that of the first, of any sign: estimate, lower and upper limit."""
    ratio: Amount | None
    """Its FIT as a multiple of that of the first; null if that has none."""
    blocks: tuple[PartDifference, ...]
    """Of each block."""
    registers: tuple[PartDifference, ...]
    """Of each register, the largest differences first; none where one of the two is an estimate, or its
    injections were not spread evenly."""


class Comparison(Typed):
    """Runs side by side."""

    confidence: float
    """With which intervals hold."""
    runs: tuple[ComparedRun, ...]
    """In the order of the command line."""
    differences: tuple[Difference, ...]
    """Of each other run to the first."""
    warnings: tuple[str, ...]
    """What else differs than what a comparison is about."""
