# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of shapes, against TensorFlow Lite Micro where it has the operator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from resil.networks import folding, oracle
from resil.networks.adapt import adapt
from resil.networks.errors import NetworkError
from resil.networks.graph import Graph, Operator, Quantisation, Tensor
from resil.networks.tflite_writer import serialise_network
from testkit.errors import about

MASKS = {"begin_mask": 0, "ellipsis_mask": 0, "end_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 0}
SLICE = ("StridedSliceOptions", MASKS)


def shapes(kind, constants, output, options=None, table="", dtype="int32"):
    """A network that computes with the shape (1, 6, 5, 8) of its input and these constants."""
    tensors = [
        Tensor("x", (1, 6, 5, 8), "int8", Quantisation((0.5,), (0,))),
        Tensor("shape", (4,), "int32"),
        *(
            Tensor(f"c{i}", np.shape(c), "int32", None, np.array(c, np.int32))
            for i, c in enumerate(constants)
        ),
        Tensor("y", output, dtype),
    ]
    last = len(tensors) - 1
    operators = (
        Operator("SHAPE", (0,), (1,), {"out_type": 2}, "ShapeOptions"),
        Operator(kind, (1, *range(2, last)), (last,), options or {}, table),
    )
    return Graph(tuple(tensors), operators, (0,), (last,))


CASES = {
    "first": shapes("STRIDED_SLICE", ([0], [1], [1]), (), MASKS | {"shrink_axis_mask": 1}, SLICE[0]),
    "middle": shapes("STRIDED_SLICE", ([1], [3], [1]), (2,), MASKS, SLICE[0]),
    "negative": shapes("STRIDED_SLICE", ([-1], [0], [1]), (), MASKS | {"shrink_axis_mask": 1}, SLICE[0]),
    "from the end": shapes("STRIDED_SLICE", ([-3], [-1], [1]), (2,), MASKS, SLICE[0]),
    "masked": shapes(
        "STRIDED_SLICE", ([2], [2], [1]), (4,), MASKS | {"begin_mask": 1, "end_mask": 1}, SLICE[0]
    ),
    "steps": shapes("STRIDED_SLICE", ([0], [4], [2]), (2,), MASKS, SLICE[0]),
    "backwards": shapes("STRIDED_SLICE", ([3], [0], [-1]), (3,), MASKS, SLICE[0]),
    "beyond": shapes("STRIDED_SLICE", ([2], [9], [1]), (2,), MASKS, SLICE[0]),
    "pack": shapes("PACK", ([9, 8, 7, 6],), (2, 4), {"values_count": 2, "axis": 0}, "PackOptions"),
    "pack last": shapes("PACK", ([9, 8, 7, 6],), (4, 2), {"values_count": 2, "axis": 1}, "PackOptions"),
    "concatenation": shapes(
        "CONCATENATION",
        ([9, 8],),
        (6,),
        {"axis": 0, "fused_activation_function": "NONE"},
        "ConcatenationOptions",
    ),
    "slice": shapes("SLICE", ([1], [2]), (2,)),
    "slice to the end": shapes("SLICE", ([1], [-1]), (3,)),
    "reshape": shapes("RESHAPE", ([2, -1],), (2, 2)),
    "multiply": shapes("MUL", ([2, 3, 4, 5],), (4,), {"fused_activation_function": "NONE"}, "MulOptions"),
    "add": shapes("ADD", ([2, 3, 4, 5],), (4,), {"fused_activation_function": "NONE"}, "AddOptions"),
    "subtract": shapes("SUB", ([2, 3, 4, 5],), (4,), {"fused_activation_function": "NONE"}, "SubOptions"),
}


def folded_value(graph):
    """The constant that the last operator becomes; as an output of the network it would be refused."""
    moved = replace(graph, outputs=(0,))
    return folding.fold_shapes(moved)[0].tensors[graph.outputs[0]].data


@pytest.mark.parametrize("case", CASES)
def test_folded_shapes_are_those_of_tensorflow_lite_micro(case):
    graph = CASES[case]
    (expected,) = oracle.run_all(serialise_network(graph), [np.zeros((1, 1, 6, 5, 8), np.int8)])
    np.testing.assert_array_equal(folded_value(graph), expected[0], strict=True)


@pytest.mark.parametrize(
    ("graph", "value"),
    [
        (shapes("GATHER", ([2, 0, 2],), (3,), {"axis": 0, "batch_dims": 0}, "GatherOptions"), [5, 1, 5]),
        (shapes("EXPAND_DIMS", ([0],), (1, 4)), [[1, 6, 5, 8]]),
        (shapes("REDUCE_PROD", ([0],), (), {"keep_dims": False}, "ReducerOptions"), 240),
        (shapes("CAST", (), (4,), {}, "CastOptions", "int64"), [1, 6, 5, 8]),
        (shapes("SQUEEZE", (), (4,), {"squeeze_dims": ()}, "SqueezeOptions"), [1, 6, 5, 8]),
    ],
)
def test_folded_shapes_of_what_the_oracle_lacks(graph, value):
    np.testing.assert_array_equal(folded_value(graph), np.array(value, graph.tensors[-1].dtype), strict=True)


@pytest.mark.parametrize(
    ("graph", "field"),
    [
        (
            shapes("STRIDED_SLICE", ([7], [8], [1]), (), MASKS | {"shrink_axis_mask": 1}, SLICE[0]),
            "operators[1]",
        ),
        (shapes("STRIDED_SLICE", ([0], [4], [0]), (4,), MASKS, SLICE[0]), "operators[1]"),
        (
            shapes("STRIDED_SLICE", ([0], [4], [1]), (4,), MASKS | {"new_axis_mask": 1}, SLICE[0]),
            "operators[1]",
        ),
        (
            shapes("GATHER", ([9],), (1,), {"axis": 0, "batch_dims": 0}, "GatherOptions"),
            "operators[1]",
        ),
        (
            shapes("CONCATENATION", ([[9]],), (5,), {"axis": 0}, "ConcatenationOptions"),
            "operators[1]",
        ),
        (
            shapes("MUL", ([2**31 - 1] * 4,), (4,), {"fused_activation_function": "NONE"}, "MulOptions"),
            "operators[1]",
        ),
        (
            shapes("ADD", ([1],), (4,), {"fused_activation_function": "RELU"}, "AddOptions"),
            "operators[1]",
        ),
        (
            shapes("SLICE", ([1], [2]), (3,)),
            "operators[1].shape",
        ),
        (shapes("RESHAPE", ([3, -1],), (3, 1)), "operators[1]"),
    ],
)
def test_a_shape_that_cannot_be_computed_is_named_with_its_operator(graph, field):
    with pytest.raises(NetworkError, check=about(field)):
        folded_value(graph)


def test_an_output_made_of_shapes_alone_is_refused():
    with pytest.raises(NetworkError, check=about("operators[1].outputs")):
        adapt(CASES["add"])


def reshaped(shape_of, size=(1, 240)):
    """A RESHAPE to a shape that comes from tensor `shape_of`, and an AVERAGE_POOL_2D in front of it."""
    quantisation = Quantisation((0.5,), (0,))
    tensors = (
        Tensor("x", (1, 6, 5, 8), "int8", quantisation),
        Tensor("sizes", (2,), "int32", None, None if shape_of == "input" else np.array([1, 240], np.int32)),
        Tensor("sum", (2,), "int32"),
        Tensor("y", size, "int8", quantisation),
    )
    addition = Operator("ADD", (1, 1), (2,), {"fused_activation_function": "NONE"}, "AddOptions")
    inputs = (0, 1) if shape_of == "input" else (0,)
    return Graph(tensors, (addition, Operator("RESHAPE", (0, 2), (3,))), inputs, (3,))


def test_a_shape_that_depends_on_data_is_refused_with_what_computes_it():
    with pytest.raises(NetworkError, check=about("operators[1].inputs")):
        folding.fold_shapes(reshaped("input"))


def test_a_computed_shape_that_differs_from_the_file_is_refused():
    with pytest.raises(NetworkError, check=about("operators[1].shape")):
        folding.fold_shapes(reshaped("constant"))


def test_plain_networks_stay_as_they_are(digits_graph):
    assert folding.fold_shapes(digits_graph) == (digits_graph, ())
    assert adapt(digits_graph).graph is digits_graph
