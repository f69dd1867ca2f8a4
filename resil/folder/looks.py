# SPDX-License-Identifier: Apache-2.0
"""Looks at protected RTL as the ledger's lines hold them, and whether a confirmation stands there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from resil.errors import StoreError
from resil.files import read_bytes
from resil.layout import data_folder
from resil.record.protection_confirmation import Confirmation
from resil.record.typed import Count, OneOf, Share, Typed, failure_text

LEDGER = "confirmations.jsonl"
REGISTERED, FINISHED = "registered", "finished"
RESTORE = (
    "restore it from a backup; without one this RTL cannot be confirmed: choose again, from other "
    "injections, and keep the ledger ($RESIL_DATA says where) with the project"
)


class Judge(Typed):
    """A hold-out network, by what it is and not by its name."""

    name: str
    """For people."""
    network: str
    """Digest of its weights, or of the memory images of a workload."""
    content: str
    """Digest of weights, inputs, and the rule that decides with its threshold as it takes effect."""
    injections: Count
    """Upsets that are made on it."""


class ProtectionLook(Typed):
    """A look at protected RTL."""

    rtl: str
    """Digest of the RTL."""
    folder: str
    """Of the build, for people."""
    runs: tuple[str, ...]
    """Identities of the runs that chose."""
    asked: str
    """Digest of what the plan promises and of how much is injected."""
    number: Count
    """Of the look at this RTL, from 1, whatever folder it lay in."""
    confidence: Share
    """Of this look, so that all looks at this RTL together keep the confidence of the campaign."""
    seed: int
    """Of the injections."""
    judges: tuple[Judge, ...]
    """What they were made on."""

    def bears_on(self, rtl: str, runs: Collection[str]) -> bool:
        """Whether it was at this RTL, or at one that rests on one of these runs."""
        return self.rtl == rtl or not set(runs).isdisjoint(self.runs)


class LedgerEntry(Typed):
    """A line of the ledger."""

    schema_number: Literal[1] = Field(default=1, alias="schema")
    """Of the line."""
    sequence: Count
    """From 0."""
    previous: str
    """Hash of the line before; "" of the first."""
    kind: Annotated[str, OneOf((REGISTERED, FINISHED))]
    """Before the first injection, or after the last."""
    look: ProtectionLook
    """The same in both."""
    confirmed: bool | None
    """Null before the end."""
    digest: str = ""
    """Hash of this line without this field."""

    def sealed(self) -> LedgerEntry:
        """Return the line with its hash."""
        text = self.model_dump_json(by_alias=True, exclude={"digest"})
        return self.changed(digest=sha256(text.encode()).hexdigest())


def entries_of(file: Path) -> tuple[LedgerEntry, ...]:
    """Return the entries of a copy, none if it is not there; StoreError if the chain is broken."""
    if not file.exists():
        return ()
    entries: list[LedgerEntry] = []
    for number, line in enumerate(read_bytes(file, RESTORE).splitlines()):
        try:
            entry = LedgerEntry.model_validate_json(line)
        except ValidationError as error:
            raise StoreError(
                f"{file}: line {number + 1}: {failure_text(error)}; {RESTORE}", f"line {number + 1}"
            ) from None
        previous = entries[-1].digest if entries else ""
        if (entry.sequence, entry.previous, entry.digest) != (number, previous, entry.sealed().digest):
            raise StoreError(
                f"{file}: line {number + 1}: expected entry {number} with a hash of its own content and of "
                f"the line before, found another: the ledger was edited, cut or reordered; {RESTORE}",
                f"line {number + 1}",
            )
        entries.append(entry)
    return tuple(entries)


def results_of(entries: Sequence[LedgerEntry]) -> list[tuple[ProtectionLook, bool | None]]:
    """Return each look with what came of it, None where it was begun and not ended."""
    found: dict[str, tuple[ProtectionLook, bool | None]] = {}
    for entry in entries:
        found[entry.look.model_dump_json()] = (entry.look, entry.confirmed)
    return list(found.values())


def not_confirmed_by(build: Path, found: Confirmation) -> str:
    """Return why looks do not say of an RTL that it is confirmed, in a sentence; "" if they do.

    The look that confirmed it has to stand in the copy of the ledger that the build keeps. Later looks, at
    the same RTL in whatever folder, are known from there and from the user's ledger.

    Args:
        build: Its folder.
        found: What its `confirmation.json` says.

    Raises:
        StoreError: One of both ledgers is damaged.
    """
    beside, users = (
        [(look, result) for look, result in results_of(entries_of(file)) if look.rtl == found.rtl_digest]
        for file in (build / LEDGER, data_folder() / LEDGER)
    )
    own = (found.look.number, found.seed)
    if not any(result and (look.number, look.seed) == own for look, result in beside):
        return (
            f"the ledger beside it has no look {own[0]} at this RTL, with seed {own[1]}, that confirmed it: "
            "confirmation.json was edited, or is of another build"
        )
    known: dict[str, tuple[ProtectionLook, bool | None]] = {}
    for look, result in (*users, *beside):
        # A copy that is behind does not know how a look ended.
        if result is not None or look.model_dump_json() not in known:
            known[look.model_dump_json()] = look, result
    for look, result in known.values():
        if look.number > own[0] and not result:
            ended = "was not ended" if result is None else "did not confirm it"
            return f"look {look.number} at this RTL, with seed {look.seed}, in {look.folder}, {ended}"
    return ""
