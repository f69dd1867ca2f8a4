# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite's int16 LOGISTIC and TANH: straight lines between the entries of one table.

Results have the scale 2^-15. Both equal TensorFlow Lite Micro's for every input
(`tests/networks/test_recurrent.py`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resil.networks.fixed_point import IntArray

_ENTRIES = 256
_STEPS = 24
"""Entries to a unit."""
_INPUT_BITS = 12
"""Inputs of the scale 2^-12 are multiplied by three: entries are 2^9 steps apart then, twice as dense 2^8."""


def _table() -> IntArray:
    """Return 65536 / (1 + e^-x) at x = i / 24, raised by half of what a chord lies below the curve."""
    values = 1.0 / (1.0 + np.exp(-np.arange(_ENTRIES) / _STEPS))
    bend = values * (1.0 - values) * (1.0 - 2.0 * values) / _STEPS**2
    table: IntArray = np.round(65536.0 * (values - bend / 16.0)).astype(np.int64)
    table[-1] = 65535
    return table


_TABLE = _table()


def logistic16(levels: IntArray, power: int) -> IntArray:
    """Return 1 / (1 + e^-x).

    Args:
        levels: int16 values x * 2^-power.
        power: Logarithm of their scale to the base two.
    """
    negative, between = _between(_widened(levels, power), 9)
    return np.where(negative, (1 << 25) - between + 511, between + 512) >> 10


def tanh16(levels: IntArray, power: int) -> IntArray:
    """Return tanh(x); arguments as of `logistic16`."""
    negative, between = _between(_widened(levels, power), 8)
    centred = between - (1 << 23)
    return np.where(negative, -centred + 127, centred + 128) >> 8


def _widened(levels: IntArray, power: int) -> IntArray:
    left = power + _INPUT_BITS
    if left >= 0:
        return levels * (3 << left)
    return (levels * 3 + (1 << (-left - 1))) >> -left


def _between(values: IntArray, bits: int) -> tuple[npt.NDArray[np.bool_], IntArray]:
    """Return which values are negative, and what the table has for their sizes, with so many more bits."""
    size = np.abs(values)
    place = size >> bits
    low = np.minimum(place, _ENTRIES - 2)
    line = (_TABLE[low] << bits) + (size & ((1 << bits) - 1)) * (_TABLE[low + 1] - _TABLE[low])
    most = 0x7FFF << 10 if bits == 9 else 0xFFFF << 8
    return values < 0, np.where(place >= _ENTRIES - 1, most, line)
