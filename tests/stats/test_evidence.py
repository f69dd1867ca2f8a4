# SPDX-License-Identifier: Apache-2.0
"""Rates and parts of rates from groups of injections."""

from dataclasses import replace

import numpy as np
import pytest

from resil.stats.clusters import weighted_sum_over_inputs
from resil.stats.evidence import Evidence, PooledGroup
from resil.stats.intervals import Interval, clopper_pearson
from resil.stats.weighted import weighted_sum
from testkit.errors import about


def two(first=1.0, second=3.0):
    return Evidence(
        (
            PooledGroup("mac", "ff", first, {"masked": 90, "due": 7, "hang": 3}),
            PooledGroup("sb", "sram", second, {"masked": 290, "due": 8, "hang": 2}),
        )
    )


def test_a_rate_is_a_weighted_sum():
    assert two().rate({"due", "hang"}) == weighted_sum([10, 10], [100, 300], [1.0, 3.0])
    assert two().fit_raw == 4.0
    assert two().injections == 400


def test_rates_may_be_scaled_and_parts_taken():
    scaled = two().scaled({"sram": 2.0})
    assert scaled.fit_raw == 7.0
    assert scaled.rate({"hang"}) == weighted_sum([3, 2], [100, 300], [1.0, 6.0])
    assert two().where(lambda g: g.block == "sb").rate({"hang"}) == weighted_sum([2], [300], [3.0])


def test_a_total_found_in_a_better_way_holds_for_its_own_outcomes_alone():
    better = Interval(0.05, 0.04, 0.06, 0.99)
    known = Evidence(two().groups, 0.99, 0.95, known={frozenset({"hang"}): better})
    assert known.rate({"hang"}).as_list() == better.as_list()
    assert known.rate({"hang"}).confidence == 0.95
    assert known.rate({"due"}).as_list() == weighted_sum([7, 8], [100, 300], [1.0, 3.0], 0.99).as_list()
    assert known.where(lambda g: g.block == "sb").rate({"hang"}) != better
    assert known.scaled({"ff": 2.0, "sram": 2.0}).rate({"hang"}).hi == pytest.approx(0.12)
    assert known.scaled({"ff": 2.0}).rate({"hang"}).hi > 0.12


def test_looks_have_used_up_error_and_joining_keeps_that():
    """The total is told at 95 % and reckoned at 99 %: a stricter statement is reckoned stricter still."""
    looked = Evidence(two().groups, 0.99, 0.95)
    assert looked.rate({"hang"}).confidence == 0.95
    assert looked.at(0.975).confidence == pytest.approx(0.995)
    joined = looked.joined(two())
    assert joined.confidence == pytest.approx(0.99)
    assert joined.injections == 800


def test_evidence_for_other_inputs_is_not_joined():
    own = tuple((PooledGroup("mac", "ff", 1.0, {"hang": n, "masked": 50 - n}),) for n in (1, 9))
    both = Evidence((PooledGroup("mac", "ff", 1.0, {"hang": 10, "masked": 90}),), inputs=own)
    assert both.rate({"hang"}).hi > weighted_sum([10], [100], [1.0]).hi
    labelled = replace(both, labels=(3, 4))
    with pytest.raises(ValueError, check=about("inputs")):
        labelled.joined(two())
    with pytest.raises(ValueError, check=about("inputs")):
        labelled.joined(replace(both, labels=(3, 5)))


def test_evidence_for_the_same_inputs_is_joined_input_by_input():
    """What one campaign says of an input moves with what the other says: they are no independent units."""
    own = tuple((PooledGroup("mac", "ff", 1.0, {"hang": n, "masked": 50 - n}),) for n in (1, 9))
    one = Evidence((PooledGroup("mac", "ff", 1.0, {"hang": 10, "masked": 90}),), inputs=own, labels=(3, 4))
    joined = one.joined(one)
    expected = weighted_sum_over_inputs([[1, 1], [9, 9]], [[50, 50], [50, 50]], [1.0, 1.0])
    assert joined.rate({"hang"}).as_list() == expected.interval.as_list()
    assert joined.labels == (3, 4)


def test_parts_that_overlap_are_refused_and_nothing_is_nothing():
    with pytest.raises(ValueError, check=about("parts")):
        two().part({"due"}, {"due", "hang"})
    assert two().part({"sdc_critical"}, {"latent"}) is None


