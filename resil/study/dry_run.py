# SPDX-License-Identifier: Apache-2.0
"""`resil study --dry-run`: how many builds and campaigns a study takes, and how long."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resil.errors import ConsistencyError
from resil.progress import Progress
from resil.reports.table import Column, Table
from resil.run.dry_run import plan_run
from resil.study.folder import check_study, definition_of
from resil.study.pace import spoken
from resil.study.run import finished_cell
from resil.study.study import Study, StudyCell
from resil.user_errors import USER_ERRORS

_REFUSALS: tuple[type[Exception], ...] = (*USER_ERRORS, ConsistencyError)


def plan_study(
    study: Study, out: Path, *, resume: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Do for each cell what `resil run --dry-run` does, and say what would follow.

    Returns:
        `study`, `out`; `cells`: each with `target`, `network`, `predicted`, `state` ("finished", "to do" or
        "fails"), `campaigns` (1, or 2 with one of permanent faults), `injections` (the most that would be
        made), `done`, `seconds` (None if there is nothing to go by) and `error`; `builds`: targets to be
        elaborated and built, but for what lies in the cache; `campaigns` and `estimates` to be made;
        `injections`: the most that are left; `seconds`: of the cells whose time is known; `unknown`: number
        of the others; `protection`: whether it is asked for; `verify_networks`: what it is confirmed
        on.

    Raises:
        As `resil.study.run.run_study`, before it begins.
    """
    progress = progress or Progress()
    earlier = check_study(out, definition_of(study), resume=resume)
    cells = [_cell(cell, out, earlier, progress) for cell in study.cells]
    left = [cell for cell in cells if cell["state"] == "to do"]
    injected = [cell for cell in left if not cell["predicted"]]
    known = [cell["seconds"] for cell in injected if cell["seconds"] is not None]
    return {
        "study": str(study.file),
        "out": str(out),
        "cells": cells,
        "builds": len({cell["target"] for cell in injected}),
        "campaigns": sum(cell["campaigns"] for cell in injected),
        "estimates": len(left) - len(injected),
        "injections": sum(cell["injections"] - cell["done"] for cell in injected),
        "seconds": round(sum(known), 1),
        "unknown": len(injected) - len(known),
        "protection": study.protection is not None,
        "verify_networks": [] if study.protection is None else list(study.protection.verify_networks),
    }


def _cell(
    cell: StudyCell, out: Path, earlier: Mapping[str, Any] | None, progress: Progress
) -> dict[str, Any]:
    told: dict[str, Any] = {"target": cell.target, "network": cell.network, "predicted": cell.predicted}
    told |= {"state": "to do", "campaigns": 1, "injections": 0, "done": 0, "seconds": None, "error": None}
    if finished_cell(cell, out, earlier) is not None:
        return told | {"state": "finished"}
    if cell.predicted:
        return told
    progress.stage(cell.name)
    asked = [(cell.campaign_in(out), cell.folder)]
    if cell.permanent is not None:
        asked.insert(0, (cell.permanent, cell.permanent_folder))
    try:
        plans = [
            plan_run(campaign, out / folder, resume=True, progress=progress) for campaign, folder in asked
        ]
    except _REFUSALS as error:
        return told | {"state": "fails", "error": str(error)}
    seconds = [plan["seconds"] for plan in plans]
    return told | {
        "campaigns": len(plans),
        "injections": sum(plan["injections"] for plan in plans),
        "done": sum(plan["done"] for plan in plans),
        "seconds": None if None in seconds else sum(seconds),
    }


def plan_study_text(plan: Mapping[str, Any], width: int | None = None) -> str:
    """Return the plan as lines for a person; `width` as of `Table.text`."""
    columns = (
        Column("target", numeric=False),
        Column("network", numeric=False),
        Column("state", numeric=False),
        Column("injections left"),
        Column("time"),
    )
    rows = tuple(
        (
            cell["target"],
            cell["network"],
            cell["state"] + (", predicted" if cell["predicted"] else ""),
            "" if cell["predicted"] else f"{cell['injections'] - cell['done']:,}",
            "not known" if cell["seconds"] is None else spoken(cell["seconds"]),
        )
        for cell in plan["cells"]
    )
    unknown = plan["unknown"]
    beside = (
        f", and {unknown} cells with nothing to go by: no finished run on their target" if unknown else ""
    )
    known = plan["seconds"] or not unknown
    time = (f"about {spoken(plan['seconds'])}" if known else "not known") + beside
    most = f"at most {plan['injections']:,} injections"
    lines = [
        *(f"{c['network']} on {c['target']} fails: {c['error']}" for c in plan["cells"] if c["error"]),
        f"builds: {plan['builds']} (simulator and gates of a target; what is in the cache is not built)",
        f"campaigns: {plan['campaigns']}, with {most}; estimates: {plan['estimates']}",
        *([f"protection: of each target, {_protection(plan)}"] if plan["protection"] else []),
        f"folder: {plan['out']}",
        f"time: {time}",
    ]
    return "\n".join([Table("Would carry out", columns, rows, keys=2).text(width), *lines])


def _protection(plan: Mapping[str, Any]) -> str:
    verify = plan["verify_networks"]
    built = f", built, and injected into on {', '.join(verify)}" if verify else ""
    return f"chosen when its cells are there{built}"
