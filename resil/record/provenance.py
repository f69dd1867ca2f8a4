# SPDX-License-Identifier: Apache-2.0
"""What made a folder of results: `provenance.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from resil.record.typed import Amount, Count, Document, OneOf, Typed

RUN = "run"
ESTIMATE = "estimate"


class AuditedKind(Typed):
    """Answers of a kind, and how many of them an audit has tried."""

    answers: Count
    """Answers of this kind."""
    tried: Count
    """Those of them that were run to the end; none may differ."""


class AuditRecord(AuditedKind):
    """What audits of the engine's early stops have covered."""

    parts: Count
    """Part files that are audited."""
    kinds: Mapping[str, AuditedKind]
    """The same by kind of early stop."""
    workers: AuditedKind | None
    """Rows that other workers have simulated again; null without a farm."""


class Seal(Typed):
    """Digests of what stood in the folder when it was finished: what was altered since is refused."""

    files: Mapping[str, str]
    """SHA-256 by name of file."""
    injections: Count | None
    """Injections that the part files hold; null of an estimate."""
    content: str | None
    """SHA-256 of what they hold; null of an estimate."""


class Provenance(Document):
    """What made the results of a folder, and whether they may be used."""

    FILE: ClassVar[str] = "provenance.json"
    SCHEMA: ClassVar[Literal[16]] = 16
    REMEDY: ClassVar[str] = (
        "move the folder away or choose another one with --out, and run the campaign again"
    )

    schema_number: Literal[16] = Field(alias="schema")
    """Of a folder of results: another one is of another version, and is refused."""
    kind: Annotated[str, OneOf((RUN, ESTIMATE))]
    """What made the folder: `run` or `estimate`."""
    resil: str
    """Version of resil."""
    python: str
    """Version of Python."""
    platform: str
    """Operating system and processor."""
    versions: Mapping[str, str]
    """Version of each package that counts."""
    seed: int
    """The seed that all random choices come from."""
    command: tuple[str, ...]
    """The command line."""
    hashes: Mapping[str, str]
    """SHA-256 of network, target, RTL and others; `campaign` is the identity of a run: injections of one
    identity can be joined."""
    definition: Mapping[str, str]
    """What the identity is a digest of, part by part; empty of an estimate."""
    started: str
    """When the work began (ISO 8601, UTC)."""
    finished: str | None
    """When it ended; null while it has not."""
    workers: Count
    """Simulator processes."""
    seconds: Amount
    """Time that all sessions took, in seconds."""
    golden_seconds: Amount
    """Time that the runs without a fault took, of all inputs together, in seconds."""
    golden: tuple[str, ...]
    """Digests of the runs without a fault, one an input; empty of an estimate."""
    audit: AuditRecord | None
    """What the engine's audits have covered; null before the first."""
    recalled: Count
    """Injections whose outcomes were taken from earlier campaigns, and not simulated; of merged runs
    the sum."""
    failed: str | None
    """Why an audit has failed: the results are void; else null."""
    results: Seal | None
    """Digests of the results; null while there are none, and in the copy inside `summary.json`."""
