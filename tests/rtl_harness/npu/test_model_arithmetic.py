# SPDX-License-Identifier: Apache-2.0
"""The output unit's arithmetic against Python's unbounded integers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resil.rtl_harness.npu.model import arithmetic
from resil.rtl_harness.npu.model.arithmetic import (
    Rounding,
    rescale,
    rescale_wide,
    sat32,
    wrap,
    wrap32,
)
from resil.rtl_harness.npu.model.output import bound
from resil.rtl_harness.npu.model.output_config import Activation
from resil.rtl_harness.npu.model.pool import reciprocal
from resil.rtl_harness.npu.model.tensors import FeatureMap, Tiles
from tests.rtl_harness.npu.literal_arithmetic import rs, signed
from tests.rtl_harness.npu.literal_arithmetic import sat32 as exact_sat32

INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
SCALE = st.integers(0, (1 << 32) - 1)
CORNERS = [-(1 << 31), -(1 << 30), -3, -1, 0, 1, 2, (1 << 30), (1 << 31) - 1]
SCALES = [0, 1, 3, 1 << 30, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
WIDE = [*CORNERS, -(1 << 33), 1 - (1 << 33), (1 << 33) - 1, 1 << 32, -(1 << 36), 1 << 36]
roundings = pytest.mark.parametrize("rounding", Rounding)


def column(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@roundings
@given(st.lists(st.tuples(INT32, SCALE, st.integers(0, 63)), min_size=1))
def test_rescale_is_exact(rounding, rows):
    values, scale, shift = (np.array(c, dtype=np.int64) for c in zip(*rows, strict=True))
    expected = [rs(v * s, h, rounding) for v, s, h in rows]
    assert rescale(values, scale, shift, rounding).tolist() == expected


@roundings
@pytest.mark.parametrize("shift", range(64))
def test_rescale_is_exact_at_the_corners(rounding, shift):
    values, scale = (column(*c) for c in zip(*product(CORNERS, SCALES), strict=True))
    expected = [rs(v * s, shift, rounding) for v, s in product(CORNERS, SCALES)]
    assert rescale(values, scale, shift, rounding).tolist() == expected
    assert rescale_wide(values, scale, shift, rounding).tolist() == expected


@roundings
@pytest.mark.parametrize("shift", range(64))
def test_products_of_70_bits_are_exact(rounding, shift):
    for factor in (*SCALES, -1, -(1 << 32), (1 << 33), -(1 << 33), 0x1_2345_6789):
        expected = [rs(v * factor, shift, rounding) for v in WIDE]
        assert rescale_wide(column(*WIDE), factor, shift, rounding).tolist() == expected


@roundings
@given(st.data())
@settings(max_examples=60)
def test_halves_and_their_neighbours(rounding, data):
    """Products around odd multiples of half the divisor, where the roundings differ."""
    shift = data.draw(st.integers(1, 40))
    near = [
        data.draw(st.integers(-50, 50)) * (1 << shift - 1) + data.draw(st.integers(-1, 1)) for _ in range(20)
    ]
    values = [v for v in near if abs(v) < 1 << 36]
    expected = [rs(v, shift, rounding) for v in values]
    assert rescale_wide(column(*values), 1, shift, rounding).tolist() == expected


def test_the_roundings_differ():
    """2^31 / 2^33 is a quarter: 2 becomes a half."""
    values = column(-6, -2, 2, 6)
    assert rescale(values, 1 << 31, 33, Rounding.DOUBLE).tolist() == [-2, -1, 1, 2]
    assert rescale(values, 1 << 31, 33, Rounding.NATURAL).tolist() == [-1, 0, 1, 2]
    assert rescale(values, 1 << 31, 33, Rounding.TRUNCATE).tolist() == [-1, 0, 0, 1]
    # 1.4844 becomes 5.94 quarters, 6 quarters, 2.
    almost = (3 << 30) - (1 << 25)
    assert rescale(column(-4, 4), almost, 33, Rounding.DOUBLE).tolist() == [-2, 2]
    assert rescale(column(-4, 4), almost, 33, Rounding.NATURAL).tolist() == [-1, 1]


@given(st.lists(st.integers(-(1 << 53), 1 << 53), min_size=1))
def test_wrap_and_saturate(values):
    assert wrap32(column(*values)).tolist() == [signed(v, 32) for v in values]
    assert wrap32(column(*values).astype(np.float64)).tolist() == [signed(v, 32) for v in values]
    assert wrap(column(*values), 33).tolist() == [signed(v, 33) for v in values]
    assert sat32(column(*values)).tolist() == [exact_sat32(v) for v in values]


@given(st.lists(st.tuples(st.integers(-(1 << 32), (1 << 32) - 1), st.integers(0, 63)), min_size=1))
def test_shifts(rows):
    values, places = (np.array(c, dtype=np.int64) for c in zip(*rows, strict=True))
    assert arithmetic.shift_left(values, places).tolist() == [exact_sat32(v << p) for v, p in rows]
    assert arithmetic.shift_right(values, places, False).tolist() == [v >> p for v, p in rows]
    halves = [(v + (1 << p >> 1)) >> p for v, p in rows]
    assert arithmetic.shift_right(values, places, True).tolist() == halves


@given(st.lists(st.integers(-(1 << 32), (1 << 32) - 1), min_size=1))
def test_leading_zeros(values):
    corners = [0, 1, -1, (1 << 31) - 1, -(1 << 31), 1 << 32, *(1 << n for n in range(33)), *values]
    expected = [32 - (v & 0xFFFFFFFF).bit_length() for v in corners]
    assert arithmetic.count_leading_zeros(column(*corners)).tolist() == expected


def test_reciprocals_divide_with_halves_away_from_zero():
    """Multiplying by them is division by 0 .. 64, rounded, for all sums that windows of bytes have."""
    counts = np.arange(65)
    scale, shift = reciprocal(counts)
    assert (scale[0], shift[0]) == (0, 0)
    for n in range(1, 65):
        sums = np.arange(-383 * n, 383 * n + 1)
        rounded = rescale(sums, scale[n], shift[n], Rounding.NATURAL)
        assert np.array_equal(rounded, np.sign(sums) * ((2 * abs(sums) + n) // (2 * n))), n


def feature_map(element_bytes: int, signed: bool) -> FeatureMap:
    return FeatureMap(1, Tiles(1, 1, 1, (0, 0, 0, 0)), 0, 0, 0, 1, 1, 1, False, element_bytes, signed, 0)


VALUES = column(-(1 << 31) - 32768, -40000, -200, -7, 0, 7, 200, 300, 40000, 70000, (1 << 31) + 32767)
BOUNDS = [
    # element bytes, signed, low, high, int8, table, smallest and largest result
    (1, True, -32768, 32767, False, None, -128, 127),
    (1, True, -5, 5, False, None, -5, 5),
    (1, True, 5, -5, False, None, -5, -5),
    (1, True, -300, 300, False, 0, -128, 127),
    (1, False, -300, 300, False, None, 0, 255),
    (1, False, -300, 300, True, None, -128, 127),
    (1, False, -32768, -1, False, None, 0, 0),
    (2, True, -32768, 32767, False, None, -32768, 32767),
    (2, False, -32768, 32767, False, None, 0, 32767),
    (2, True, -300, 300, False, None, -300, 300),
    (2, True, -300, 300, True, None, -128, 127),
    (4, True, -5, 5, False, None, -(1 << 31), (1 << 31) - 1),
    (4, False, -5, 5, True, None, -(1 << 31), (1 << 31) - 1),
    (4, True, -5, 5, True, 1, -5, 5),
    (4, False, -300, 300, True, 1, -128, 127),
]


@pytest.mark.parametrize(
    ("element_bytes", "is_signed", "low", "high", "int8", "table", "least", "greatest"), BOUNDS
)
def test_bounds(element_bytes, is_signed, low, high, int8, table, least, greatest):
    """The lower bound, the upper, which wins, then those of the type, which 32 bits alone know."""
    bounded = bound(VALUES, Activation(low, high, int8, table), feature_map(element_bytes, is_signed))
    assert bounded.tolist() == [min(max(v, least), greatest) for v in VALUES.tolist()]
