# SPDX-License-Identifier: Apache-2.0
"""`resil protect`: the protection of least area for a finished run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resil.errors import ExitCode
from resil.folder.finished import (
    finished_results,
    require_area,
    require_ends,
    require_measured,
    require_upsets,
)
from resil.folder.kept_plans import accepted_plan, basis_of, keep_plan
from resil.protection.options import load_options
from resil.protection.plan import plan_protection
from resil.results.write import Results

_CODES = {
    "not_needed": ExitCode.MET,
    "optimal": ExitCode.MET,
    "infeasible": ExitCode.MISSED,
}


def protect_run(
    run_dir: Path,
    *,
    budget_fit: float | None = None,
    spfm_target: float | None = None,
    options: Path | None = None,
    name: str | None = None,
) -> Results:
    """Choose a protection, keep it by name in the folder, and write the reports again.

    The reports show the latest plan that reaches its target, see `resil.folder.kept_plans`.

    Args:
        run_dir: A finished run, or an estimate: then the plan is predicted.
        budget_fit: Largest residual FIT; None for the campaign's budget.
        spfm_target: Smallest lower limit of SPFM, 0 to 1; None for no such requirement.
        options: Options of the user's own, over those that ship; None for those alone.
        name: Of the plan; None for one made of what is asked.

    Returns:
        The run's results with this plan.

    Raises:
        StoreError, ReportError: the folder holds no finished results, is damaged, or has a better plan of
            that name.
        ConsistencyError: the run has failed an audit.
        ProtectionError: there is no target to reach, or the options are wrong.
    """
    found = finished_results(run_dir)
    require_measured(found)
    require_upsets(found, "hardening and its figures are about upsets")
    require_ends(found, "a choice asks what faults would have done of which the design tells")
    require_area(found)
    summary = found.summary
    budget = summary.verdict.budget_fit if budget_fit is None else budget_fit
    plan = plan_protection(summary, load_options(options), budget, spfm_target)
    named = name or _name(budget, spfm_target, options)
    accepted = keep_plan(found, named, plan)
    Results(summary, accepted).write(run_dir)
    return Results(summary, {**plan, "name": named, "basis": basis_of(found)})


def with_plan(run_dir: Path, results: Results) -> Results:
    """Return a run's results with what has become of its plan by now, and write its reports again."""
    accepted = accepted_plan(run_dir, finished_results(run_dir).digest)
    Results(results.summary, accepted).write(run_dir)
    return Results(results.summary, accepted)


def _name(budget_fit: float | None, spfm_target: float | None, options: Path | None) -> str:
    """Return the name of a plan from what is asked: "fit-0.01", "fit-0.01_spfm-0.99", "spfm-0.99_cells"."""
    targets = {"fit": budget_fit, "spfm": spfm_target}
    asked = [f"{key}-{value!r}" for key, value in targets.items() if value is not None]
    own = [] if options is None else [re.sub(r"[^A-Za-z0-9.+-]", "-", options.stem)]
    return "_".join([*asked, *own])[:64]


def protection_code(plan: Mapping[str, Any]) -> ExitCode:
    """Return the exit code: met if a set of options reaches the target, missed if none does."""
    return _CODES[plan["result"]]
