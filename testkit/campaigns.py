# SPDX-License-Identifier: Apache-2.0
"""A small campaign for tests, as text and as a value."""

from __future__ import annotations

import tomllib
from pathlib import Path

from resil.campaign.campaign import Campaign, parse_campaign

TEXT = """
[campaign]
name = "small"
seed = 7
[network]
path = "zoo:digits"
inputs = [0, 3]
[target]
name = "ethos-u55-32"
[faults]
kinds = ["ff"]
injections = 200
minimum_per_block = 10
[technology]
name = "finfet-16nm"
[budget]
fit = 0.01
rationale = "a share of 10 FIT"
"""


def campaign(text: str = TEXT) -> Campaign:
    return parse_campaign(Path("small.toml"), tomllib.loads(text))


def write_campaign(folder: Path, text: str = TEXT) -> Path:
    file = folder / "small.toml"
    file.write_text(text)
    return file
