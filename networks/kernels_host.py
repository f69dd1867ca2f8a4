# SPDX-License-Identifier: Apache-2.0
"""Integer kernels of operators that a compiler leaves to a CPU, for `resil.networks.reference`.

Their forms are those of `resil.networks.kernels`; arithmetic is TensorFlow Lite Micro's.
"""

from __future__ import annotations

import numpy as np

from resil.networks.fixed_point import (
    INT32_MAX,
    IntArray,
    multiply_by_quantized_multiplier,
    rounding_divide_by_pot,
    saturating_rounding_doubling_high_mul,
)
from resil.networks.graph import Operator, Tensor
from resil.networks.kernels import Tensors, Values, tensor_of
from resil.networks.kernels_elements import operand
from resil.networks.quantise import INT8_MAX, INT8_MIN
from resil.networks.softmax import log_softmax

LOG_SOFTMAX_OUTPUT = (1 / 16, 127)
_UNIT_SHIFT = 7
"""The output of L2_NORMALIZATION has the scale 2^-7 and the zero point 0."""
_NEWTON_STEPS = 5
_HALF_SQRT_2 = 1518500250
_ONE = 1 << 28  # in Q3.28
_ONE_AND_A_HALF = (1 << 28) + (1 << 27)


def unit_length(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """L2_NORMALIZATION over the last axis."""
    if (output.scale, output.zero_point) != (2.0**-_UNIT_SHIFT, 0):
        raise ValueError(f"scale {output.scale:g}, zero point {output.zero_point}: expected 1/128 and 0")
    offsets = operand(tensors, values, 0) - tensor_of(tensors, 0).zero_point
    sums = (offsets**2).sum(axis=-1)
    multiplier = np.empty_like(sums)
    shift = np.empty_like(sums)
    for place in np.ndindex(sums.shape):
        multiplier[place], shift[place] = _inverse_root(int(sums[place]))
    scaled = multiply_by_quantized_multiplier(offsets, multiplier[..., None], shift[..., None] + _UNIT_SHIFT)
    return np.clip(scaled, INT8_MIN, INT8_MAX)


def log_probabilities(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """LOG_SOFTMAX over the last axis."""
    if (output.scale, output.zero_point) != LOG_SOFTMAX_OUTPUT:
        raise ValueError(f"scale {output.scale:g}, zero point {output.zero_point}: expected 1/16 and 127")
    return log_softmax(operand(tensors, values, 0), tensor_of(tensors, 0).scale)


def _inverse_root(value: int) -> tuple[int, int]:
    """Return multiplier and shift of 1 / sqrt(value), by Newton's steps in Q3.28."""
    if value <= 1:
        return INT32_MAX, 0
    shift = 11
    while value >= 1 << 29:
        value //= 4
        shift += 1
    pairs = (31 - value.bit_length()) // 2 - 1
    shift -= pairs
    half = _rounded(value << (2 * pairs) >> 1, 1)
    x = _ONE
    for _ in range(_NEWTON_STEPS):
        cube = _rescaled(_product(_product(x, x), x), 6)
        x = _rescaled(_product(_ONE_AND_A_HALF, x) - _product(half, cube), 3)
    root = _product(x, _HALF_SQRT_2)
    if shift < 0:
        return root << -shift, 0
    return root, -shift


def _product(a: int, b: int) -> int:
    return int(saturating_rounding_doubling_high_mul(np.array([a], np.int64), b)[0])


def _rounded(value: int, bits: int) -> int:
    return int(rounding_divide_by_pot(np.array([value], np.int64), bits)[0])


def _rescaled(value: int, bits: int) -> int:
    """Return a product, which has lost so many integer bits, with three of them again."""
    return max(-INT32_MAX - 1, min(INT32_MAX, value << bits))
