# SPDX-License-Identifier: Apache-2.0
"""`resil doctor`: what is installed and what is missing."""

from __future__ import annotations

import typer

from resil.commands.arguments import Json, Quiet, Verbose
from resil.errors import ExitCode
from resil.output import show


def doctor(json_: Json = False, quiet: Quiet = False, verbose: Verbose = False) -> None:
    """Say what is installed, what is missing, and what to do about it."""
    from resil.installation import examine, installation, text

    findings = examine()
    found = installation(findings)
    show(found.plain(), json_, lambda: print(text(findings)))
    raise typer.Exit(ExitCode.MET if found.healthy else ExitCode.USAGE)