def test_equal_weights_give_a_proportion_and_unequal_ones_something_wider():
    even = two(1.0, 3.0).part({"due"}, {"hang"})
    assert even == clopper_pearson(15, 20)
    uneven = two(1.0, 6.0).part({"due"}, {"hang"})
    assert even is not None
    assert uneven is not None
    assert uneven.lo < even.lo


def test_unequal_weights_join_limits_at_half_of_the_error():
    uneven = two(1.0, 6.0)
    found = uneven.part({"due"}, {"hang"})
    some = weighted_sum([7, 8], [100, 300], [1.0, 6.0], 0.975)
    others = weighted_sum([3, 2], [100, 300], [1.0, 6.0], 0.975)
    assert found is not None
    assert found.lo == pytest.approx(some.lo / (some.lo + others.hi))
    assert found.hi == pytest.approx(some.hi / (some.hi + others.lo))
    assert found.confidence == 0.95


@pytest.mark.parametrize(
    ("weights", "trials", "detected", "missed"),
    [
        ([1, 1], [100, 100], [0.10, 0.02], [0.01, 0.03]),
        ([1, 1], [100, 100], [0.30, 0.00], [0.00, 0.02]),
        ([1, 1, 1], [50, 50, 50], [0.3, 0.0, 0.85], [0.0, 0.2, 0.1]),
        ([1], [300], [0.05], [0.0005]),
        ([5, 1], [100, 100], [0.10, 0.02], [0.01, 0.03]),
        ([1, 20], [500, 60], [0.10, 0.05], [0.002, 0.001]),
    ],
)
def test_limits_of_a_part_cover(weights, trials, detected, missed):
    """Simulated: neither limit errs more often than its 2.5 %, with three standard errors of 1,000 draws."""
    rng = np.random.default_rng(5)
    a, b, w = np.array(detected), np.array(missed), np.array(weights)
    truth = (w * a).sum() / (w * (a + b)).sum()
    too_high = too_low = 0
    for _ in range(1000):
        drawn = [rng.multinomial(n, [p, q, 1 - p - q]) for n, p, q in zip(trials, a, b, strict=True)]
        groups = tuple(
            PooledGroup("", "ff", float(weight), {"due": int(n[0]), "hang": int(n[1]), "masked": int(n[2])})
            for weight, n in zip(weights, drawn, strict=True)
        )
        found = Evidence(groups).part({"due"}, {"hang"})
        if found is not None:
            too_high += found.lo > truth
            too_low += found.hi < truth
    allowed = 25 + 3 * (1000 * 0.025 * 0.975) ** 0.5
    assert too_high <= allowed
    assert too_low <= allowed


def test_wrong_groups_are_refused():
    with pytest.raises(ValueError, check=about("group")):
        PooledGroup("mac", "ff", -1.0, {})
    with pytest.raises(ValueError, check=about("group")):
        PooledGroup("mac", "ff", 1.0, {"hang": -1})


def test_of_every_fault_a_part_is_what_was_counted():
    groups = (
        PooledGroup("a", "ff", 1.0, {"due": 9, "hang": 1, "masked": 10}, 20),
        PooledGroup("b", "sram", 3.0, {"due": 1, "hang": 1, "masked": 98}, 100),
    )
    found = Evidence(groups, 0.95, 0.95)
    due, hang = found.rate(["due"]), found.rate(["hang"])
    assert due.as_list() == pytest.approx([0.45 + 0.03] * 3)
    part = found.part(["due"], ["hang"])
    assert part.as_list() == pytest.approx([due.estimate / (due.estimate + hang.estimate)] * 3)
    short = replace(groups[1], members=101)
    assert Evidence((groups[0], short), 0.95, 0.95).part(["due"], ["hang"]).width > 0.1
    assert Evidence((groups[0], replace(short, members=None)), 0.95, 0.95).rate(["due"]).width > 0.01


def test_of_drawn_inputs_every_fault_is_a_sample_all_the_same():
    """Each input's faults may all have been injected: what other inputs would give is not known by that."""
    own = tuple((PooledGroup("a", "ff", 1.0, {"due": n, "masked": 10 - n}, 10),) for n in (1, 5, 3))
    every = (PooledGroup("a", "ff", 1.0, {"due": 9, "masked": 21}, 30),)
    assert Evidence(every, 0.95, 0.95).rate(["due"]).width == 0.0
    assert Evidence(every, 0.95, 0.95, own, labels=(0, 1, 2)).rate(["due"]).width > 0.3
