# SPDX-License-Identifier: Apache-2.0
"""Faults put into the lane model and into the sweep: the running comparison or the audit sees them."""

import pickle
import shutil

import pytest

from resil.rtl_harness.cache import content_key
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.engine.fast import concurrent_simulator as sweep
from resil.rtl_harness.engine.fast.audit_sample import EVERYTHING
from resil.rtl_harness.engine.fast.concurrent_simulator import LANES_DIFFER
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.lanes import build as lanes
from resil.rtl_harness.engine.fast.lanes import decoders
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.engine.fast.native import build
from resil.rtl_harness.engine.fast.native.sweep import Sweep
from resil.rtl_harness.errors import AuditError
from testkit.errors import about
from tests.rtl_harness.engine.fast.lanes.test_machines import (
    ARRAYS,
    TARGET,
    WORKLOAD,
    differences,
    faults_of,
    outcomes,
)

FAULTS = 400
ARRAY_CELLS = {
    "a machine that reads nothing": ("left = live", "left = live & ~M{8}"),
    "machines that matter by another rule": ("const M live = (", "const M live = ~("),
    "a table that keeps what it holds": ("= choose(enable, ", "= choose(M{0}, "),
}
CELLS = {
    "a cell that is wrong": ("parity(", "~parity("),
    "a write port that is left out": ("  write1(s);\n", ""),
    "words that are forgotten": ("if (a >= 16) continue;", "if (a >= 13) continue;"),
}
_HASHED = "h = (h ^ (b.offset << 8 ^ b.mask)) * 0x9e3779b97f4a7c15 + (h >> 29);"
SWEEPS = {
    "jobs merged that differ": {
        "bool operator==(const Prospect&) const = default;": (
            "bool operator==(const Prospect& p) const { return cycle == p.cycle && shift == p.shift; }"
        ),
        _HASHED: ";",
    },
    "a memory not compared": {"sweep_.golden().memories().difference(faulty, d);": ""},
}


def seed(monkeypatch, what, old, new):
    """Let lane models be generated with other text in one place, under a key of their own."""
    right, key = lanes.source, lanes._key

    def wrong(*arguments):
        text = right(*arguments)
        assert old in text
        return text.replace(old, new)

    monkeypatch.setattr(lanes, "source", wrong)
    monkeypatch.setattr(lanes, "_key", lambda *arguments: content_key(what, key(*arguments)))


@pytest.fixture(scope="module")
def plain():
    return outcomes(WORKLOAD, faults_of(WORKLOAD, FAULTS), False)[0]


@pytest.mark.parametrize("what", CELLS)
def test_lanes_that_differ_are_closed_and_no_row_is_wrong(what, plain, monkeypatch):
    seed(monkeypatch, what, *CELLS[what])
    found, notes = outcomes(WORKLOAD, list(plain), True)
    assert notes == [LANES_DIFFER]
    assert found == plain


@pytest.fixture(scope="module")
def arrays():
    made = CompiledModel(ARRAYS, WORKLOAD, elaborate(ARRAYS))
    yield made
    made.close()


@pytest.mark.parametrize("what", ARRAY_CELLS)
def test_arrays_that_are_wrong_differ(what, arrays, monkeypatch):
    seed(monkeypatch, what, *ARRAY_CELLS[what])
    assert list(differences(arrays, 300, 1000))


@pytest.mark.parametrize("neighbour", [1, 2])
def test_a_neighbour_that_is_written_differs(neighbour, arrays, monkeypatch):
    right, key = decoders._Decoders._mask, lanes._key
    monkeypatch.setattr(
        decoders._Decoders, "_mask", lambda self, nets, number: right(self, nets, number ^ neighbour)
    )
    monkeypatch.setattr(lanes, "_key", lambda *arguments: content_key(str(neighbour), key(*arguments)))
    assert list(differences(arrays, 300, 1000))


@pytest.mark.parametrize("what", SWEEPS)
def test_the_audit_sees_what_sweeps_do_wrong(what, monkeypatch, tmp_path):
    folder = shutil.copytree(build.HERE, tmp_path / "verilated")
    for old, new in SWEEPS[what].items():
        (file,) = (f for f in folder.glob("*.[ch]*") if old in f.read_text())
        file.write_text(file.read_text().replace(old, new))
    # Headers too: builds are kept under the hash of both.
    monkeypatch.setattr(build, "SHARED", tuple(folder / file.name for file in build.SHARED))
    monkeypatch.setattr(build, "HEADERS", tuple(folder / file.name for file in build.HEADERS))
    faults = faults_of(WORKLOAD, FAULTS)
    with (
        VerilatorEngine(TARGET, WORKLOAD, elaborate(TARGET), sweep=True, audit=EVERYTHING) as engine,
        pytest.raises(AuditError, check=about("early stops")),
    ):
        list(engine.run(faults))


def test_lanes_that_differ_after_answers_were_given_are_an_error(plain, monkeypatch):
    """As if the running comparison had met the fault late: what was answered cannot be taken back."""
    asked = iter([False])
    monkeypatch.setattr(sweep, "HELD", 8)
    monkeypatch.setattr(Sweep, "lanes_differ", property(lambda self: next(asked, True)))
    with pytest.raises(AuditError, check=about("gates")) as error:
        outcomes(WORKLOAD, list(plain), True)
    assert pickle.loads(pickle.dumps(error.value)).fault == error.value.fault
