# SPDX-License-Identifier: Apache-2.0
"""How figures go with the size of the array, in `study.json`."""

from __future__ import annotations

from typing import Annotated

from resil.record.interval import RecordedInterval
from resil.record.typed import Count, OneOf, Typed

FIT, BITS, RAW_FIT, AREA = FIGURES = ("fit", "bits", "raw fit", "area")
GROWS, SHRINKS, CONSTANT, NOT_SHOWN = TRENDS = ("grows", "shrinks", "constant", "not shown")


class Trend(Typed):
    """How a figure of a block goes with the size of the array."""

    what: Annotated[str, OneOf(FIGURES)]
    """The figure: `fit`, `bits`, `raw fit` or `area`."""
    block: str
    """The block, or `total`."""
    values: tuple[RecordedInterval, ...]
    """On each target: estimate, lower and upper limit."""
    per_doubling: RecordedInterval
    """What a doubling of the size adds, of any sign: estimate, lower and upper limit."""
    trend: Annotated[str, OneOf(TRENDS)]
    """`constant` is known exactly, and the same on all targets; `not shown`: the limits hold 0."""


class Growth(Typed):
    """Trends over targets that differ in one parameter, from injected cells alone."""

    parameter: str | None
    """The parameter that sets the targets apart; null if there are no trends."""
    targets: tuple[str, ...]
    """Targets, by size."""
    sizes: tuple[Count, ...]
    """Value of the parameter on each."""
    networks: tuple[str, ...]
    """Networks that were injected into on all of them: FIT is the mean over these."""
    trends: tuple[Trend, ...]
    """Of each figure of each block."""
    reason: str
    """Why there are none; "" if there are."""
