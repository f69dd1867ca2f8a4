# SPDX-License-Identifier: Apache-2.0
"""Operations with weights, and pools."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resil.networks.generate.sketch import ACTIVATIONS, BOUNDS, DEVIATION, Sketch
from resil.networks.geometry import Window, elements
from resil.networks.graph import Graph, OptionValue, Quantisation
from resil.networks.quantise import WEIGHT_MAX

_MOST_MACS = 200_000
_LONGEST = 64
_WIDEST_ROW = 80
_INT32_ROOM = 1 << 28


def convolution(sketch: Sketch) -> Graph:
    """CONV_2D."""
    window = _kernel(sketch)
    source, filters = _source(sketch, window), sketch.channels()
    rows, columns = window.output_shape(source[1], source[2])
    taps = elements(window.size) * source[3]
    filters = max(1, min(filters, _MOST_MACS // (rows * columns * taps)))
    return _weighted(sketch, source, (filters, *window.size, source[3]), 0, window, "Conv2DOptions", 3)


def depthwise(sketch: Sketch) -> Graph:
    """DEPTHWISE_CONV_2D; the depth multiplier is mostly 1 if the input has several channels."""
    window = _kernel(sketch)
    source = _source(sketch, window)
    multiplier = sketch.channels(20) if source[3] == 1 else sketch.pick((1, 1, 1, 1, 1, 1, 1, 2, 3))
    shape = (1, *window.size, source[3] * multiplier)
    options: dict[str, OptionValue] = {"depth_multiplier": multiplier}
    return _weighted(sketch, source, shape, 3, window, "DepthwiseConv2DOptions", 3, options)


def transposed(sketch: Sketch) -> Graph:
    """TRANSPOSE_CONV, mostly with stride 2, which is what the accelerator's upscaling serves."""
    stride = sketch.pick((1, 2, 2, 2, 2))
    strides, size = (stride, stride), (sketch.integer(stride, 5), sketch.integer(stride, 5))
    padding = sketch.pick(("SAME", "VALID"))
    source = sketch.feature_map(600, side=8)
    if sketch.one_row:
        strides, size = (1, stride), (1, size[1])
        source = 1, 1, sketch.integer(1, _WIDEST_ROW // 2), source[3]
    filters = sketch.channels(16)
    shape = (filters, *size, source[3])
    grown = [
        step * extent + (taps - step if padding == "VALID" else 0)
        for step, extent, taps in zip(strides, source[1:3], size, strict=True)
    ]
    given = sketch.quantisation()
    weights, scales = _weights(sketch, shape, 0)
    terms = elements(size) * source[3] / elements(strides)
    bias = _bias(sketch, filters, terms)
    parameters = [
        sketch.integers("shape", (1, *grown, filters)),
        sketch.add("weights", shape, Quantisation(scales, (0,) * filters, 0), weights),
        sketch.add_input(source, given),
    ]
    if bias is not None:
        bias_scales = tuple(float(np.float32(given.scale[0]) * np.float32(scale)) for scale in scales)
        parameters.append(sketch.add("bias", (filters,), Quantisation(bias_scales, (0,) * filters), bias))
    deviation = _deviation(terms, given, weights, scales)
    output = sketch.add("output", (1, *grown, filters), sketch.scaled_output(deviation))
    options: dict[str, OptionValue] = {"padding": padding, "stride_h": strides[0], "stride_w": strides[1]}
    return sketch.graph(parameters, [output], options, "TransposeConvOptions", 3)


def fully_connected(sketch: Sketch) -> Graph:
    """FULLY_CONNECTED on one vector, sometimes on several."""
    source = (sketch.integer(2, 9) if sketch.chance(0.15) else 1, sketch.skewed(400))
    shape = (sketch.integer(1, 120), source[1])
    axis = None if sketch.chance(0.8) else 0
    return _weighted(sketch, source, shape, axis, None, "FullyConnectedOptions", 4)


def pool(sketch: Sketch) -> Graph:
    """AVERAGE_POOL_2D and MAX_POOL_2D; the output has the input's quantisation."""
    padding = sketch.pick(("SAME", "VALID"))
    longest = 8 if padding == "SAME" or sketch.chance(0.8) else _LONGEST
    size = _size(sketch, longest)
    window = Window(size, _stride(sketch), padding)
    source = _source(sketch, window)
    activation = sketch.pick(ACTIVATIONS)
    quantisation = sketch.quantisation(activation)
    given = sketch.add_input(source, quantisation)
    output = sketch.add("output", (1, *window.output_shape(*source[1:3]), source[3]), quantisation)
    options: dict[str, OptionValue] = {
        "filter_height": size[0],
        "filter_width": size[1],
        **_strides(window),
        "fused_activation_function": activation,
    }
    return sketch.graph([given], [output], options, "Pool2DOptions")


def _stride(sketch: Sketch) -> tuple[int, int]:
    """Return steps of 1 to 3; of larger ones Vela leaves some to a CPU."""
    return sketch.integer(1, 3), sketch.integer(1, 3)


def _kernel(sketch: Sketch) -> Window:
    padding = sketch.pick(("SAME", "VALID"))
    stride = _stride(sketch)
    dilation = (1, 1)
    longest = 7
    if sketch.chance(0.15):
        longest = _LONGEST
    elif sketch.chance(0.25):
        dilation = (sketch.integer(1, 4), sketch.integer(1, 4))
        if sketch.chance(0.5):
            stride = (1, 1)
    size = _size(sketch, longest)
    if longest == _LONGEST and sketch.chance(0.2):
        size = 1 if sketch.one_row else _LONGEST, _LONGEST
    return Window(size, stride, padding, dilation)


def _size(sketch: Sketch, longest: int) -> tuple[int, int]:
    return 1 if sketch.one_row else sketch.skewed(longest), sketch.skewed(longest)


def _source(sketch: Sketch, window: Window) -> tuple[int, int, int, int]:
    """Return an input shape on which the window has somewhere to go, within the bound on work."""
    channels = sketch.channels(max(1, 40 * 9 // elements(window.size)))
    reach = [(n - 1) * d + 1 for n, d in zip(window.size, window.dilation, strict=True)]
    work = max(1, 20_000 // (elements(window.size) * channels))
    side = max(1, min(20, int(work**0.5) * max(window.stride)))
    least = reach if window.padding == "VALID" else [1, 1]
    if sketch.one_row:
        return 1, 1, least[1] - 1 + sketch.integer(1, min(_WIDEST_ROW, work)), channels
    return 1, least[0] - 1 + sketch.integer(1, side), least[1] - 1 + sketch.integer(1, side), channels


def _strides(window: Window) -> dict[str, OptionValue]:
    return {"padding": window.padding, "stride_h": window.stride[0], "stride_w": window.stride[1]}


def _weighted(
    sketch: Sketch,
    source: tuple[int, ...],
    shape: tuple[int, ...],
    axis: int | None,
    window: Window | None,
    table: str,
    version: int,
    more: dict[str, OptionValue] | None = None,
) -> Graph:
    given = sketch.quantisation()
    activation = sketch.pick(ACTIVATIONS)
    filters = shape[3] if axis == 3 else shape[0]
    terms = elements(shape) / filters
    weights, scales = _weights(sketch, shape, axis)
    if activation in BOUNDS:
        factor = BOUNDS[activation] / _deviation(terms, given, weights, scales)
        scales = tuple(float(np.float32(scale * factor)) for scale in scales)
    bias = _bias(sketch, filters, terms)
    inputs = [
        sketch.add_input(source, given),
        sketch.add("weights", shape, Quantisation(scales, (0,) * len(scales), axis or 0), weights),
    ]
    if bias is not None:
        bias_scales = tuple(float(np.float32(given.scale[0]) * np.float32(scale)) for scale in scales)
        zeros = (0,) * len(scales)
        inputs.append(sketch.add("bias", (filters,), Quantisation(bias_scales, zeros), bias))
    options: dict[str, OptionValue] = {**(more or {}), "fused_activation_function": activation}
    result: tuple[int, ...] = (source[0], filters)
    if window is not None:
        result = (1, *window.output_shape(*source[1:3]), filters)
        options |= _strides(window)
        options |= {"dilation_h_factor": window.dilation[0], "dilation_w_factor": window.dilation[1]}
    deviation = _deviation(terms, given, weights, scales)
    output = sketch.add("output", result, sketch.scaled_output(deviation, activation))
    return sketch.graph(inputs, [output], options, table, version)


def _weights(
    sketch: Sketch, shape: tuple[int, ...], axis: int | None
) -> tuple[npt.NDArray[np.int8], tuple[float, ...]]:
    """Return contents in [-127, 127] and scales, one for each place along the axis, or one."""
    count = 1 if axis is None else shape[axis]
    typical = sketch.scale(1e-3, 0.1)
    factors = sketch.random.uniform(0.3, 1.0, count)
    scales = tuple(float(np.float32(typical * factor)) for factor in factors)
    return sketch.levels(shape, -WEIGHT_MAX), scales


def _bias(sketch: Sketch, filters: int, terms: float) -> npt.NDArray[np.int32] | None:
    """Return biases: none, as large as the sums, or some that are far larger."""
    way = sketch.pick(("none", "usual", "usual", "usual", "some large"))
    if way == "none":
        return None
    width = np.full(filters, 5_000.0 * np.sqrt(terms))
    if way == "some large":
        width[sketch.random.random(filters) < 0.2] = _INT32_ROOM
    biases: npt.NDArray[np.int32] = sketch.random.uniform(-width, width).astype(np.int32)
    return biases


def _deviation(
    terms: float, given: Quantisation, weights: npt.NDArray[np.int8], scales: tuple[float, ...]
) -> float:
    """Return about the standard deviation of the real sums, for inputs of all levels."""
    strength = max(1.0, float(np.sqrt(np.mean(np.square(weights.astype(np.float64))))))
    return DEVIATION * strength * float(np.sqrt(terms)) * given.scale[0] * float(np.mean(scales))
