# SPDX-License-Identifier: Apache-2.0
"""What can be said of a run before it has ended; no file, it is made anew at each look."""

from __future__ import annotations

from typing import Annotated

from resil.record.interval import RecordedInterval
from resil.record.typed import Amount, Count, OneOf, Typed

STATES = ("injecting", "ended", "failed", "not injecting")
ENDS = ("ended", "failed")
"""States after which no other comes."""


class InterimBlock(Typed):
    """A block of a run that has not ended."""

    block: str
    """The block."""
    planned: Count
    """Injections of this step."""
    ended: Count
    """Those that have ended."""
    hazardous: Count
    """Those of these with a hazardous outcome."""
    limits: RecordedInterval | None
    """FIT: no estimate; limits between which those of the finished step lie; null where none can be said."""


class Interim(Typed):
    """A run at one moment."""

    name: str
    """Of the campaign; "" if it is not known."""
    state: Annotated[str, OneOf(STATES)]
    """`ended`: its results may be used; `not injecting`: before, between or after injections, or killed."""
    note: str
    """What has to be said of it."""
    planned: Count
    """Injections of this step."""
    ended: Count
    """Those that have ended."""
    rate: Amount | None
    """Injections in a second since this session began; null before the first ones."""
    seconds_left: Amount | None
    """At that rate; the last injections take longer than the first. Null where it is not known."""
    pilot: bool
    """Whether this step only plans the others."""
    confidence: float | None
    """Of the limits; null where nothing is under way."""
    budget_fit: Amount | None
    """Null without a budget."""
    outcomes: tuple[Count, ...]
    """Injections that have ended, by outcome in report order."""
    total: RecordedInterval | None
    """As `limits` of blocks, of all."""
    blocks: tuple[InterimBlock, ...]
    """Each block that is injected into."""
