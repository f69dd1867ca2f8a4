# SPDX-License-Identifier: Apache-2.0
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resil.stats.grouping import group
from resil.stats.intervals import clopper_pearson_limits
from resil.stats.looks import look_confidences, look_sizes
from resil.stats.strata import Strata, spread
from testkit.errors import about

PARTS = st.lists(st.tuples(st.floats(0.0, 100.0), st.integers(0, 10**15)), min_size=1, max_size=30)


@settings(max_examples=50, deadline=None)
@given(PARTS, st.integers(0, 500), st.booleans())
def test_spreading_takes_what_was_asked_and_what_is_there(parts, total, jitter):
    weights, room = (np.array(v) for v in zip(*parts, strict=True))
    total = min(total, int(room.sum()))
    found = spread(total, weights, room, 3, "x", jitter)
    assert found.sum() == total
    assert (found <= room).all()


def test_spreading_is_in_proportion_and_close_to_it():
    weights = np.array([5.0, 3.0, 0.2, 0.2, 1.6])
    found = np.array([spread(7, weights, [10**12] * 5, seed, "x") for seed in range(1500)])
    expected = 7 * weights / 10
    assert found.mean(axis=0) == pytest.approx(expected, abs=0.05)
    assert (np.abs(found - expected) < 2).all()


def test_a_group_that_is_nearly_used_up_is_drawn_without_replacement():
    room = np.array([1, 2, 3, 30])
    found = np.array([spread(18, room, room, seed, "x") for seed in range(1500)])
    assert (found <= room).all()
    assert found.mean(axis=0) == pytest.approx(room / 2, abs=0.09)


def test_a_stratum_that_is_too_small_for_its_weight_leaves_the_rest_to_others():
    assert spread(40, [9.0, 1.0], [3, 2**62], 1, "x").tolist() == [3, 37]
    assert spread(6, [0.0, 0.0], [10, 2**62], 1, "x").tolist() == [0, 6]


def test_other_names_and_seeds_give_other_points():
    weights, room = np.ones(50), np.full(50, 10**9)
    found = [spread(20, weights, room, seed, name).tolist() for seed in (1, 2) for name in ("a", "b")]
    assert len({tuple(f) for f in found}) == 4


def test_more_than_there_is_is_refused():
    with pytest.raises(ValueError, check=about("injections")):
        spread(4, [1.0, 1.0], [1, 2], 1, "x")


def errors_of(rates, weights, n):
    """Exact probabilities that Clopper and Pearson's limits miss the mean rate of a group that is spread."""
    edges = np.concatenate(([0.0], np.cumsum(weights) / weights.sum()))
    pieces = np.linspace(0, 1, n + 1)
    overlap = np.minimum(edges[None, 1:], pieces[1:, None]) - np.maximum(edges[None, :-1], pieces[:-1, None])
    each = n * np.clip(overlap, 0, None) @ rates
    pmf = np.ones(1)
    for r in each:
        pmf = np.convolve(pmf, [1 - r, r])
    lo, hi = clopper_pearson_limits(np.arange(n + 1), n)
    truth = float((weights * rates).sum() / weights.sum())
    return float(pmf[hi < truth - 1e-12].sum()), float(pmf[lo > truth + 1e-12].sum())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0.01, 10.0), st.sampled_from([0.0, 0.001, 0.1, 0.5, 1.0])),
        min_size=1,
        max_size=40,
    ),
    st.integers(1, 120),
)
def test_a_group_of_unlike_strata_is_covered_as_one_proportion(parts, n):
    weights, rates = (np.array(v) for v in zip(*parts, strict=True))
    assert max(errors_of(rates, weights, n)) <= 0.0254


def test_the_worst_group_is_hardly_above_nominal():
    rates = np.append(np.ones(19), 1 - 0.0253)
    assert 0.0250 < max(errors_of(rates, np.ones(20), 20)) < 0.0254


LABELS = [(b, k, c, f"op {o}") for b in "pq" for k in ("ff", "sram") for c in "xyz" for o in range(6)]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(0.0, 40.0), min_size=72, max_size=72),
    st.one_of(st.none(), st.lists(st.integers(-3, 3), min_size=72, max_size=72)),
)
def test_groups_keep_to_a_block_and_kind_and_are_large_enough(planned, level):
    strata = Strata.of(LABELS, np.ones(72), [10**6] * 72)
    plan = np.array(planned)
    owner = group(strata, plan, None if level is None else np.array(level), fewest=10)
    assert sorted(set(owner.tolist())) == list(range(owner.max() + 1))
    pool = strata.owners(2)[1]
    for place in range(4):
        groups = np.unique(owner[pool == place])
        assert all((pool[owner == g] == place).all() for g in groups)
        if len(groups) > 1:
            assert min(plan[owner == g].sum() for g in groups) >= 10 - 1e-9


def test_with_many_injections_every_stratum_is_a_group():
    strata = Strata.of(LABELS, np.ones(72), [10**6] * 72)
    assert len(set(group(strata, np.full(72, 10.0)).tolist())) == 72
    assert len(set(group(strata, np.zeros(72)).tolist())) == 4


@given(st.integers(1, 60), st.floats(0.5, 0.999), st.booleans())
def test_the_errors_of_all_looks_add_up_to_that_of_the_whole(looks, confidence, equal):
    found = look_confidences(looks, confidence, equal)
    assert len(found) == looks
    assert sum(1 - c for c in found) == pytest.approx(1 - confidence)


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.floats(1.1, 3.0))
def test_looks_grow_to_the_last(first, more, growth):
    found = look_sizes(first, first + more, growth)
    assert found[-1] == first + more
    assert all(b > a for a, b in pairwise(found))


@pytest.mark.parametrize(
    ("labels", "weights", "sizes", "field"),
    [
        ([], [], [], "shape"),
        ([("a", "ff")], [1.0, 2.0], [1], "shape"),
        ([("a",)], [1.0], [1], "labels"),
        ([("a", "ff"), ("a", "ff")], [1.0, 1.0], [1, 1], "labels"),
        ([("a", "ff")], [-1.0], [1], "weights"),
        ([("a", "ff")], [1.0], [-1], "sizes"),
        ([("a", "ff")], [1.0], [0], "sizes.weights"),
    ],
)
def test_wrong_strata_are_refused(labels, weights, sizes, field):
    with pytest.raises(ValueError, check=about(field)):
        Strata.of(labels, weights, sizes)


@pytest.mark.parametrize(
    ("weights", "listed", "expected"),
    [
        ([2.0, 4.0, 9.0], True, [30, 10]),
        ([2.0, 4.0 + 1e-6, 9.0], True, [np.inf, 10]),
        ([2.0, 0.0, 9.0], True, [np.inf, 10]),
        ([2.0, 4.0, 9.0], False, [np.inf, np.inf]),
    ],
)
def test_a_part_is_known_once_all_of_it_is_injected_if_its_faults_are_alike(weights, listed, expected):
    """The fault: faults of two rates count alike in a share that is called exact; or a size is drawn."""
    labels = [("a", "ff", "x"), ("a", "ff", "y"), ("b", "ff", "x")]
    strata = Strata.of(labels, weights, [10, 20, 10], listed=listed)
    assert strata.members(np.array([0, 0, 1]), 2).tolist() == expected
