import numpy as np
import pytest

from stats.designs import collapse
from stats.guided import agrees, guided_interval, guided_step, risk_levels
from stats.intervals import clopper_pearson
from stats.plans import Batch
from stats.strata import Strata

WEIGHTS = np.array([0.6, 0.25, 0.1, 0.05])
TRUE = np.array([0.002, 0.02, 0.15, 0.7])
STRATA = Strata.of([("mac", "ff", str(i)) for i in range(4)], WEIGHTS, [10**10] * 4)


def play(risks, seed, truth=TRUE, injections=300):
    generator, done = np.random.default_rng(seed), []
    while (step := guided_step(STRATA, risks, injections, seed, done)).stage != "done":
        done.append(Batch.of(step.injections, generator.binomial(step.injections, truth)))
    return step, done


def test_levels_get_the_same_share_of_optimal_injections():
    generator = np.random.default_rng(1)
    weights, risks = generator.random(5000), generator.random(5000) ** 6
    level = risk_levels(weights, risks, 5)
    mass = np.bincount(level, weights * np.sqrt(risks * (1 - risks)))
    assert mass == pytest.approx(np.full(5, mass.mean()), rel=0.02)
    assert all(risks[level == g].max() <= risks[level == g + 1].min() for g in range(4))


def test_all_injections_are_made_in_two_halves():
    step, done = play(TRUE, 3)
    assert [int(batch.injections.sum()) for batch in done] == [150, 150]
    assert step.design.groups == 4
    assert done[1].injections[3] > 3 * done[0].injections[3]


def test_good_predictions_narrow_the_interval_and_it_covers():
    rate = float(WEIGHTS @ TRUE)
    found = [play(TRUE, seed)[0].total for seed in range(300)]
    covered = np.mean([total.lo <= rate <= total.hi for total in found])
    assert covered >= 0.94
    plain = np.mean([clopper_pearson(round(rate * 300), 300).width])
    assert plain / np.mean([total.width for total in found]) > 1.5
    assert np.mean([total.estimate for total in found]) == pytest.approx(rate, rel=0.04)


@pytest.mark.parametrize("risks", [TRUE[::-1], [0.5, 0.01, 0.01, 0.01], np.full(4, 0.06), np.zeros(4)])
def test_useless_predictions_leave_a_plain_sample(risks):
    step, done = play(risks, 5)
    events, trials = (int(sum(getattr(b, name) for b in done).sum()) for name in ("events", "injections"))
    plain = clopper_pearson(events, trials)
    assert step.design.groups == 1
    assert (step.total.lo, step.total.hi) == (pytest.approx(plain.lo), pytest.approx(plain.hi))


def test_a_stratum_that_predictions_call_harmless_is_not_taken_for_it():
    truth = np.array([0.02, 0.02, 0.15, 0.7])
    risks = np.array([1e-5, 0.02, 0.15, 0.7])
    rate = float(WEIGHTS @ truth)
    covered = [total.lo <= rate <= total.hi for total in (play(risks, s, truth)[0].total for s in range(300))]
    assert np.mean(covered) >= 0.94


def test_without_any_event_the_upper_limit_is_that_of_a_plain_sample():
    step, _ = play(TRUE, 1, np.zeros(4))
    assert step.total.lo == 0.0
    assert step.total.hi == pytest.approx(clopper_pearson(0, 300).hi)


def test_shares_of_groups_that_not_all_blocks_have():
    labels = [("mac", "ff", "0"), ("mac", "ff", "1"), ("wd", "ff", "0")]
    strata = Strata.of(labels, [2.0, 1.0, 1.0], [10**9] * 3)
    done = []
    while (step := guided_step(strata, [0.01, 0.9, 0.01], 200, 1, done)).stage != "done":
        events = np.minimum(step.injections, [0, 10**9, 0])
        done.append(Batch.of(step.injections, events))
    counts = {"hang": sum(b.events for b in done)}
    groups = {(g.block, g.weight): g.share for g in collapse(strata, step.design, counts)}
    assert groups == {("", 3.0): 0.75, ("", 1.0): 0.25}
    by_block = collapse(strata, step.design, counts, by_block=True)
    assert sorted((g.block, g.share) for g in by_block) == [
        ("mac", pytest.approx(1 / 3)),
        ("mac", pytest.approx(2 / 3)),
        ("wd", 1.0),
    ]


def test_one_rate_for_all_is_no_evidence_for_predictions():
    assert not agrees([0.05, 0.05], [5, 5], [100, 100])
    assert not agrees([0.05, 0.05], [0, 0], [100, 100])


def test_a_group_without_injections_is_refused():
    with pytest.raises(ValueError, match="every group"):
        guided_interval([1.0, 1.0], [0, 0], [10, 0])
