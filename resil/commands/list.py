# SPDX-License-Identifier: Apache-2.0
"""`resil list`: the names that campaigns and options may use."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from resil.commands.arguments import Json, Quiet, Verbose
from resil.output import show, width


def list_(
    what: Annotated[
        Literal["networks", "targets", "options", "engines"], typer.Argument(help="What to list.")
    ],
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """List the networks, targets, protection options or engines that there are."""
    from resil.listing import LISTINGS, listing_text

    listing = LISTINGS[what]
    entries = listing.entries()
    show(
        {what: [entry.plain() for entry in entries]},
        json_,
        lambda: print(listing_text(listing.title, entries, width()), end=""),
    )
