# SPDX-License-Identifier: Apache-2.0
"""Fixed-point arithmetic against exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from resil.networks.fixed_point import (
    multiply_by_quantized_multiplier,
    rounding_divide_by_pot,
    saturating_rounding_doubling_high_mul,
    wrap32,
)

int32 = st.integers(-(2**31), 2**31 - 1)


def array(value: int) -> np.ndarray:
    return np.array([value], np.int64)


@given(int32, int32)
def test_high_multiply_rounds_to_nearest_and_saturates(a, b):
    exact = Fraction(a * b, 2**31)
    result = int(saturating_rounding_doubling_high_mul(array(a), array(b))[0])
    if a == b == -(2**31):
        assert result == 2**31 - 1
    else:
        assert abs(result - exact) <= Fraction(1, 2)


def test_high_multiply_rounds_halves_up():
    halves = saturating_rounding_doubling_high_mul(np.array([1, -1, 3, -3], np.int64), 2**30)
    assert halves.tolist() == [1, 0, 2, -1]


@given(int32, st.integers(0, 31))
def test_division_rounds_halves_away_from_zero(x, exponent):
    magnitude = (abs(x) + (1 << exponent >> 1)) >> exponent
    assert int(rounding_divide_by_pot(array(x), exponent)[0]) == (magnitude if x >= 0 else -magnitude)


@given(st.integers(-(2**40), 2**40))
def test_wrapping_is_modulo_two_to_the_32(x):
    wrapped = int(wrap32(array(x))[0])
    assert -(2**31) <= wrapped < 2**31
    assert (wrapped - x) % 2**32 == 0


@given(st.integers(-(2**24), 2**24), st.integers(2**30, 2**31 - 1), st.integers(-24, 4))
def test_a_multiplication_is_within_both_roundings(x, multiplier, shift):
    result = int(multiply_by_quantized_multiplier(array(x), multiplier, shift)[0])
    exact = Fraction(x * multiplier) * Fraction(2) ** (shift - 31)
    assert abs(result - exact) <= Fraction(1, 2) + Fraction(1, 2) * Fraction(2) ** min(shift, 0)
