# SPDX-License-Identifier: Apache-2.0
"""Results that a run folder holds already: nothing that rests on fewer injections takes their place.

A tighter margin is the exception: whoever asks for one and gets it may need fewer injections than were made
for the wider one, for each look at the results on the way there has cost some.
"""

from __future__ import annotations

from math import inf
from pathlib import Path

from resil.errors import StoreError
from resil.faults.content import Content
from resil.files import write_bytes, write_text
from resil.folder.finished import seal, sealed_summary
from resil.folder.store import CAMPAIGN, PROVENANCE, RunFolder
from resil.record.blocks import Total
from resil.record.provenance import RUN
from resil.record.summary import Summary


def require_as_many(out: Path, injections: int) -> None:
    """Raise StoreError if the results in a run folder rest on more than these injections."""
    known = sealed_summary(out)
    if known is not None and known.total.injections > injections:
        raise StoreError(
            f"{out}: holds the results of {known.total.injections:,} injections, which this campaign "
            f"would replace by those of {injections:,}; ask for as many ([faults] injections), or choose "
            "another folder with --out",
            "faults.injections",
        )


def require_as_good(out: Path, summary: Summary) -> None:
    """As `require_as_many`, for results that are there now; those that keep a tighter margin may be fewer."""
    known = sealed_summary(out)
    if known is None or not _kept_tighter(summary, known):
        require_as_many(out, summary.total.injections)


def _kept_tighter(summary: Summary, known: Summary) -> bool:
    """Return whether a total is known to a margin that is below that of earlier results, and better."""
    own, before = summary.sampling, known.sampling
    if own is None or own.margin is None or before is None or before.margin is None:
        return False
    kept = own.margin < before.margin and own.reason == "margin"
    return kept and _half_width(summary.total) <= _half_width(known.total)


def _half_width(total: Total) -> float:
    """Return half of the width of the interval of FIT as part of the estimate; infinite without a failure."""
    return (total.fit_hi - total.fit_lo) / 2.0 / total.fit if total.fit else inf


class Before:
    """A run folder as it was when it was opened.

    Args:
        folder: The folder.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._facts = folder.provenance()
        self.finished = self._facts.finished is not None and sealed_summary(folder.path) is not None
        file = folder.path / CAMPAIGN
        self._campaign = file.read_bytes() if file.exists() else b""

    def restore(self, content: Content) -> None:
        """Put back what results rest on, with the injections that came since."""
        path = self._folder.path
        write_bytes(path / CAMPAIGN, self._campaign)
        sealed = seal(path, RUN, content)
        write_text(path / PROVENANCE, self._facts.changed(results=sealed).text())
