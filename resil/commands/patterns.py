# SPDX-License-Identifier: Apache-2.0
"""`resil patterns`: what faults did to tensors, for injectors in software."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, RunDir, Verbose
from resil.output import show


def patterns(
    run_dir: RunDir,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; default patterns.json in the folder."),
    ] = None,
    input_: Annotated[
        list[int] | None,
        typer.Option("--input", help="Label of an input: patterns of these alone; default of all."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="List at most so many.")] = 5000,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Write what the faults of a run did to tensors, as a library for injectors in software.

    Which elements of an operation's output changed and how, by operation and by what was struck, each with
    the FIT that it stands for, and how many faults no pattern describes. Nothing is simulated.
    """
    from resil.sensitivity.error_patterns import write_patterns
    from resil.sensitivity.patterns_text import patterns_text

    found = write_patterns(run_dir, output, input_ or (), limit=limit)
    show(found.plain(), json_, lambda: print(patterns_text(found)))
