# SPDX-License-Identifier: Apache-2.0
"""`resil init`: target and campaign file of a design of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, Verbose
from resil.errors import ResilError
from resil.output import show


def init(
    top: Annotated[str, typer.Option("--top", help="Module that is the design.")],
    lists: Annotated[list[Path], typer.Option("-f", "--files", help="File list, as simulators take it.")],
    waves: Annotated[
        Path | None, typer.Option("--waves", help="Recording of it in any testbench: VCD, FST or GHW.")
    ] = None,
    instance: Annotated[
        str, typer.Option("--instance", help="Path of the design in the recording, as tb.u_dut.")
    ] = "",
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "-G", "--parameter", help="Parameter of the top, NAME=VALUE; a text is 'NAME=\"text\"'."
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder of the files.")] = Path(),
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Write a target and a campaign file for a design of your own.

    Ports, clocks, resets, blocks, memories, buses and outputs that look like alarms are read from the RTL.
    With a recording nothing else is needed. Without one a bench is written, in which known buses are
    connected and the rest is tied off, with a comment where a person decides.
    """
    from resil.proposal.propose import proposal_text, propose

    if (waves is None) != (not instance):
        raise ResilError(
            "--waves, --instance: expected both or neither, found one; a recording needs the path of the "
            "design in it",
            "--instance",
        )
    found = propose(top, lists, waves, instance, out, parameter or ())
    show(found.plain(), json_, lambda: print(proposal_text(found)))
