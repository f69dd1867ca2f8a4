# SPDX-License-Identifier: Apache-2.0
"""Why a cell of a study is not decided: which row decides, and about how many injections would settle it."""

from __future__ import annotations

from collections.abc import Iterator

from resil.record import numbers
from resil.record.interval import RecordedInterval
from resil.record.settle import injections_to_settle
from resil.record.study_cell import DECIDED, INCONCLUSIVE, NOT_ASSESSED, CellRecord, CellResults

_OPEN = (INCONCLUSIVE, NOT_ASSESSED)


def open_reason(cell: CellRecord) -> str:
    """Return which rows keep an injected cell from a decision, and what would settle each; "" of others."""
    found = cell.injected
    if found is None or cell.verdict in DECIDED or cell.verdict not in _OPEN:
        return ""
    return "; ".join(_reasons(found))


def _reasons(found: CellResults) -> Iterator[str]:
    fit = found.aided.corner_fit or found.aided.fit or found.fit_interval
    if found.budget in _OPEN and found.budget_fit is not None:
        shown = f"{numbers.fit(fit.estimate)} {numbers.fit_range(fit)} FIT"
        yield (
            f"the FIT budget: {shown} at the {_corner(found.aided.corner)} against "
            f"{numbers.given(found.budget_fit)}{_more(fit, found.budget_fit, found)}"
        )
    elif found.budget in _OPEN:
        yield f"the FIT budget is {found.budget}"
    if found.safety not in _OPEN:
        return
    asked, least = found.spfm_asked, found.aided.spfm_corner_lo
    if asked is None or least is None or least >= asked:
        yield f"a safety claim is {found.safety}: the cell's own page says which row"
        return
    spfm = found.aided.spfm
    more = "" if spfm is None else _more(RecordedInterval(spfm.estimate, least, spfm.hi), asked, found)
    yield (
        f"SPFM: at least {numbers.spfm(least)} at the {_corner(found.aided.spfm_corner)}, "
        f"{numbers.spfm(asked)} claimed{more}"
    )


def _corner(name: str | None) -> str:
    return name or "centre of the raw rates"


def _more(interval: RecordedInterval, target: float, found: CellResults) -> str:
    """Return about how many injections would settle a row, as the end of a sentence."""
    wanted = injections_to_settle(interval, target, found.injections)
    made = numbers.count(found.injections)
    if wanted is None:
        return f"; the estimate is too near to that for a forecast from {made} injections"
    return f"; about {numbers.count(wanted)} injections would settle it if the estimate holds ({made} made)"
