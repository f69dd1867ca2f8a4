# SPDX-License-Identifier: Apache-2.0
"""The application that commands enrol in, and the arguments that several of them share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.progress import Loudness, set_loudness
from resil.version import __version__

app = typer.Typer(
    name="resil",
    help="Soft-error resilience of neural-network accelerators, by fault injection into their RTL.",
    epilog="Exit codes: 0 target met or none asked, 1 missed, 2 usage or input error, 3 inconclusive, "
    "4 internal error or failed audit, 130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


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
Json = Annotated[bool, typer.Option("--json", help="Print JSON to stdout instead of text.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="No progress on stderr, only warnings and errors.", callback=_quiet)
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", help="Progress with times, errors with tracebacks.", callback=_verbose),
]


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    if version:
        print(f"resil {__version__}")
        raise typer.Exit
