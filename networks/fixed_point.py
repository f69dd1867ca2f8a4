# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite's integer arithmetic on arrays, with double rounding.

The operations are gemmlowp's and those of TensorFlow Lite's reference kernels as built by default (without
`TFLITE_SINGLE_ROUNDING`). Values are int32 numbers carried in int64 arrays.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


def wrap32(values: IntArray) -> IntArray:
    """Return the values modulo 2**32, as int32 arithmetic that overflows leaves them."""
    return values.astype(np.int32).astype(np.int64)


def saturating_rounding_doubling_high_mul(a: IntArray, b: IntArray | int) -> IntArray:
    """Return (a * b + nudge) / 2**31 truncated towards zero; the nudge is +-2**30 by the product's sign."""
    a, b = np.broadcast_arrays(a, np.int64(b) if isinstance(b, int) else b)
    product = a * b
    nudged = product + np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    result = np.where(nudged >= 0, nudged >> 31, -((-nudged) >> 31))
    overflow: npt.NDArray[np.bool_] = (a == INT32_MIN) & (b == INT32_MIN)
    return np.where(overflow, INT32_MAX, result)


def rounding_divide_by_pot(x: IntArray, exponent: IntArray | int) -> IntArray:
    """Return x / 2**exponent rounded to nearest, halves away from zero."""
    exponent = np.asarray(exponent, dtype=np.int64)
    mask = (np.int64(1) << exponent) - 1
    threshold = (mask >> 1) + (x < 0)
    return (x >> exponent) + ((x & mask) > threshold)


def multiply_by_quantized_multiplier(
    x: IntArray, multiplier: IntArray | int, shift: IntArray | int
) -> IntArray:
    """Return x * multiplier * 2**(shift - 31) with both roundings; all arguments broadcast."""
    shift = np.asarray(shift, dtype=np.int64)
    left, right = np.maximum(shift, 0), np.maximum(-shift, 0)
    product = saturating_rounding_doubling_high_mul(wrap32(x << left), multiplier)
    return rounding_divide_by_pot(product, right)
