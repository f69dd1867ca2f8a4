# SPDX-License-Identifier: Apache-2.0
"""Clamped networks on RTL and functional model, against MAXIMUM and MINIMUM of TensorFlow Lite Micro."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from resil.networks import oracle, zoo
from resil.networks.compile import compile_bytes
from resil.networks.tflite_reader import read_network
from resil.networks.tflite_writer import serialise_network
from resil.rtl_harness.npu.infer import infer
from resil.rtl_harness.npu.ranges import activation_ranges
from tests.networks.clamped import with_explicit_clamps
from tests.networks.test_clamps import NARROW, clamped


def compiled(graph):
    return compile_bytes(serialise_network(graph), Path("clamped.tflite"), "ethos-u55-32")


@pytest.mark.parametrize("name", NARROW)
def test_the_model_clamps_as_tensorflow_lite_micro_does(name):
    graph, inputs = clamped(name), zoo.load(name).shipped.inputs[:20]
    found = infer(compiled(graph), inputs, "functional").outputs[0]
    expected = oracle.run(serialise_network(with_explicit_clamps(graph)), inputs)
    np.testing.assert_array_equal(found.reshape(expected.shape), expected)


@pytest.mark.parametrize("name", ["digits", "mnist_residual"])
def test_the_rtl_clamps_as_the_model_does(name):
    network, inputs = compiled(clamped(name)), zoo.load(name).shipped.inputs[:2]
    rtl, model = infer(network, inputs, "rtl"), infer(network, inputs, "functional")
    plain = infer(compiled(read_network(zoo.FOLDER / f"{name}.tflite")), inputs, "rtl")
    # A few more words of the command stream; docs/results.md has the figures.
    assert np.abs(rtl.cycles / plain.cycles - 1.0).max() < 0.01
    assert not np.array_equal(rtl.outputs[0], plain.outputs[0])
    np.testing.assert_array_equal(rtl.outputs[0], model.outputs[0])
    assert set(np.unique(rtl.outputs[0])) <= set(
        range(NARROW[name]["logits"][0], NARROW[name]["logits"][1] + 1)
    )


def test_ranges_are_what_the_operations_store():
    network, inputs = compiled(clamped("mnist_residual")), zoo.load("mnist_residual").shipped.inputs[:20]
    ranges, outputs = activation_ranges(network, (inputs,))
    np.testing.assert_array_equal(outputs[0], infer(network, inputs, "functional").outputs[0])
    for operation, (low, high) in zip(network.operations, ranges.tolist(), strict=True):
        least, most = NARROW["mnist_residual"].get(operation.name, (-128, 127))
        assert least <= low <= high <= most
        if operation.name == "logits":
            assert (low, high) == (outputs[0].min(), outputs[0].max())
