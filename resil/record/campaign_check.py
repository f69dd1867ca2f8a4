# SPDX-License-Identifier: Apache-2.0
"""What `resil check` says of a campaign, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from resil.record.typed import Count, OneOf, Typed

PASSED, FAILED, NOT_RUN = STATES = ("passed", "failed", "not run")
STEPS = ("campaign", "design", "storage", "golden run", "fast engine", "both engines")
# Of a check that was asked for it.
NETLIST = "netlist"
PROVEN, COMPARED, OPEN = KNOWN = ("proven", "compared", "open")


class CheckStep(Typed):
    """One step of a check."""

    name: Annotated[str, OneOf((*STEPS, NETLIST))]
    """What is tried."""
    state: Annotated[str, OneOf(STATES)]
    """What came of it; a step after one that failed is not run."""
    text: str
    """What was found; or what was expected, and what to do."""
    remarks: tuple[str, ...] = ()
    """What a user should know of it though it passed."""


class BlockStorage(Typed):
    """Storage of a block that is hardware."""

    block: str
    """Its name."""
    bits: Mapping[str, Count]
    """Bits by kind."""


class BlockEquivalence(Typed):
    """Whether the cells of a block are its RTL. All of them did the same in the golden run."""

    block: str
    """Path of its instance; what lies between blocks has that of what is around it."""
    state: Annotated[str, OneOf(KNOWN)]
    """`proven` for all inputs; `compared` in the golden run alone, since no proof was tried; `open` where one
    did not close, which does not say that they differ."""
    cycles: Count
    """Of the golden run, in which every flip-flop, memory write and alarm was compared."""
    text: str
    """Why it is not proven; empty if it is."""
    points: tuple[str, ...]
    """Where a proof is open: register bits and outputs."""
    unpaired: tuple[str, ...]
    """Likewise, register bits that only the RTL or only the netlist has by that name."""


class CampaignCheck(Typed):
    """All steps of a check."""

    campaign: str
    """The campaign file."""
    passed: bool
    """Whether every step has."""
    steps: tuple[CheckStep, ...]
    """In their order."""
    storage: tuple[BlockStorage, ...]
    """Of each block; empty if the design could not be read."""
    netlist: tuple[BlockEquivalence, ...]
    """Of each block, if that was asked for and the golden run showed no difference; else empty."""

    @property
    def unproven(self) -> bool:
        """Whether proofs were asked for and some block has none."""
        return any(own.state != PROVEN for own in self.netlist)
