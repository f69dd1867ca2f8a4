"""What a plan predicts for networks that took no part, and how much its confirmation injects."""

from __future__ import annotations

import numpy as np
import pytest

from resil.protection.confirm import Copies, Observed, Stratum, confirmation, planned_uniform, predicted_fit
from resil.protection.group_choice import choose
from resil.protection.judging import Targets
from resil.protection.sample_size import POWER, power, uniform_needed
from resil.protection.strangers import on_strangers
from stats.evidence import Group
from stats.intervals import clopper_pearson_limits
from tests.resil.protection.designs import design_of, network_of, rates_of, storage_of

STORAGE = storage_of([(f"u.r{i}_q", 8, "ff", "a", "data") for i in range(12)])


def bits(*registers, level=0.5):
    harmful = np.zeros(len(STORAGE))
    for register in registers:
        harmful[8 * register : 8 * register + 8] = level
    return rates_of(STORAGE, harmful)


def test_what_matters_to_one_network_alone_is_left_when_it_takes_no_part():
    rng = np.random.default_rng(4)
    alike = [network_of(STORAGE, bits(0, 1), 6000, rng, name) for name in ("one", "two", "three")]
    unlike = network_of(STORAGE, bits(0, 1, 9), 6000, rng, "unlike")
    design = design_of(STORAGE, exclude=("lockstep",))
    targets = Targets(fit_share=0.1)
    networks = [*alike, unlike]
    choice = choose(design, networks, targets)
    own = {judged.network: judged.fit.estimate for judged in choice.judged}
    found = {
        judged.network: judged
        for judged in on_strangers(design, networks, targets, choice.chosen.reserve, 5.0)
    }
    assert set(found) == {"one", "two", "three", "unlike"}
    # Eight bits, half of whose upsets do harm, at 1e-4 FIT a bit: nobody else's injections could tell.
    assert found["unlike"].fit.estimate == pytest.approx(4e-4, rel=0.3)
    assert own["unlike"] < 1.2e-4
    assert max(found[name].fit.estimate for name in ("one", "two", "three")) < 1e-4
    # All of its injections judge: none of them chose.
    assert found["unlike"].injections == 6000
    assert on_strangers(design, alike[:1], targets, 0.5, 5.0) == []


def plan(fit, strangers=(), **limits):
    own = {"fit": fit, "fit_hi": 1.0, "spfm": 0.99, "spfm_lo": 0.9, "fit_raw_before": 4.0}
    own |= {"strangers": [{"fit": value} for value in strangers], "basis": {"injections": 10}}
    return own | {"budget_fit": None, "spfm_target": None} | limits


def test_the_prediction_is_that_for_strangers_if_it_is_more():
    assert predicted_fit(plan(0.01)) == 0.01
    assert predicted_fit(plan(0.01, (0.02, 0.06))) == pytest.approx(0.04)
    assert predicted_fit(plan(0.05, (0.02, 0.06))) == 0.05
    strata = (Stratum(Group("a", "ff", 4.0, {"masked": 1960, "hang": 40})),)
    observed = [Observed("other", strata, Copies(0, 0, 0, 0))]
    # 0.08 FIT are measured: too low is told of the one, too high of the other.
    for fit, strangers, told in ((0.01, (), "too low"), (0.01, (0.09,), ""), (0.01, (0.4,), "too high")):
        found = confirmation(plan(fit, strangers), observed, {"hang"}, 0.95)
        assert found["predicted"]["fit"] == predicted_fit(plan(fit, strangers))
        assert told in " ".join(found["reasons"])
        assert found["confirmed"] is (not told), found["reasons"]


@pytest.mark.parametrize(
    ("own", "networks", "expected"),
    [
        (plan(0.004, spfm_target=0.99), 2, 2000),
        (plan(0.024, spfm_target=0.99), 2, 8000),
        (plan(0.004, (0.05,), spfm_target=0.99), 2, 20000),
        (plan(0.024, budget_fit=0.04), 2, 8000),
        (plan(0.024, budget_fit=0.4, spfm_target=0.99), 2, 8000),
        (plan(0.024), 2, 2000),
        (plan(0.039, spfm_target=0.99), 2, 20000),
    ],
)
def test_as_many_injections_as_the_limits_need(own, networks, expected):
    assert planned_uniform(own, networks, 0.95) == expected


def test_power_is_that_of_trials():
    rng = np.random.default_rng(3)
    needed = uniform_needed(0.005, 0.01, 0.975)
    found = rng.binomial(needed, 0.005, 4000)
    met = clopper_pearson_limits(found, np.full(4000, needed), 0.975)[1] <= 0.01
    assert met.mean() == pytest.approx(power(needed, 0.005, 0.01, 0.975), abs=0.02)
    assert met.mean() > POWER - 0.02
