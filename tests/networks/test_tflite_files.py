# SPDX-License-Identifier: Apache-2.0
"""Reading and writing .tflite files: round trips, damaged and hostile bytes."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resil.networks import schema, zoo
from resil.networks.errors import NetworkError
from resil.networks.graph import (
    Graph,
    Operator,
    Quantisation,
    Tensor,
    without_trailing_softmax,
)
from resil.networks.tflite_reader import parse_network, read_network
from resil.networks.tflite_writer import serialise_network, write_network
from testkit.errors import about

DIGITS = (zoo.FOLDER / "digits.tflite").read_bytes()


def assert_same(one: Graph, other: Graph) -> None:
    assert (one.operators, one.inputs, one.outputs) == (other.operators, other.inputs, other.outputs)
    assert (one.name, one.description) == (other.name, other.description)
    for a, b in zip(one.tensors, other.tensors, strict=True):
        assert replace(a, data=None).__dict__ == replace(b, data=None).__dict__
        assert (a.data is None) == (b.data is None)
        if a.data is not None and b.data is not None:
            np.testing.assert_array_equal(a.data, b.data, strict=True)


def test_the_digits_network_is_as_trained(digits_graph):
    assert [o.kind for o in digits_graph.operators] == [*["CONV_2D"] * 3, "RESHAPE", "FULLY_CONNECTED"]
    assert digits_graph.operators[1].options["padding"] == "SAME"
    assert digits_graph.operators[1].options["stride_w"] == 2
    assert digits_graph.operators[0].options["fused_activation_function"] == "RELU"
    weights = digits_graph.tensors[digits_graph.operators[1].inputs[1]]
    assert (weights.shape, weights.dtype) == ((16, 3, 3, 8), "int8")
    assert weights.quantisation is not None
    assert len(weights.quantisation.scale) == 16
    assert weights.data is not None
    assert weights.data.min() >= -127


def test_round_trip_keeps_everything(digits_graph, digits_bytes):
    assert_same(parse_network(serialise_network(digits_graph)), digits_graph)
    assert serialise_network(digits_graph) == digits_bytes


def test_round_trip_of_networks_from_elsewhere(model):
    graph = read_network(model)
    again = parse_network(serialise_network(graph))
    assert_same(again, graph)
    assert serialise_network(again) == serialise_network(graph)


def every_options_table() -> Graph:
    """A graph with each options table of the schema, every number in it different from its default."""
    operators = []
    for name in schema.OPTIONS_TABLES:
        if name in ("NONE", "VarHandleOptions"):
            continue
        options: dict[str, object] = {}
        reader = schema.options_table(name).reader()
        for field in schema.options_table(name).fields:
            if field.name in schema.NAMED_FIELDS:
                options[field.name] = list(schema.NAMED_FIELDS[field.name])[1]
            elif field.is_vector:
                options[field.name] = (0.5, 2.0) if name == "BucketizeOptions" else (3, -1, 4)
            else:
                reader.Init(bytes(64), 32)
                default = getattr(reader, field.accessor)()
                options[field.name] = not default if isinstance(default, bool) else type(default)(5)
        operators.append(Operator("CUSTOM", (0, -1), (0,), options, name, 7, "mine", b"\x01\x02"))
    operators.append(Operator("TANH", (0,), (0,)))
    return Graph((Tensor("t", (), "float32"),), tuple(operators), (0,), (0,))


def test_every_options_table_survives_a_round_trip():
    graph = every_options_table()
    assert len(graph.operators) > 100
    assert_same(parse_network(serialise_network(graph)), graph)


@pytest.mark.parametrize("dtype", sorted(schema.TENSOR_TYPES))
def test_every_type_of_constant_survives_a_round_trip(dtype):
    data = np.arange(6).reshape(2, 1, 3).astype(dtype)
    tensors = (
        Tensor("c", (2, 1, 3), dtype, Quantisation((0.5, 0.25), (1, -2), 0), data, True, (-1, 1, 3)),
        Tensor("", (), "int8"),
    )
    graph = Graph(tensors, (), (1,), (0,), "graph", "a description")
    assert_same(parse_network(serialise_network(graph)), graph)


def test_constants_are_aligned_to_sixteen_bytes():
    shape = (3,)
    tensors = tuple(Tensor(f"t{i}", shape, "int8", None, np.full(3, 100 + i, np.int8)) for i in range(5))
    data = serialise_network(Graph(tensors, (), (), ()))
    assert [data.index(bytes([100 + i] * 3)) % 16 for i in range(5)] == [0] * 5


def test_writing_replaces_a_file_in_one_step(tmp_path, digits_graph, digits_bytes):
    path = tmp_path / "new" / "network.tflite"
    write_network(digits_graph, path)
    write_network(digits_graph, path)
    assert path.read_bytes() == digits_bytes
    assert list(path.parent.iterdir()) == [path]


def test_an_option_that_the_schema_lacks_is_refused(digits_graph):
    operator = replace(digits_graph.operators[0], options={"stride_q": 1})
    with pytest.raises(ValueError, match="Conv2DOptions has no option stride_q"):
        serialise_network(replace(digits_graph, operators=(operator,)))


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b"", "identifier"),
        (b"PK\x03\x04" + bytes(100), "identifier"),
        (DIGITS[:100], "content"),
        (DIGITS[:4] + b"TFL2" + DIGITS[8:], "identifier"),
        (b"\xff\xff\xff\xff" + DIGITS[4:], "content"),
    ],
    ids=["empty", "zip", "cut", "old", "root"],
)
def test_a_file_that_is_no_network_is_refused_with_its_name(tmp_path, data, field):
    path = tmp_path / "thing.tflite"
    path.write_bytes(data)
    with pytest.raises(NetworkError, check=about(field)) as caught:
        read_network(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(NetworkError, check=about("file")):
        read_network(tmp_path / "none.tflite")
    with pytest.raises(NetworkError, check=about("file")):
        read_network(tmp_path)


@settings(max_examples=150, deadline=2000)
@given(data=st.data())
def test_damaged_bytes_give_a_network_or_a_network_error(data):
    damaged = bytearray(DIGITS)
    for _ in range(data.draw(st.integers(1, 8))):
        position = data.draw(st.integers(0, len(damaged) // 4 - 1)) * 4
        word = data.draw(
            st.sampled_from([0, 1, 4, 16, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]) | st.integers(0, 2**32 - 1)
        )
        damaged[position : position + 4] = word.to_bytes(4, "little")
    end = data.draw(st.sampled_from([len(damaged), len(damaged) // 2, 40]))
    with contextlib.suppress(NetworkError):
        parse_network(bytes(damaged[:end]))


def test_every_truncation_is_refused():
    for end in range(0, len(DIGITS) - 16, 97):
        with pytest.raises(NetworkError):
            parse_network(DIGITS[:end])


def test_a_file_whose_parts_overlap_is_refused_quickly():
    """Many tensors that all are the same large constant would be far more work than the file has bytes."""
    data = np.zeros(1 << 20, np.int8)
    tensors = (
        *(Tensor("t", data.shape, "int8") for _ in range(2000)),
        Tensor("last", data.shape, "int8", data=data),
    )
    model = serialise_network(Graph(tensors, (), (), ()))
    parse_network(model)
    start = time.monotonic()
    with pytest.raises(NetworkError, match="parts overlap"):
        parse_network(_with_all_tensors_as_the_last(model))
    assert time.monotonic() - start < 2


def _with_all_tensors_as_the_last(model: bytes) -> bytes:
    import tflite

    hostile = bytearray(model)
    subgraph = tflite.Model.GetRootAs(hostile, 0).Subgraphs(0)
    last = subgraph.Tensors(subgraph.TensorsLength() - 1)
    vector = subgraph._tab.Vector(subgraph._tab.Offset(4))
    for i in range(subgraph.TensorsLength() - 1):
        place = vector + 4 * i
        hostile[place : place + 4] = (last._tab.Pos - place).to_bytes(4, "little")
    return bytes(hostile)


def test_graphs_with_tensors_that_do_not_exist_are_refused():
    tensor = Tensor("t", (1,), "int8")
    with pytest.raises(ValueError, match="tensor 1 does not exist"):
        Graph((tensor,), (), (1,), ())
    with pytest.raises(ValueError, match=r"operator 0 \(TANH\): tensor -2"):
        Graph((tensor,), (Operator("TANH", (-2,), (0,)),), (), ())
    with pytest.raises(ValueError, match="2 scales but 1 zero points"):
        Quantisation((1.0, 2.0), (0,))
    with pytest.raises(ValueError, match="its data is"):
        Tensor("t", (2,), "int8", data=np.zeros(2, np.int16))


def test_only_a_softmax_at_the_end_is_cut_off(digits_graph):
    count = len(digits_graph.tensors)
    softmax = Operator("SOFTMAX", digits_graph.outputs, (count,), {"beta": 1.0}, "SoftmaxOptions")
    probabilities = Tensor("p", (1, 10), "int8", Quantisation((1 / 256,), (-128,)))
    longer = replace(
        digits_graph,
        tensors=(*digits_graph.tensors, probabilities),
        operators=(*digits_graph.operators, softmax),
        outputs=(count,),
    )
    cut = without_trailing_softmax(longer)
    assert (cut.operators, cut.outputs) == (digits_graph.operators, digits_graph.outputs)
    assert without_trailing_softmax(digits_graph) is digits_graph
