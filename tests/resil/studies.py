# SPDX-License-Identifier: Apache-2.0
"""A small study for tests, as text and as a value."""

from __future__ import annotations

import tomllib
from pathlib import Path

from resil.study.study import Study
from resil.study.study_file import parse_study

TEXT = """
[study]
name = "small study"
seed = 7
[[target]]
name = "ethos-u55-32"
[[target]]
name = "ethos-u55-64"
[[network]]
path = "zoo:digits"
inputs = [0, 3]
[[network]]
path = "zoo:mnist_lenet"
inputs = [0, 3]
[faults]
kinds = ["ff"]
injections = 200
[sampling]
plan = "uniform"
[technology]
name = "finfet-16nm"
[budget]
fit = 0.01
rationale = "a share of 10 FIT"
"""
CELLS = [f"ethos-u55-{macs}/{network}" for macs in (32, 64) for network in ("digits", "mnist_lenet")]


def study(text: str = TEXT) -> Study:
    return parse_study(Path("study.toml"), tomllib.loads(text))


def write_study(folder: Path, text: str = TEXT) -> Path:
    file = folder / "study.toml"
    file.write_text(text)
    return file
