# SPDX-License-Identifier: Apache-2.0
"""The design of the examples whose storage is awkward to list, to find again and to flip."""

from pathlib import Path

import numpy as np

from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.workload import OutputSpec, Workload

_FOLDER = Path(__file__).parents[1] / "examples" / "awkward"


def awkward_target() -> Target:
    """Return the design as its target file has it."""
    return load_target(_FOLDER / "target.toml")


def awkward_workload() -> Workload:
    """Return its run on 256 random bytes."""
    source = np.random.default_rng(3).integers(0, 256, 256, dtype=np.uint8)
    return Workload("random", {"source": source.tobytes()}, OutputSpec("sink", 0, (512,)))
