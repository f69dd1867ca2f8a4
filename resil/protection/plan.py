# SPDX-License-Identifier: Apache-2.0
"""From `summary.json` to `protection.json`: which option for which block, what it costs and what remains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from resil.protection.assumptions import assumptions
from resil.protection.blocks import Block, read_blocks
from resil.protection.front import FrontPoint, pareto_front
from resil.protection.menu import Combination, menu_of
from resil.protection.optimise import Candidate, Choices, Limits, least_area, least_spfm
from resil.protection.options import OptionSet, ProtectionError
from resil.record.summary import Summary

SCHEMA = 5
LOCKSTEP = "lockstep"


def plan_protection(
    summary: Summary,
    options: OptionSet,
    budget_fit: float | None,
    spfm_target: float | None = None,
) -> dict[str, Any]:
    """Return the content of `protection.json`: the options of least area within budget and SPFM target.

    Every block's hazardous FIT enters with an upper limit at a joint confidence: all limits hold together
    as often as the upper limit of one of the campaign's intervals. The bound of a protected set is the sum
    of these limits, each times the share that its option leaves. It holds for every set at once, so also
    for one that was chosen by looking at the data. The unprotected design was not chosen so: its bound is
    that of the campaign's total, which is tighter or equal.

    Args:
        summary: Of a run, or of an estimate; its list `limits` has what is known of
            each block and kind of storage. A plan for an estimate is `predicted`.
        options: What may be chosen.
        budget_fit: Largest residual FIT; None if only SPFM is asked.
        spfm_target: Smallest lower limit of SPFM, 0 to 1; None if only FIT is asked.

    Raises:
        ProtectionError: neither target is given, one is out of range, or the summary lacks what is needed.
    """
    _check_targets(budget_fit, spfm_target)
    hazardous = summary.campaign.hazardous
    blocks = read_blocks(summary, options)
    menus = [menu_of(block, options) for block in blocks]
    tables = [
        tuple(c.candidate(block, hazardous) for c in menu) for block, menu in zip(blocks, menus, strict=True)
    ]
    limits = Limits(budget_fit, spfm_target)
    unprotected = _unprotected(summary)
    front = _front(tables, unprotected)
    area = summary.total.area
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "from_estimate": summary.predicted,
        "budget_fit": budget_fit,
        "spfm_target": spfm_target,
        "result": "infeasible",
        "choices": [],
        "area_unprotected": area,
        "area_added": None,
        "area_overhead": None,
        "area_overhead_lockstep": _lockstep(blocks, options, area),
        "fit_hi_unprotected": unprotected.fit_hi,
        "fit_hi": None,
        "fit": None,
        "fit_raw_before": unprotected.fit_raw,
        "fit_raw_after": None,
        "spfm_before": _spfm(summary.total.fit, unprotected.fit_raw),
        "spfm_lo_before": _spfm(unprotected.fit_hi, unprotected.fit_raw),
        "spfm": None,
        "spfm_lo": None,
        "bound": None,
        "gap": None,
        "pareto": [_point(point, blocks, menus, area) for point in front],
        "assumptions": assumptions(summary, blocks, options, hazardous),
    }
    if limits.kept_by([unprotected]):
        document |= {"result": "not_needed", "bound": 0.0, "gap": 0.0} | _sums([unprotected], area)
        document |= _chosen([menu[0] for menu in menus], blocks, tables, summary)
    elif (solution := least_area(tables, limits)) is not None:
        document |= {"result": "optimal", "bound": solution.bound, "gap": solution.gap}
        document |= _sums([t[i] for t, i in zip(tables, solution.chosen, strict=True)], area)
        document |= _chosen(
            [m[i] for m, i in zip(menus, solution.chosen, strict=True)], blocks, tables, summary
        )
    return document


def _check_targets(budget_fit: float | None, spfm_target: float | None) -> None:
    if budget_fit is None and spfm_target is None:
        raise ProtectionError("protection needs a target: give a budget in FIT, or a target for SPFM")
    if budget_fit is not None and not 0.0 <= budget_fit < float("inf"):
        raise ProtectionError(f"a budget is a number of FIT >= 0, found {budget_fit}: correct it")
    if spfm_target is not None and not 0.0 <= spfm_target <= 1.0:
        raise ProtectionError(
            f"an SPFM target is from 0 to 1 (0.99 for ASIL D), found {spfm_target}: correct it"
        )


def _unprotected(summary: Summary) -> Candidate:
    return Candidate("none", 0.0, summary.total.fit_hi, summary.total.fit_raw)


def _front(tables: Sequence[Choices], unprotected: Candidate) -> list[FrontPoint]:
    """Return the front with the unprotected design at its own, tighter bound."""
    nothing = FrontPoint((0,) * len(tables), 0.0, unprotected.fit_hi)
    points = sorted((nothing, *pareto_front(tables)), key=lambda p: (p.area_added, p.fit_hi))
    kept: list[FrontPoint] = []
    for point in points:
        if not kept or point.fit_hi < kept[-1].fit_hi:
            kept.append(point)
    return kept


def _lockstep(blocks: Sequence[Block], options: OptionSet, area: float) -> float | None:
    if LOCKSTEP not in options.options or area <= 0.0:
        return None
    double = Combination((options.options[LOCKSTEP],))
    return sum(double.area_added(block) for block in blocks) / area


def _point(
    point: FrontPoint, blocks: Sequence[Block], menus: Sequence[list[Combination]], area: float
) -> dict[str, Any]:
    names = (menu[i].name for menu, i in zip(menus, point.chosen, strict=True))
    return {
        "area_added": point.area_added,
        "area_overhead": point.area_added / area if area > 0.0 else 0.0,
        "fit_hi": point.fit_hi,
        "choices": dict(zip((block.name for block in blocks), names, strict=True)),
    }


def _chosen(
    combinations: Sequence[Combination],
    blocks: Sequence[Block],
    tables: Sequence[Choices],
    summary: Summary,
) -> dict[str, Any]:
    hazardous = summary.campaign.hazardous
    choices: list[dict[str, Any]] = []
    for block, combination, table in zip(blocks, combinations, tables, strict=True):
        after = combination.candidate(block, hazardous)
        choices.append(
            {
                "block": block.name,
                "option": combination.name,
                "option_title": combination.title,
                "area": block.area,
                "area_added": after.area_added,
                "fit_hi_before": table[0].fit_hi,
                "fit_hi_after": after.fit_hi,
                "fit_before": sum(h.fit for h in block.hazards.values()),
                "fit_after": combination.fit(block, hazardous),
                "fit_after_by_kind": combination.fit_by_kind(block, hazardous),
                "base_factor": combination.base_factor(block),
                "coverage": combination.coverage(block, hazardous),
                "fit_raw_after": combination.fit_raw(block),
                "source": combination.source,
                "status": combination.status,
            }
        )
    left, raw = (sum(float(choice[key]) for choice in choices) for key in ("fit_after", "fit_raw_after"))
    return {
        "choices": choices,
        "fit": left,
        "fit_raw_after": raw,
        "spfm": _spfm(left, raw),
    }


def _sums(candidates: Sequence[Candidate], area: float) -> dict[str, Any]:
    added = sum(c.area_added for c in candidates)
    fit_hi = sum(c.fit_hi for c in candidates)
    return {
        "area_added": added,
        "area_overhead": added / area if area > 0.0 else 0.0,
        "fit_hi": fit_hi,
        "spfm_lo": least_spfm(candidates),
    }


def _spfm(fit: float, fit_raw: float) -> float | None:
    return max(0.0, 1.0 - fit / fit_raw) if fit_raw > 0.0 else None
