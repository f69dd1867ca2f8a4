# SPDX-License-Identifier: Apache-2.0
"""Where cells lie on the die, for upsets of several bits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from resil.campaign.declaration import ABSENT, Key
from resil.campaign.section import Section

SUFFIXES = (".csv", ".def")
PLACEMENT = (
    Key(
        "placement",
        "path",
        "Positions of the cells, `.csv` with `site,x,y` in um or `.def`: an upset of several bits "
        "flips those that "
        "lie nearest, in whatever word. Without the key the next bits of the word. [How "
        "to](../how-to/placement.md).",
        ABSENT,
    ),
    Key(
        "reach_um",
        "number",
        "Farthest from the struck bit that an upset flips another. Needed with `placement`, as no "
        "default is right.",
        ABSENT,
        low=0.0,
        unit="um",
    ),
)


@dataclass(frozen=True)
class PlacementSettings:
    """A placement.

    Attributes:
        file: Absolute path.
        reach_um: Farthest that the bits of an upset lie from the struck one.
    """

    file: Path
    reach_um: float


def read_placement(section: Section, largest: int) -> PlacementSettings | None:
    """Take the keys of a placement; `largest` is the most bits of an upset."""
    if not section.has("placement"):
        if section.has("reach_um"):
            section.number("reach_um")
            section.wrong(
                "reach_um", "the key with placement only", "no placement", "add it, or remove this one"
            )
        return None
    expected = f"a file of positions that ends in {' or '.join(SUFFIXES)}"
    file = section.path("placement", expected)
    if section.sound("placement") and file.suffix.lower() not in SUFFIXES:
        section.wrong("placement", expected, f'"{file.name}"', "convert it, or correct the name")
    reach = section.number("reach_um", remedy="say how far a particle of your technology reaches")
    if largest == 1 and section.sound("placement"):
        section.wrong(
            "placement", "upsets of several bits with it", "one bit each", "declare [faults.clusters]"
        )
    return PlacementSettings(file, reach)
