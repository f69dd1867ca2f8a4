# SPDX-License-Identifier: Apache-2.0
"""`resil study`: networks on targets, joined in one verdict matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import DryRun, Json, Out, Quiet, Resume, Verbose, Workers
from resil.commands.choices import StudySet
from resil.output import show, width


def study(
    study_file: Annotated[Path, typer.Argument(metavar="STUDY.toml", help="Study file.")],
    out: Out = None,
    workers: Workers = None,
    set_: StudySet = None,
    resume: Resume = False,
    dry_run: DryRun = False,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Carry out a campaign for each network on each target, and join them in one verdict matrix."""
    from resil.campaign.overrides import command_line
    from resil.reports import STUDY_REPORT, study_text
    from resil.study.dry_run import plan_study, plan_study_text
    from resil.study.run import run_study
    from resil.study.study_file import load_study
    from resil.study.verdict import study_code

    settings = load_study(study_file, command_line(set_ or (), workers=workers))
    folder = out or Path("runs") / settings.slug
    if dry_run:
        plan = plan_study(settings, folder, resume=resume)
        show(plan.plain(), json_, lambda: print(plan_study_text(plan, width())))
        return
    record = run_study(settings, folder, resume=resume)
    text = f"{study_text(record, width())}report: {folder / STUDY_REPORT}"
    show(record.plain(), json_, lambda: print(text))
    raise typer.Exit(study_code(record))
