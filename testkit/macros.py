# SPDX-License-Identifier: Apache-2.0
"""A small design with macros whose source is not there, and the same with models by hand."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact

FOLDER = Path(__file__).parents[1] / "tests" / "rtl_harness" / "design" / "macros"
WORDS = [(i * 2654435761 + 12345) % 2**32 for i in range(16)]

_CAMPAIGN = """
[campaign]
name = "macros"
seed = 1
[target]
file = "target.toml"
[workload]
name = "macros"
decision = "exact"
[[workload.images]]
memory = "code"
files = ["code.hex"]
[workload.output]
memory = "out"
offset = 0
shape = [16]
dtype = "uint16"
[faults]
kinds = ["ff", "macro", "sram"]
injections = {injections}
{faults}
[technology]
name = "finfet-16nm"
[budget]
fit = 0.1
rationale = "a test"
hazardous = ["sdc_critical", "hang"]
"""


def macros_file(folder: Path, old: str = "", new: str = "", more: str = "") -> Path:
    """Copy the design to a folder, with a change of its target file, and return that file."""
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
    file = folder / "target.toml"
    text = file.read_text()
    assert text.count(old) == 1 or not old, old
    file.write_text(text.replace(old, new) + more if old else text + more)
    return file


def by_hand(folder: Path) -> Target:
    """Return the design with models that were written by hand."""
    file = macros_file(folder)
    text = re.split(r"(?m)^\[black_boxes", file.read_text())[0].replace("resil_words", "cells")
    file.write_text(text.replace('sources = ["core.sv"', 'sources = ["models.sv", "core.sv"'))
    return load_target(file)


def macros_work() -> Workload:
    """Return what runs on it."""
    image = b"".join(word.to_bytes(4, "little") for word in WORDS)
    return Workload("macros", {"code": image}, OutputSpec("out", 0, (16,), "uint16"), decide=exact)


def macros_campaign(folder: Path, injections: int, faults: str = "", more: str = "") -> Path:
    """Write the design and a campaign on it to a folder, and return the campaign.

    Args:
        folder: Where they go.
        injections: Of the campaign.
        faults: More keys of `[faults]`.
        more: Text at the end of the target file.
    """
    macros_file(folder, more=more)
    (folder / "code.hex").write_text("".join(f"{word:08x}\n" for word in WORDS))
    (folder / "campaign.toml").write_text(_CAMPAIGN.format(injections=injections, faults=faults))
    return folder / "campaign.toml"
