"""The output unit's arithmetic against Python's unbounded integers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtl_harness.npu.model.arithmetic import activate, rescale, sat32, wrap32
from tests.rtl_harness.npu.model_literal import sat32 as exact_sat32
from tests.rtl_harness.npu.model_literal import scaled, signed

INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
BIAS = st.integers(-(1 << 39), (1 << 39) - 1)
SCALE = st.integers(0, (1 << 32) - 1)
CORNERS = [-(1 << 31), -(1 << 30), -1, 0, 1, (1 << 30), (1 << 31) - 1]


def column(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@given(st.lists(st.tuples(INT32, BIAS, SCALE, st.integers(0, 63)), min_size=1))
def test_rescale_is_exact(rows):
    acc, bias, scale, shift = (np.array(c, dtype=np.int64) for c in zip(*rows, strict=True))
    assert rescale(acc, bias, scale, shift).tolist() == [scaled(*row) for row in rows]


@pytest.mark.parametrize("shift", range(64))
def test_rescale_is_exact_at_the_corners(shift):
    biases = (*CORNERS, -(1 << 39), (1 << 39) - 1)
    scales = (0, 1, 1 << 30, 1 << 31, (1 << 32) - 1)
    rows = [(*row, shift) for row in product(CORNERS, biases, scales)]
    acc, bias, scale, _ = (np.array(c, dtype=np.int64) for c in zip(*rows, strict=True))
    assert rescale(acc, bias, scale, column(shift)).tolist() == [scaled(*row) for row in rows]


def test_rescale_rounds_halves_away_from_zero():
    """2^31 / 2^33 is a quarter: 2 becomes 0.5."""
    assert rescale(column(-6, -2, 2, 6), column(0), column(1 << 31), column(33)).tolist() == [-2, -1, 1, 2]


@given(st.lists(st.integers(-(1 << 53), 1 << 53), min_size=1))
def test_wrap_and_saturate(values):
    assert wrap32(column(*values)).tolist() == [signed(v, 32) for v in values]
    assert wrap32(column(*values).astype(np.float64)).tolist() == [signed(v, 32) for v in values]
    assert sat32(column(*values)).tolist() == [exact_sat32(v) for v in values]


def test_activation_clamps_low_then_high_then_to_the_type():
    values = column(-(1 << 31), -200, -7, 0, 7, 200, (1 << 31) - 1)
    assert activate(values, 0, -5, 5, True).view(np.int8).tolist() == [-5, -5, -5, 0, 5, 5, 5]
    assert activate(values, 0, 5, -5, True).view(np.int8).tolist() == [-5] * 7
    assert activate(values, 1, -300, 300, True).view(np.int8).tolist() == [-128, -128, -6, 1, 8, 127, 127]
    assert activate(values, 1, -300, 300, False).tolist() == [0, 0, 0, 1, 8, 201, 255]
    assert activate(column(5), -32768, -32768, 32767, True).view(np.int8).tolist() == [-128]
