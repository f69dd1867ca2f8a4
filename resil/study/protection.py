# SPDX-License-Identifier: Apache-2.0
"""What a study says of the protection of each target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resil.study.answers import MET, is_answered, is_injected
from resil.study.study import ProtectionWanted

NOT_NEEDED, REACHED, NOT_REACHED = "not needed", "reached", "not reached"
NOT_ASSESSED = "not assessed"
NOT_FINISHED = "the study is not finished"
_NO_SET = "infeasible"
_RESULTS = {"optimal": REACHED, _NO_SET: NOT_REACHED, "not_needed": NOT_NEEDED}
_UNPROTECTED = "each network meets what was asked, unprotected"


def unassessed(target: str, reason: str) -> dict[str, Any]:
    """Return the row of a target of whose protection nothing is known."""
    return {
        "target": target,
        "result": NOT_ASSESSED,
        "overhead": None,
        "overhead_lockstep": None,
        "networks": [],
        "fit_hi": None,
        "spfm_lo": None,
        "confirmed": None,
        "plan": None,
        "reason": reason,
    }


def settled(
    wanted: ProtectionWanted, target: str, cells: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Return the row of a target for which nothing is to be chosen, None if something is.

    A set has to hold for all networks: where one of them was not injected, none is chosen.

    Args:
        wanted: What is asked.
        target: Its name.
        cells: Its own.
    """
    if missing := [cell["network"] for cell in cells if not is_answered(cell)]:
        return unassessed(target, f"no results of {', '.join(missing)}")
    if predicted := [cell["network"] for cell in cells if not is_injected(cell)]:
        return unassessed(target, f"only predicted: {', '.join(predicted)}")
    plain = wanted.targets.names_none and not wanted.targets.waive
    if plain and all(cell["verdict"] == MET for cell in cells):
        networks = [cell["network"] for cell in cells]
        row = {"result": NOT_NEEDED, "overhead": 0.0, "networks": networks, "reason": _UNPROTECTED}
        return unassessed(target, "") | row
    return None


def chosen(target: str, plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a target for which a set was chosen, or found not to exist.

    Args:
        target: Its name.
        plan: Content of `protection.json` of any of its networks.
    """
    result = _RESULTS[plan["result"]]
    reached = result != NOT_REACHED
    judged = plan["networks"]
    limits = [own["spfm_lo"] for own in judged if own["spfm_lo"] is not None]
    confirmed = plan.get("confirmed") if "measured" in plan else None
    reasons = {
        NOT_NEEDED: "what is asked is kept unprotected",
        REACHED: f"by {plan['granularity']}, judged by injections that did not choose"
        + _built(plan, confirmed),
        NOT_REACHED: plan["reason"],
    }
    return {
        "target": target,
        "result": result,
        "overhead": _overhead(plan) if reached else None,
        "overhead_lockstep": plan["area_overhead_lockstep"],
        "networks": [own["network"] for own in judged],
        "fit_hi": max((own["fit_hi"] for own in judged), default=None) if reached else None,
        "spfm_lo": min(limits, default=None) if reached else None,
        "confirmed": confirmed if result == REACHED else None,
        "plan": plan["name"],
        "reason": reasons[result],
    }


def _measured(plan: Mapping[str, Any]) -> float | None:
    """Return the area of what was built, if it was, and all of the set is in it: hardened cells are not."""
    area = plan.get("area_measured")
    return float(area["overhead"]) if area and area["hardened_included"] is not False else None


def _overhead(plan: Mapping[str, Any]) -> float:
    measured = _measured(plan)
    return float(plan["area_overhead"]) if measured is None else measured


def _built(plan: Mapping[str, Any], confirmed: bool | None) -> str:
    """Say what area is by, and why injections did not confirm a set, if they did not."""
    area = "the options' figures" if _measured(plan) is None else "synthesis of what was built"
    missed = plan.get("reasons", []) if confirmed is False else []
    return f"; area by {area}" + (f"; not confirmed: {'; '.join(missed)}" if missed else "")
