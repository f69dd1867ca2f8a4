# SPDX-License-Identifier: Apache-2.0
"""Both views of the host in each injected cell of a study, and the corners that decide."""

from __future__ import annotations

from resil.record import numbers
from resil.record.study import StudyRecord, injected_cells
from resil.record.study_cell import CellView
from resil.reports.table import Column, Table
from resil.reports.tables import fit_cell


def corner_table(study: StudyRecord) -> Table | None:
    """Return what decides each injected cell, in both views of the host; None where nothing was injected."""
    rows = [
        (cell.target, cell.network, shown, *_view(view))
        for cell, found in injected_cells(study.cells)
        for shown, view in (("unaided", found.unaided), ("reaction", found.aided))
    ]
    if not rows:
        return None
    columns = (
        *(Column(head, numeric=False) for head in ("target", "network", "host", "verdict")),
        Column("FIT"),
        Column("decided at", numeric=False),
        *map(Column, ("FIT there", "SPFM at least")),
        Column("decided at", numeric=False),
    )
    return Table(
        "Unprotected, with nobody to react and with a reaction, and what decides", columns, tuple(rows)
    )


def _view(view: CellView) -> tuple[str, ...]:
    least = view.spfm_corner_lo
    return (
        view.verdict,
        numbers.NOT_KNOWN if view.fit is None else fit_cell(view.fit),
        view.corner or numbers.NOT_KNOWN,
        numbers.NOT_KNOWN if view.corner_fit is None else fit_cell(view.corner_fit),
        numbers.NOT_KNOWN if least is None else numbers.spfm(least),
        view.spfm_corner or numbers.NOT_KNOWN,
    )
