# SPDX-License-Identifier: Apache-2.0
"""The exact choice and the front against brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from resil.protection.front import pareto_front
from resil.protection.optimise import Candidate, Limits, least_area


def candidates(area, fit_hi):
    """Options of a block, with whole or real figures, zero and ties among them."""
    return st.builds(Candidate, st.just("o"), area, fit_hi, st.floats(0.0, 30.0).map(lambda v: round(v, 1)))


WHOLE = candidates(st.integers(0, 12).map(float), st.integers(0, 12).map(float))
REAL = candidates(st.floats(0, 1e5), st.floats(0, 1e-2))
INSTANCES = st.one_of(
    st.lists(st.lists(WHOLE, min_size=1, max_size=5), min_size=1, max_size=5),
    st.lists(st.lists(REAL, min_size=1, max_size=4), min_size=1, max_size=4),
)


def totals(blocks):
    """Added area and FIT of every set, summed block by block."""
    area, fit_hi = np.zeros(1), np.zeros(1)
    for choices in blocks:
        area = (area[:, None] + [c.area_added for c in choices]).ravel()
        fit_hi = (fit_hi[:, None] + [c.fit_hi for c in choices]).ravel()
    return area, fit_hi


def brute_force(blocks, limits):
    """Least (area, FIT) among all sets within the limits; None if there is none."""
    kept = [c for c in product(*blocks) if limits.kept_by(c)]
    return min(((sum(c.area_added for c in k), sum(c.fit_hi for c in k)) for k in kept), default=None)


def brute_front(blocks):
    points = sorted(set(zip(*(v.tolist() for v in totals(blocks)), strict=True)))
    front = []
    for area, fit_hi in points:
        if not front or fit_hi < front[-1][1]:
            front.append((area, fit_hi))
    return front


def check(blocks, limits):
    expected, found = brute_force(blocks, limits), least_area(blocks, limits)
    if expected is None:
        assert found is None
        return
    chosen = [choices[i] for choices, i in zip(blocks, found.chosen, strict=True)]
    assert limits.kept_by(chosen)
    assert found.area_added == sum(c.area_added for c in chosen)
    assert found.fit_hi == sum(c.fit_hi for c in chosen)
    largest = max(c.area_added for choices in blocks for c in choices)
    assert found.area_added == pytest.approx(expected[0], rel=1e-12, abs=1e-9 * largest)
    if all(c.area_added.is_integer() for choices in blocks for c in choices):
        assert (found.area_added, found.fit_hi) == expected
    assert found.bound == found.area_added
    assert found.gap == 0.0


@settings(max_examples=150, deadline=None)
@given(INSTANCES, st.data())
def test_equals_brute_force_within_a_budget(blocks, data):
    _, fits = totals(blocks)
    levels = sorted(set(fits.tolist()))
    budget = data.draw(
        st.one_of(st.sampled_from(levels), st.sampled_from(levels).map(lambda v: v * 0.999), st.just(0.0))
    )
    check(blocks, Limits(budget_fit=budget))


@settings(max_examples=80, deadline=None)
@given(INSTANCES, st.sampled_from([0.0, 0.5, 0.9, 0.99, 1.0]), st.one_of(st.none(), st.floats(0, 40)))
def test_equals_brute_force_with_spfm(blocks, spfm, budget):
    check(blocks, Limits(budget, spfm))


@pytest.mark.parametrize("seed", range(6))
def test_equals_brute_force_at_eight_blocks_of_five_options(seed):
    rng = np.random.default_rng(seed)
    whole = seed % 2 == 0
    draw = (lambda high: float(rng.integers(0, high))) if whole else (lambda high: float(rng.random() * high))
    blocks = [tuple(Candidate("o", draw(40), draw(40)) for _ in range(5)) for _ in range(8)]
    area, fit_hi = totals(blocks)
    budget = float(np.quantile(fit_hi, [0.0, 0.001, 0.05, 0.3][seed % 4]))
    within = fit_hi <= budget
    found = least_area(blocks, Limits(budget))
    assert found.area_added == pytest.approx(area[within].min(), rel=1e-9)
    assert found.fit_hi <= budget
    if whole:
        assert found.fit_hi == fit_hi[within & (area == area[within].min())].min()
    assert found.gap == 0.0
    assert [(p.area_added, p.fit_hi) for p in pareto_front(blocks)] == brute_front(blocks)


@given(INSTANCES)
@settings(deadline=None)
def test_the_front_is_every_non_dominated_pair(blocks):
    front = pareto_front(blocks)
    assert [(p.area_added, p.fit_hi) for p in front] == brute_front(blocks)
    for point in front:
        chosen = [choices[i] for choices, i in zip(blocks, point.chosen, strict=True)]
        assert (sum(c.area_added for c in chosen), sum(c.fit_hi for c in chosen)) == (
            point.area_added,
            point.fit_hi,
        )


def options_of(*figures):
    return tuple(Candidate("o", area, fit_hi) for area, fit_hi in figures)


# FITs ten orders apart, of which presolve lost the cheapest set that keeps the budget.
FAR_APART = [
    [options_of((0.0, 0.01), (1.0, 5e-10)), options_of((1e-5, 1e-12), (1.0, 5e-10), (99999.0, 0.0))],
    [
        options_of((0.0, 0.0078125), (1.0, 0.0)),
        options_of((0.0, 1.1920928955078125e-07), (1.0, 0.0)),
        options_of((0.0, 1e-12), (1.0, 0.0)),
    ],
    [
        options_of((0.5, 1e-05), (3.0, 1.1920928955078125e-07), (100000.0, 0.0009765625)),
        options_of((3.0, 1e-12), (100000.0, 1.19e-07), (1e-05, 0.0009765625)),
        options_of((1.0, 0.01)),
        options_of((3.0, 0.0), (1.0, 0.0009765625)),
    ],
]


@given(INSTANCES)
@example(FAR_APART[0])
@example(FAR_APART[1])
@example(FAR_APART[2])
@settings(max_examples=40, deadline=None)
def test_choice_and_front_agree(blocks):
    for point in pareto_front(blocks)[:4]:
        found = least_area(blocks, Limits(point.fit_hi))
        largest = max(c.area_added for choices in blocks for c in choices)
        assert found.area_added == pytest.approx(point.area_added, abs=1e-9 * largest)


def test_a_budget_met_exactly_is_met():
    tenth = Candidate("a", 1.0, 0.1)
    blocks = [(tenth, Candidate("b", 5.0, 0.0))] * 3
    assert least_area(blocks, Limits(0.1 + 0.1 + 0.1)).area_added == 3.0
    assert least_area(blocks, Limits(0.3)).area_added == 7.0


def test_an_excess_below_the_solvers_tolerance_is_refused():
    blocks = [(Candidate("a", 1.0, 1.0 + 1e-12), Candidate("b", 2.0, 0.5)), (Candidate("c", 0.0, 1.0),)]
    assert least_area(blocks, Limits(2.0)).chosen == (1, 0)


def test_a_zero_budget_takes_only_what_leaves_nothing():
    blocks = [(Candidate("none", 0.0, 1e-30), Candidate("all", 3.0, 0.0)), (Candidate("none", 0.0, 0.0),)]
    assert least_area(blocks, Limits(0.0)).chosen == (1, 0)


def test_what_cannot_be_reached_is_none():
    assert least_area([(Candidate("none", 0.0, 1.0),)], Limits(0.5)) is None
    assert least_area([(Candidate("none", 0.0, 1.0, 10.0),)], Limits(spfm=0.95)) is None


def test_of_equal_areas_the_lower_fit_wins():
    blocks = [(Candidate("a", 5.0, 3.0), Candidate("b", 5.0, 1.0), Candidate("c", 5.0, 2.0))]
    assert least_area(blocks, Limits(3.0)).chosen == (1,)


def test_no_blocks_need_nothing():
    assert least_area([], Limits(0.0)).area_added == 0.0
    assert [(p.area_added, p.fit_hi) for p in pareto_front([])] == [(0.0, 0.0)]


def test_figures_of_all_sizes():
    blocks = [(Candidate("n", 0.0, s), Candidate("d", s * 1e12, s * 1e-3)) for s in (1e-9, 1e-6, 1e-3)]
    for point in pareto_front(blocks):
        assert least_area(blocks, Limits(point.fit_hi)).area_added == point.area_added


def test_thirty_blocks_are_chosen_at_once():
    rng = np.random.default_rng(0)
    blocks = [
        tuple(Candidate("o", a, 10.0 / (1 + a)) for a in rng.integers(0, 50, 6).astype(float))
        for _ in range(30)
    ]
    found = least_area(blocks, Limits(20.0))
    assert found.gap == 0.0
    assert found.fit_hi <= 20.0


def test_impossible_candidates_are_refused():
    with pytest.raises(ValueError, match="finite and >= 0"):
        Candidate("x", -1.0, 0.0)
    with pytest.raises(ValueError, match="at least one option"):
        least_area([()], Limits(1.0))
    with pytest.raises(ValueError, match="at least one option"):
        pareto_front([()])
