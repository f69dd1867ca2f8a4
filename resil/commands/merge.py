# SPDX-License-Identifier: Apache-2.0
"""`resil merge`: injections of one campaign that were made apart, joined."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, Verbose
from resil.output import show


def merge(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="New folder.")],
    run_dirs: Annotated[
        list[Path], typer.Argument(metavar="RUN_DIR RUN_DIR...", help="Runs of one campaign.")
    ],
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Join the injections of runs of one campaign that were made apart."""
    from resil.folder.merge import merge_runs, merge_text

    result = merge_runs(out, run_dirs)
    show(result.plain(), json_, lambda: print(merge_text(result)))
