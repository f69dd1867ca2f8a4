# SPDX-License-Identifier: Apache-2.0
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from resil.stats.sampling import MAX_SIZE, Stratum, draw
from testkit.errors import about

HUGE = 3 * 10**12 + 7


@given(st.integers(0, 2**64), st.text(max_size=20), st.integers(1, 6000))
def test_all_draws_are_a_permutation(seed, name, size):
    assert np.array_equal(np.sort(draw(seed, name, size, size)), np.arange(size))


@given(st.integers(4097, MAX_SIZE), st.integers(0, 2**32))
def test_draws_of_a_large_population_are_distinct_members(size, seed):
    found = draw(seed, "s", size, 2000)
    assert found.dtype == np.int64
    assert len(np.unique(found)) == 2000
    assert 0 <= found.min() <= found.max() < size


@pytest.mark.parametrize("size", [5, 4096, 4097, 10**6, HUGE])
def test_a_draw_does_not_depend_on_the_others(size):
    whole = draw(9, "mac/ff", size, 5)
    pieces = np.concatenate([draw(9, "mac/ff", size, 1, start=i) for i in range(5)])
    assert np.array_equal(whole, pieces)


def test_the_draws_of_a_seed_are_the_same_for_ever():
    assert draw(1, "mac/ff", 10**12, 3).tolist() == [134138739069, 650632697212, 721046579202]
    assert draw(1, "mac/ff", 100, 3).tolist() == [93, 6, 59]


def test_seed_name_and_size_matter():
    base = draw(1, "a", HUGE, 50)
    for other in (draw(2, "a", HUGE, 50), draw(1, "b", HUGE, 50), draw(1, "a", HUGE - 1, 50)):
        assert not np.any(base == other)


def _fits_uniform(counts) -> bool:
    expected = counts.sum() / counts.size
    statistic = ((counts - expected) ** 2 / expected).sum()
    return bool(chi2.sf(statistic, counts.size - 1) > 1e-4)


@pytest.mark.parametrize("size", [7, 4096, 5000, 10**6, HUGE])
def test_every_member_is_as_likely_over_seeds(size):
    bins = min(size, 50)
    found = np.concatenate([draw(seed, "x", size, 2) for seed in range(3000)])
    edges = np.linspace(0, size, bins + 1)
    assert _fits_uniform(np.histogram(found, edges)[0] if size > 50 else np.bincount(found, minlength=size))


@pytest.mark.parametrize("size", [5000, 10**6, HUGE])
def test_successive_draws_are_as_good_as_independent(size):
    found = draw(5, "x", size, min(size, 200_000)) / size
    pairs, _, _ = np.histogram2d(found[:-1:2], found[1::2], bins=20, range=[[0, 1], [0, 1]])
    assert _fits_uniform(pairs.ravel())
    assert _fits_uniform(np.bincount((found * size).astype(np.int64) % 64, minlength=64)) or size == 5000


def test_small_populations_take_every_order():
    orders = {tuple(draw(seed, "x", 4, 4).tolist()) for seed in range(600)}
    assert len(orders) == 24


def test_memory_does_not_grow_with_the_population():
    tracemalloc.start()
    draw(1, "x", 10**18, 1000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 500_000


def test_members_are_sites_cycles_and_inputs():
    stratum = Stratum("mac/ff", 3, (2, 4))
    assert stratum.size == 18
    site, cycle, number = stratum.locate(np.arange(18))
    assert site.tolist() == [0, 1, 2] * 6
    assert cycle.tolist() == [0] * 3 + [1] * 3 + [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    assert number.tolist() == [0] * 6 + [1] * 12


def test_more_than_a_million_million_faults():
    stratum = Stratum("sb/sram", 400_000, (2_000_000, 1_500_000))
    members = draw(3, stratum.name, stratum.size, 10_000)
    site, cycle, number = stratum.locate(members)
    offset = np.where(number == 1, 2_000_000, 0)
    assert np.array_equal((offset + cycle) * 400_000 + site, members)
    assert site.max() < 400_000
    assert np.mean(number == 0) == pytest.approx(4 / 7, abs=0.02)


def test_more_draws_than_members_are_refused():
    with pytest.raises(ValueError, check=about("draws")):
        draw(1, "wd/ff", 10, 4, start=8)


@pytest.mark.parametrize("size", [-1, MAX_SIZE + 1])
def test_impossible_sizes_are_refused(size):
    with pytest.raises(ValueError, check=about("size")):
        draw(1, "x", size, 0)


def test_an_empty_population_gives_no_draws():
    assert draw(1, "x", 0, 0).tolist() == []


@pytest.mark.parametrize(("sites", "cycles"), [(-1, (5,)), (3, ()), (3, (-2, 5))])
def test_impossible_strata_are_refused(sites, cycles):
    with pytest.raises(ValueError, check=about("sites")):
        Stratum("x", sites, cycles)


def test_members_outside_the_stratum_are_refused():
    with pytest.raises(ValueError, check=about("members")):
        Stratum("x", 3, (2,)).locate(np.array([6]))
