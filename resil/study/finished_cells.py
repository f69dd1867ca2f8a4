# SPDX-License-Identifier: Apache-2.0
"""Which cells of a study an earlier go has finished: these are only read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from resil.campaign.campaign import Campaign, load_campaign
from resil.campaign.text import campaign_text
from resil.errors import ConsistencyError, ResilError
from resil.folder.finished import Finished, finished_results
from resil.folder.store import CAMPAIGN
from resil.prepare.identity import library_digest
from resil.record.provenance import ESTIMATE, RUN
from resil.record.study import StudyRecord
from resil.record.study_cell import CellRecord
from resil.run.input_plan import as_planned
from resil.study.answers import CellBasis
from resil.study.study import StudyCell


def finished_cell(
    cell: StudyCell, out: Path, earlier: StudyRecord | None
) -> tuple[Finished, Finished | None] | None:
    """Return what the folders of a cell hold, if an earlier go has ended with just that.

    Any other folder may have been made from another network or target, or its safety rows by fewer permanent
    faults than there are now: it is for the campaign to look at, which makes again only what is missing.

    Args:
        cell: The cell.
        out: Folder of the study.
        earlier: Content of its `study.json`; None if there is none.

    Returns:
        Its run or estimate, and the run of permanent faults that its safety rows use; None if something is
        left to do.
    """
    permanent = None
    if cell.permanent is not None:
        permanent = finished_folder(out / cell.permanent_folder, cell.permanent, RUN)
        if permanent is None:
            return None
    found = finished_folder(out / cell.folder, cell.campaign_in(out), ESTIMATE if cell.predicted else RUN)
    if found is None or CellBasis.of(found, permanent) != _earlier_basis(cell, earlier):
        return None
    return found, permanent


def _earlier_basis(cell: StudyCell, earlier: StudyRecord | None) -> CellBasis | None:
    """Return what was behind the results of a cell in an earlier go; None if it had none."""
    cells: Sequence[CellRecord] = () if earlier is None else earlier.cells
    results = next((own.results for own in cells if own.run == cell.folder), None)
    return None if results is None else CellBasis(results.basis, results.permanent_basis)


def finished_folder(folder: Path, campaign: Campaign, kind: str) -> Finished | None:
    """Return what a folder holds, if it is of that kind, all that is asked, and areas are by the library."""
    try:
        found = finished_results(folder)
        recorded = load_campaign(folder / CAMPAIGN)
        library = library_digest(campaign.liberty)
    except (ResilError, ConsistencyError, OSError):
        return None
    if _asked(recorded) != _asked(as_planned(campaign, folder)) or found.kind != kind:
        return None
    return found if kind == ESTIMATE or found.summary.target.area_library == library else None


def _asked(campaign: Campaign) -> str:
    """Return what a campaign asks for, whoever carries it out."""
    execution = replace(campaign.execution, workers=None, farm=None, recall=False)
    return campaign_text(replace(campaign, execution=execution))
