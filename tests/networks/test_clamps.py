# SPDX-License-Identifier: Apache-2.0
"""Clamps of activations: in files, in the reference, in the compiled stream, and what others make of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from resil.networks import oracle, reference, zoo
from resil.networks.clamps import (
    bounded,
    clampable,
    clamped_tensors,
    with_clamps,
    without_clamps,
)
from resil.networks.command_stream import commands
from resil.networks.compile import adapt_bytes, compile_bytes
from resil.networks.errors import NetworkError
from resil.networks.graph import Tensor
from resil.networks.tflite_reader import CLAMPS_METADATA, parse_network, read_network
from resil.networks.tflite_writer import serialise_network
from testkit.errors import about
from tests.networks.clamped import with_explicit_clamps

NARROW = {
    "digits": {"conv1": (-128, 20), "conv3": (-100, -50), "logits": (-60, 90)},
    "mnist_residual": {"unit1b": (-40, 30), "unit2": (-120, 0), "mean": (-128, -60), "logits": (-50, 50)},
    "mnist_vgg": {"conv1b": (-128, 10), "pool2": (-110, 40), "logits": (-30, 60)},
    "mnist_mobile": {"depthwise2": (-128, -20), "pointwise4": (-90, 50)},
}


def clamped(name: str):
    return with_clamps(read_network(zoo.FOLDER / f"{name}.tflite"), NARROW[name])


def test_a_file_keeps_clamps_and_one_without_is_as_ever(digits_graph, digits_bytes):
    graph = with_clamps(digits_graph, NARROW["digits"])
    again = parse_network(serialise_network(graph))
    assert {name: t.clamp for name, t in clamped_tensors(again).items()} == NARROW["digits"]
    assert serialise_network(again) == serialise_network(graph) != digits_bytes
    assert serialise_network(without_clamps(again)) == digits_bytes


@pytest.mark.parametrize("clamp", [(3, 2), (-129, 0), (0, 128)])
def test_a_clamp_is_of_int8_levels_in_order(clamp):
    with pytest.raises(ValueError, match="only int8 tensors"):
        Tensor("x", (1,), "int8", None, None, clamp=clamp)
    with pytest.raises(ValueError, match="only int8 tensors"):
        Tensor("x", (1,), "int32", None, None, clamp=(0, 1))


def test_damaged_clamps_are_refused(digits_graph):
    data = serialise_network(with_clamps(digits_graph, {"conv1": (-128, 20)}))
    index = next(i for i, t in enumerate(digits_graph.tensors) if t.name == "conv1")
    row = np.array([index, -128, 20], "<i4").tobytes()
    assert data.count(row) == 1
    for wrong in ([index, 30, 20], [999, -128, 20], [index, -1000, 20]):
        damaged = data.replace(row, np.array(wrong, "<i4").tobytes())
        with pytest.raises(NetworkError, check=about("content")):
            parse_network(damaged)


def test_metadata_of_others_is_passed_over(digits_graph):
    data = serialise_network(with_clamps(digits_graph, NARROW["digits"]))
    name = CLAMPS_METADATA.encode()
    other = parse_network(data.replace(name, b"x" * len(name)))
    assert clamped_tensors(other) == {}


@pytest.mark.parametrize("name", NARROW)
def test_the_reference_clamps_as_maximum_and_minimum_of_tensorflow_lite_micro_do(name):
    graph, inputs = clamped(name), zoo.load(name).shipped.inputs[:20]
    expected = oracle.run(serialise_network(with_explicit_clamps(graph)), inputs)
    found = reference.run(graph, inputs)
    np.testing.assert_array_equal(found, expected)
    assert (found != reference.run(without_clamps(graph), inputs)).any()


def test_tensorflow_lite_micro_runs_a_clamped_file_as_if_it_had_no_clamps():
    graph, inputs = clamped("digits"), zoo.load("digits").shipped.inputs[:20]
    plain = serialise_network(without_clamps(graph))
    np.testing.assert_array_equal(oracle.run(serialise_network(graph), inputs), oracle.run(plain, inputs))


@pytest.mark.parametrize("accelerator", ["ethos-u55-32", "ethos-u55-256"])
def test_the_stream_differs_in_bounds_alone(accelerator):
    graph = clamped("mnist_residual")
    plain = compile_bytes(serialise_network(without_clamps(graph)), Path("n.tflite"), accelerator)
    found = compile_bytes(serialise_network(graph), Path("n.tflite"), accelerator)
    assert found.constants == plain.constants
    assert _without_bounds(found.commands) == _without_bounds(plain.commands)
    names = [o.name for o in found.operations]
    at = {c.word: c.mnemonic for c in commands(found.commands)}
    kinds = {"conv": "CONV", "pool": "POOL", "elementwise": "ELEMENTWISE"}
    assert all(at[o.word] == f"NPU_OP_{kinds[o.kind]}" for o in found.operations)
    wanted = NARROW["mnist_residual"]
    bounds = {o.name: o.bounds for o in bounded(found.commands, names)}
    assert bounds == {name: wanted.get(name, (-128, 127)) for name in names}
    assert f"{len(wanted)} activations are clamped" in found.adapted[-1]
    assert found.source_sha256 != plain.source_sha256


def _without_bounds(stream):
    return [
        (c.mnemonic, c.parameter, c.payload) for c in commands(stream) if "ACTIVATION_M" not in c.mnemonic
    ]


def test_a_clamp_outside_the_fused_activation_is_refused_and_one_across_its_end_does_not_widen_it():
    graph = read_network(zoo.FOLDER / "digits.tflite")
    index = next(i for i, t in enumerate(graph.tensors) if t.name == "conv1")
    quantisation = replace(graph.tensors[index].quantisation, zero_point=(-20,))
    tensors = list(graph.tensors)
    tensors[index] = replace(tensors[index], quantisation=quantisation)
    graph = replace(graph, tensors=tuple(tensors))
    across = compile_bytes(
        serialise_network(with_clamps(graph, {"conv1": (-100, 5)})), Path("n"), "ethos-u55-32"
    )
    first = bounded(across.commands, [o.name for o in across.operations])[0]
    assert first.bounds == (-20, 5)
    outside = serialise_network(with_clamps(graph, {"conv1": (-100, -50)}))
    with pytest.raises(NetworkError, check=about("clamps.conv1.levels")):
        compile_bytes(outside, Path("n"), "ethos-u55-32")


def test_a_clamp_that_no_operation_carries_is_refused_not_forgotten(digits_graph):
    flat = next(t.name for t in digits_graph.tensors if "flatten" in t.name and t.data is None)
    data = serialise_network(with_clamps(digits_graph, {flat: (0, 1)}))
    with pytest.raises(NetworkError, check=about(f"clamps.{flat}.operations")):
        compile_bytes(data, Path("n"), "ethos-u55-32")
    with pytest.raises(NetworkError, check=about("clamps.nothing")):
        with_clamps(digits_graph, {"nothing": (0, 1)})


def test_what_can_be_clamped_is_what_operations_store_whole():
    data = (zoo.FOLDER / "mnist_vgg.tflite").read_bytes()
    compiled = compile_bytes(data, Path("n"), "ethos-u55-32")
    operations = bounded(compiled.commands, [o.name for o in compiled.operations])
    graph = adapt_bytes(data, "n").graph
    found = clampable(graph, operations)
    assert len(found["conv3a"]) == 2  # Vela has split it
    assert set(found) == {
        t.name for o in graph.operators if o.kind != "RESHAPE" for t in [graph.tensors[o.outputs[0]]]
    }
    one_less = [replace(o, name="") if i == 6 else o for i, o in enumerate(operations)]
    assert "conv3a" not in clampable(graph, one_less)
