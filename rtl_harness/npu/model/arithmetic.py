"""Integer arithmetic of the output unit, exact for every operand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]

INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1


def wrap32(values: npt.NDArray[np.int64 | np.float32 | np.float64]) -> Int64:
    """Reduce integers below 2^63 in magnitude modulo 2^32 to the range of int32."""
    return values.astype(np.int64).astype(np.int32).astype(np.int64)


def sat32(values: Int64) -> Int64:
    """Clamp to the range of int32."""
    return np.clip(values, INT32_MIN, INT32_MAX)


def rescale(acc: Int64, bias: Int64, scale: Int64, shift: Int64) -> Int64:
    """Scale accumulators by `scale` / 2^`shift` with two roundings.

    First a saturating, rounding, doubling high multiplication by the scale, then a rounding division by the
    power of two that is left, halves away from zero. A shift below 31 moves left before the multiplication.

    Args:
        acc: Accumulators, int32 range.
        bias: Added first, 40-bit range.
        scale: 0 .. 2^32 - 1.
        shift: 0 .. 63.

    Returns:
        The broadcast of the arguments' shapes. No step overflows 64 bits: no product exceeds 2^31 (2^32 - 1).
    """
    left = np.maximum(31 - shift, 0)
    right = np.maximum(shift - 31, 0)
    value = sat32(acc + bias)
    if left.any():
        value = sat32(value << left)
    high = sat32((value * scale + (1 << 30)) >> 31)
    if not right.any():
        return high
    half = (np.int64(1) << right) >> 1
    return np.asarray((high + half - ((high < 0) & (right > 0))) >> right)


def activate(values: Int64, zero_point: int, low: int, high: int, signed: bool) -> npt.NDArray[np.uint8]:
    """Add the zero point, clamp to [`low`, `high`], then to int8 or uint8; return the bytes.

    Where `low` exceeds `high`, `high` wins.
    """
    clamped = np.minimum(np.maximum(values + zero_point, low), high)
    floor, ceiling = (-128, 127) if signed else (0, 255)
    return np.clip(clamped, floor, ceiling).astype(np.uint8)
