# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from tests.stats.coverage import Enumeration, table, worst_of_two

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("smallest", [1, 3, 8, 20])
@pytest.mark.parametrize("alpha", [0.05, 0.025, 0.005])
def test_exact_coverage_of_random_designs(smallest, alpha):
    rng = np.random.default_rng([smallest, round(1000 * alpha)])
    ratios = []
    while len(ratios) < 25:
        strata = int(rng.integers(2, 4))
        n = np.round(smallest * np.exp(rng.exponential(1.0, strata))).astype(int)
        if np.prod(n + 1) > 1500:
            continue
        w = np.exp(rng.normal(0, 2, strata))
        ratios.append(Enumeration.of(n, w, alpha).worst(rng, rays=25)[0] / alpha)
    assert max(ratios) <= (1 + 1e-6 if alpha > 0.01 else 1.25), sorted(ratios)[-3:]
    assert np.median(ratios) <= 1.0


@pytest.mark.parametrize(("alpha", "excess"), [(0.05, 1e-6), (0.025, 1e-6), (0.005, 0.25)])
def test_exact_coverage_of_two_strata_searched_densely(alpha, excess):
    rng = np.random.default_rng([9, round(1000 * alpha)])
    designs = [((19, 35), (0.119, 0.176)), ((5, 45), (1.0, 1.0))]
    for _ in range(50):
        n = np.round(np.exp(rng.uniform(np.log(2), np.log(45), 2))).astype(int)
        designs.append((tuple(n.tolist()), tuple(np.exp(rng.normal(0, 1, 2)).tolist())))
    for n, w in designs:
        missed, where = worst_of_two(n, w, alpha)
        assert missed <= alpha * (1 + excess), (n, w, where)


def test_simulated_coverage_and_width_against_the_alternatives():
    runs = 2000
    for name, row in table(runs).items():
        coverage, width = row["this"]
        assert coverage >= 0.95 - 2.6 * np.sqrt(0.95 * 0.05 / runs), name
        assert width <= 1.1 * row["gamma"][1], name
        assert width < row["sum of limits"][1], name
    assert min(row["normal"][0] for row in table(runs).values()) < 0.5
