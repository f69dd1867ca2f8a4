# SPDX-License-Identifier: Apache-2.0
"""`resil run`: a campaign from its file to its verdict."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import (
    AcceptGolden,
    CampaignFile,
    DryRun,
    Json,
    Out,
    Quiet,
    Resume,
    Verbose,
    Workers,
)
from resil.commands.choices import Engine, Set
from resil.errors import ResilError
from resil.output import show, width

Serve = Annotated[
    bool, typer.Option("--serve", help="Show the run on a page of the loopback address; it changes nothing.")
]
ServePort = Annotated[
    int, typer.Option("--port", help="Of --serve; 0 takes any that is free.", min=0, max=65535)
]


def run(
    campaign: CampaignFile,
    out: Out = None,
    engine: Engine = None,
    workers: Workers = None,
    accept_golden: AcceptGolden = False,
    set_: Set = None,
    resume: Resume = False,
    dry_run: DryRun = False,
    faults: Annotated[
        Path | None, typer.Option("--faults", help="Inject the faults of this list, and no others.")
    ] = None,
    random: Annotated[
        bool,
        typer.Option("--random", help="Of --faults: the list is a random sample, so coverage has limits."),
    ] = False,
    serve: Serve = False,
    port: ServePort = 0,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Carry a campaign out: inject, estimate, judge, report."""
    from resil.campaign.campaign import load_campaign
    from resil.campaign.overrides import command_line
    from resil.run.campaign import run_campaign, verdict_code
    from resil.run.dry_run import plan_run, plan_text
    from resil.watch.beside import page_beside

    settings = load_campaign(
        campaign, command_line(set_ or (), engine=engine, workers=workers, accept_golden=accept_golden)
    )
    folder = out or Path("runs") / settings.slug
    if faults is not None:
        from resil.lists.inject import results_text, run_list

        if dry_run or resume or serve:
            raise ResilError(
                "--faults: expected no --dry-run, --resume or --serve beside a list; leave them out",
                "--faults",
            )
        listed = run_list(settings, faults, out or Path("runs") / f"{settings.slug}-list", random=random)
        show(listed.plain(), json_, lambda: print(results_text(listed, width())))
        return
    if dry_run:
        plan = plan_run(settings, folder, resume=resume)
        show(plan.plain(), json_, lambda: print(plan_text(plan, width())))
        return
    with page_beside(folder, port) if serve else nullcontext("") as url:
        if url:
            print(f"resil: the run is shown at {url}", file=sys.stderr, flush=True)
        results = run_campaign(settings, folder, resume=resume)
    show(results.summary.plain(), json_, lambda: results.show(folder))
    raise typer.Exit(verdict_code(results.summary))
