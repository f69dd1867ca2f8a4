# SPDX-License-Identifier: Apache-2.0
"""Quantisation against independent statements of TensorFlow Lite's rules."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resil.networks.errors import NetworkError
from resil.networks.float_network import FloatLayer, FloatNetwork
from resil.networks.geometry import Window
from resil.networks.quantise import (
    activation_quantisation,
    quantise,
    quantise_values,
    quantize_multiplier,
    weight_scales,
)
from testkit.errors import about

finite = st.floats(-1e4, 1e4, allow_subnormal=False)


@given(st.floats(2.0**-31, 2.0**29))
def test_multiplier_is_the_nearest_with_31_bits(real):
    multiplier, shift = quantize_multiplier(real)
    assert 2**30 <= multiplier < 2**31
    error = abs(Fraction(multiplier) * Fraction(2) ** (shift - 31) - Fraction(real))
    assert error <= Fraction(2) ** (shift - 32)


@pytest.mark.parametrize(
    ("real", "expected"),
    [(0.0, (0, 0)), (0.5, (2**30, 0)), (1.0, (2**30, 1)), (2.0**-40, (0, 0)), (1 - 2.0**-40, (2**30, 1))],
)
def test_multiplier_of_special_values(real, expected):
    assert quantize_multiplier(real) == expected


@pytest.mark.parametrize("real", [-1.0, math.nan, math.inf, 2.0**31])
def test_multipliers_out_of_range_are_refused(real):
    with pytest.raises(ValueError, match="a multiplier is"):
        quantize_multiplier(real)


@given(finite, finite)
def test_activation_range_holds_zero_exactly_and_covers_what_was_seen(a, b):
    low, high = min(a, b), max(a, b)
    quantisation = activation_quantisation(low, high)
    scale, zero_point = quantisation.scale[0], quantisation.zero_point[0]
    assert -128 <= zero_point <= 127
    assert scale == float(np.float32(scale))
    for value in (low, high):
        level = int(quantise_values([value], quantisation)[0])
        assert abs((level - zero_point) * scale - value) <= scale * 1.01


def test_a_relu_output_starts_at_the_lowest_level():
    assert activation_quantisation(0.0, 2.55).zero_point == (-128,)


def test_values_round_half_away_from_zero_and_saturate():
    quantisation = activation_quantisation(-128.0, 127.0)
    assert quantisation.scale == (1.0,)
    values = [0.5, 1.5, -0.5, -1.5, 1000.0, -1000.0]
    assert quantise_values(values, quantisation).tolist() == [1, 2, -1, -2, 127, -128]


def test_weight_scales_are_per_channel_and_leave_room_for_the_bias():
    weights = np.zeros((3, 1, 1, 2))
    weights[0] = 12.7
    weights[1] = -0.127
    scales = weight_scales(weights, np.array([1.0, 1.0, 8.0]), 0.1, axis=0)
    np.testing.assert_allclose(scales[:2], [0.1, 0.001], rtol=1e-6)
    assert 2**29 < 8.0 / (0.1 * scales[2]) <= 2**30
    assert weight_scales(weights, np.zeros(3), 0.1, axis=None).shape == (1,)
    assert (weight_scales(np.zeros((2, 4)), np.zeros(2), 0.1, axis=0) > 0).all()


def test_tensors_follow_the_rules(chain):
    graph = chain(1)
    for operator in graph.operators:
        source, output = graph.tensors[operator.inputs[0]], graph.tensors[operator.outputs[0]]
        if operator.kind in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
            weights, bias = (graph.tensors[i] for i in operator.inputs[1:])
            channels = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3}.get(operator.kind)
            count = 1 if channels is None else weights.shape[channels]
            assert len(weights.quantisation.scale) == count
            assert set(weights.quantisation.zero_point) == {0}
            assert np.abs(weights.data.astype(int)).max() == 127
            assert bias.dtype == "int32"
            expected = np.float32(source.scale) * np.float32(weights.quantisation.scale)
            np.testing.assert_array_equal(np.float32(bias.quantisation.scale), expected)
        else:
            assert source.quantisation == output.quantisation


def test_a_quantised_network_stays_near_the_float_network():
    generator = np.random.default_rng(3)
    layer = FloatLayer(
        "c", "CONV_2D", generator.normal(size=(4, 3, 3, 2)), generator.normal(size=4), Window((3, 3))
    )
    network = FloatNetwork("one", (6, 6, 2), (layer,))
    inputs = generator.normal(size=(32, 6, 6, 2))
    graph = quantise(network, inputs)
    from resil.networks import reference

    output = graph.tensors[graph.outputs[0]]
    levels = reference.run(graph, quantise_values(inputs, graph.tensors[0].quantisation))
    real = (levels.astype(float) - output.zero_point) * output.scale
    expected = network.activations(inputs)[-1]
    assert np.abs(real - expected).mean() < 2 * output.scale


@pytest.mark.parametrize("shape", [(0, 4, 4, 1), (2, 4, 4), (2, 4, 5, 1)])
def test_calibration_inputs_of_the_wrong_shape_are_refused(shape):
    network = FloatNetwork("n", (4, 4, 1), (FloatLayer("flat", "FLATTEN"),))
    with pytest.raises(NetworkError, check=about("inputs")):
        quantise(network, np.zeros(shape))


def test_activations_that_are_not_finite_are_refused():
    network = FloatNetwork("n", (2, 2, 1), (FloatLayer("flat", "FLATTEN"),))
    with pytest.raises(NetworkError, check=about("activations")):
        quantise(network, np.full((1, 2, 2, 1), np.nan))
