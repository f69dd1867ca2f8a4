# SPDX-License-Identifier: Apache-2.0
"""`resil sites`: fault sites and area per block."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import CampaignFile, Json, Quiet, Verbose
from resil.commands.choices import Set
from resil.output import show, width
from resil.progress import Progress


def sites(
    campaign: CampaignFile,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write every bit to this CSV file.")] = None,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", help="Write every bit to this Parquet file.")
    ] = None,
    set_: Set = None,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """List fault sites and area per block."""
    from resil.bench.site_list import survey, survey_text, write_csv, write_parquet
    from resil.campaign.campaign import load_campaign
    from resil.campaign.overrides import command_line
    from resil.prepare.bench import prepare

    bench = prepare(load_campaign(campaign, command_line(set_ or ())), Progress())
    if csv is not None:
        write_csv(bench.sites, csv, bench.rtl_registers)
    if parquet is not None:
        write_parquet(bench.sites, parquet, bench.rtl_registers)
    found = survey(bench)
    show(found.plain(), json_, lambda: print(survey_text(found, width())))
