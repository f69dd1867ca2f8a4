# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite's int8 SOFTMAX: the exponential and the reciprocal in gemmlowp's fixed point.

Numbers are int32 with a stated count of integer bits ("Q5.26": five integer bits and 26 of fraction).
"""

from __future__ import annotations

import math

import numpy as np

from resil.networks.fixed_point import (
    INT32_MAX,
    IntArray,
    multiply_by_quantized_multiplier,
    rounding_divide_by_pot,
    saturating_rounding_doubling_high_mul,
    wrap32,
)
from resil.networks.quantise import INT8_MAX, INT8_MIN, quantize_multiplier

_DIFFERENCE_BITS = 5
_SUM_BITS = 12
_ONE_EIGHTH = 1 << 28
_OUTPUT_BITS = 8
_LOG_BITS = 4
_HEADROOM = _DIFFERENCE_BITS + 1
"""Integer bits of a logarithm while it is summed up."""
_ONE_QUARTER = 1 << 29
_SQRT_HALF, _FOURTH_ROOT_HALF, _LOG_2 = 1518500250, 1805811301, 1488522236
_ALPHA_N, _ALPHA_D, _ALPHA_I, _ALPHA_F = 117049297, 127690142, 1057819769, 638450708
"""Coefficients of the rational function, in Q0.31, times the fourth root of two or its inverse."""


def softmax(levels: IntArray, scale: float, beta: float) -> IntArray:
    """Return int8 probabilities (scale 1/256, zero point -128) over the last axis.

    Args:
        levels: int8 values as int64, (..., classes); their zero point does not matter.
        scale: Their scale.
        beta: Factor before the exponential.
    """
    factor = min(beta * scale * (1 << (31 - _DIFFERENCE_BITS)), float(INT32_MAX))
    multiplier, shift = quantize_multiplier(factor)
    least = -math.floor(((1 << _DIFFERENCE_BITS) - 1) * (1 << (31 - _DIFFERENCE_BITS)) / (1 << shift))
    differences = levels - levels.max(axis=-1, keepdims=True)
    counts = differences >= least
    scaled = multiply_by_quantized_multiplier(np.where(counts, differences, 0), multiplier, shift)
    powers = _exp_of_negative(scaled)
    total = np.where(counts, rounding_divide_by_pot(powers, _SUM_BITS), 0).sum(axis=-1, keepdims=True)
    reciprocal, bits_over_unit = _reciprocal(wrap32(total))
    shares = saturating_rounding_doubling_high_mul(powers, reciprocal)
    result = rounding_divide_by_pot(shares, bits_over_unit + 31 - _OUTPUT_BITS) + INT8_MIN
    probabilities: IntArray = np.where(counts, np.clip(result, INT8_MIN, INT8_MAX), INT8_MIN)
    return probabilities


def log_softmax(levels: IntArray, scale: float) -> IntArray:
    """Return int8 logarithms of probabilities (scale 1/16, zero point 127) over the last axis.

    Args:
        levels: int8 values as int64, (..., classes); their zero point does not matter.
        scale: Their scale.
    """
    multiplier, shift = quantize_multiplier(min(scale * (1 << (31 - _DIFFERENCE_BITS)), float(INT32_MAX)))
    reverse, reverse_shift = quantize_multiplier(2.0 ** (31 - shift) / multiplier)
    radius = ((1 << _DIFFERENCE_BITS) - 1) * (1 << (31 - _DIFFERENCE_BITS)) / 2.0**shift
    least = -math.floor(radius)
    differences = levels - levels.max(axis=-1, keepdims=True)
    counts = differences >= least
    scaled = multiply_by_quantized_multiplier(np.where(counts, differences, least), multiplier, shift)
    powers = rounding_divide_by_pot(_exp_of_negative(scaled), _SUM_BITS)
    total = wrap32(np.where(counts, powers, 0).sum(axis=-1, keepdims=True))
    log = _log_from_one(total)
    further = multiply_by_quantized_multiplier(log - (1 << 31), reverse, reverse_shift)
    shifted = rounding_divide_by_pot(scaled - log, 31 - _DIFFERENCE_BITS - _LOG_BITS) + INT8_MAX
    clipped = np.clip(shifted, INT8_MIN, INT8_MAX)
    logarithms: IntArray = np.where(differences > np.maximum(least - 1, further), clipped, INT8_MIN)
    return logarithms


def _log_from_one(values: IntArray) -> IntArray:
    """Return the logarithm, in Q5.26, of values from 1 on in Q12.19."""
    quarter = _ONE_QUARTER >> _HEADROOM
    zeros = 31 - np.floor(np.log2(values.astype(np.float64))).astype(np.int64)
    first = saturating_rounding_doubling_high_mul(_times_power(values, zeros - 1), _SQRT_HALF)
    first = _times_power(first, 1)
    first_power = _times_power(_SUM_BITS - zeros, 31 - _HEADROOM) + quarter
    lowered = saturating_rounding_doubling_high_mul(values, _SQRT_HALF)
    room = 30 - np.floor(np.log2(lowered.astype(np.float64))).astype(np.int64)
    second = _times_power(values, room)
    second_power = _times_power(_SUM_BITS - room, 31 - _HEADROOM) - quarter
    r, power = np.minimum(first, second), np.maximum(first_power, second_power)
    p, q = _half_sum(r, _FOURTH_ROOT_HALF), 2 * (r - _FOURTH_ROOT_HALF)
    square = saturating_rounding_doubling_high_mul(q, q)
    numerator = saturating_rounding_doubling_high_mul(q, r) + saturating_rounding_doubling_high_mul(
        saturating_rounding_doubling_high_mul(q, square), _ALPHA_N
    )
    inner = _ALPHA_I + q + saturating_rounding_doubling_high_mul(square, _ALPHA_D)
    denominator = saturating_rounding_doubling_high_mul(p, inner)
    denominator = denominator + saturating_rounding_doubling_high_mul(q, _ALPHA_F)
    reciprocal = _double(_newton(_half_sum(denominator, INT32_MAX)))
    share = saturating_rounding_doubling_high_mul(rounding_divide_by_pot(numerator, _HEADROOM), reciprocal)
    return _times_power(saturating_rounding_doubling_high_mul(power, _LOG_2) + share, 1)


def _times_power(values: IntArray, exponent: IntArray | int) -> IntArray:
    """Return values times a power of two, saturated."""
    shifted: IntArray = np.clip(values << exponent, -(1 << 31), INT32_MAX)
    return shifted


def _half_sum(a: IntArray, b: int) -> IntArray:
    """Return half of a sum, rounded half away from zero."""
    total = a + b
    half: IntArray = np.where(total >= 0, total + 1, total - 1)
    return np.where(half >= 0, half // 2, -(-half // 2))


def _exp_of_negative(values: IntArray) -> IntArray:
    """Return exp of values in Q5.26, none above zero, in Q0.31."""
    quarter = 1 << (29 - _DIFFERENCE_BITS)
    within = (values & (quarter - 1)) - quarter
    result = _exp_on_quarter(within << _DIFFERENCE_BITS)
    remainder = within - values
    for exponent in range(-2, _DIFFERENCE_BITS):
        factor = math.floor(math.exp(-(2.0**exponent)) * 2**31 + 0.5)
        bit = 1 << (31 - _DIFFERENCE_BITS + exponent)
        result = np.where(remainder & bit, saturating_rounding_doubling_high_mul(result, factor), result)
    return np.where(values == 0, INT32_MAX, result)


def _exp_on_quarter(values: IntArray) -> IntArray:
    """Return exp of values in Q0.31 within [-1/4, 0): Taylor's series of degree four around -1/8."""
    x = values + _ONE_EIGHTH
    x2 = saturating_rounding_doubling_high_mul(x, x)
    x3 = saturating_rounding_doubling_high_mul(x2, x)
    x4 = saturating_rounding_doubling_high_mul(x2, x2)
    third = 715827883
    tail = saturating_rounding_doubling_high_mul(rounding_divide_by_pot(x4, 2) + x3, third) + x2
    series = x + rounding_divide_by_pot(tail, 1)
    centre = math.floor(math.exp(-0.125) * 2**31 + 0.5)
    return centre + saturating_rounding_doubling_high_mul(np.full_like(x, centre), series)


def _reciprocal(sums: IntArray) -> tuple[IntArray, IntArray]:
    """Return 1 / x in Q0.31 for x in [1, 2), and how many bits above one the sums in Q12.19 were."""
    leading = 31 - np.floor(np.log2(sums.astype(np.float64))).astype(np.int64)
    fraction = ((sums << leading) & 0xFFFFFFFF) - (1 << 31)
    half = (fraction + INT32_MAX + 1) // 2
    return _double(_newton(half)), _SUM_BITS - leading


def _newton(half: IntArray) -> IntArray:
    """Return 1 / (2 * half), all in Q2.29 but `half` in Q0.31, after three steps of Newton and Raphson."""
    start = 1515870810
    slope = -1010580540
    x = start + saturating_rounding_doubling_high_mul(half, slope)
    one = 1 << 29
    for _ in range(3):
        error = one - saturating_rounding_doubling_high_mul(half, x)
        step = saturating_rounding_doubling_high_mul(x, error)
        x = x + np.clip(step << 2, -(1 << 31), INT32_MAX)
    return x


def _double(values: IntArray) -> IntArray:
    doubled: IntArray = np.clip(values << 1, -(1 << 31), INT32_MAX)
    return doubled
