# SPDX-License-Identifier: Apache-2.0
"""Two inferences of digits on the NPU; between them the host resets it, or does not. Builds a simulator."""

import random

import numpy as np
import pytest

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.faults import Fault, Outcome
from resil.rtl_harness.npu.infer import infer
from resil.rtl_harness.npu.workload import npu_workload

pytestmark = pytest.mark.slow

INJECTIONS = 64


@pytest.fixture(scope="module")
def digits():
    return zoo.load("digits")


@pytest.fixture(scope="module")
def compiled(digits):
    return compile_network(digits.path, "ethos-u55-32")


@pytest.fixture(scope="module")
def target():
    return load_target("ethos-u55-32")


@pytest.fixture(scope="module", params=["reset", "rewrite"])
def parts(request, digits, compiled, target):
    workload = npu_workload(compiled, digits.heldout_inputs[0], again=request.param)
    return target, workload, with_hardware(target, elaborate(target, workload.parameters))


@pytest.fixture(scope="module")
def engine(parts):
    with VerilatorEngine(*parts, audit=NOTHING, sweep=True) as made:
        yield made


@pytest.fixture(scope="module")
def faults(engine):
    """Flip-flops of every block as often as of any other, over the whole first inference."""
    choose = random.Random(3)
    table, cycles = engine.elaboration.sites, engine.golden().cycles
    blocks: dict[str, list[int]] = {}
    for index, element in enumerate(table.elements):
        if element.kind == "ff":
            blocks.setdefault(element.block, []).extend(
                site for first, count, _ in table.pieces(index) for site in range(first, first + count)
            )
    names = sorted(blocks)
    chosen = [
        Fault(choose.choice(blocks[names[number % len(names)]]), choose.randrange(cycles))
        for number in range(INJECTIONS)
    ]
    return sorted(chosen)


def test_both_inferences_give_what_the_functional_model_gives(digits, compiled, parts, engine):
    end = engine.golden().end
    model = infer(compiled, (digits.heldout_inputs[:1],), engine="functional").outputs[0][0]
    assert end.first.output == end.output == np.asarray(model).tobytes()
    assert end.first.status & 0xFFFF == end.status & 0xFFFF
    assert end.first.end_cycle < end.end_cycle < 2.2 * end.first.end_cycle


def test_early_stops_give_what_runs_to_the_end_give(parts, engine, faults):
    found = {injection.fault: injection for injection in engine.run(faults)}
    assert engine.early_stops > INJECTIONS // 2
    assert any(how.startswith("paused, then ") for how in engine.ends)
    with VerilatorEngine(*parts, shortcuts=Shortcut.NONE) as plain:
        assert {injection.fault: injection for injection in plain.run(faults)} == found
    assert len({injection.outcome for injection in found.values()}) >= 3
    assert all(i.second is not None or i.first is Outcome.HANG for i in found.values())
