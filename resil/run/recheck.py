# SPDX-License-Identifier: Apache-2.0
"""Whether what runs now is what a run folder was made with: the run without a fault, some rows again."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from resil.errors import StoreError
from resil.folder.parts import read_part
from resil.folder.recorded_injection import RecordedInjection
from resil.folder.row_maker import outcome_columns
from resil.folder.store import RunFolder
from resil.record.provenance import Provenance
from resil.rtl_harness.engine.contract import CampaignEngine, GoldenRun

# Of the injections that a folder holds, so many are simulated again before others join them.
_AGAIN = 3
_REMEDY = (
    "the folder was made with another design or simulator, though nothing that defines the campaign differs; "
    "restore what has changed, or choose another folder with --out and run all of it again"
)


def golden_digests(goldens: Sequence[GoldenRun]) -> tuple[str, ...]:
    """Return a digest of all that is known of each input's run without a fault."""
    return tuple(sha256(repr(run).encode()).hexdigest() for run in goldens)


def require_same_golden(path: Path, provenance: Provenance, goldens: Sequence[GoldenRun]) -> None:
    """Raise StoreError unless the runs without a fault are those that the folder was made with."""
    here = golden_digests(goldens)
    if (there := provenance.golden) != here:
        differing = sum(a != b for a, b in zip(there, here, strict=False))
        raise StoreError(
            f"{path}: expected the runs without a fault that it was made with, found {differing or 'all'} of "
            f"{len(here)} different; {_REMEDY}",
            "golden",
        )


def require_same_rows(
    folder: RunFolder, engines: Sequence[CampaignEngine], labels: Sequence[int], seed: int
) -> None:
    """Simulate a few injections that a folder holds again, drawn by the seed.

    Args:
        folder: The run; every part of it has been read and found whole.
        engines: One for each input.
        labels: Label of each input.
        seed: Of the campaign.

    Raises:
        StoreError: One of them comes to another end.
    """
    parts = folder.parts_from(0)
    draw = np.random.default_rng([seed, folder.next_part])
    for number in sorted(draw.choice(len(parts), min(_AGAIN, len(parts)), replace=False).tolist()):
        rows = read_part(parts[number], folder.identity.digest)
        if rows.num_rows:
            row = rows.slice(int(draw.integers(rows.num_rows)), 1)
            kept = RecordedInjection.of(row)
            if text := _difference(kept, engines, labels):
                raise StoreError(f"{folder.path}: {text}; {_REMEDY}", f"injections[{kept.number}]")


def _difference(kept: RecordedInjection, engines: Sequence[CampaignEngine], labels: Sequence[int]) -> str:
    """Return in words by what an injection comes to another end than it was kept with; "" if by nothing."""
    again = engines[labels.index(kept.input)].replay(kept.fault)
    for name, (found,) in outcome_columns([again]).items():
        if kept.came_of_it[name] != found:
            return (
                f"injection {kept.number} ({kept.path}, cycle {kept.fault.cycle}) was kept with {name} "
                f"{kept.came_of_it[name]!r}, found {found!r} when it was simulated again"
            )
    return ""
