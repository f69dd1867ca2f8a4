# SPDX-License-Identifier: Apache-2.0
"""What a study asks of every cell, and of the protection of each target."""

from __future__ import annotations

from typing import Any

from resil.protection.targets import Targets
from resil.study.study import Study


def asked(study: Study) -> dict[str, Any]:
    """Return what the verdicts of a study are about, so that none of them is read as more.

    Returns:
        `budget_fit` and `rationale`, None without a budget; `hazardous`: the outcomes that it counts;
        `claims`: names of the safety rows that are claimed, with `asil`, None if none is named; `protection`:
        what a set has to keep (`budget_fit`, `spfm_target`, `fit_share`, `due_budget`), None if none is
        asked for.
    """
    rules = study.rules
    budget, safety, wanted = rules.budget, rules.safety, study.protection
    most = None if budget is None else budget.fit
    return {
        "budget_fit": most,
        "rationale": None if budget is None else budget.rationale,
        "hazardous": list(rules.hazardous),
        "claims": [] if safety is None else list(safety.claims),
        "asil": None if safety is None else safety.asil,
        "protection": None if wanted is None else _kept(wanted.targets, most),
    }


def _kept(targets: Targets, budget: float | None) -> dict[str, float | None]:
    kept = None if "budget" in targets.waive else budget
    return {
        "budget_fit": kept if targets.budget_fit is None else targets.budget_fit,
        "spfm_target": targets.spfm,
        "fit_share": targets.fit_share,
        "due_budget": targets.due_fit,
    }
