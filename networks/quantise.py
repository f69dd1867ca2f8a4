# SPDX-License-Identifier: Apache-2.0
"""Post-training quantisation to int8 by TensorFlow Lite's rules.

The rules are those of the TensorFlow Lite 8-bit quantisation specification: activations asymmetric int8 per
tensor with a range that includes zero; weights symmetric int8 in [-127, 127], per output channel for
convolutions and per tensor for fully connected layers; biases int32 with the scale input x weight and zero
point 0. A fused RELU narrows the output's range, so it costs no operation. Pools and reshapes keep their
input's quantisation; SOFTMAX has the fixed one of values in [0, 1).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from resil.networks.errors import NetworkError
from resil.networks.float_network import INPUT, FloatArray, FloatLayer, FloatNetwork
from resil.networks.graph import Graph, Operator, OptionValue, Quantisation, Tensor

INT8_MIN, INT8_MAX = -128, 127
WEIGHT_MAX = 127
MAX_SHIFT = 30
INT32_MAX = 2**31 - 1
_OPTIONS_TABLE = {
    "CONV_2D": "Conv2DOptions",
    "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions",
    "FULLY_CONNECTED": "FullyConnectedOptions",
    "MAX_POOL_2D": "Pool2DOptions",
    "AVERAGE_POOL_2D": "Pool2DOptions",
    "ADD": "AddOptions",
    "SOFTMAX": "SoftmaxOptions",
    "RESHAPE": "ReshapeOptions",
}
_VERSIONS = {
    "CONV_2D": 3,
    "DEPTHWISE_CONV_2D": 3,
    "FULLY_CONNECTED": 4,
    "MAX_POOL_2D": 2,
    "AVERAGE_POOL_2D": 2,
    "ADD": 2,
    "SOFTMAX": 2,
}
SOFTMAX_OUTPUT = Quantisation((1.0 / 256.0,), (INT8_MIN,))


def quantize_multiplier(real: float) -> tuple[int, int]:
    """Return (multiplier, shift) with real ~ multiplier * 2**(shift - 31) and multiplier in [2**30, 2**31).

    TensorFlow Lite's `QuantizeMultiplier`; a shift below -31 gives (0, 0).

    Raises:
        ValueError: `real` is negative, not finite or 2**30 or more.
    """
    if not math.isfinite(real) or real < 0:
        raise ValueError(f"a multiplier is finite and not negative, found {real}")
    if real == 0.0:
        return 0, 0
    fraction, shift = math.frexp(real)
    multiplier = math.floor(fraction * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier //= 2
        shift += 1
    if shift > MAX_SHIFT:
        raise ValueError(f"a multiplier is below 2**{MAX_SHIFT}, found {real}; check the scales")
    return (0, 0) if shift < -31 else (multiplier, shift)


def activation_quantisation(low: float, high: float) -> Quantisation:
    """Return asymmetric int8 quantisation for values seen in [low, high], widened to include zero."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = float(np.float32((high - low) / (INT8_MAX - INT8_MIN)))
    if scale < np.finfo(np.float32).tiny:
        return Quantisation((1.0,), (0,))
    zero_point = round(INT8_MIN - low / scale)
    return Quantisation((scale,), (min(max(zero_point, INT8_MIN), INT8_MAX),))


def quantise_values(
    values: npt.ArrayLike, quantisation: Quantisation, dtype: str = "int8"
) -> npt.NDArray[np.int8]:
    """Return real values as levels, halves away from zero, saturated, as TensorFlow Lite's QUANTIZE does.

    Args:
        values: Finite.
        quantisation: Of a tensor quantised as a whole.
        dtype: "int8" or "uint8".
    """
    with np.errstate(over="ignore"):
        scaled = np.asarray(values, dtype=np.float32) / np.float32(quantisation.scale[0])
    whole = np.trunc(scaled)
    with np.errstate(invalid="ignore"):  # infinite minus infinite; the level is saturated all the same
        away = np.abs(scaled - whole) >= 0.5
    rounded = whole.astype(np.float64) + np.where(away, np.copysign(1.0, scaled), 0.0)
    info = np.iinfo(dtype)
    levels: npt.NDArray[np.int8] = np.clip(rounded + quantisation.zero_point[0], info.min, info.max).astype(
        dtype
    )
    return levels


def quantise(network: FloatNetwork, calibration: npt.ArrayLike) -> Graph:
    """Return the int8 graph of a float network.

    Args:
        network: Weights and structure.
        calibration: Typical inputs, (N, H, W, C) or (N, C); the ranges of all activations come from them.

    Raises:
        NetworkError: The calibration set is empty, has the wrong shape or gives values that are not finite.
    """
    inputs = np.asarray(calibration, dtype=np.float64)
    if len(inputs.shape) < 2 or len(inputs) == 0 or inputs.shape[1:] != network.input_shape:
        raise NetworkError(
            f"{network.name}: expected calibration inputs of shape "
            f"(N, {', '.join(map(str, network.input_shape))}) with N >= 1, "
            f"found {inputs.shape}; pass a sample of the training inputs",
            "inputs",
        )
    activations = network.activations(inputs)
    if not all(np.isfinite(values).all() for values in activations):
        raise NetworkError(
            f"{network.name}: an activation is not finite; check the weights and the calibration inputs",
            "activations",
        )
    return _QuantisedBuilder(network, activations).graph()


