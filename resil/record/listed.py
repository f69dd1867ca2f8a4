# SPDX-License-Identifier: Apache-2.0
"""What came of a fault list, injected here or elsewhere: `listed.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from resil.record.typed import Count, Document, OneOf, Share, Typed

# What fault simulators say of a fault; docs/how-to/fault-lists.md maps it to outcomes and to ISO 26262.
# `untestable` is by structure; of the other two one says this for an input alone, and one nothing at all.
STATUSES = DETECTED, OBSERVED, LATENT, SAFE, UNTESTABLE, FUNCTIONALLY_UNTESTABLE, NOT_ATTEMPTED = (
    *("detected", "observed", "latent", "safe", "untestable"),
    *("functionally_untestable", "not_attempted"),
)
ORIGINS = SIMULATED, IMPORTED = ("simulated", "imported")


class ListedBlock(Typed):
    """Faults of a list in one block."""

    block: str
    """Its name; `total` for all."""
    faults: Count
    """How many of the list."""
    statuses: Mapping[str, Count]
    """How many of each status."""


class ListedCoverage(Typed):
    """Detected faults among those that were detected or observed, in the population that was drawn from."""

    estimate: Share
    """In the list; the ratio of weights if it has some."""
    lo: Share | None
    """Lower limit, 95 %, exact; null if the list is no random sample."""
    hi: Share | None
    """Upper limit, likewise."""


class ListedResults(Document):
    """What came of the faults of a list. No rates and no verdict: who made the list chose its faults."""

    FILE: ClassVar[str] = "listed.json"
    SCHEMA: ClassVar[Literal[3]] = 3
    REMEDY: ClassVar[str] = "make it again with: resil run CAMPAIGN.toml --faults LIST, or resil import"

    schema_number: Literal[3] = Field(alias="schema")
    """Of this file."""
    campaign: str
    """Name of the campaign whose design was struck."""
    target: str
    """Of the design."""
    origin: Annotated[str, OneOf(ORIGINS)]
    """`simulated` by resil, or `imported`: outcomes that another tool says, which resil has not checked."""
    engine: str
    """Engine that simulated them; "" if they were imported."""
    source: str
    """Name of the list or of the results."""
    digest: str
    """SHA-256 of that file."""
    random: bool
    """Whether whoever made the list says that it is a random sample of equally likely faults."""
    weighted: bool
    """Whether the list says by weights what each fault stands for."""
    blocks: tuple[ListedBlock, ...]
    """Of each block that the list strikes, then `total`."""
    coverage: ListedCoverage | None
    """Diagnostic coverage; null of a list that is no random sample and has no weights, and where nothing was
    detected or observed."""
    remarks: tuple[str, ...]
    """What limits what is said here."""
