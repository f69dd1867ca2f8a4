# SPDX-License-Identifier: Apache-2.0
"""`resil check`: what a campaign would run, and what is refused and why."""

from __future__ import annotations

from typing import Annotated

import typer

from resil.commands.arguments import CampaignFile, Json, Quiet, Verbose
from resil.commands.choices import Set
from resil.output import show, width


def check(
    campaign: CampaignFile,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            help="Show of each block that the netlist, into which faults of logic go, is its RTL; minutes.",
        ),
    ] = False,
    set_: Set = None,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Try what a campaign needs, up to its first ten injections on two engines, and keep nothing.

    Steps: the campaign file; the design with its bench or recording; its storage, with what is no hardware
    and latches by name; the run without a fault; what the fast engine takes, and why it refuses the rest;
    the same injections on a plain build. With --prove also: the netlist in the golden run, cycle by cycle,
    then a proof by induction of each block for all inputs, as far as that closes. Exit codes: 0 all passed,
    2 a step failed, 3 all passed and some block is not proven, 4 engines disagree.
    """
    from resil.campaign.overrides import command_line
    from resil.run.check import check_campaign, check_text, exit_code

    found = check_campaign(campaign, command_line(set_ or ()), prove=prove)
    show(found.plain(), json_, lambda: print(check_text(found, width()), end=""))
    raise typer.Exit(exit_code(found))
