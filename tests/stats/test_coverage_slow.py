import numpy as np
import pytest

from tests.stats.coverage import Enumeration, table

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
    assert max(ratios) <= 1.15, sorted(ratios)[-3:]
    assert np.median(ratios) <= 1.0


def test_simulated_coverage_and_width_against_the_alternatives():
    runs = 2000
    for name, row in table(runs).items():
        coverage, width = row["this"]
        assert coverage >= 0.95 - 2.6 * np.sqrt(0.95 * 0.05 / runs), name
        assert width <= 1.1 * row["gamma"][1], name
        assert width < row["sum of limits"][1], name
    assert min(row["normal"][0] for row in table(runs).values()) < 0.5
