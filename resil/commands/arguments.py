# SPDX-License-Identifier: Apache-2.0
"""The arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.progress import Loudness, set_loudness


def _quiet(wanted: bool) -> bool:
    if wanted:
        set_loudness(Loudness.QUIET)
    return wanted


def _verbose(wanted: bool) -> bool:
    if wanted:
        set_loudness(Loudness.VERBOSE)
    return wanted


CampaignFile = Annotated[Path, typer.Argument(metavar="CAMPAIGN.toml", help="Campaign file.")]
RunDir = Annotated[Path, typer.Argument(metavar="RUN_DIR", help="Run folder.")]
Out = Annotated[Path | None, typer.Option("--out", help="Folder of the results; default runs/NAME.")]
Resume = Annotated[bool, typer.Option("--resume", help="Finish what was interrupted.")]
Workers = Annotated[int | None, typer.Option("--workers", min=1, help="Simulator processes.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only compile and elaborate, and say what would run.")
]
AcceptGolden = Annotated[
    bool,
    typer.Option(
        "--accept-golden",
        help="Go on although the output without a fault is not the network's; every verdict says so.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to stdout instead of text.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="No progress on stderr, only warnings and errors.", callback=_quiet)
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", help="Progress with times, errors with tracebacks.", callback=_verbose),
]
