"""`resil protect`: the protection of least area for a finished run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reports import parse_summary
from resil.errors import ExitCode
from resil.files import json_text, write_text
from resil.folder.store import PROTECTION
from resil.folder.whole import finished_run, require_upsets
from resil.protection.options import load_options
from resil.protection.plan import plan_protection
from resil.results.render import Results

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
) -> Results:
    """Choose a protection, write it to the run folder, and write the reports again.

    Args:
        run_dir: A finished run.
        budget_fit: Largest residual FIT; None for the campaign's budget.
        spfm_target: Smallest lower limit of SPFM, 0 to 1; None for no such requirement.
        options: Options of the user's own, over those that ship; None for those alone.

    Returns:
        The run's results with the protection.

    Raises:
        StoreError, ReportError: the folder holds no finished run, or is damaged.
        ConsistencyError: the run has failed an audit.
        ProtectionError: there is no target to reach, or the options are wrong.
    """
    found = finished_run(run_dir)
    require_upsets(found, "hardening and its figures are about upsets")
    summary = found.summary
    parse_summary(summary)
    budget = summary["verdict"]["budget_fit"] if budget_fit is None else budget_fit
    plan = plan_protection(summary, load_options(options), budget, spfm_target)
    results = Results(summary, plan)
    results.write(run_dir)
    write_text(run_dir / PROTECTION, json_text(plan))
    return results


def protection_code(plan: Mapping[str, Any]) -> ExitCode:
    """Return the exit code: met if a set of options reaches the target, missed if none does."""
    return _CODES[plan["result"]]
