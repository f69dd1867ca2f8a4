# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resil.record import numbers
from resil.record.interval import RecordedInterval


def test_examples_in_the_docstrings():
    result = doctest.testmod(numbers)
    assert result.attempted >= 7
    assert result.failed == 0


@given(st.floats(1e-30, 1e30))
def test_fit_keeps_three_significant_digits(value):
    shown = float(numbers.fit(value).replace(",", ""))
    assert shown == pytest.approx(value, rel=5.1e-3)
    assert shown == float(f"{value:.2e}")


@given(st.floats(0.0, 1.0))
def test_percent_never_rounds_to_certainty(fraction):
    shown = numbers.percent(fraction)
    assert shown.endswith(" %")
    assert (shown == "0 %") == (fraction == 0.0)
    assert (shown == "100 %") == (100.0 * fraction == 100.0)
    if shown[0] not in "<>":
        assert float(shown[:-2]) == pytest.approx(100.0 * fraction, rel=6e-3, abs=5.1e-4)


def test_ranges_and_missing_values():
    assert numbers.fit_range(RecordedInterval(None, 0.0, 0.0123)) == "[0, 0.0123]"
    assert numbers.percent_range(RecordedInterval(0.5, 0.4, 0.6)) == "[40.0, 60.0]"
    assert numbers.fit(None) == numbers.percent(None) == numbers.count(None) == numbers.area(None) == "n/a"
    assert numbers.ratio(1.0, 0.0) is None


def test_raised_exponents_leave_other_text_alone():
    assert numbers.pretty("1e-05, 2.50e+07, 0xe-5, the1e5") == "1×10⁻⁵, 2.50×10⁷, 0xe-5, the1e5"  # noqa: RUF001
