# SPDX-License-Identifier: Apache-2.0
"""SOFTMAX against TensorFlow Lite Micro and against the real function."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resil.networks import oracle, reference
from resil.networks.errors import NetworkError
from resil.networks.graph import Graph, Operator, Quantisation, Tensor
from resil.networks.quantise import SOFTMAX_OUTPUT
from resil.networks.tflite_writer import serialise_network
from testkit.errors import about


def network(classes: int, scale: float, beta: float = 1.0) -> Graph:
    tensors = (
        Tensor("x", (1, classes), "int8", Quantisation((float(np.float32(scale)),), (3,))),
        Tensor("y", (1, classes), "int8", SOFTMAX_OUTPUT),
    )
    operator = Operator("SOFTMAX", (0,), (1,), {"beta": beta}, "SoftmaxOptions", 2)
    return Graph(tensors, (operator,), (0,), (1,))


@given(st.integers(1, 300), st.floats(1e-5, 5.0), st.sampled_from([0.5, 1.0, 3.0]), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=80)
def test_equals_the_oracle(classes, scale, beta, seed):
    graph = network(classes, scale, beta)
    random = np.random.default_rng(seed)
    inputs = random.integers(-128, 128, (8, classes), dtype=np.int8)
    inputs[::2] = np.clip(random.normal(0.0, 10.0, inputs[::2].shape), -128, 127).astype(np.int8)
    np.testing.assert_array_equal(reference.run(graph, inputs), oracle.run(serialise_network(graph), inputs))


def test_every_difference_of_two_levels_equals_the_oracle():
    graph = network(2, 0.05)
    inputs = np.stack([np.full(256, 127), np.arange(-128, 128)], axis=1).astype(np.int8)
    found = reference.run(graph, inputs)
    np.testing.assert_array_equal(found, oracle.run(serialise_network(graph), inputs))
    real = 256.0 / (1.0 + np.exp((np.arange(-128, 128) - 127) * 0.05)) - 128.0
    assert np.abs(found[:, 0] - np.minimum(real, 127.0)).max() <= 0.51


def test_an_output_that_is_quantised_otherwise_is_refused():
    graph = network(4, 0.1)
    other = replace(graph.tensors[1], quantisation=Quantisation((1 / 128,), (0,)))
    with pytest.raises(NetworkError, check=about("operators[0]")):
        reference.run(replace(graph, tensors=(graph.tensors[0], other)), np.zeros((1, 4), np.int8))
