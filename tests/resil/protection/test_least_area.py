# SPDX-License-Identifier: Apache-2.0
"""The programme narrowed by reduced costs against the whole one, and the limits without tolerance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resil.protection.least_area import Programme


def made(seed, groups=8, options=4, limits=3):
    """Costs, exclusive sets with one item that covers the first half of them, and rows."""
    rng = np.random.default_rng(seed)
    cost = np.append(rng.integers(0, 30, groups * options), 40).astype(float)
    sets = [np.arange(g * options, (g + 1) * options) for g in range(groups)]
    for g in range(groups // 2):
        cost[g * options] = 0.0
        sets[g] = np.append(sets[g], groups * options)
    rows = [(rng.random(len(cost)) * 10.0 ** rng.integers(-6, 1), 0.0) for _ in range(limits)]
    least = [sum(row[own].min() for own in sets) for row, _ in rows]
    return cost, sets, [(row, 1.5 * low) for (row, _), low in zip(rows, least, strict=True)]


def solve(cost, sets, rows, **how):
    programme = Programme(len(cost), sets, np.ones(len(cost), dtype=bool), **how)
    for row, most in rows:
        programme.add_limit(row, most)
    return programme.least(cost, lambda chosen: all(row[chosen].sum() <= most for row, most in rows))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_narrowed_and_whole_cost_the_same(seed):
    cost, sets, rows = made(seed)
    whole, narrowed = solve(cost, sets, rows), solve(cost, sets, rows, large=0)
    assert (whole is None) == (narrowed is None)
    if whole is None:
        return
    assert cost[narrowed.chosen].sum() == pytest.approx(cost[whole.chosen].sum(), abs=1e-7)
    assert narrowed.bound <= cost[narrowed.chosen].sum()
    for own in sets:
        assert narrowed.chosen[own].sum() == 1


def test_after_some_proposals_the_limits_are_drawn_tighter_and_the_bound_stays():
    size = 30
    cost = np.array([0.0, 1.0] * size)
    sets = [np.array([2 * g, 2 * g + 1]) for g in range(size)]
    row = np.array([1.0 + 1e-13, 0.0] * size)
    programme = Programme(len(cost), sets, np.ones(len(cost), dtype=bool))
    programme.add_limit(row, 15.0)
    found = programme.least(cost, lambda chosen: float(row[chosen].sum()) <= 15.0, proposals=3)
    assert row[found.chosen].sum() <= 15.0
    assert cost[found.chosen].sum() == 16.0
    assert found.bound == pytest.approx(15.0)


def test_the_solver_prints_nothing_to_standard_output(capfd):
    for seed in range(20):
        solve(*made(seed, groups=30, options=6))
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("large", [0, 10**6])
def test_without_time_there_is_a_choice_all_the_same(large):
    cost, sets, rows = made(3, groups=200, options=6)
    programme = Programme(len(cost), sets, np.ones(len(cost), dtype=bool), large=large)
    for row, most in rows:
        programme.add_limit(row, most)

    def keeps(chosen):
        return all(row[chosen].sum() <= most for row, most in rows)

    found = programme.least(cost, keeps, seconds=1e-9, proposals=5)
    assert keeps(found.chosen)
    assert found.bound <= cost[found.chosen].sum()
