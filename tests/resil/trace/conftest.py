# SPDX-License-Identifier: Apache-2.0
"""A run of the awkward example, a design that is not the NPU."""

from __future__ import annotations

import shutil

import pytest

from resil.cli import main
from resil.trace.run import Run


@pytest.fixture(scope="package")
def example(tmp_path_factory, repository):
    folder = tmp_path_factory.mktemp("trace")
    shutil.copytree(repository / "examples" / "awkward", folder / "awkward")
    return folder / "awkward" / "campaign.toml"


@pytest.fixture(scope="package")
def run(example, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "run"
    main(["run", str(example), "--set", "faults.injections=400", "--out", str(out), "--quiet"])
    return out


@pytest.fixture(scope="package")
def rows(run):
    return Run(run).injections()
