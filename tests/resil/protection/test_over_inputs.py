# SPDX-License-Identifier: Apache-2.0
"""Where inputs are drawn, protection is judged for inputs like them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from resil.campaign.data_set import DataSet
from resil.campaign.network_settings import NetworkSettings
from resil.protection.choose import choose
from resil.protection.confirm import confirmation
from resil.protection.corners import Corner
from resil.protection.effects import Effect, Mechanisms
from resil.protection.judge import judge_over_corners
from resil.protection.observed import Observed, ObservedStratum, evidence_of
from resil.protection.targets import Targets
from resil.protection.texts import plan_text
from resil.protection.unit_plan import _network
from resil.protection.unused_networks import asked_work
from resil.stats.clusters import weighted_sum_over_inputs
from resil.stats.evidence import PooledGroup
from testkit.campaigns import campaign
from tests.resil.protection.designs import design_of, network_of, rates_of, storage_of
from tests.resil.protection.plans import plan_of

STORAGE = storage_of(
    [("u.u_a.x_q", 64, "ff", "a", "control"), ("u.u_b.y_q", 64, "ff", "b", "control")],
)
DESIGN = design_of(STORAGE)
RATE, INJECTIONS = 0.1, 16_000


def drawn(rng, inputs=16, spread=0.4):
    """A network whose inputs differ, and the same as if these inputs were all that is asked about."""
    labels = np.arange(inputs) * 7
    rates = RATE * np.maximum(0.0, 1.0 + spread * rng.standard_normal(inputs))
    parts = [network_of(STORAGE, rates_of(STORAGE, own), INJECTIONS // inputs, rng) for own in rates]
    whole = replace(
        parts[0],
        bit=np.concatenate([own.bit for own in parts]),
        outcome=np.concatenate([own.outcome for own in parts]),
        number=np.arange(INJECTIONS),
        labels=tuple(labels.tolist()),
        population="inputs like these",
    )
    return replace(whole, input=np.repeat(labels, INJECTIONS // inputs)), whole


def judged(network):
    effects = [Effect()] * len(DESIGN.cells.bits)
    return judge_over_corners(network, DESIGN.cells, lambda _: effects, Mechanisms())


def test_the_mean_over_inputs_is_covered_where_pooled_injections_miss_it():
    """The fault: drawn inputs were judged as if they were all inputs that there are."""
    rng, covered = np.random.default_rng(1), {"like these": 0, "these": 0}
    for _ in range(200):
        like, these = drawn(rng)
        truth = RATE * judged(these).fit_raw
        for name, own in (("like these", judged(like)), ("these", judged(these))):
            covered[name] += own.fit.lo <= truth <= own.fit.hi
    assert covered["like these"] >= 184
    assert covered["these"] < 120


def test_an_input_chooses_or_judges():
    network, pooled = drawn(np.random.default_rng(2))
    chooses, judges = network.halves()
    assert set(chooses.labels) & set(judges.labels) == set()
    assert set(chooses.labels) | set(judges.labels) == set(network.labels)
    assert set(chooses.input) == set(chooses.labels)
    assert len(judges.labels) == 8
    few = replace(network, labels=network.labels[:3]).where(np.isin(network.input, network.labels[:3]))
    assert few.halves()[0].labels == few.halves()[1].labels == few.labels
    assert len(pooled.halves()[0].bit) == pytest.approx(INJECTIONS / 2, rel=0.05)


def test_a_plan_says_which_inputs_it_is_about():
    network, pooled = drawn(np.random.default_rng(3))
    targets = Targets(budget_fit=0.4 * judged(pooled).fit.estimate)
    choice = choose(DESIGN, [network], targets)
    assert choice.needed
    (own,) = choice.judged
    assert (own.inputs, own.population) == (8, "inputs like these")
    text = plan_text(plan_of(networks=(_network(own, targets),)))
    assert "injections of 8 inputs)" in text
    assert text.endswith("about inputs like these")
    # What one input shows is of that input.
    alone = replace(network, labels=(0,)).where(network.input == 0)
    assert judged(alone).fit == judged(replace(alone, input=None)).fit


def stratum(events, each=500, raw=1.0):
    """Storage of which so many upsets of each input were hazardous."""
    counts = tuple({"masked": each - n, "hang": n} for n in events)
    whole = {"masked": sum(own["masked"] for own in counts), "hang": sum(events)}
    return ObservedStratum(PooledGroup("cc", "ff", raw, whole), inputs=counts)


def test_a_confirmation_is_over_inputs_where_a_network_s_are_drawn():
    """The fault: upsets of drawn inputs were pooled, and a limit that these inputs keep was confirmed."""
    strata = (stratum((1, 30, 2, 25, 2)),)
    bare = (stratum((300, 310, 290, 305, 295)),)
    about = "inputs like the 5 drawn from the held-out split"
    found = Observed("other", strata, (), unprotected=bare, population=about)
    pooled = replace(found, strata=(replace(strata[0], inputs=()),))
    plan = plan_of(fit=0.024, fit_hi=0.03, budget_fit=0.035)
    assert confirmation(plan, [pooled], {"hang"}, 0.95).confirmed
    seen = confirmation(plan, [found], {"hang"}, 0.95)
    assert not seen.confirmed
    (row,) = seen.networks
    expected = weighted_sum_over_inputs([[1], [30], [2], [25], [2]], [[500]] * 5, [1.0]).interval
    assert (row.fit_lo, row.fit_hi) == pytest.approx((expected.lo, expected.hi))
    assert (row.inputs, row.population) == (5, about)
    at_corner = evidence_of(strata, 1, 0.95, Corner({"ff": 3.0})).rate({"hang"})
    assert at_corner.hi == pytest.approx(3.0 * expected.hi)


def test_hold_out_networks_are_run_on_as_many_inputs_as_chose():
    """The fault: what a file said of its inputs was dropped, and a zoo network ran its first one alone."""
    own = campaign()
    assert asked_work(own, "mnist_vgg").work.inputs == (0,)
    many = replace(own, work=NetworkSettings("zoo:digits", DataSet(None, 12, seed=5)))
    judge = asked_work(many, "mnist_vgg")
    assert judge.work.inputs == DataSet(None, 12, seed=5)
    assert judge.over_inputs
    planned = replace(own, work=NetworkSettings("zoo:digits", DataSet(None, None)))
    assert asked_work(planned, "mnist_vgg").work.inputs.draw == 8
