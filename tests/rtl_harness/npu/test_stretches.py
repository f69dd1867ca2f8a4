# SPDX-License-Identifier: Apache-2.0
"""Faults in parts of a network: what the host and later parts make of them is what the RTL makes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from resil.networks.graph import Graph
from resil.networks.oracle import run_all
from resil.networks.parts import PartedNetwork, compile_parts
from resil.networks.tflite_writer import serialise_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.chain import ChainEngine
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.runner import Runner
from resil.rtl_harness.engine.workload import Workload, top1
from resil.rtl_harness.errors import SimulationError
from resil.rtl_harness.faults import Fault, Outcome, Seen
from resil.rtl_harness.npu.infer import infer_parts
from resil.rtl_harness.npu.stretches import stretches
from testkit.npu.carried import CarriedSequel
from testkit.npu.parted_networks import host_at_both_ends, host_between, streaming
from testkit.npu.recurrent_networks import with_real_numbers, with_svdf

NPU = "ethos-u55-32"
TARGET = load_target(NPU)
CHANGED = (Seen.SDC_TOLERABLE, Seen.SDC_CRITICAL)


def made(graph: Graph, folder: Path) -> PartedNetwork:
    path = folder / "network.tflite"
    path.write_bytes(serialise_network(graph))
    network = compile_parts(path, NPU)
    assert isinstance(network, PartedNetwork)
    return network


def inputs_of(network: PartedNetwork, count: int) -> list[tuple[np.ndarray, ...]]:
    rng = np.random.default_rng(7)
    shapes = [tensor.shape for tensor in network.inputs]
    return [tuple(rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes) for _ in range(count)]


def carried(
    network: PartedNetwork, inferences: list[tuple[np.ndarray, ...]], runs: tuple[Workload, ...]
) -> tuple[Workload, ...]:
    """The same stretches, with all that follows on the RTL."""
    runner = Runner(TARGET, runs[0].parameters)
    return tuple(
        replace(
            run,
            sequel=CarriedSequel(
                network,
                inferences,
                run.sequel.inference,
                run.sequel.number,
                run.sequel.before,
                run.sequel.kept,
                run.sequel.golden,
                runner,
                run.sequel.several,
            ),
        )
        for run in runs
    )


def engine(runs: tuple[Workload, ...]) -> ChainEngine:
    elaboration = with_hardware(TARGET, elaborate(TARGET, runs[0].parameters))
    return ChainEngine([VerilatorEngine(TARGET, run, elaboration) for run in runs], runs)


def faults_of(chain: ChainEngine, count: int, seed: int) -> list[Fault]:
    """Upsets of flip-flops that are hardware, uniform in bits and in the cycles of all stretches."""
    sites = elaborate(TARGET, {}).sites
    own = [
        site
        for index, element in enumerate(sites.elements)
        if element.kind == "ff"
        for first, bits, _ in sites.pieces(index)
        for site in range(first, first + bits)
    ]
    rng = np.random.default_rng(seed)
    cycles = rng.integers(0, chain.golden().cycles, count)
    return [Fault(int(s), int(c)) for s, c in zip(rng.choice(own, count), cycles, strict=True)]


INSIDE = "state inside an operator"
CASES: dict[str, tuple[Callable[[], Graph], int]] = {
    "host at both ends": (host_at_both_ends, 1),
    "host between": (host_between, 1),
    "state": (streaming, 4),
    "state and host": (lambda: streaming(with_host=True), 3),
    INSIDE: (with_svdf, 3),
    "real numbers": (with_real_numbers, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_what_follows_a_fault_is_what_the_rtl_does(name: str, tmp_path: Path):
    make, inferences = CASES[name]
    network = made(make(), tmp_path)
    given = inputs_of(network, inferences)
    runs = stretches(network, given, "network", [top1] * inferences)
    slow = carried(network, given, runs)
    with engine(runs) as fast, engine(slow) as judge:
        assert fast.golden() == judge.golden()
        found = list(fast.run(faults_of(fast, 300 if inferences == 1 else 1200, 3)))
        changed = [one for one in found if one.seen in CHANGED]
        changed.sort(key=lambda one: one.first is not Outcome.LATENT)
        other = [one for one in found if one.seen not in CHANGED][:5]
        assert len(changed) >= 5
        for one in (*changed[:25], *other):
            assert judge.replay(one.fault) == one
        if inferences > 1:
            assert all(one.first is not None for one in found)
            lived_on = [one for one in found if one.second is not None and one.second.value in CHANGED]
            # What an SVDF takes into its memory counts at once: hardly a fault waits there unseen.
            assert any(one.first is Outcome.LATENT for one in lived_on) or name == INSIDE
            assert any(one.first.value in CHANGED for one in lived_on)
    starts = Counter(np.searchsorted(fast._starts, one.fault.cycle, side="right") for one in changed)
    assert len(starts) == len(runs)
    assert sum(run.sequel.runs for run in slow) >= (len(runs) - 1) * 3


def test_the_golden_run_is_the_reference_on_the_rtl_too(tmp_path: Path):
    network = made(host_between(), tmp_path)
    given = inputs_of(network, 3)
    stacked = [np.stack(own) for own in zip(*given, strict=True)]
    found = infer_parts(network, stacked, "rtl")
    (wanted,) = run_all(tmp_path / "network.tflite", stacked)
    assert np.array_equal(found.outputs[0], wanted.reshape(found.outputs[0].shape))
    assert found.operation_cycles.shape == (3, 5)
    with engine(stretches(network, given[:1], "network", [top1])) as chain:
        golden = chain.golden()
    assert golden.end.output == wanted[0].tobytes()
    assert golden.cycles == found.cycles[0]
    assert len(golden.operation_ends) == 5
    assert list(golden.operation_ends) == sorted(golden.operation_ends)


def test_a_stretch_that_the_model_computes_otherwise_is_refused(tmp_path: Path):
    network = made(host_between(), tmp_path)
    runs = stretches(network, inputs_of(network, 1), "network", [top1])
    wrong = bytearray(runs[1].sequel.golden)
    wrong[5] ^= 1
    runs[1].sequel.golden = bytes(wrong)
    with engine(runs) as chain, pytest.raises(SimulationError, match=r"part 2: .* 1 of \d+ bytes.* byte 5"):
        chain.golden()
