# SPDX-License-Identifier: Apache-2.0
"""A plan that was chosen before, for just the same: it is not chosen again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resil.errors import StoreError
from resil.folder.finished import Finished
from resil.folder.kept_plans import kept_plan
from resil.folder.recorded import is_amount
from resil.protection.targets import Targets
from resil.protection.units import Granularity
from resil.record.protection import RESULTS, SCHEMA

_NO_SET = "infeasible"


def kept_choice(
    found: Sequence[Finished],
    name: str,
    granularity: Granularity,
    asked: Targets,
    based_on: Sequence[Mapping[str, Any]],
) -> dict[str, Any] | None:
    """Return the plan kept in all these runs for what is asked, None if none is whole and holds."""
    try:
        plans = [kept_plan(own.path, name) for own in found]
    except StoreError:
        return None
    expected = {
        "schema": SCHEMA,
        "granularity": granularity.value,
        "budget_fit": asked.budget_fit,
        "spfm_target": asked.spfm,
        "fit_share_target": asked.fit_share,
        "due_fit_target": asked.due_fit,
        "waived": list(asked.waived),
        "based_on": list(based_on),
        "models": [],
    }
    if any(plan.get(key) != value for plan in plans for key, value in expected.items()):
        return None
    names = [str(own["run"]) for own in based_on]
    return plans[0] if all(is_whole(plan, names) for plan in plans) else None


def is_whole(plan: Mapping[str, Any], networks: Sequence[str]) -> bool:
    """Whether a plan that was kept says all that a study reads, of just these networks, in their order."""
    result, judged = plan.get("result"), plan.get("networks")
    if result not in RESULTS or not isinstance(judged, list) or not all(isinstance(r, dict) for r in judged):
        return False
    if [own.get("network") for own in judged] != list(networks):
        return False
    area, reasons = plan.get("area_measured"), plan.get("reasons", [])
    given = [own.get("fit_hi") for own in judged] + ([plan.get("area_overhead")] if result != _NO_SET else [])
    if area is not None:
        if not isinstance(area, dict) or "hardened_included" not in area:
            return False
        given.append(area.get("overhead"))
    known = [plan.get("area_overhead_lockstep"), *(own.get("spfm_lo") for own in judged)]
    return (
        all(map(is_amount, given))
        and all(own is None or is_amount(own) for own in known)
        and all(isinstance(plan.get(key), str) for key in ("name", "reason"))
        and ("measured" not in plan or isinstance(plan.get("confirmed"), bool))
        and isinstance(reasons, list)
        and all(isinstance(own, str) for own in reasons)
    )
