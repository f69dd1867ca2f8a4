# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from resil.stats.guided import agrees, risk_levels
from resil.stats.guided_plan import guided_step
from resil.stats.intervals import clopper_pearson
from resil.stats.parts import collapse
from resil.stats.plans import Batch, SamplingPlan, next_step
from resil.stats.strata import Strata
from testkit.errors import about
from testkit.guided_populations import POPULATIONS

WEIGHTS = np.array([0.6, 0.25, 0.1, 0.05])
TRUE = np.array([0.002, 0.02, 0.15, 0.7])
HALVES = SamplingPlan("guided", 300)
STRATA = Strata.of([("mac", "ff", str(i)) for i in range(4)], WEIGHTS, [10**10] * 4)


def play(risks, seed, truth=TRUE, plan=HALVES):
    generator, done = np.random.default_rng(seed), []
    while (step := guided_step(STRATA, risks, plan, seed, done)).stage != "done":
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
    assert plain / np.mean([total.width for total in found]) > 1.4
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
    while (
        step := guided_step(strata, [0.01, 0.9, 0.01], SamplingPlan("guided", 200), 1, done)
    ).stage != "done":
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


@pytest.mark.parametrize(
    "name",
    [
        "rare event in a heavy level, n = 1,000",
        "the same, rate 0.01",
        "80 % predicted 0.03 %, truly 1.5 %",
        "three levels, wrong model, n = 100",
    ],
)
def test_the_interval_covers_where_a_rare_event_sits_in_a_heavy_level(name):
    assert covered(POPULATIONS[name], 300)[0] >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("name", POPULATIONS)
def test_the_interval_covers_on_each_side_however_the_population_is_made(name):
    coverage, above, below = covered(POPULATIONS[name], 4000)
    assert coverage >= 0.95
    assert max(above, below) <= 0.025 + 2.6 * np.sqrt(0.025 * 0.975 / 4000)


def covered(made, repeats):
    """Coverage, and how often the truth was above and below the interval."""
    ends = np.array([(step.total.lo, step.total.hi) for step, *_ in map(made.play, range(repeats))])
    above, below = (ends[:, 1] < made.truth).mean(), (ends[:, 0] > made.truth).mean()
    return 1.0 - above - below, above, below


def test_a_margin_stops_the_campaign_and_the_interval_covers():
    rate, asked = float(WEIGHTS @ TRUE), SamplingPlan("guided", 10**6, margin=0.2, relative=True)
    found = [play(TRUE, seed, plan=asked) for seed in range(120)]
    assert all(step.reason == "margin" for step, _ in found)
    assert all(step.total.width / 2 <= 0.2 * step.total.estimate for step, _ in found)
    assert np.mean([step.total.lo <= rate <= step.total.hi for step, _ in found]) >= 0.94
    assert np.mean([step.total.estimate for step, _ in found]) == pytest.approx(rate, rel=0.03)
    plain, needed = 1, float(np.mean([sum(b.injections.sum() for b in done) for _, done in found]))
    while clopper_pearson(round(rate * plain), plain).width / 2 > 0.2 * rate:
        plain += 1
    assert needed < plain / 1.5


@pytest.mark.parametrize("risks", [TRUE[::-1], np.full(4, 0.06)])
def test_useless_predictions_reach_the_margin_too(risks):
    rate, asked = float(WEIGHTS @ TRUE), SamplingPlan("guided", 10**6, margin=0.2, relative=True)
    found = [play(risks, seed, plan=asked)[0] for seed in range(100)]
    assert all(step.reason == "margin" for step in found)
    assert np.mean([step.total.lo <= rate <= step.total.hi for step in found]) >= 0.93


@pytest.mark.parametrize(("budget", "lies"), [(0.035, "above"), (0.15, "below")])
def test_a_budget_stops_the_campaign_and_the_verdict_is_right(budget, lies):
    asked = SamplingPlan("guided", 20_000, budget=budget)
    for seed in range(40):
        step, done = play(TRUE, seed, plan=asked)
        assert step.reason == "budget"
        assert (step.total.lo > budget) if lies == "above" else (step.total.hi <= budget)
        assert sum(int(b.injections.sum()) for b in done) < 20_000


def test_what_cannot_be_settled_ends_at_the_most():
    step, done = play(TRUE, 1, plan=SamplingPlan("guided", 1000, margin=0.01, relative=True))
    assert step.reason == "maximum"
    assert sum(int(b.injections.sum()) for b in done) == 1000
    assert step.confidence == 0.95


def test_steps_are_a_function_of_what_was_found():
    asked = SamplingPlan("guided", 10**6, margin=0.2, relative=True)
    step, done = play(TRUE, 2, plan=asked)
    again = guided_step(STRATA, TRUE, asked, 2, done)
    assert (again.reason, again.total) == (step.reason, step.total)
    middle = guided_step(STRATA, TRUE, asked, 2, done[:1])
    assert middle.injections.tolist() == done[1].injections.tolist()


def test_few_faults_are_all_injected():
    strata = Strata.of([("mac", "ff", str(i)) for i in range(4)], WEIGHTS, [60, 25, 10, 5])
    done, generator = [], np.random.default_rng(1)
    while (step := guided_step(strata, TRUE, SamplingPlan("guided", 1000), 1, done)).stage != "done":
        done.append(Batch.of(step.injections, generator.binomial(step.injections, TRUE)))
    assert sum(b.injections for b in done).tolist() == [60, 25, 10, 5]


def test_other_plans_are_not_played_here_nor_this_one_there():
    with pytest.raises(ValueError, check=about("predictions")):
        next_step(STRATA, SamplingPlan("guided", 100), 1, [])
