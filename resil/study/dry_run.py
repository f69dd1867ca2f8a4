# SPDX-License-Identifier: Apache-2.0
"""`resil study --dry-run`: how many builds and campaigns a study takes, and how long."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from resil.errors import ConsistencyError
from resil.progress import Progress
from resil.record.study import StudyRecord
from resil.record.typed import Amount, Count, OneOf, Typed
from resil.reports.table import Column, Table
from resil.run.dry_run import plan_run
from resil.study.finished_cells import finished_cell
from resil.study.folder import check_study, definition_of
from resil.study.pace import spoken
from resil.study.study import Study, StudyCell
from resil.user_errors import USER_ERRORS

_REFUSALS: tuple[type[Exception], ...] = (*USER_ERRORS, ConsistencyError)
_FINISHED, _TO_DO, _FAILS = "finished", "to do", "fails"


class CellPlan(Typed):
    """What a cell would take."""

    target: str
    """Name of the target."""
    network: str
    """Name of the network."""
    predicted: bool
    """Whether it is estimated, and nothing is injected."""
    state: Annotated[str, OneOf((_FINISHED, _TO_DO, _FAILS))]
    """Whether something is left to do."""
    campaigns: Count = 1
    """Campaigns: 1, or 2 with one of permanent faults."""
    injections: Count = 0
    """The most that would be made."""
    done: Count = 0
    """How many of them are there."""
    seconds: Amount | None = None
    """How long it takes; null if there is nothing to go by."""
    error: str | None = None
    """Why it would fail; else null."""


class StudyPlan(Typed):
    """What a study would take."""

    study: str
    """The study file."""
    out: str
    """The folder."""
    cells: tuple[CellPlan, ...]
    """Each network on each target."""
    builds: Count
    """Targets to be elaborated and built, but for what lies in the cache."""
    campaigns: Count
    """Campaigns to be made."""
    estimates: Count
    """Estimates to be made."""
    injections: Count
    """The most that are left."""
    seconds: Amount
    """Time of the cells whose time is known."""
    unknown: Count
    """Number of the others."""
    protection: bool
    """Whether it is asked for."""
    verify_networks: tuple[str, ...]
    """Networks that it is confirmed on."""


def plan_study(
    study: Study, out: Path, *, resume: bool = False, progress: Progress | None = None
) -> StudyPlan:
    """Do for each cell what `resil run --dry-run` does, and say what would follow.

    Raises:
        As `resil.study.run.run_study`, before it begins.
    """
    progress = progress or Progress()
    earlier = check_study(out, definition_of(study), resume=resume)
    cells = tuple(_cell(cell, out, earlier, progress) for cell in study.cells)
    left = [cell for cell in cells if cell.state == _TO_DO]
    injected = [cell for cell in left if not cell.predicted]
    known = [cell.seconds for cell in injected if cell.seconds is not None]
    return StudyPlan(
        study=str(study.file),
        out=str(out),
        cells=cells,
        builds=len({cell.target for cell in injected}),
        campaigns=sum(cell.campaigns for cell in injected),
        estimates=len(left) - len(injected),
        injections=sum(cell.injections - cell.done for cell in injected),
        seconds=round(sum(known), 1),
        unknown=len(injected) - len(known),
        protection=study.protection is not None,
        verify_networks=() if study.protection is None else study.protection.verify_networks,
    )


def _cell(cell: StudyCell, out: Path, earlier: StudyRecord | None, progress: Progress) -> CellPlan:
    plan = CellPlan(target=cell.target, network=cell.network, predicted=cell.predicted, state=_TO_DO)
    if finished_cell(cell, out, earlier) is not None:
        return plan.changed(state=_FINISHED)
    if cell.predicted:
        return plan
    progress.stage(cell.name)
    asked = [(cell.campaign_in(out), cell.folder)]
    if cell.permanent is not None:
        asked.insert(0, (cell.permanent, cell.permanent_folder))
    try:
        plans = [
            plan_run(campaign, out / folder, resume=True, progress=progress) for campaign, folder in asked
        ]
    except _REFUSALS as error:
        return plan.changed(state=_FAILS, error=str(error))
    known = [own.seconds for own in plans if own.seconds is not None]
    return plan.changed(
        campaigns=len(plans),
        injections=sum(own.injections for own in plans),
        done=sum(own.done for own in plans),
        seconds=sum(known) if len(known) == len(plans) else None,
    )


def plan_study_text(plan: StudyPlan, width: int | None = None) -> str:
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
            cell.target,
            cell.network,
            cell.state + (", predicted" if cell.predicted else ""),
            "" if cell.predicted else f"{cell.injections - cell.done:,}",
            "not known" if cell.seconds is None else spoken(cell.seconds),
        )
        for cell in plan.cells
    )
    unknown = plan.unknown
    beside = (
        f", and {unknown} cells with nothing to go by: no finished run on their target" if unknown else ""
    )
    known = plan.seconds or not unknown
    time = (f"about {spoken(plan.seconds)}" if known else "not known") + beside
    most = f"at most {plan.injections:,} injections"
    lines = [
        *(f"{cell.network} on {cell.target} fails: {cell.error}" for cell in plan.cells if cell.error),
        f"builds: {plan.builds} (simulator and gates of a target; what is in the cache is not built)",
        f"campaigns: {plan.campaigns}, with {most}; estimates: {plan.estimates}",
        *([f"protection: of each target, {_protection(plan)}"] if plan.protection else []),
        f"folder: {plan.out}",
        f"time: {time}",
    ]
    return "\n".join([Table("Would carry out", columns, rows, keys=2).text(width), *lines])


def _protection(plan: StudyPlan) -> str:
    verify = plan.verify_networks
    built = f", built, and injected into on {', '.join(verify)}" if verify else ""
    return f"chosen when its cells are there{built}"
