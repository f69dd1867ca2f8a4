# SPDX-License-Identifier: Apache-2.0
"""What all cells of a study say together; nothing that was not injected, or is not there, counts as met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from resil.errors import ExitCode
from resil.record.study import NOT_REACHED, UNASSESSED, StudyRecord, StudyVerdict, injected_cells
from resil.record.study_cell import (
    FAILED,
    INCONCLUSIVE,
    MET,
    MISSED,
    NONE,
    NOT_ASSESSED,
    WAITING,
    CellRecord,
)

_ORDER = (MISSED, FAILED, WAITING, INCONCLUSIVE, NOT_ASSESSED, MET, NONE)


def study_verdict(cells: Sequence[CellRecord]) -> StudyVerdict:
    """Return the verdict of all cells of a study together.

    The study is met if each cell is, by injections into it: such a claim needs no correction for many cells,
    since it is wrong only if one of them is. It is missed if one is missed; among many cells one may be so by
    chance, which the reason says.
    """
    counts = Counter(cell.verdict for cell in cells)
    reason = f"{len(cells)} cells: {', '.join(f'{counts[word]} {word}' for word in _ORDER if counts[word])}."
    if foreseen := sum(cell.predicted and cell.results is not None for cell in cells):
        reason += f" {foreseen} predicted without an injection: they decide nothing."
    if remarked := sum(cell.results is not None and bool(cell.results.golden) for cell in cells):
        reason += f" {remarked} with a golden output that is not known to be the network's."
    met = [cell for cell, _ in injected_cells(cells) if cell.verdict == MET]
    if counts[MISSED]:
        if counts[MET]:
            reason += " Each verdict holds at its own confidence: among many cells a miss may be chance."
        return StudyVerdict(result=MISSED, reason=reason)
    if cells and len(met) == len(cells):
        return StudyVerdict(result=MET, reason=reason)
    if cells and counts[NONE] == len(cells):
        return StudyVerdict(result=NONE, reason=f"{reason} No budget and no claim was given.")
    return StudyVerdict(result=INCONCLUSIVE, reason=reason)


def study_code(record: StudyRecord) -> ExitCode:
    """Return the exit code: what failed in resil or its audit comes first, then a miss, then what failed."""
    if any(cell.internal for cell in record.cells):
        return ExitCode.INTERNAL
    result = record.verdict.result
    if result == MISSED or any(
        own.result == NOT_REACHED or own.confirmed is False for own in record.protection
    ):
        return ExitCode.MISSED
    if any(cell.verdict == FAILED for cell in record.cells):
        return ExitCode.USAGE
    if result == INCONCLUSIVE or any(own.result == UNASSESSED for own in record.protection):
        return ExitCode.INCONCLUSIVE
    return ExitCode.MET
