# SPDX-License-Identifier: Apache-2.0
"""What `resil check` says of a campaign, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from resil.record.typed import Count, OneOf, Typed

PASSED, FAILED, NOT_RUN = STATES = ("passed", "failed", "not run")
STEPS = ("campaign", "design", "storage", "golden run", "fast engine", "both engines")


class CheckStep(Typed):
    """One step of a check."""

    name: Annotated[str, OneOf(STEPS)]
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
