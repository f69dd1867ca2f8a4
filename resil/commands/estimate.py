# SPDX-License-Identifier: Apache-2.0
"""`resil estimate`: a campaign predicted, without RTL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import AcceptGolden, CampaignFile, Json, Quiet, Verbose
from resil.commands.choices import Set
from resil.output import show


def estimate(
    campaign: CampaignFile,
    model: Annotated[
        Path | None, typer.Option("--model", help="Sensitivity model; default the one that comes with resil.")
    ] = None,
    correct: Annotated[
        Path | None,
        typer.Option("--correct", metavar="RUN_DIR", help="Correct the FIT by the injections of this run."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder; default runs/NAME-estimate.")] = None,
    accept: Annotated[
        bool,
        typer.Option("--accept-prediction", help="Exit with 0 or 1 by what is predicted, not with 3."),
    ] = False,
    accept_golden: AcceptGolden = False,
    set_: Set = None,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Predict a campaign from what other networks' campaigns have taught, without simulating the RTL."""
    from resil.campaign.campaign import load_campaign
    from resil.campaign.overrides import command_line
    from resil.run.estimate import estimate_campaign, estimate_code

    settings = load_campaign(campaign, command_line(set_ or (), accept_golden=accept_golden))
    folder = out or Path("runs") / f"{settings.slug}-estimate"
    results = estimate_campaign(settings, folder, model_file=model, run_dir=correct)
    show(results.summary.plain(), json_, lambda: results.show(folder))
    raise typer.Exit(estimate_code(results.summary, settings, accept))
