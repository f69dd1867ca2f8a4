# SPDX-License-Identifier: Apache-2.0
"""`resil validate`: evidence that this installation does what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, Verbose
from resil.errors import ExitCode
from resil.output import show


def validate(
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder of validation.json; default: the user's data folder."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A few minutes: fewer campaigns and mutants, nothing of the NPU.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of all random choices.")] = 1,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Make the evidence that this installation does what it says.

    Every fault of a small design is compared with a model of it in plain Python. Intervals of whole campaigns
    are held against that truth. Mutants of the engine, the rules, the statistics and the RTL have to be
    noticed. A campaign that is killed and resumed has to hold the same rows. Exit code 4 if a check fails or
    could not be made.
    """
    from resil.validation.validate import validate as carry_out
    from resil.validation.validate import validation_text

    found = carry_out(out, quick=quick, seed=seed)
    show(found.plain(), json_, lambda: print(validation_text(found)))
    raise typer.Exit(ExitCode.MET if found.passed else ExitCode.INTERNAL)
