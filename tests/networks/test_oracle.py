# SPDX-License-Identifier: Apache-2.0
"""The wrapper of TensorFlow Lite Micro."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from resil.networks import oracle
from resil.networks.errors import NetworkError
from resil.networks.float_network import FloatLayer, FloatNetwork
from resil.networks.geometry import Window
from resil.networks.quantise import quantise
from resil.networks.tflite_writer import serialise_network
from testkit.errors import about


def test_a_batch_is_the_same_as_one_by_one(digits):
    batch = oracle.run(digits.path, digits.heldout_inputs[:5])
    singles = [oracle.run(digits.path.read_bytes(), digits.heldout_inputs[i : i + 1])[0] for i in range(5)]
    np.testing.assert_array_equal(batch, singles)


def test_a_small_model_with_large_feature_maps_gets_the_arena_it_needs():
    layer = FloatLayer("c", "CONV_2D", np.ones((4, 1, 1, 1)), np.zeros(4), Window((1, 1)))
    graph = quantise(FloatNetwork("wide", (300, 300, 1), (layer,)), np.ones((1, 300, 300, 1)))
    outputs = oracle.run(serialise_network(graph), np.full((1, 300, 300, 1), 127, np.int8))
    assert outputs.shape == (1, 300, 300, 4)
    assert (outputs == 127).all()


def test_an_arena_has_room_at_once(monkeypatch):
    """The fault: an arena in which a network nearly fits ends the process, as of MobileNetV2 at 224."""
    runtime = pytest.importorskip("tflite_micro").runtime
    made, sizes = runtime.Interpreter.from_bytes, []

    def watched(data, arena_size):
        sizes.append(arena_size)
        return made(data, arena_size=arena_size)

    monkeypatch.setattr(runtime.Interpreter, "from_bytes", watched)
    weights = np.full((64, 1, 1, 64), 1 / 64)
    layers = [FloatLayer("first", "CONV_2D", np.ones((64, 1, 1, 3)) / 3, np.zeros(64), Window((1, 1)))]
    layers += [FloatLayer(f"c{n}", "CONV_2D", weights, np.zeros(64), Window((1, 1))) for n in range(40)]
    graph = quantise(FloatNetwork("deep", (64, 64, 3), tuple(layers)), np.ones((1, 64, 64, 3)))
    outputs = oracle.run(serialise_network(graph), np.full((1, 64, 64, 3), 127, np.int8))
    assert outputs.shape == (1, 64, 64, 64)
    assert len(sizes) == 1


@pytest.mark.parametrize("inputs", [np.zeros((1, 8, 8, 1)), np.zeros((1, 8, 8, 2), np.int8)])
def test_inputs_that_do_not_fit_are_refused(digits, inputs):
    with pytest.raises(NetworkError, check=about("inputs")):
        oracle.run(digits.path, inputs)


def test_without_tflite_micro_the_message_says_how_to_get_it(digits, monkeypatch):
    monkeypatch.setitem(sys.modules, "tflite_micro", None)
    with pytest.raises(NetworkError, match="pip install"):
        oracle.run(digits.path, digits.heldout_inputs[:1])


def test_a_network_that_is_none_is_refused(tmp_path):
    with pytest.raises(NetworkError, check=about("file")):
        oracle.run(tmp_path / "none.tflite", np.zeros((1, 1), np.int8))
    with pytest.raises(NetworkError, check=about("identifier")):
        oracle.run(b"nothing of the kind", np.zeros((1, 1), np.int8))
