# SPDX-License-Identifier: Apache-2.0
"""Survey of operations with weights: convolutions, fully connected layers, products of matrices."""

from __future__ import annotations

from math import prod

import numpy as np

from benchmarks.npu.survey.drawing import Drawing, fixed
from resil.networks.geometry import Window
from resil.networks.graph import Graph, OptionValue, Quantisation

Pair = tuple[int, int]


def convolution(
    draw: Drawing,
    source: Pair = (9, 10),
    channels: int = 12,
    filters: int = 13,
    size: Pair = (3, 3),
    stride: Pair = (1, 1),
    padding: str = "SAME",
    dilation: Pair = (1, 1),
    activation: str = "NONE",
    axis: int | None = 0,
    biased: bool = True,
) -> Graph:
    """CONV_2D."""
    window = Window(size, stride, padding, dilation)
    given = draw.given((1, *source, channels))
    inputs = [given, *_parameters(draw, given, (filters, *size, channels), axis, biased)]
    terms = prod(size) * channels
    output = draw.add(
        "output", (1, *window.output_shape(*source), filters), _sums(draw, given, terms, activation)
    )
    options = _window_options(window) | {"fused_activation_function": activation}
    return draw.graph("CONV_2D", inputs, [output], options, "Conv2DOptions", 3)


def depthwise(
    draw: Drawing,
    source: Pair = (9, 10),
    channels: int = 12,
    multiplier: int = 1,
    size: Pair = (3, 3),
    stride: Pair = (1, 1),
    padding: str = "SAME",
    dilation: Pair = (1, 1),
    activation: str = "NONE",
) -> Graph:
    """DEPTHWISE_CONV_2D."""
    window = Window(size, stride, padding, dilation)
    given = draw.given((1, *source, channels))
    filters = channels * multiplier
    inputs = [given, *_parameters(draw, given, (1, *size, filters), 3, True)]
    output = draw.add(
        "output", (1, *window.output_shape(*source), filters), _sums(draw, given, prod(size), activation)
    )
    options = _window_options(window) | {
        "fused_activation_function": activation,
        "depth_multiplier": multiplier,
    }
    return draw.graph("DEPTHWISE_CONV_2D", inputs, [output], options, "DepthwiseConv2DOptions", 3)


def transposed(
    draw: Drawing,
    source: Pair = (5, 6),
    channels: int = 9,
    filters: int = 7,
    size: Pair = (3, 3),
    stride: Pair = (2, 2),
    padding: str = "SAME",
    biased: bool = True,
) -> Graph:
    """TRANSPOSE_CONV."""
    grown = tuple(
        step * extent + (max(taps - step, 0) if padding == "VALID" else 0)
        for step, extent, taps in zip(stride, source, size, strict=True)
    )
    shape = draw.integers("shape", (1, *grown, filters))
    given = draw.given((1, *source, channels))
    weights, *bias = _parameters(draw, given, (filters, *size, channels), 0, biased)
    terms = prod(size) * channels // prod(stride) or channels
    output = draw.add("output", (1, *grown, filters), _sums(draw, given, terms))
    options: dict[str, OptionValue] = {"padding": padding, "stride_h": stride[0], "stride_w": stride[1]}
    options["fused_activation_function"] = "NONE"
    return draw.graph(
        "TRANSPOSE_CONV", [shape, weights, given, *bias], [output], options, "TransposeConvOptions", 3
    )


def connected(
    draw: Drawing,
    rows: int = 1,
    length: int = 70,
    filters: int = 33,
    activation: str = "NONE",
    axis: int | None = None,
    biased: bool = True,
) -> Graph:
    """FULLY_CONNECTED with constant weights."""
    given = draw.given((rows, length))
    inputs = [given, *_parameters(draw, given, (filters, length), axis, biased)]
    output = draw.add("output", (rows, filters), _sums(draw, given, length, activation))
    options: dict[str, OptionValue] = {"fused_activation_function": activation}
    return draw.graph("FULLY_CONNECTED", inputs, [output], options, "FullyConnectedOptions", 4)


def connected_dynamic(draw: Drawing, rows: int = 1, length: int = 70, filters: int = 34) -> Graph:
    """FULLY_CONNECTED of which both operands are computed."""
    given, second = draw.given((rows, length)), draw.given((filters, length), fixed(0.01))
    output = draw.add("output", (rows, filters), _product(draw, given, second, length))
    options: dict[str, OptionValue] = {"fused_activation_function": "NONE"}
    return draw.graph("FULLY_CONNECTED", [given, second, -1], [output], options, "FullyConnectedOptions", 4)


def matrices(
    draw: Drawing, batch: int = 2, rows: int = 6, length: int = 24, columns: int = 9, adjoint: bool = False
) -> Graph:
    """BATCH_MATMUL of two computed operands."""
    given = draw.given((1, batch, rows, length))
    shape = (columns, length) if adjoint else (length, columns)
    second = draw.given((1, batch, *shape))
    output = draw.add("output", (1, batch, rows, columns), _product(draw, given, second, length))
    options: dict[str, OptionValue] = {"adj_x": False, "adj_y": adjoint}
    return draw.graph("BATCH_MATMUL", [given, second], [output], options, "BatchMatMulOptions", 1)


def _product(draw: Drawing, first: int, second: int, terms: int) -> Quantisation:
    spread = draw.scale(first) * draw.scale(second) * draw.deviation * np.sqrt(terms)
    return fixed(2.0 * spread, 3 if draw.dtype == "int8" else 0)


def _parameters(
    draw: Drawing, given: int, shape: tuple[int, ...], axis: int | None, biased: bool
) -> list[int]:
    weights, scales = draw.weights(shape, axis)
    if not biased:
        return [weights]
    filters = shape[3] if axis == 3 else shape[0]
    terms = prod(shape) / filters
    return [weights, draw.bias(filters, given, scales, draw.deviation * 70.0 * float(np.sqrt(terms)))]


def _sums(draw: Drawing, given: int, terms: int, activation: str = "NONE") -> Quantisation | None:
    """Return the output's quantisation: about three deviations of the sums, so that some saturate.

    With a bound of real values it is that of values between zero and eight.
    """
    spread = draw.scale(given) * 0.007 * draw.deviation * 73.0 * float(np.sqrt(terms))
    if activation in ("RELU6", "RELU_N1_TO_1"):
        spread = 3.0
    low = -128 if activation != "NONE" and draw.dtype == "int8" else None
    return fixed(
        2.0 * spread / draw.deviation / 1.7,
        (int(draw.random.integers(-30, 30)) if low is None else low) if draw.dtype == "int8" else 0,
    )


def _window_options(window: Window) -> dict[str, OptionValue]:
    return {
        "padding": window.padding,
        "stride_h": window.stride[0],
        "stride_w": window.stride[1],
        "dilation_h_factor": window.dilation[0],
        "dilation_w_factor": window.dilation[1],
    }
