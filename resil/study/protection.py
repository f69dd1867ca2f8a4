# SPDX-License-Identifier: Apache-2.0
"""What a study says of the protection of each target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from resil.record import protection as record
from resil.record.protection import INFEASIBLE, OPTIMAL
from resil.record.protection_state import ProtectionState
from resil.record.study import NOT_NEEDED, NOT_REACHED, REACHED, UNASSESSED, TargetProtection
from resil.record.study_cell import MET, CellRecord
from resil.study.study import ProtectionWanted

NOT_FINISHED = "the study is not finished"
_RESULTS = {OPTIMAL: REACHED, INFEASIBLE: NOT_REACHED, record.NOT_NEEDED: NOT_NEEDED}
_UNPROTECTED = "each network meets what was asked, unprotected, with the error flag and a host that reacts"


def unassessed(target: str, reason: str) -> TargetProtection:
    """Return the row of a target of whose protection nothing is known."""
    return TargetProtection(
        target=target,
        result=UNASSESSED,
        overhead=None,
        overhead_lockstep=None,
        networks=(),
        corner=None,
        fit_hi=None,
        unaided_hi=None,
        spfm_lo=None,
        waived=(),
        confirmed=None,
        plan=None,
        reason=reason,
    )


def settled(wanted: ProtectionWanted, target: str, cells: Sequence[CellRecord]) -> TargetProtection | None:
    """Return the row of a target for which nothing is to be chosen, None if something is.

    A set has to hold for all networks: where one of them was not injected, none is chosen.

    Args:
        wanted: What is asked.
        target: Its name.
        cells: Its own.
    """
    if missing := [cell.network for cell in cells if cell.results is None]:
        return unassessed(target, f"no results of {', '.join(missing)}")
    if predicted := [cell.network for cell in cells if cell.injected is None]:
        return unassessed(target, f"only predicted: {', '.join(predicted)}")
    plain = wanted.targets.names_none and not wanted.targets.waive
    if plain and all(cell.verdict == MET for cell in cells):
        networks = tuple(cell.network for cell in cells)
        return unassessed(target, _UNPROTECTED).changed(result=NOT_NEEDED, overhead=0.0, networks=networks)
    return None


def chosen(target: str, protection: ProtectionState) -> TargetProtection:
    """Return the row of a target for which a set was chosen, or found not to exist.

    Args:
        target: Its name.
        protection: As any of its networks keeps it.
    """
    plan = protection.plan
    result = _RESULTS[plan.result]
    reached = result != NOT_REACHED
    judged = plan.networks
    worst = max(judged, key=lambda own: own.corner_fit_hi, default=None)
    reasons = {
        NOT_NEEDED: "what is asked is kept unprotected, with the error flag and a host that reacts",
        REACHED: f"by {plan.granularity}, judged by injections that did not choose{_built(protection)}",
        NOT_REACHED: plan.reason,
    }
    return TargetProtection(
        target=target,
        result=result,
        overhead=protection.area_overhead if reached else None,
        overhead_lockstep=plan.area_overhead_lockstep,
        networks=tuple(own.network for own in judged),
        corner=worst.corner if worst and reached else None,
        fit_hi=worst.corner_fit_hi if worst and reached else None,
        unaided_hi=_furthest(max, [own.corner_unaided_hi for own in judged]) if reached else None,
        spfm_lo=_furthest(min, [own.corner_spfm_lo for own in judged]) if reached else None,
        waived=plan.waived,
        confirmed=protection.confirmed if result == REACHED else None,
        plan=plan.name,
        reason=reasons[result],
    )


def _furthest(pick: Callable[[Iterable[float]], float], limits: Sequence[float | None]) -> float | None:
    """Return the worst limit; None if it is not known of each network, or there is none."""
    known = [own for own in limits if own is not None]
    return pick(known) if known and len(known) == len(limits) else None


def _built(protection: ProtectionState) -> str:
    """Say what area is by, and why injections did not confirm a set, if they did not."""
    area = "synthesis of what was built" if protection.area_measured else "the options' figures"
    found = protection.confirmation
    missed = () if found is None or found.confirmed else found.reasons
    return f"; area by {area}" + (f"; not confirmed: {'; '.join(missed)}" if missed else "")
