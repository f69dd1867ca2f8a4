# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from resil.stats.sensitivity import Levels, pooled_rates, tune_strengths


def test_a_group_without_injections_has_the_rates_of_the_group_around():
    levels = Levels((np.array([0, 0, 0]), np.array([0, 1, 2])))
    counts = np.array([[8.0, 2.0], [80.0, 20.0], [0.0, 0.0]])
    rates = pooled_rates(levels, counts, (1e-9, 5.0))
    assert rates[1][2] == pytest.approx([0.8, 0.2])
    assert rates[1].sum(axis=1) == pytest.approx(np.ones(3))


def test_strong_pull_hides_a_group_and_weak_pull_shows_it():
    levels = Levels((np.array([0, 0]), np.array([0, 1])))
    counts = np.array([[0.0, 20.0], [80.0, 0.0]])
    strong, weak = (pooled_rates(levels, counts, (1e-9, s))[1][0, 1] for s in (1e6, 1e-6))
    assert strong == pytest.approx(0.2, abs=1e-3)
    assert weak == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(("spread", "expected"), [(0.0, 250.0), (0.4, 4.0)])
def test_pull_follows_how_much_groups_differ_in_other_populations(spread, expected):
    generator = np.random.default_rng(1)
    groups = 40
    rate = 0.5 + spread * generator.choice([-1.0, 1.0], groups)
    population, group = np.divmod(np.arange(4 * groups), groups)
    hits = generator.binomial(30, rate[group])
    levels = Levels((np.zeros(4 * groups, np.int64), group))
    chosen = tune_strengths(levels, np.stack([hits, 30 - hits], axis=1).astype(float), population)
    assert chosen[1] >= expected if spread == 0.0 else chosen[1] <= expected
