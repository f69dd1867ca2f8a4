# SPDX-License-Identifier: Apache-2.0
"""Networks of one operation on the functional model, as compiled, against TensorFlow Lite Micro.

RESIL_GENERATED in the environment says how many of each kind, instead of two.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from resil.networks.compile import compile_network
from resil.networks.generate import KINDS, generate, random_inputs
from resil.networks.graph import Graph
from resil.networks.oracle import run_all
from resil.networks.tflite_writer import serialise_network
from resil.rtl_harness.npu.model.config import CONFIGS
from tests.rtl_harness.npu.network_support import run_network

COUNT = 6
SEEDS = int(os.environ.get("RESIL_GENERATED", "2"))
# TensorFlow Lite Micro rounds a sum twice, Vela's stream once.
COMPARED = tuple(kind for kind in KINDS if kind != "SUM")


def expected(graph: Graph, inputs: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """What TensorFlow Lite Micro returns; but RELU6 with two quantisations, see below."""
    (operator,) = graph.operators
    given, result = (graph.tensors[i[0]] for i in (operator.inputs, operator.outputs))
    if operator.kind == "RELU6" and given.quantisation != result.quantisation:
        rectified = run_all(serialise_network(with_kind(graph, "RELU")), inputs)[0]
        six = result.zero_point + round(6 / result.scale)
        return [np.minimum(rectified, np.int8(min(127, six)))]
    return list(run_all(serialise_network(graph), inputs))


def with_kind(graph: Graph, kind: str) -> Graph:
    return replace(graph, operators=(replace(graph.operators[0], kind=kind),))


@pytest.mark.parametrize("kind", COMPARED)
def test_single_operations(kind: str, tmp_path: Path):
    """Each seed is compiled for one of the configurations, in turn."""
    names = list(CONFIGS)
    for seed in range(SEEDS):
        graph = generate(kind, seed)
        inputs = random_inputs(graph, COUNT, seed)
        path = tmp_path / f"{seed}.tflite"
        path.write_bytes(serialise_network(graph))
        network = compile_network(path, names[(seed + KINDS.index(kind)) % 4])
        outputs = run_network(network, graph, inputs)
        for output, reference in zip(outputs, expected(graph, inputs), strict=True):
            assert np.array_equal(output, reference), (seed, network.accelerator)


def test_relu6_of_two_quantisations_is_not_rescaled_by_tensorflow_lite_micro():
    """The reason for the exception above: it clamps to the input's levels, and leaves them as they are."""
    for seed in range(20):
        graph = generate("RELU6", seed)
        given, result = (graph.tensors[i] for i in (graph.inputs[0], graph.outputs[0]))
        if given.quantisation == result.quantisation:
            continue
        inputs = random_inputs(graph, COUNT, seed)
        six = min(127, given.zero_point + round(6 / given.scale))
        (output,) = run_all(serialise_network(graph), inputs)
        assert np.array_equal(output, np.clip(inputs[0], given.zero_point, six))
