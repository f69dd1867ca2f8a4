# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from resil.stats.prediction import PredictedStratum, prediction_powered
from testkit.errors import about

INJECTIONS = 300
REPEATS = 400


def population(seed=1, size=20_000):
    generator = np.random.default_rng(seed)
    risk = np.where(generator.random(size) < 0.1, generator.beta(4, 5, size), generator.beta(0.2, 20, size))
    return risk, (generator.random(size) < risk).astype(float)


def repeat(predictions, events, seed=2):
    generator = np.random.default_rng(seed)
    mean = predictions.mean()
    found = []
    for _ in range(REPEATS):
        chosen = generator.integers(0, len(events), INJECTIONS)
        stratum = PredictedStratum(1.0, events[chosen], predictions[chosen], mean)
        found.append(prediction_powered([stratum]))
    return found


def covered(found, truth):
    return np.mean([one.interval.lo <= truth <= one.interval.hi for one in found])


def gain(found):
    return np.mean([one.plain.width for one in found]) / np.mean([one.interval.width for one in found])


def test_good_predictions_narrow_the_interval_and_it_covers():
    risk, events = population()
    found = repeat(risk, events)
    assert covered(found, events.mean()) >= 0.94
    assert gain(found) > 1.1


def test_predictions_close_to_the_truth_gain_more_than_half():
    _, events = population()
    found = repeat(0.85 * events + 0.01, events)
    assert covered(found, events.mean()) >= 0.94
    assert gain(found) > 1.5


@pytest.mark.parametrize("spoil", ["shuffled", "inverted", "constant"])
def test_useless_predictions_cost_nothing(spoil):
    risk, events = population()
    useless = {
        "shuffled": np.random.default_rng(5).permutation(risk),
        "inverted": risk.max() - risk,
        "constant": np.full(len(risk), 0.3),
    }[spoil]
    found = repeat(useless, events)
    assert covered(found, events.mean()) >= 0.94
    assert gain(found) >= 0.99


def test_without_events_the_interval_is_the_plain_one():
    found = prediction_powered([PredictedStratum(2.0, np.zeros(50), np.linspace(0, 1, 50), 0.4)])
    assert found.interval == found.plain
    assert found.gain == 1.0
    assert found.tuning == 0.0


def test_strata_are_summed_with_their_weights():
    y = np.repeat([1.0, 0.0], [10, 90])
    flat = np.zeros(100)
    strata = [PredictedStratum(w, y, flat, 0.0) for w in (3.0, 5.0)]
    assert prediction_powered(strata).interval.estimate == pytest.approx(0.8)


def test_what_is_no_stratum_is_refused():
    with pytest.raises(ValueError, check=about("strata")):
        prediction_powered([])
    with pytest.raises(ValueError, check=about("shape")):
        PredictedStratum(1.0, np.zeros(3), np.zeros(2), 0.0)
    with pytest.raises(ValueError, check=about("events")):
        PredictedStratum(1.0, np.full(3, 0.5), np.zeros(3), 0.0)
