# SPDX-License-Identifier: Apache-2.0
"""Networks with the ends that converters give them: equal to TensorFlow Lite Micro on the whole file."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resil.networks import oracle, zoo
from resil.networks.adapt import adapt
from resil.networks.compile import compile_network
from resil.networks.ends import dequantised, requantised
from resil.networks.errors import NetworkError
from resil.networks.graph import Graph, Operator, Quantisation, Tensor
from resil.networks.quantise import quantise_values
from resil.networks.tflite_reader import parse_network, read_network
from resil.networks.tflite_writer import serialise_network, write_network
from testkit.errors import about
from tests.networks.dressed import (
    with_computed_shapes,
    with_dynamic_batch,
    with_ends,
    with_float_ends,
)

DRESSES = {
    "float": with_float_ends,
    "uint8": lambda graph: with_ends(graph, "uint8"),
    "computed shapes": with_computed_shapes,
    "both": lambda graph: with_computed_shapes(with_float_ends(graph)),
    "dynamic batch": lambda graph: with_dynamic_batch(with_computed_shapes(with_float_ends(graph))),
}


def two_outputs(graph: Graph) -> Graph:
    """The graph with the output of its second operator as a second output, in front of its own."""
    return replace(graph, outputs=(graph.operators[1].outputs[0], *graph.outputs))


def two_inputs() -> Graph:
    first, second = Quantisation((0.0531,), (3,)), Quantisation((0.1137,), (-7,))
    tensors = (
        Tensor("left", (1, 4, 4, 8), "int8", first),
        Tensor("right", (1, 4, 4, 8), "int8", second),
        Tensor("sum", (1, 4, 4, 8), "int8", Quantisation((0.0973,), (0,))),
        Tensor("most", (1, 2, 2, 8), "int8", Quantisation((0.0973,), (0,))),
    )
    add = Operator("ADD", (0, 1), (2,), {"fused_activation_function": "NONE"}, "AddOptions", 2)
    options = {"padding": "VALID", "stride_h": 2, "stride_w": 2, "filter_height": 2, "filter_width": 2}
    pool = Operator(
        "MAX_POOL_2D", (2,), (3,), options | {"fused_activation_function": "NONE"}, "Pool2DOptions", 2
    )
    return Graph(tensors, (add, pool), (1, 0), (2, 3))


def random_values(graph: Graph, count: int, seed: int) -> list[np.ndarray]:
    """Values for the inputs of a file, beyond their ranges too."""
    generator = np.random.default_rng(seed)
    values = []
    for index in graph.inputs:
        tensor = graph.tensors[index]
        if tensor.dtype == "float32":
            values.append(generator.normal(0.3, 2.0, (count, *tensor.shape)).astype(np.float32))
        else:
            info = np.iinfo(tensor.dtype)
            values.append(
                generator.integers(info.min, info.max, (count, *tensor.shape), tensor.dtype, endpoint=True)
            )
    return values


def through_the_adapted_network(graph: Graph, values: list[np.ndarray]) -> tuple[np.ndarray, ...]:
    adapted = adapt(graph)
    assert all(adapted.graph.tensors[i].dtype == "int8" for i in adapted.graph.inputs)
    levels = adapted.ends.levels([array[:, 0] for array in values])
    outputs = oracle.run_all(serialise_network(adapted.graph), [array[:, None] for array in levels])
    return adapted.ends.results([array[:, 0] for array in outputs])


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("seed", range(4))
def test_ends_and_the_rest_give_what_the_whole_file_gives(dress, seed, chain):
    graph = two_outputs(chain(seed)) if seed % 2 else chain(seed)
    dressed = parse_network(serialise_network(DRESSES[dress](graph)))
    values = random_values(dressed, 20, seed)
    expected = oracle.run_all(serialise_network(dressed), values)
    found = through_the_adapted_network(dressed, values)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other[:, 0], strict=True)
        assert len(np.unique(one)) > 20


@pytest.mark.parametrize("dress", ["float", "uint8"])
def test_several_inputs_keep_the_order_of_the_file(dress):
    dressed = DRESSES[dress](two_inputs())
    values = random_values(dressed, 30, 1)
    found = through_the_adapted_network(dressed, values)
    for one, other in zip(found, oracle.run_all(serialise_network(dressed), values), strict=True):
        np.testing.assert_array_equal(one, other[:, 0], strict=True)
    assert [tensor.name for tensor in adapt(dressed).ends.inputs] == [
        f"right_{dressed.tensors[-1].dtype}",
        f"left_{dressed.tensors[-1].dtype}",
    ]


def test_what_was_done_is_said(digits_graph):
    adapted = adapt(with_computed_shapes(with_float_ends(digits_graph)))
    shapes, given, result = adapted.done
    assert shapes == "Shapes: 3 operators (SHAPE, STRIDED_SLICE, PACK) carried out when the network was read."
    assert given.startswith(
        "Input 'input_float32': QUANTIZE from float32 taken off, the host does it (scale 0.0039"
    )
    assert result.startswith("Output 'logits_float32': DEQUANTIZE to float32 taken off")
    assert serialise_network(adapted.graph) != serialise_network(digits_graph)
    assert [o.kind for o in adapted.graph.operators] == [o.kind for o in digits_graph.operators]


def test_reshapes_between_an_end_and_its_quantisation_go_with_it(digits_graph):
    """A flat float input that is reshaped before QUANTIZE, and a float output reshaped after DEQUANTIZE."""
    graph = with_float_ends(digits_graph)
    tensors = list(graph.tensors)
    flat = len(tensors)
    tensors += [Tensor("flat", (1, 64), "float32"), Tensor("column", (1, 10, 1), "float32")]
    tensors += [
        Tensor("to", (4,), "int32", None, np.array([1, 8, 8, 1], np.int32)),
        Tensor("axis", (), "int32", None, np.array(2, np.int32)),
    ]
    before = Operator("RESHAPE", (flat, flat + 2), graph.inputs)
    after = Operator("EXPAND_DIMS", (graph.outputs[0], flat + 3), (flat + 1,), {}, "ExpandDimsOptions")
    whole = replace(
        graph,
        tensors=tuple(tensors),
        operators=(before, *graph.operators, after),
        inputs=(flat,),
        outputs=(flat + 1,),
    )
    values = random_values(whole, 10, 2)
    (found,) = through_the_adapted_network(whole, values)
    np.testing.assert_array_equal(
        found, oracle.run_all(serialise_network(whole), values)[0][:, 0], strict=True
    )


@settings(max_examples=80, deadline=None)
@given(
    scale=st.floats(2.0**-20, 1024.0, width=32),
    zero_point=st.integers(-128, 127),
    seed=st.integers(0, 2**32 - 1),
)
def test_quantise_and_dequantise_are_those_of_tensorflow_lite_micro(scale, zero_point, seed):
    """Halves, values next to them, and values far outside."""
    quantisation = Quantisation((scale,), (zero_point,))
    tensors = (Tensor("x", (1, 600), "float32"), Tensor("q", (1, 600), "int8", quantisation))
    graph = Graph(tensors, (Operator("QUANTIZE", (0,), (1,), {}, "QuantizeOptions"),), (0,), (1,))
    halves = (np.arange(-150, 150) + np.float32(0.5)) * np.float32(scale)
    near = np.nextafter(
        halves[:200], np.random.default_rng(seed).choice([-np.inf, np.inf], 200).astype(np.float32)
    )
    values = np.concatenate([halves, near, np.linspace(-1e6, 1e6, 100) * scale]).astype(np.float32)
    (expected,) = oracle.run_all(serialise_network(graph), [values[None, None]])
    np.testing.assert_array_equal(quantise_values(values, quantisation), expected[0, 0], strict=True)

    tensors = (Tensor("q", (1, 256), "int8", quantisation), Tensor("x", (1, 256), "float32"))
    graph = Graph(tensors, (Operator("DEQUANTIZE", (0,), (1,), {}, "DequantizeOptions", 2),), (0,), (1,))
    levels = np.arange(-128, 128).astype(np.int8)
    (expected,) = oracle.run_all(serialise_network(graph), [levels[None, None]])
    np.testing.assert_array_equal(dequantised(levels, tensors[0]), expected[0, 0], strict=True)


@settings(max_examples=60, deadline=None)
@given(
    ratio=st.just(1.0) | st.floats(0.1, 8.0),
    points=st.tuples(st.integers(0, 255), st.integers(-128, 127)),
)
def test_uint8_levels_become_int8_as_in_tensorflow_lite_micro(ratio, points):
    given_ = Tensor("u", (1, 256), "uint8", Quantisation((0.25,), (points[0],)))
    wanted = Tensor("q", (1, 256), "int8", Quantisation((float(np.float32(0.25 * ratio)),), (points[1],)))
    graph = Graph((given_, wanted), (Operator("QUANTIZE", (0,), (1,), {}, "QuantizeOptions"),), (0,), (1,))
    levels = np.arange(256).astype(np.uint8)
    (expected,) = oracle.run_all(serialise_network(graph), [levels[None, None]])
    np.testing.assert_array_equal(requantised(levels, given_, wanted), expected[0, 0], strict=True)


def test_levels_are_taken_as_they_are_and_real_values_quantised(digits_graph, digits):
    images = digits.shipped.inputs[:5]
    real = (images.astype(np.float64) - digits.input.zero_point) * digits.input.scale
    for dress in (with_float_ends, lambda graph: with_ends(graph, "uint8"), lambda graph: graph):
        ends = adapt(dress(digits_graph)).ends
        for values in (images, real, real.astype(np.float32)):
            np.testing.assert_array_equal(ends.levels([values])[0], images)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ([], "inputs"),
        ([np.zeros((2, 8, 8), np.float32)], "inputs.input_float32.shape"),
        ([np.zeros((2, 8, 8, 1), np.int16)], "inputs.input_float32.shape"),
        ([np.zeros((2, 8, 8, 1), np.uint8)], "inputs.input_float32.shape"),
        ([np.zeros((2, 8, 8, 1), complex)], "inputs.input_float32.shape"),
        ([np.full((2, 8, 8, 1), np.nan)], "inputs.input_float32.values"),
        ([np.full((2, 8, 8, 1), 1e300)], "inputs.input_float32.values"),
        ([np.float32(1)], "inputs.input_float32.shape"),
    ],
)
def test_values_that_do_not_fit_are_refused(digits_graph, values, field):
    with pytest.raises(NetworkError, check=about(field)):
        adapt(with_float_ends(digits_graph)).ends.levels(values)


def test_inputs_of_different_numbers_are_refused():
    ends = adapt(with_float_ends(two_inputs())).ends
    with pytest.raises(NetworkError, check=about("inputs")):
        ends.levels([np.zeros((3, 4, 4, 8), np.float32), np.zeros((4, 4, 4, 8), np.float32)])


def with_float_softmax(graph: Graph) -> Graph:
    graph = with_float_ends(graph)
    last = graph.outputs[0]
    tensors = (*graph.tensors, Tensor("probabilities", graph.tensors[last].shape, "float32"))
    softmax = Operator("SOFTMAX", (last,), (len(graph.tensors),), {"beta": 1.0}, "SoftmaxOptions")
    return replace(
        graph, tensors=tensors, operators=(*graph.operators, softmax), outputs=(len(graph.tensors),)
    )


def with_float_middle(graph: Graph) -> Graph:
    """DEQUANTIZE, RELU in real numbers and QUANTIZE between two operators."""
    first = graph.operators[0]
    inside = graph.tensors[first.outputs[0]]
    count = len(graph.tensors)
    tensors = (
        *graph.tensors,
        Tensor("a", inside.shape, "float32"),
        Tensor("b", inside.shape, "float32"),
        Tensor("c", inside.shape, "int8", inside.quantisation),
    )
    middle = (
        Operator("DEQUANTIZE", (first.outputs[0],), (count,), {}, "DequantizeOptions", 2),
        Operator("RELU", (count,), (count + 1,)),
        Operator("QUANTIZE", (count + 1,), (count + 2,), {}, "QuantizeOptions"),
    )
    second = replace(graph.operators[1], inputs=(count + 2, *graph.operators[1].inputs[1:]))
    return replace(graph, tensors=tensors, operators=(first, *middle, second, *graph.operators[2:]))


def with_float_front(graph: Graph) -> Graph:
    graph = with_float_ends(graph)
    source = graph.tensors[graph.inputs[0]]
    quantise = graph.operators[0]
    count = len(graph.tensors)
    tensors = (*graph.tensors, Tensor("clipped", source.shape, "float32"))
    operators = (
        Operator("RELU", quantise.inputs, (count,)),
        replace(quantise, inputs=(count,)),
        *graph.operators[1:],
    )
    return replace(graph, tensors=tensors, operators=operators)


def with_open_width(graph: Graph) -> Graph:
    source = replace(graph.tensors[0], shape_signature=(-1, 8, -1, 1))
    return replace(graph, tensors=(source, *graph.tensors[1:]))


def unordered(graph: Graph) -> Graph:
    return replace(graph, operators=graph.operators[::-1])


def twice(graph: Graph) -> Graph:
    return replace(graph, operators=(*graph.operators, graph.operators[-1]))


def without_scale(graph: Graph) -> Graph:
    graph = with_float_ends(graph)
    return replace(graph, tensors=(replace(graph.tensors[0], quantisation=None), *graph.tensors[1:]))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (with_float_softmax, "operators[7]"),
        (with_float_middle, "operators[1]"),
        (with_float_front, "operators[0]"),
        (with_open_width, "inputs.input.shape"),
        (unordered, "operators[0].inputs"),
        (twice, "operators[5].outputs"),
        (without_scale, "operators[0].quantisation"),
    ],
)
def test_what_an_npu_cannot_take_is_named_with_its_number_and_a_remedy(digits_graph, change, field, tmp_path):
    if change is not with_float_middle:  # what a host can compute between parts of the NPU
        with pytest.raises(NetworkError, check=about(field)):
            adapt(change(digits_graph))
    path = tmp_path / "network.tflite"
    write_network(change(digits_graph), path)
    with pytest.raises(NetworkError, check=about(field)) as caught:
        compile_network(path, "ethos-u55-32", cache_dir=tmp_path)
    assert str(caught.value).startswith(f"{path}: ")
    assert ";" in str(caught.value)


def test_a_network_of_ends_alone_has_nothing_to_compile(tmp_path):
    quantisation = Quantisation((0.5,), (0,))
    graph = Graph((Tensor("x", (1, 4), "int8", quantisation),), (), (0,), (0,))
    write_network(with_float_ends(graph), tmp_path / "n.tflite")
    with pytest.raises(NetworkError, check=about("operators")):
        compile_network(tmp_path / "n.tflite", "ethos-u55-32", cache_dir=tmp_path)


DRESSED = serialise_network(
    with_computed_shapes(with_float_ends(two_outputs(read_network(zoo.FOLDER / "digits.tflite"))))
)


@settings(max_examples=150, deadline=2000)
@given(data=st.data())
def test_damaged_networks_are_adapted_or_refused(data):
    damaged = bytearray(DRESSED)
    for _ in range(data.draw(st.integers(1, 6))):
        position = data.draw(st.integers(0, len(damaged) // 4 - 1)) * 4
        word = data.draw(
            st.sampled_from([0, 1, 2, 3, 4, 8, 16, 0x7FFFFFFF, 0xFFFFFFFF]) | st.integers(0, 200)
        )
        damaged[position : position + 4] = word.to_bytes(4, "little")
    with contextlib.suppress(NetworkError):
        adapt(parse_network(bytes(damaged)))
