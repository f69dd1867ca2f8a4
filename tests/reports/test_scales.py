# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from resil.reports.scales import LinearScale, linear_scale, log_scale

values = st.lists(st.floats(0.0, 1e12), max_size=8)


@given(values)
def test_linear_axis_holds_all_values_and_few_ticks(found):
    scale = linear_scale(found, 10.0, 110.0)
    ticks = scale.ticks()
    assert ticks[0] == 0.0
    assert 2 <= len(ticks) <= 12
    assert scale.top >= max(found, default=0.0) * (1 - 1e-9)
    assert [scale.at(tick) for tick in ticks] == sorted(scale.at(tick) for tick in ticks)
    assert min(map(scale.at, found), default=10.0) >= 10.0
    assert max(map(scale.at, found), default=110.0) <= 110.0


@given(st.lists(st.floats(1e-25, 1e12), min_size=1, max_size=8))
def test_log_axis_has_whole_decades_around_the_values(found):
    scale = log_scale(found, 0.0, 100.0)
    assert 1 <= scale.high - scale.low <= 9
    assert 10.0**scale.high >= max(found) * (1 - 1e-6)
    assert scale.at(max(found)) <= 100.0
    assert scale.at(0.0) == scale.at(-1.0) == 0.0
    assert len(scale.ticks()) <= 8


def test_a_log_axis_can_point_downwards():
    scale = log_scale([0.01, 1.0], 200.0, 0.0)
    assert scale.at(0.01) == 200.0
    assert scale.at(1.0) == 0.0
    assert scale.at(0.1) == 100.0


def test_values_beyond_an_axis_stay_at_its_end():
    assert LinearScale(10.0, 0.0, 50.0).at(99.0) == 50.0
