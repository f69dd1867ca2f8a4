# SPDX-License-Identifier: Apache-2.0
"""Networks of one operation on the RTL, as compiled, against TensorFlow Lite Micro: another sample every day.

RESIL_ROTATION in the environment chooses the sample instead of the date.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from resil.networks.compile import CompiledNetwork, compile_network
from resil.networks.generate import generate, random_inputs
from resil.networks.graph import Graph
from resil.networks.tflite_writer import serialise_network
from resil.rtl_harness.npu.model.status import ERRORS
from testkit.npu.model_support import CONSTANTS, RAM
from testkit.npu.rtl_support import FENCE, SRAM_BYTES, WORDS, run_stream
from tests.rtl_harness.npu.test_model_generated import COMPARED, expected

ROTATION = int(os.environ.get("RESIL_ROTATION", datetime.now(UTC).date().toordinal()))
SAMPLE = 6
SIZES = [
    "ethos-u55-32",
    pytest.param("ethos-u55-64", marks=pytest.mark.slow),
    pytest.param("ethos-u55-128", marks=pytest.mark.slow),
    "ethos-u55-256",
]


def fits(network: CompiledNetwork) -> bool:
    """Whether the small bench that the tests share can hold it."""
    flash = len(network.constants) + 64 + network.commands.nbytes
    return (
        set(network.region_sizes) <= {CONSTANTS, RAM}
        and flash <= 8 * WORDS["flash"]
        and network.region_sizes[RAM] <= SRAM_BYTES - 2 * FENCE
    )


def outputs_of(network: CompiledNetwork, graph: Graph, inputs: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """Run the first of `inputs`; return each output of the graph."""
    constants = np.frombuffer(network.constants, np.uint8).copy()
    ram = np.random.default_rng(0).integers(0, 256, network.region_sizes[RAM]).astype(np.uint8)
    given = {graph.tensors[i].name: batch[0] for i, batch in zip(graph.inputs, inputs, strict=True)}
    for slot in network.inputs:
        raw = np.ascontiguousarray(given[slot.name]).reshape(-1).view(np.uint8)
        ram[slot.offset : slot.offset + slot.size] = raw
    run = run_stream(network.commands, {CONSTANTS: constants, RAM: ram}, network.accelerator, 5_000_000)
    assert run.status & ERRORS == 0, hex(run.status)
    outputs = {s.name: ram[s.offset : s.offset + s.size].view(s.dtype) for s in network.outputs}
    return [outputs[graph.tensors[i].name] for i in graph.outputs]


@pytest.mark.parametrize("npu", SIZES)
def test_a_rotating_sample_of_single_operations(npu: str, tmp_path: Path):
    rng = np.random.default_rng(ROTATION)
    done = 0
    while done < SAMPLE:
        kind, seed = str(rng.choice(COMPARED)), int(rng.integers(1_000_000))
        graph = generate(kind, seed)
        path = tmp_path / "network.tflite"
        path.write_bytes(serialise_network(graph))
        network = compile_network(path, npu)
        if not fits(network):
            continue
        inputs = random_inputs(graph, 1, seed)
        for output, reference in zip(
            outputs_of(network, graph, inputs), expected(graph, inputs), strict=True
        ):
            assert np.array_equal(output, reference.reshape(-1)), (ROTATION, kind, seed)
        done += 1
