# SPDX-License-Identifier: Apache-2.0
"""The two claims of the study of the Ethos-U55, and the numbers that support or refute them here.

Reference: arXiv 2404.09317, abstract: configurations of the NPU do not meet ASIL-D unprotected, and selective
protection does, for 38 % of area instead of lockstep's 100 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from resil.record.interval import RecordedInterval
from resil.record.study import (
    NOT_NEEDED,
    OPEN,
    REACHED,
    REFUTED,
    SUPPORTED,
    Claim,
    TargetProtection,
    injected_cells,
)
from resil.record.study_cell import MET, MISSED, NONE, CellRecord, CellResults, CellView

SHORT = "Unprotected, every configuration falls short of what is asked."
SELECTIVE = "Selective protection suffices for every configuration, at less area than lockstep."

Cells = Sequence[CellRecord]
Views = Sequence[tuple[CellRecord, CellResults, CellView]]
_AIDED = "with the error flag and a reaction"


def claims(cells: Cells, protection: Sequence[TargetProtection]) -> tuple[Claim, Claim]:
    """Return the two claims, each with its evidence.

    The first is refuted by a configuration on which every network was injected and meets what is asked, the
    second by one whose set takes no less area than lockstep; where no set was shown to suffice, more
    injections may show one. It is supported only by sets that keep the budget, and the SPFM that cells claim,
    at every corner of the raw rates, that new injections into the protected RTL have confirmed, and for which
    no limit was waived. It holds where somebody reacts to what is detected: what is left unaided is said.

    Args:
        cells: Of all targets.
        protection: Likewise.
    """
    targets = list(dict.fromkeys(cell.target for cell in cells))
    own = {target: [cell for cell in cells if cell.target == target] for target in targets}
    rows = {row.target: row for row in protection}
    falls = [_falls_short(own[target]) for target in targets]
    needed = {target: _Needed.of(own[target]) for target in targets}
    suffices = [_suffices(rows.get(target), needed[target]) for target in targets]
    unprotected = tuple(f"{target}: {_unprotected(own[target])}" for target in targets)
    protected = tuple(f"{target}: {_protected(rows.get(target), needed[target])}" for target in targets)
    return (
        Claim(claim=SHORT, result=_joined(falls), evidence=unprotected),
        Claim(claim=SELECTIVE, result=_joined(suffices), evidence=protected),
    )


def _joined(results: Sequence[str]) -> str:
    """Return what holds of all configurations; one that refutes is enough, and without any all is open."""
    if REFUTED in results:
        return REFUTED
    return SUPPORTED if results and set(results) == {SUPPORTED} else OPEN


def _falls_short(cells: Cells) -> str:
    alone = [found.unaided.verdict for _, found in injected_cells(cells)]
    if MISSED in alone:
        return SUPPORTED
    whole = len(alone) == len(cells) and bool(cells)
    return REFUTED if whole and set(alone) == {MET} else OPEN


def _unprotected(cells: Cells) -> str:
    injected = injected_cells(cells)
    if not injected:
        return "no network was injected"
    if all(cell.verdict == NONE for cell, _ in injected):
        return "nothing was asked"
    missed = sum(found.unaided.verdict == MISSED for _, found in injected)
    aided = sum(cell.verdict == MISSED for cell, _ in injected)
    text = f"{missed} of {len(cells)} networks miss unaided, {aided} {_AIDED}"
    if len(injected) < len(cells):
        text += f", {len(cells) - len(injected)} not injected"
    unaided = [(cell, found, found.unaided) for cell, found in injected]
    reacting = [(cell, found, found.aided) for cell, found in injected]
    text += _highest("unaided", unaided) + _highest(_AIDED, reacting)
    return text + _lowest("unaided", unaided) + _lowest(_AIDED, reacting)


def _highest(view: str, cells: Views) -> str:
    """Return the highest FIT of one view, at the corner that decides; "" if it is known of no cell."""
    known = [
        (fit, cell, found, own)
        for cell, found, own in cells
        if (fit := own.corner_fit or own.fit) is not None
    ]
    if not known:
        return ""
    fit, cell, found, own = max(known, key=lambda one: one[0].hi)
    at = f" at the {own.corner}" if own.corner else ""
    budget = "" if found.budget_fit is None else f", budget {found.budget_fit:g}"
    return f"; highest {view} {_fit(fit)} FIT{at} on {cell.network}{_centre(own)}{budget}"


def _centre(own: CellView) -> str:
    if own.fit is None or own.fit == own.corner_fit:
        return ""
    return f" (centre {_fit(own.fit)})"


def _fit(fit: RecordedInterval) -> str:
    middle = "not known" if fit.estimate is None else f"{fit.estimate:.3g}"
    return f"{middle} [{fit.lo:.3g}, {fit.hi:.3g}]"


def _lowest(view: str, cells: Views) -> str:
    """Return the lowest SPFM of one view, and what is asked; "" if it is known of no cell."""
    known = [(own.spfm, cell, found, own) for cell, found, own in cells if own.spfm is not None]
    if not known:
        return ""
    spfm, cell, found, own = min(known, key=lambda one: min(one[0].lo, _corner_lo(one[3])))
    middle = "not known" if spfm.estimate is None else f"{spfm.estimate:.2%}"
    at = ""
    if own.spfm_corner_lo is not None:
        at = f", at least {own.spfm_corner_lo:.2%} at the {own.spfm_corner}"
    asked = "" if found.spfm_asked is None else f", asked {found.spfm_asked:.2%}"
    return f"; lowest SPFM {view} {middle} [{spfm.lo:.2%}, {spfm.hi:.2%}]{at} on {cell.network}{asked}"


def _corner_lo(own: CellView) -> float:
    return 1.0 if own.spfm_corner_lo is None else own.spfm_corner_lo


@dataclass(frozen=True)
class _Needed:
    """What a set of protection has to keep on a target, since its cells are asked for it; None: nothing."""

    fit: float | None
    spfm: float | None

    @staticmethod
    def of(cells: Cells) -> _Needed:
        """Return the least budget, and the most SPFM, of cells that have one."""
        found = [cell.results for cell in cells if cell.results is not None]
        budgets = [own.budget_fit for own in found if own.budget_fit is not None]
        spfms = [own.spfm_asked for own in found if own.spfm_asked is not None]
        return _Needed(min(budgets, default=None), max(spfms, default=None))

    def lacking(self, row: TargetProtection) -> list[str]:
        """Return what a chosen set is not shown to keep at every corner of the raw rates, in words."""
        found = [f"WAIVED: {text}" for text in row.waived]
        if self.fit is not None and (row.fit_hi is None or row.fit_hi > self.fit):
            found.append(f"more than the budget of {self.fit:g}")
        if self.spfm is not None and (row.spfm_lo is None or row.spfm_lo < self.spfm):
            found.append(f"SPFM not shown to be the {self.spfm:.2%} that is claimed")
        return found


def _unaided(most: float, needed: _Needed) -> str:
    """Return what a set leaves if nobody reacts: mechanisms that only detect are worth nothing then."""
    more = needed.fit is not None and most > needed.fit
    return f"unaided at most {most:.3g} FIT{', which is more than the budget' if more else ''}"


def _suffices(row: TargetProtection | None, needed: _Needed) -> str:
    if row is None or row.result != REACHED or row.overhead is None:
        return OPEN
    lockstep = row.overhead_lockstep
    if lockstep is not None and row.overhead >= lockstep:
        return REFUTED
    if needed.lacking(row):
        return OPEN
    return SUPPORTED if lockstep is not None and row.confirmed is True else OPEN


def _protected(row: TargetProtection | None, needed: _Needed) -> str:
    if row is None:
        return "no protection was asked for"
    if row.result == NOT_NEEDED:
        return f"none is needed: {row.reason}"
    if row.result != REACHED or row.overhead is None:
        return f"{row.result}: {row.reason}"
    lockstep = row.overhead_lockstep
    text = f"+{row.overhead:.2%} area"
    text += "" if lockstep is None else f" where lockstep takes +{lockstep:.0%}"
    at = f" at the {row.corner}" if row.corner else ""
    text += (
        ""
        if row.fit_hi is None
        else f", {_AIDED} at most {row.fit_hi:.3g} FIT{at} on {len(row.networks)} networks"
    )
    text += "" if row.unaided_hi is None else f", {_unaided(row.unaided_hi, needed)}"
    text += "" if row.spfm_lo is None else f", SPFM at least {row.spfm_lo:.2%} at every corner"
    if lacking := needed.lacking(row):
        text += f" ({'; '.join(lacking)})"
    confirmed = {
        True: "confirmed by injection",
        False: "not confirmed by injection",
        None: "not injected into",
    }
    return f"{text}; {confirmed[row.confirmed]}"
