# SPDX-License-Identifier: Apache-2.0
"""Compiled networks on the functional model, whatever their number of inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from resil.networks.compile import CompiledNetwork
from resil.networks.graph import Graph
from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.model.machine import FunctionalModel
from resil.rtl_harness.npu.model.status import Status

STOPPED = Status.IRQ | Status.CMD_END | 0xFFFF << 16


@cache
def model(accelerator: str) -> FunctionalModel:
    return FunctionalModel(npu_config(accelerator))


def run_network(network: CompiledNetwork, graph: Graph, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Run a batch, with random bytes in memory that holds no constants and no inputs.

    Args:
        network: Compiled from `graph`.
        graph: Its tensors are found again by name.
        inputs: For each input of the graph, (N, *shape).

    Returns:
        For each output of the graph, (N, *shape).
    """
    count, rng = len(inputs[0]), np.random.default_rng(0)
    constants = np.zeros(network.region_sizes[0], dtype=np.uint8)
    constants[: len(network.constants)] = np.frombuffer(network.constants, np.uint8)
    regions = {0: constants}
    for region, size in network.region_sizes.items():
        if region:
            regions[region] = rng.integers(0, 256, (count, size)).astype(np.uint8)
    given = {graph.tensors[i].name: batch for i, batch in zip(graph.inputs, inputs, strict=True)}
    for slot in network.inputs:
        raw = np.ascontiguousarray(given[slot.name]).reshape(count, -1).view(np.uint8)
        regions[slot.region][:, slot.offset : slot.offset + slot.size] = raw
    results = model(network.accelerator).run(network.commands, regions, read_only=frozenset({0}))
    for result in results:
        assert result.status == STOPPED
        assert result.operations_done == len(network.operations)
    outputs = {}
    for slot in network.outputs:
        raw = np.ascontiguousarray(regions[slot.region][:, slot.offset : slot.offset + slot.size])
        outputs[slot.name] = raw.view(slot.dtype).reshape(count, *slot.shape)
    return [outputs[graph.tensors[i].name] for i in graph.outputs]
