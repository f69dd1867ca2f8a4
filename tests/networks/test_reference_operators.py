# SPDX-License-Identifier: Apache-2.0
"""The integer reference on every operator that it has, against TensorFlow Lite Micro."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from resil.networks import oracle, reference
from resil.networks.errors import NetworkError
from resil.networks.generate import KINDS, generate, random_inputs
from resil.networks.graph import Graph
from resil.networks.tflite_writer import serialise_network
from testkit.errors import about

SEEDS = 4
COVERED = tuple(kind for kind in KINDS if kind in reference.KERNELS)


def judged(graph: Graph, inputs):
    try:
        oracle.require_sound(graph)
        return oracle.run_all(serialise_network(graph), inputs)
    except NetworkError:
        return None


@pytest.mark.parametrize("kind", COVERED)
def test_equal_to_tensorflow_lite_micro(kind):
    compared = 0
    for seed in range(SEEDS):
        graph = generate(kind, seed)
        inputs = random_inputs(graph, 4, seed)
        expected = judged(graph, inputs)
        if expected is None:
            continue
        for found, right in zip(reference.outputs(graph, inputs), expected, strict=True):
            np.testing.assert_array_equal(found, right)
        compared += 1
    assert compared, kind


def test_relu6_rescales_where_tflite_micro_does_not():
    graph = next(g for g in (generate("RELU6", seed) for seed in range(20)) if _rescales(g))
    with pytest.raises(NetworkError, check=about("operators[0].quantisation")):
        oracle.require_sound(graph)
    given, output = (graph.tensors[index] for index in (graph.inputs[0], graph.outputs[0]))
    inputs = random_inputs(graph, 3, 1)
    (found,) = reference.outputs(graph, inputs)
    real = np.clip(given.scale * (inputs[0].astype(float) - given.zero_point), 0.0, 6.0)
    exact = np.clip(real / output.scale + output.zero_point, -128, 127)
    assert np.abs(found - exact).max() <= 1.0


def _rescales(graph: Graph) -> bool:
    given, output = (graph.tensors[index] for index in (graph.inputs[0], graph.outputs[0]))
    return given.quantisation != output.quantisation


def test_a_type_that_it_does_not_know_is_refused():
    graph = generate("CONV_2D", 1)
    wide = tuple(
        replace(t, dtype="int16") if t.dtype == "int8" and t.data is None else t for t in graph.tensors
    )
    with pytest.raises(NetworkError, check=about("operators[0]")):
        reference.outputs(replace(graph, tensors=wide), random_inputs(replace(graph, tensors=wide), 1, 1))
