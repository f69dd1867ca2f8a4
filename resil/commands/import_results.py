# SPDX-License-Identifier: Apache-2.0
"""`resil import`: outcomes that another tool found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, Verbose
from resil.output import show, width


def import_(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="Faults with their status: CSV, Parquet, or one a line.")
    ],
    campaign: Annotated[
        Path, typer.Option("--campaign", help="Campaign file of the design that was struck.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder of what comes of it; made, or empty.")],
    random: Annotated[
        bool, typer.Option("--random", help="The faults are a random sample, so coverage has limits.")
    ] = False,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Count outcomes that another tool found, by block and status, as those of a list that resil injects.

    Sites are looked up in the design. Nothing is simulated: the results are marked as imported, and no run of
    resil takes them in.
    """
    from resil.campaign.campaign import load_campaign
    from resil.lists.inject import import_results, results_text

    found = import_results(load_campaign(campaign), results, out, random=random)
    show(found.plain(), json_, lambda: print(results_text(found, width())))
