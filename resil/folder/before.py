"""Results that a run folder holds already: nothing that rests on fewer injections takes their place."""

from __future__ import annotations

from pathlib import Path

from resil.errors import StoreError
from resil.faults.content import Content
from resil.files import json_text, write_bytes, write_text
from resil.folder.provenance import RUN
from resil.folder.store import CAMPAIGN, PROVENANCE, RunFolder
from resil.folder.whole import RESULTS, seal, sealed_summary


def require_as_many(out: Path, injections: int) -> None:
    """Raise StoreError if the results in a run folder rest on more than these injections."""
    known = sealed_summary(out)
    if known is not None and known["total"]["injections"] > injections:
        raise StoreError(
            f"{out}: holds the results of {known['total']['injections']:,} injections, which this campaign "
            f"would replace by those of {injections:,}; ask for as many ([faults] injections), or choose "
            "another folder with --out"
        )


class Before:
    """A run folder as it was when it was opened.

    Args:
        folder: The folder.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._facts = folder.provenance()
        self.finished = self._facts["finished"] is not None and sealed_summary(folder.path) is not None
        file = folder.path / CAMPAIGN
        self._campaign = file.read_bytes() if file.exists() else b""

    def restore(self, content: Content) -> None:
        """Put back what results rest on, with the injections that came since."""
        path = self._folder.path
        write_bytes(path / CAMPAIGN, self._campaign)
        sealed = seal(path, RUN, content)
        write_text(path / PROVENANCE, json_text(self._facts | {RESULTS: sealed}))
