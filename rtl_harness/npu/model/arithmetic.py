# SPDX-License-Identifier: Apache-2.0
"""Integer arithmetic of the output unit, exact for every operand."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]

INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1

# Products are clipped here before rounding: whatever the shift below 32, the result is saturated already.
_CLIP_BITS = 46
_DIGIT_BITS = 16


class Rounding(IntEnum):
    """How a scaled value loses its fraction, by the field of OFM_PRECISION."""

    DOUBLE = 0
    TRUNCATE = 1
    NATURAL = 2


def wrap(values: Int64, bits: int) -> Int64:
    """Reduce integers modulo 2^`bits` to the two's complement range of as many bits, at most 62."""
    half = 1 << bits - 1
    return ((values + half) & ((1 << bits) - 1)) - half


def wrap32(values: npt.NDArray[np.int64 | np.int32 | np.float32 | np.float64]) -> Int64:
    """Reduce integers below 2^63 in magnitude modulo 2^32 to the range of int32."""
    return values.astype(np.int64).astype(np.int32).astype(np.int64)


def sat32(values: Int64) -> Int64:
    """Clamp to the range of int32."""
    return np.clip(values, INT32_MIN, INT32_MAX)


def rescale(values: Int64, scale: Int64 | int, shift: Int64 | int, rounding: Rounding) -> Int64:
    """Return RS of the NPU's page: `values` times `scale` / 2^`shift`, rounded and saturated to int32.

    Args:
        values: Range of int32.
        scale: 0 .. 2^32 - 1.
        shift: 0 .. 63.
        rounding: The operation's.

    Returns:
        The broadcast of the arguments' shapes.
    """
    return _rounded(values * np.asarray(scale, dtype=np.int64), np.asarray(shift, dtype=np.int64), rounding)


def rescale_wide(values: Int64, factor: Int64 | int, shift: int, rounding: Rounding) -> Int64:
    """Return RS for products of up to 70 bits: |`values`| at most 2^36, |`factor`| at most 2^33."""
    factor = np.asarray(factor, dtype=np.int64)
    low = values * (factor & ((1 << _DIGIT_BITS) - 1))
    high = values * (factor >> _DIGIT_BITS) + (low >> _DIGIT_BITS)
    low &= (1 << _DIGIT_BITS) - 1
    if shift > 31 and rounding != Rounding.DOUBLE:
        # Of the digit that goes, no rounding asks more than whether it is zero.
        return _rounded(high | (low != 0), np.asarray(shift - _DIGIT_BITS), rounding)
    clipped = np.clip(high, -(1 << _CLIP_BITS) - 1, 1 << _CLIP_BITS)
    return _rounded((clipped << _DIGIT_BITS) + low, np.asarray(shift), rounding)


def rescale_operand(values: Int64, scale: int, shift: int, headroom: int) -> Int64:
    """Return P of the NPU's page: an operand of an addition, rounded twice as TensorFlow Lite does.

    Args:
        values: At most 2^17 in magnitude.
        scale: 0 .. 2^32 - 1.
        shift: 0 .. 63.
        headroom: Bits that the addition's operands are shifted left by.
    """
    first = 31 - headroom
    rest = np.asarray(max(shift - first, 0), dtype=np.int64)
    return _twice(values * np.int64(scale), np.asarray(first, dtype=np.int64), rest)


def shift_left(values: Int64, places: Int64 | int) -> Int64:
    """Return `values` times 2^`places`, 0..63, saturated to int32."""
    return sat32(sat32(values) << np.minimum(places, 32))


def shift_right(values: Int64, places: Int64, rounded: bool) -> Int64:
    """Return `values`, below 2^62 in magnitude, divided by 2^`places`, 0..63, downwards or halves upwards."""
    return np.asarray((values + (_half(places) if rounded else 0)) >> places)


def count_leading_zeros(values: Int64) -> Int64:
    """Return the leading zeros of the low 32 bits."""
    _, digits = np.frexp((values & 0xFFFFFFFF).astype(np.float64))
    return np.asarray(32 - digits.astype(np.int64))


def _rounded(product: Int64, shift: Int64, rounding: Rounding) -> Int64:
    """Divide by 2^`shift`, round and saturate; |product| + 2^30 < 2^63."""
    if rounding == Rounding.TRUNCATE:
        return sat32((product + np.where(product < 0, ~(np.int64(-1) << shift), 0)) >> shift)
    if rounding == Rounding.NATURAL:
        rest = np.minimum(shift, 1)
        return sat32(((product >> (shift - rest)) + rest) >> rest)
    first = np.minimum(shift, 31)
    return _twice(product, first, shift - first)


def _twice(product: Int64, first: Int64, second: Int64) -> Int64:
    """Divide by 2^`first`, halves upwards, saturate, and divide by 2^`second`, halves away from zero."""
    value = sat32((product + _half(first)) >> first)
    if not second.any():
        return value
    return np.asarray((value + _half(second) - ((value < 0) & (second > 0))) >> second)


def _half(shift: Int64) -> Int64:
    return np.asarray(np.minimum(shift, 1) << np.maximum(shift - 1, 0))
