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
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="OUT", help="Write the comparison as a page to this file."),
    ] = None,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Show runs side by side, and the difference of their FIT with its interval.

    With --html, a page that compares blocks and registers too, each with the limits of its difference, and
    marks what is new.
    """
    from resil.reports.comparison import compare_html, compare_text
    from resil.reports.writer import write_files
    from resil.results.compare import compare_runs
    from resil.version import __version__

    result = compare_runs(run_dirs)
    if html is not None:
        write_files({html.name: compare_html(result, __version__)}, html.parent)
    show(result.plain(), json_, lambda: print(compare_text(result, width())))
