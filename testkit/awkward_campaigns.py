# SPDX-License-Identifier: Apache-2.0
"""Campaigns on a copy of the example whose storage is awkward, with other faults."""

import shutil
from pathlib import Path

from resil.cli import main

BUDGET = '\n[budget]\nfit = 0.1\nrationale = "an example"\n'

_FOLDER = Path(__file__).parents[1] / "examples" / "awkward"
_INJECTED = 'kinds = ["ff", "sram"]\ninjections = 400\nminimum_per_block = 40'


def awkward_campaign(folder: Path, faults: str, more: str = "") -> Path:
    """Copy the example to a new folder, with other lines on what is injected and further tables.

    Returns:
        The folder.
    """
    shutil.copytree(_FOLDER, folder)
    file = folder / "campaign.toml"
    text = file.read_text()
    assert _INJECTED in text
    file.write_text(text.replace(_INJECTED, faults) + more)
    return folder


def run(folder: Path, *more: str) -> int:
    """Run the campaign of a folder into its folder `out`; return the exit code."""
    return main(["run", str(folder / "campaign.toml"), "--out", str(folder / "out"), "--quiet", *more])
