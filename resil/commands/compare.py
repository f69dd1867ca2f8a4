# SPDX-License-Identifier: Apache-2.0
"""`resil compare`: runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, Verbose
from resil.output import show, width


def compare(
    run_dirs: Annotated[list[Path], typer.Argument(metavar="RUN_DIR RUN_DIR...", help="Finished runs.")],
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Show runs side by side, and the difference of their FIT with its interval."""
    from resil.results.compare import compare_runs, compare_text

    result = compare_runs(run_dirs)
    show(result.plain(), json_, lambda: print(compare_text(result, width())))
