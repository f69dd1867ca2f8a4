# SPDX-License-Identifier: Apache-2.0
"""Integer kernels of operations of one element each, for `resil.networks.reference`; their form is that of
`resil.networks.kernels`.
"""

from __future__ import annotations

import numpy as np

from resil.networks.fixed_point import IntArray, multiply_by_quantized_multiplier
from resil.networks.graph import Operator, Tensor
from resil.networks.kernels import (
    Tensors,
    Values,
    activated,
    constant_of,
    quantised_bound,
    tensor_of,
)
from resil.networks.quantise import quantize_multiplier

_HEAD_ROOM = {"int8": 20, "int16": 15}
_SQUARE_HEAD_ROOM = 7


def add(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """ADD of two tensors, with broadcasting; a constant is allowed."""
    return _sum(operator, tensors, output, values, 1)


def subtract(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """SUB."""
    return _sum(operator, tensors, output, values, -1)


def _sum(operator: Operator, tensors: Tensors, output: Tensor, values: Values, sign: int) -> IntArray:
    if output.dtype == "int32":
        return operand(tensors, values, 0) + sign * operand(tensors, values, 1)
    room = _HEAD_ROOM[output.dtype]
    scales = [tensor_of(tensors, place).scale for place in (0, 1)]
    twice_max = 2.0 * max(scales)
    first, second = (
        _scaled(offset(tensors, values, place) << room, scales[place] / twice_max) for place in (0, 1)
    )
    total = first + sign * second
    return _finished(total, twice_max / ((1 << room) * output.scale), operator, output)


def multiply(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """MUL."""
    if output.dtype == "int32":
        return operand(tensors, values, 0) * operand(tensors, values, 1)
    product = offset(tensors, values, 0) * offset(tensors, values, 1)
    real = tensor_of(tensors, 0).scale * tensor_of(tensors, 1).scale / output.scale
    return _finished(product, real, operator, output)


def squared_difference(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """SQUARED_DIFFERENCE."""
    scales = [tensor_of(tensors, place).scale for place in (0, 1)]
    twice_max = 2.0 * max(scales)
    first, second = (
        _scaled(offset(tensors, values, place) << _SQUARE_HEAD_ROOM, scales[place] / twice_max)
        for place in (0, 1)
    )
    real = twice_max * twice_max / ((1 << 2 * _SQUARE_HEAD_ROOM) * output.scale)
    return _finished((first - second) ** 2, real, operator, output)


def minimum(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """MINIMUM."""
    return np.minimum(operand(tensors, values, 0), operand(tensors, values, 1))


def maximum(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """MAXIMUM."""
    return np.maximum(operand(tensors, values, 0), operand(tensors, values, 1))


def absolute(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """ABS."""
    size = np.abs(offset(tensors, values, 0))
    if (given := tensor_of(tensors, 0)).scale == output.scale:
        return activated(size + output.zero_point, operator, output)
    return _finished(size, given.scale / output.scale, operator, output)


def quantise(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """QUANTIZE of levels."""
    return _finished(offset(tensors, values, 0), tensor_of(tensors, 0).scale / output.scale, operator, output)


_BOUNDS: dict[str, tuple[float, float | None]] = {
    "RELU": (0.0, None),
    "RELU6": (0.0, 6.0),
    "RELU_N1_TO_1": (-1.0, 1.0),
    "RELU_0_TO_1": (0.0, 1.0),
}


def bounded(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """RELU and its kin, rescaled to the output's quantisation."""
    low, high = _BOUNDS[operator.kind]
    found = quantise(operator, tensors, output, values)
    found = np.maximum(found, quantised_bound(low, output))
    return found if high is None else np.minimum(found, quantised_bound(high, output))


def leaky_relu(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """LEAKY_RELU."""
    alpha = operator.options.get("alpha", 0.0)
    if not isinstance(alpha, int | float):
        raise ValueError(f"option alpha is {alpha!r}, expected a number")
    centred, real = offset(tensors, values, 0), tensor_of(tensors, 0).scale / output.scale
    below = _signed_scaled(centred, tensor_of(tensors, 0).scale * alpha / output.scale)
    found = np.where(centred >= 0, _scaled(centred, real), below) + output.zero_point
    return activated(found, operator, output)


def prelu(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """PRELU."""
    centred, slopes = offset(tensors, values, 0), offset(tensors, values, 1)
    real = tensor_of(tensors, 0).scale / output.scale
    below = _scaled(centred * slopes, real * tensor_of(tensors, 1).scale)
    found = np.where(centred >= 0, _scaled(centred, real), below) + output.zero_point
    return activated(found, operator, output)


def operand(tensors: Tensors, values: Values, place: int) -> IntArray:
    """Return the levels of an operand, constant or not."""
    given = values[place]
    return constant_of(tensor_of(tensors, place)) if given is None else given


def offset(tensors: Tensors, values: Values, place: int) -> IntArray:
    """Return the levels of an operand without its zero point."""
    return operand(tensors, values, place) - tensor_of(tensors, place).zero_point


def _scaled(levels: IntArray, real: float) -> IntArray:
    return multiply_by_quantized_multiplier(levels, *quantize_multiplier(real))


def _signed_scaled(levels: IntArray, real: float) -> IntArray:
    multiplier, shift = quantize_multiplier(abs(real))
    return multiply_by_quantized_multiplier(levels, multiplier if real >= 0 else -multiplier, shift)


def _finished(levels: IntArray, real: float, operator: Operator, output: Tensor) -> IntArray:
    return activated(_scaled(levels, real) + output.zero_point, operator, output)
