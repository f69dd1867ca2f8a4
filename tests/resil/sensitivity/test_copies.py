# SPDX-License-Identifier: Apache-2.0
"""A copy of a run is no further evidence: six copies counted as six runs, and narrowed every interval."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from resil.errors import StoreError
from resil.folder.finished import require_distinct
from resil.sensitivity import learn
from testkit.errors import about

DEFINITION = {"network": "n" * 64, "seed": "7", "kinds": "ff", "engine": "verilator", "resil": "0.1.0"}
MODEL = SimpleNamespace(left_out=(), source=SimpleNamespace(runs=(), validated=(), networks=frozenset()))


def runs(*changes):
    """Return runs whose definitions differ in `changes` from one another."""
    return [
        SimpleNamespace(
            folder=Path(f"run{place}"),
            network=str(place % 2),
            patterns=(),
            provenance=SimpleNamespace(definition={**DEFINITION, **change}),
        )
        for place, change in enumerate(changes)
    ]


@pytest.mark.parametrize("change", [{}, {"engine": "cocotb"}, {"resil": "0.2.0"}, {"timeout": "operation"}])
@pytest.mark.parametrize("use", [learn.learn, partial(learn.judged_outside, MODEL)])
def test_the_same_faults_do_not_count_twice(monkeypatch, change, use):
    found = {run.folder: run for run in runs({"seed": "8"}, {}, change)}
    monkeypatch.setattr(learn, "read_run", found.get)
    with pytest.raises(StoreError, check=about("twice")):
        use(list(found))


@pytest.mark.parametrize("change", [{"seed": "8"}, {"network": "m" * 64}, {"kinds": "sram"}])
def test_other_faults_count(change):
    require_distinct((run.folder, run.provenance) for run in runs({}, change))
