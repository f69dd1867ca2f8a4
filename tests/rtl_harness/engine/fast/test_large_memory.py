# SPDX-License-Identifier: Apache-2.0
"""Memories that are too large to be looked at as a whole: what runs have written of them is followed."""

import random
from pathlib import Path

import numpy as np
import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target, TargetMemory
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.faults import Fault, Seen

TARGET = Target(
    name="far",
    top="far",
    sources=(Path(__file__).with_name("far.sv"),),
    clock="clk_i",
    reset="rst_ni",
    dut="u_core",
    done="done_o",
    blocks={"core": ("u_core",)},
    memories={"memory": TargetMemory("mem_q", 8, "memory")},
)
BYTES = 8 << 18
IMAGE = np.random.default_rng(3).integers(0, 256, BYTES, np.uint8).tobytes()
# The last place that a run comes to, and writes.
WORKLOAD = Workload("words", {"memory": IMAGE}, OutputSpec("memory", 8 * 0x201, (8,)), decide=exact)


@pytest.fixture(scope="module")
def elaboration():
    return elaborate(TARGET)


@pytest.fixture(scope="module")
def faults(elaboration):
    sites = [*range(elaboration.sites.size)]
    chosen = random.Random(5)
    return [Fault(chosen.choice(sites), cycle) for cycle in range(0, 400, 3)]


@pytest.fixture(scope="module")
def plain(elaboration, faults):
    """What runs to the end give, of which the state is compared as a whole."""
    with VerilatorEngine(TARGET, WORKLOAD, elaboration, shortcuts=Shortcut.NONE) as made:
        return {injection.fault: injection for injection in made.run(faults)}


def test_wild_writes_anywhere_are_found(plain, elaboration):
    """The address of a write is wrong: pages are written that the golden run does not write, and stay so."""
    address = {f: i for f, i in plain.items() if elaboration.sites[f.site].element.path.endswith("at_q")}
    assert sum(injection.seen is Seen.LATENT for injection in address.values()) > 10


@pytest.mark.parametrize("sweep", [False, True])
def test_early_stops_see_all_of_the_memory(plain, elaboration, faults, sweep):
    """The fault: a block is not known to be written, and a state that differs there counts as equal."""
    with VerilatorEngine(TARGET, WORKLOAD, elaboration, sweep=sweep, lanes=False, audit=NOTHING) as made:
        assert {injection.fault: injection for injection in made.run(faults)} == plain
        assert made.notes == []
        assert made.early_stops > len(faults) // 4


def test_the_golden_run_is_what_a_run_to_the_end_leaves(elaboration):
    with VerilatorEngine(TARGET, WORKLOAD, elaboration) as made:
        made.golden()
        found = made._model.injector.recall_memories(400)
        storage = made._model.map.storage("mem_q")
        with made.start() as other:
            other.run_to(400)
            expected = other.view(storage)
            assert np.array_equal(found.view(storage), expected)
            assert (expected.reshape(-1) != np.frombuffer(IMAGE, np.uint8)).any()