class _QuantisedBuilder:
    def __init__(self, network: FloatNetwork, activations: list[FloatArray]) -> None:
        self.network = network
        self.activations = activations
        self.tensors: list[Tensor] = []
        self.operators: list[Operator] = []

    def graph(self) -> Graph:
        first = self.activations[0]
        source = Tensor(
            INPUT, (1, *first.shape[1:]), "int8", activation_quantisation(first.min(), first.max())
        )
        made = {INPUT: self._add(source)}
        for index, layer in enumerate(self.network.layers):
            sources = tuple(made[name] for name in self.network.sources(index))
            made[layer.name] = self._layer(layer, sources, self.activations[index + 1])
        last = [layer.name for layer in self.network.layers[-1:]] or [INPUT]
        outputs = tuple(made[name] for name in self.network.outputs or last)
        return Graph(tuple(self.tensors), tuple(self.operators), (0,), outputs, "main", self.network.name)

    def _add(self, tensor: Tensor) -> int:
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def _layer(self, layer: FloatLayer, sources: tuple[int, ...], values: FloatArray) -> int:
        kind = "RESHAPE" if layer.kind == "FLATTEN" else layer.kind
        inputs = list(sources)
        first = self.tensors[sources[0]]
        quantisation = SOFTMAX_OUTPUT if kind == "SOFTMAX" else first.quantisation
        if layer.weights is not None or kind == "ADD":
            quantisation = activation_quantisation(values.min(), values.max())
        if layer.weights is not None and layer.bias is not None:
            inputs += self._parameters(layer, layer.weights, layer.bias, first.scale)
        shape = (1, *values.shape[1:])
        if kind == "RESHAPE":
            inputs.append(
                self._add(Tensor(f"{layer.name}/shape", (2,), "int32", None, np.array(shape, np.int32)))
            )
        output = self._add(Tensor(layer.name, shape, "int8", quantisation))
        self.operators.append(
            Operator(
                kind,
                tuple(inputs),
                (output,),
                _options(layer, kind, shape),
                _OPTIONS_TABLE[kind],
                _VERSIONS.get(kind, 1),
            )
        )
        return output

    def _parameters(
        self, layer: FloatLayer, weights: FloatArray, bias: FloatArray, input_scale: float
    ) -> list[int]:
        axis = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3}.get(layer.kind)
        scales = weight_scales(weights, bias, input_scale, axis)
        shape = [1] * weights.ndim
        if axis is not None:
            shape[axis] = len(scales)
        levels = np.rint(weights / scales.astype(np.float64).reshape(shape))
        bias_scales = np.float32(input_scale) * scales
        bias_levels = np.rint(bias / bias_scales.astype(np.float64))
        w = Tensor(
            f"{layer.name}/weights",
            weights.shape,
            "int8",
            _symmetric(scales, axis or 0),
            np.clip(levels, -WEIGHT_MAX, WEIGHT_MAX).astype(np.int8),
        )
        b = Tensor(
            f"{layer.name}/bias",
            bias.shape,
            "int32",
            _symmetric(bias_scales, 0),
            np.clip(bias_levels, -INT32_MAX, INT32_MAX).astype(np.int32),
        )
        return [self._add(w), self._add(b)]


def weight_scales(
    weights: FloatArray, bias: FloatArray, input_scale: float, axis: int | None
) -> npt.NDArray[np.float32]:
    """Return the symmetric scales of the weights: one per channel along `axis`, or one if `axis` is None.

    A scale is max|w| / 127; where that is too small for the int32 bias (all weights zero, for instance), it
    is the least scale with which the bias needs half of the int32 range.
    """
    if axis is None:
        peak = np.array([np.abs(weights).max()])
        bias_peak = np.array([np.abs(bias).max()])
    else:
        peak = np.abs(weights).max(axis=tuple(i for i in range(weights.ndim) if i != axis))
        bias_peak = np.abs(bias)
    scales = np.maximum(peak / WEIGHT_MAX, bias_peak / (input_scale * (INT32_MAX // 2)))
    return np.where(scales > 0, scales, 1.0 / WEIGHT_MAX).astype(np.float32)


def _symmetric(scales: npt.NDArray[np.float32], axis: int) -> Quantisation:
    return Quantisation(tuple(scales.tolist()), (0,) * len(scales), axis)


def _options(layer: FloatLayer, kind: str, shape: tuple[int, ...]) -> dict[str, OptionValue]:
    if kind == "RESHAPE":
        return {"new_shape": shape}
    if kind == "SOFTMAX":
        return {"beta": 1.0}
    fused = "RELU6" if layer.relu6 else "RELU" if layer.relu else "NONE"
    options: dict[str, OptionValue] = {"fused_activation_function": fused}
    if layer.window is not None:
        options |= {
            "padding": layer.window.padding,
            "stride_h": layer.window.stride[0],
            "stride_w": layer.window.stride[1],
        }
        if kind.endswith("CONV_2D"):
            options |= {
                "dilation_h_factor": layer.window.dilation[0],
                "dilation_w_factor": layer.window.dilation[1],
            }
        else:
            options |= {"filter_height": layer.window.size[0], "filter_width": layer.window.size[1]}
    if kind == "DEPTHWISE_CONV_2D":
        options["depth_multiplier"] = 1
    return options
