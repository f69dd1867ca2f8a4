# SPDX-License-Identifier: Apache-2.0
"""Every look at protected RTL, in a ledger that is only added to: registered before it, finished after it.

An entry holds the hash of the one before it. There are two copies, in the user's data folder and in the
build: the build's is the ledger as it was at the last look there, so it is a beginning of the other. How many
entries there were then, with the hash of the last, is also in the runs that chose: both copies cut alike are
noticed by that. What is not noticed: all of these put back together to what they were before a look, and a
build with its runs taken to where no ledger knows of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from filelock import FileLock
from pydantic import Field, ValidationError

from resil.errors import StoreError
from resil.files import read_bytes, write_text
from resil.folder.looks import (
    FINISHED,
    LEDGER,
    REGISTERED,
    RESTORE,
    LedgerEntry,
    ProtectionLook,
    entries_of,
    results_of,
)
from resil.layout import data_folder
from resil.record.typed import Count, Typed, failure_text

HEAD = "confirmations-head.json"


class LedgerHead(Typed):
    """How far the ledger had come at the last look, kept in a run that chose."""

    schema_number: Literal[1] = Field(default=1, alias="schema")
    """Of the file."""
    entries: Count
    """How many there were."""
    digest: str
    """Hash of the last."""


class LookLedger:
    """Both copies, compared with each other and with what runs know of them.

    Attributes:
        entries: All of them, of all RTL.
    """

    def __init__(self, build: Path | None = None, runs: Sequence[Path] = ()) -> None:
        """Read both copies.

        Args:
            build: Folder of the build; None where none is there yet.
            runs: Folders of the runs that chose, which keep how far it had come.

        Raises:
            StoreError: A copy was edited, cut or reordered, or both were cut alike.
        """
        self._heads = [run / HEAD for run in runs]
        self._files = [data_folder() / LEDGER, *([build / LEDGER] if build is not None else [])]
        self.entries = self._read()

    def results(self) -> list[tuple[ProtectionLook, bool | None]]:
        """Return each look with what came of it, None where it was begun and not ended."""
        return results_of(self.entries)

    def register(self, look: ProtectionLook) -> None:
        """Write down a look, before its first injection; StoreError if it cannot be."""
        self._add(REGISTERED, look, None)

    def finish(self, look: ProtectionLook, *, confirmed: bool) -> None:
        """Write down what came of a look; StoreError if it cannot be."""
        self._add(FINISHED, look, confirmed)

    def _add(self, kind: str, look: ProtectionLook, confirmed: bool | None) -> None:
        own = self._files[0]
        try:
            own.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"{own.parent}: cannot be made ({error.strerror}); set RESIL_DATA to a folder that you may "
                "write to",
                "RESIL_DATA",
            ) from error
        with FileLock(f"{own}.lock"):
            before = self._read()
            begun = [e.look for e in before[len(self.entries) :] if e.look.rtl == look.rtl]
            if kind == REGISTERED and begun:
                raise StoreError(
                    f"{look.folder}: another confirmation of this RTL began meanwhile, in {begun[0].folder}; "
                    "wait for its result",
                    "another look",
                )
            entry = LedgerEntry(
                sequence=len(before),
                previous=before[-1].digest if before else "",
                kind=kind,
                look=look,
                confirmed=confirmed,
            ).sealed()
            self.entries = (*before, entry)
            for file in self._files:
                write_text(file, "".join(e.model_dump_json(by_alias=True) + "\n" for e in self.entries))
            head = LedgerHead(entries=len(self.entries), digest=entry.digest)
            for file in self._heads:
                write_text(file, head.model_dump_json(by_alias=True) + "\n")

    def _read(self) -> tuple[LedgerEntry, ...]:
        whole, *copies = [entries_of(file) for file in self._files]
        for copy in copies:
            if whole[: len(copy)] != copy:
                raise StoreError(
                    f"{self._files[0]}: expected all {len(copy):,} entries of its copy "
                    f"{self._files[1]}, found {len(whole):,}, or others: one of both was cut or edited; "
                    f"{RESTORE}",
                    "ledger.copy",
                )
        for file in self._heads:
            head = _head(file)
            if head is not None and (
                len(whole) < head.entries or whole[head.entries - 1].digest != head.digest
            ):
                raise StoreError(
                    f"{self._files[0]}: expected the {head.entries:,} entries that {file} knows of, found "
                    f"{len(whole):,}, or others: the ledger was cut or written anew; {RESTORE}",
                    "ledger.head",
                )
        return whole


def _head(file: Path) -> LedgerHead | None:
    """Return how far the ledger had come by a run; None if it knows of no look."""
    if not file.exists():
        return None
    try:
        return LedgerHead.model_validate_json(read_bytes(file, RESTORE))
    except ValidationError as error:
        raise StoreError(f"{file}: {failure_text(error)}; {RESTORE}", "ledger") from None


def shared_confidence(confidence: float, number: int) -> float:
    """Return the confidence of a look, so that the errors of all looks add up to that of the campaign.

    The k-th has a part of 1 / (k (k + 1)) of the error; all of them together have all of it.

    Examples:
        >>> [round(shared_confidence(0.95, number), 4) for number in (1, 2, 3)]
        [0.975, 0.9917, 0.9958]
    """
    return 1.0 - (1.0 - confidence) / (number * (number + 1))
