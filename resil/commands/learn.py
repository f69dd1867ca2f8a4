# SPDX-License-Identifier: Apache-2.0
"""`resil learn`: a sensitivity model from finished runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, Verbose
from resil.output import show, width
from resil.progress import Progress


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
    from resil.sensitivity.learnt_survey import survey, survey_text
    from resil.sensitivity.model import save_model

    model = learn_runs(run_dirs, target or (), Progress().stage)
    save_model(model, output)
    found = survey(model)
    show(found.plain(), json_, lambda: print(survey_text(found, width())))
