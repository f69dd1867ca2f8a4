# SPDX-License-Identifier: Apache-2.0
"""The NPU with gated clocks: what it computes, in how many cycles, its storage, and faults in it."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.faults import Fault
from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.workload import npu_workload
from testkit.npu.model_cases import FEATURES, NAMES, random_case
from testkit.npu.model_support import RAM, Case
from testkit.npu.rtl_support import run_stream

NPU = "ethos-u55-32"
GATES = {f"u_npu.u_cpm.gen_domain[{d}].gen_gate.u_gate.en_latch" for d in range(5)}


def compare(case: Case) -> None:
    """Run with enables and with gated clocks: status, cycles and memory agree."""
    plain, gated = case.regions, case.regions
    expected = run_stream(case.stream, plain, NPU)
    found = run_stream(case.stream, gated, NPU, clock_gates=True)
    assert (found.status, found.cycles) == (expected.status, expected.cycles)
    assert np.array_equal(plain[RAM], gated[RAM])


@pytest.mark.parametrize("name", NAMES)
def test_operations_are_the_same(name: str):
    for seed in range(3):
        compare(random_case(name, npu_config(NPU), np.random.default_rng(seed)))


@pytest.mark.parametrize("feature", FEATURES)
def test_operations_with_tiles_upscaling_and_tables_are_the_same(feature: str):
    rng = np.random.default_rng(7)
    for name in ("conv", "average", "add"):
        compare(random_case(name, npu_config(NPU), rng, (feature,)))


def with_gates(target: Target) -> Target:
    return replace(target, parameters={**target.parameters, "ClockGates": 1})


@pytest.fixture(scope="module")
def workload():
    digits = zoo.load("digits")
    return npu_workload(compile_network(digits.path, NPU), digits.heldout_inputs[0])


def test_the_latches_of_the_gates_are_storage(workload):
    target = with_gates(load_target(NPU))
    found = elaborate(target, workload.parameters)
    latches = {e.path for e in found.sites.elements if found.is_latch(e.path)}
    assert latches == GATES
    assert all(found.clocking[path].clock == "clk_i" and not found.clocking[path].rising for path in GATES)
    assert {e.block for e in found.sites.elements if e.path in GATES} == {"cpm"}
    assert not any(elaborate(load_target(NPU), workload.parameters).is_latch(path) for path in GATES)


@pytest.mark.slow
def test_a_fault_does_the_same_with_gates_as_with_enables(workload):
    """Flips behind a gate wait while its clock stands still, as they wait while an enable is low."""
    plain = load_target(NPU)
    gated = with_gates(plain)
    with (
        VerilatorEngine(plain, workload, elaborate(plain, workload.parameters)) as expected,
        VerilatorEngine(gated, workload, elaborate(gated, workload.parameters), sweep=True) as found,
    ):
        assert found.golden().end.end_cycle == expected.golden().end.end_cycle
        own, other = expected.elaboration.sites, found.elaboration.sites
        place = {e.path: other.offsets[i] for i, e in enumerate(other.elements)}
        choose, faults = random.Random(4), {}
        while len(faults) < 300:
            index = choose.randrange(len(own.elements))
            element, bit = own.elements[index], choose.randrange(own.elements[index].bits)
            cycle = choose.randrange(expected.golden().end.end_cycle)
            faults[Fault(own.offsets[index] + bit, cycle)] = Fault(place[element.path] + bit, cycle)
        outcome = {i.fault: i.outcome for i in found.run(sorted(faults.values()), workers=2)}
        for injection in expected.run(sorted(faults), workers=2):
            assert outcome[faults[injection.fault]] == injection.outcome, own[injection.fault.site].name
        latch = next(i for i, e in enumerate(other.elements) if e.path in GATES)
        (injection,) = found.run([Fault(other.offsets[latch], 100)])
        assert injection.fault.cycle == 100
        assert found.notes == []
