# SPDX-License-Identifier: Apache-2.0
"""The integer reference against TensorFlow Lite Micro, element by element."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from resil.networks import oracle, reference
from resil.networks.errors import NetworkError
from resil.networks.graph import (
    Graph,
    Operator,
    Quantisation,
    Tensor,
    without_trailing_softmax,
)
from resil.networks.tflite_reader import read_network
from resil.networks.tflite_writer import serialise_network
from testkit.errors import about


def random_inputs(graph: Graph, count: int, seed: int = 0) -> np.ndarray:
    shape = graph.tensors[graph.inputs[0]].shape
    return np.random.default_rng(seed).integers(-128, 128, (count, *shape[1:]), dtype=np.int8)


def assert_equals_oracle(graph: Graph, inputs: np.ndarray) -> np.ndarray:
    expected = oracle.run(serialise_network(graph), inputs)
    found = reference.run(graph, inputs)
    np.testing.assert_array_equal(found, expected, strict=True)
    return found


def test_whole_heldout_split_equals_the_oracle(digits, digits_graph):
    assert digits.heldout_inputs.shape == (500, 8, 8, 1)
    expected = oracle.run(digits.path, digits.heldout_inputs)
    found = reference.run(digits_graph, digits.heldout_inputs)
    np.testing.assert_array_equal(found, expected, strict=True)
    assert np.mean(found.argmax(axis=1) == digits.heldout_labels) >= 0.97


def test_inputs_that_are_no_digits_equal_the_oracle(digits_graph):
    outputs = assert_equals_oracle(digits_graph, random_inputs(digits_graph, 200))
    assert len(np.unique(outputs)) > 100


@pytest.mark.parametrize("seed", range(6))
def test_every_layer_kind_equals_the_oracle(chain, seed):
    graph = chain(seed)
    outputs = assert_equals_oracle(graph, random_inputs(graph, 25, seed))
    assert len(np.unique(outputs)) > 20


@pytest.mark.parametrize("activation", ["NONE", "RELU", "RELU6", "RELU_N1_TO_1"])
def test_every_fused_activation_equals_the_oracle(chain, activation):
    graph = chain(2)
    operators = tuple(
        replace(o, options={**o.options, "fused_activation_function": activation})
        if "fused_activation_function" in o.options
        else o
        for o in graph.operators
    )
    assert_equals_oracle(replace(graph, operators=operators), random_inputs(graph, 10))


@pytest.mark.parametrize("seed", range(4))
def test_add_equals_the_oracle(seed):
    generator = np.random.default_rng(seed)

    def quantisation() -> Quantisation:
        return Quantisation(
            (float(np.float32(generator.uniform(0.01, 0.3))),), (int(generator.integers(-128, 128)),)
        )

    shape = (1, 3, 4, 8)
    constant = generator.integers(-128, 128, shape, dtype=np.int8)
    tensors = (
        Tensor("x", shape, "int8", quantisation()),
        Tensor("c", shape, "int8", quantisation(), constant),
        Tensor("y", shape, "int8", quantisation()),
        Tensor("z", shape, "int8", quantisation()),
    )
    options = {"fused_activation_function": "NONE"}
    operators = (
        Operator("ADD", (0, 1), (2,), options, "AddOptions", 2),
        Operator("ADD", (2, 0), (3,), options, "AddOptions", 2),
    )
    graph = Graph(tensors, operators, (0,), (3,))
    assert_equals_oracle(graph, random_inputs(graph, 40, seed))


def test_depth_multiplier_and_a_missing_bias_equal_the_oracle():
    generator = np.random.default_rng(5)
    weights = generator.integers(-127, 128, (1, 3, 3, 8), dtype=np.int8)
    scales = tuple(np.float32(generator.uniform(0.002, 0.01, 8)).tolist())
    tensors = (
        Tensor("x", (1, 6, 6, 4), "int8", Quantisation((0.1,), (7,))),
        Tensor("w", (1, 3, 3, 8), "int8", Quantisation(scales, (0,) * 8, 3), weights),
        Tensor("y", (1, 6, 6, 8), "int8", Quantisation((0.25,), (-9,))),
    )
    options = {"padding": "SAME", "stride_h": 1, "stride_w": 1, "depth_multiplier": 2}
    options |= {"dilation_h_factor": 1, "dilation_w_factor": 1, "fused_activation_function": "NONE"}
    operator = Operator("DEPTHWISE_CONV_2D", (0, 1, -1), (2,), options, "DepthwiseConv2DOptions", 3)
    graph = Graph(tensors, (operator,), (0,), (2,))
    assert_equals_oracle(graph, random_inputs(graph, 20))


def test_networks_from_elsewhere_equal_the_oracle(model):
    graph = without_trailing_softmax(read_network(model))
    assert_equals_oracle(graph, random_inputs(graph, 8))


def test_all_tensors_can_be_looked_at(digits, digits_graph):
    values = reference.run_all(digits_graph, digits.heldout_inputs[:3])
    assert values.keys() == {0, *(o.outputs[0] for o in digits_graph.operators)}
    assert values[digits_graph.operators[0].outputs[0]].shape == (3, 8, 8, 8)


def test_an_unknown_operator_is_named(digits_graph):
    operators = (replace(digits_graph.operators[0], kind="TANH"),)
    with pytest.raises(NetworkError, check=about("operators[0].kind")):
        reference.run(replace(digits_graph, operators=operators), np.zeros((1, 8, 8, 1), np.int8))


@pytest.mark.parametrize(
    ("inputs", "field"),
    [
        (np.zeros((1, 8, 8, 1)), "inputs.input.type"),
        (np.zeros((8, 8, 1), np.int8), "inputs.input.shape"),
        (np.zeros((1, 8, 9, 1), np.int8), "inputs.input.shape"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(digits_graph, inputs, field):
    with pytest.raises(NetworkError, check=about(field)):
        reference.run(digits_graph, inputs)


def test_a_float_network_is_refused():
    tensors = (Tensor("x", (1, 4), "int8", Quantisation((1.0,), (0,))), Tensor("y", (1, 2, 2), "float32"))
    graph = Graph(tensors, (Operator("RESHAPE", (0,), (1,)),), (0,), (1,))
    with pytest.raises(NetworkError, check=about("operators[0]")):
        reference.run(graph, np.zeros((1, 4), np.int8))
