# SPDX-License-Identifier: Apache-2.0
"""Commands that begin with a campaign or study file: run, study, estimate, sites; and learn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.cli.app import CampaignFile, Json, Quiet, Verbose, app
from resil.cli.output import show, width
from resil.progress import Progress

Workers = Annotated[int | None, typer.Option("--workers", min=1, help="Simulator processes.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only compile and elaborate, and say what would run.")
]


@app.command()
def run(
    campaign: CampaignFile,
    out: Annotated[Path | None, typer.Option("--out", help="Run folder; default runs/NAME.")] = None,
    engine: Annotated[str | None, typer.Option("--engine", help="Engine in place of the campaign's.")] = None,
    workers: Workers = None,
    resume: Annotated[bool, typer.Option("--resume", help="Finish a run that was interrupted.")] = False,
    dry_run: DryRun = False,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Carry a campaign out: inject, estimate, judge, report."""
    from resil.campaign.campaign import load_campaign, with_options
    from resil.run.campaign import run_campaign, verdict_code
    from resil.run.dry_run import plan_run, plan_text

    settings = with_options(load_campaign(campaign), engine=engine, workers=workers)
    folder = out or Path("runs") / settings.slug
    if dry_run:
        plan = plan_run(settings, folder, resume=resume)
        show(plan, json_, lambda: print(plan_text(plan, width())))
        return
    results = run_campaign(settings, folder, resume=resume)
    show(results.summary, json_, lambda: results.show(folder))
    raise typer.Exit(verdict_code(results.summary))


@app.command()
def study(
    study_file: Annotated[Path, typer.Argument(metavar="STUDY.toml", help="Study file.")],
    out: Annotated[Path | None, typer.Option("--out", help="Folder; default runs/NAME.")] = None,
    workers: Workers = None,
    resume: Annotated[bool, typer.Option("--resume", help="Finish a study that was interrupted.")] = False,
    dry_run: DryRun = False,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Carry out a campaign for each network on each target, and join them in one verdict matrix."""
    from resil.reports import STUDY_REPORT, parse_study, study_text
    from resil.study.dry_run import plan_study, plan_study_text
    from resil.study.run import run_study
    from resil.study.study_file import load_study, with_workers
    from resil.study.verdict import study_code

    settings = with_workers(load_study(study_file), workers)
    folder = out or Path("runs") / settings.slug
    if dry_run:
        plan = plan_study(settings, folder, resume=resume)
        show(plan, json_, lambda: print(plan_study_text(plan, width())))
        return
    record = run_study(settings, folder, resume=resume)
    text = f"{study_text(parse_study(record), width())}report: {folder / STUDY_REPORT}"
    show(record, json_, lambda: print(text))
    raise typer.Exit(study_code(record))


@app.command()
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
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Predict a campaign from what other networks' campaigns have taught, without simulating the RTL."""
    from resil.campaign.campaign import load_campaign
    from resil.run.estimate import estimate_campaign, estimate_code

    settings = load_campaign(campaign)
    folder = out or Path("runs") / f"{settings.slug}-estimate"
    results = estimate_campaign(settings, folder, model_file=model, run_dir=correct)
    show(results.summary, json_, lambda: results.show(folder))
    raise typer.Exit(estimate_code(results.summary, settings, accept))


@app.command()
def learn(
    run_dirs: Annotated[list[Path], typer.Argument(metavar="RUN_DIR...", help="Finished runs.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Write the model to this file.")],
    target: Annotated[
        list[str] | None,
        typer.Option("--target", help="A target that the model shall know too, without runs on it."),
    ] = None,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Learn a sensitivity model from finished runs of at least two networks."""
    from resil.sensitivity.learn import learn as learn_runs
    from resil.sensitivity.learn import survey, survey_text
    from resil.sensitivity.model import save_model

    model = learn_runs(run_dirs, target or (), Progress().stage)
    save_model(model, output)
    found = survey(model)
    show(found, json_, lambda: print(survey_text(found, width())))


@app.command()
def sites(
    campaign: CampaignFile,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write every bit to this CSV file.")] = None,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", help="Write every bit to this Parquet file.")
    ] = None,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """List fault sites and area per block."""
    from resil.bench.site_list import survey, survey_text, write_csv, write_parquet
    from resil.campaign.campaign import load_campaign
    from resil.prepare import prepare

    bench = prepare(load_campaign(campaign), Progress())
    if csv is not None:
        write_csv(bench.sites, csv)
    if parquet is not None:
        write_parquet(bench.sites, parquet)
    found = survey(bench)
    show(found.as_dict(), json_, lambda: print(survey_text(found, width())))
