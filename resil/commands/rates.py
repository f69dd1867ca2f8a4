# SPDX-License-Identifier: Apache-2.0
"""`resil rates`: raw rates of a mission."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, Verbose
from resil.output import show

ProfileFile = Annotated[Path, typer.Argument(metavar="PROFILE.toml", help="Mission profile.")]


def rates(profile: ProfileFile, json_: Json = False, quiet: Quiet = False, verbose: Verbose = False) -> None:
    """Print the raw rates of a mission as a table [technology] for a campaign.

    The profile has the technology whose rates are scaled, and phases with hours, altitude and cutoff (or
    geomagnetic latitude). Neutrons are scaled as JESD89A does; alpha particles are not. Permanent faults are
    scaled by temperature only if the profile gives an activation energy with its source.
    """
    from resil.rates.profile import load_profile, mission_rates, rates_text

    found = mission_rates(load_profile(profile))
    show(found.plain(), json_, lambda: print(rates_text(found)))
