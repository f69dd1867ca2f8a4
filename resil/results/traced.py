# SPDX-License-Identifier: Apache-2.0
"""Faults whose spread was traced, for the page: what `resil explain` has left in a run folder."""

from __future__ import annotations

from pathlib import Path

from resil.folder.recorded import read_document
from resil.folder.store import PROVENANCE
from resil.record.detail import TraceLink
from resil.record.explanation import Explanation, FaultGroup
from resil.record.provenance import Provenance
from resil.record.trace import Trace

# Folder of the stories, in that of the run.
TRACES = "traces"


def story_file(injection: int) -> str:
    """Return where the story of an injection stands, from the run folder."""
    return f"{TRACES}/injection-{injection}.txt"


def traced_faults(folder: Path) -> tuple[TraceLink, ...]:
    """Return the examples of the groups that were found, the largest first.

    Nothing is said of an explanation of other injections than the folder holds now, nor of a story whose file
    is not there.

    Raises:
        StoreError: `explanation.json` is damaged or of another version.
    """
    file = folder / Explanation.FILE
    if not file.exists():
        return ()
    found = read_document(file, Explanation, Explanation.REMEDY)
    results = read_document(folder / PROVENANCE, Provenance, Provenance.REMEDY).results
    if results is None or results.content != found.content:
        return ()
    groups = {group.example: group for group in found.groups}
    return tuple(
        _link(found, groups[trace.injection], trace)
        for trace in found.traces
        if trace.injection in groups and (folder / story_file(trace.injection)).exists()
    )


def _link(found: Explanation, group: FaultGroup, trace: Trace) -> TraceLink:
    way = " to ".join(group.route)
    end = f"the way {way}, and {group.to}" if group.to else f"no path that was found ({group.problem})"
    share = f"{group.traced:,} of {found.traced:,} traced" + (
        "" if found.stopped == "all" else f", of {found.injections:,} there are"
    )
    return TraceLink(
        injection=group.example,
        path=trace.name,
        outcome=str(trace.outcome["outcome"]),
        story=f"{share} have {end}; here {group.fewest_moves:,} moves.",
        href=story_file(group.example),
    )
