# SPDX-License-Identifier: Apache-2.0
"""`resil mechanisms`: permanent faults in gates of a protected design, and what latent ones let through."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import CampaignFile, Json, Quiet, Verbose
from resil.commands.choices import Set
from resil.output import show, width


def mechanisms(
    campaign: CampaignFile,
    out: Annotated[Path, typer.Option("--out", help="Folder that mechanism-faults.json goes to.")],
    faults: Annotated[
        int, typer.Option("--faults", min=1, help="Faults in cells that belong to no mechanism.")
    ] = 4000,
    own: Annotated[int, typer.Option("--own", min=1, help="Faults in cells of mechanisms.")] = 2000,
    seconds: Annotated[
        int,
        typer.Option("--seconds", min=1, help="Second pins, upsets and pulses, each, after a quiet fault."),
    ] = 50,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Of the draws; default the campaign's.")
    ] = None,
    set_: Set = None,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Hold pins of a protected design: what mechanisms detect, and what faults in them do.

    The design is one that `resil protect --build` wrote, or has [[safety.mechanism]] with storage. Faults of
    mechanisms that nothing reports are followed by second ones in what the mechanism guards. Intervals are
    exact; if all faults there are were simulated, figures are exact themselves.
    """
    from resil.campaign.campaign import load_campaign
    from resil.campaign.overrides import command_line
    from resil.mechanisms.measure import MechanismSizes, measure_mechanisms
    from resil.mechanisms.text import mechanism_faults_text

    asked = load_campaign(campaign, command_line(set_ or ()))
    found = measure_mechanisms(asked, out, MechanismSizes(faults, own, seconds), seed)
    show(found.plain(), json_, lambda: print(mechanism_faults_text(found, width()), end=""))
