# SPDX-License-Identifier: Apache-2.0
"""A confirmation fails by name for each thing that new injections may contradict."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from resil.protection.confirm import confirmation, latent_coverage
from resil.protection.observed import Copies, Observed, ObservedStratum
from resil.protection.options import load_options
from resil.protection.predictions import weak_reserve
from resil.protection.texts import confirmation_text
from resil.record.golden import GoldenComparison
from resil.record.protection_parts import PlanBasis
from resil.record.protection_state import ProtectionState, confirmation_line
from resil.stats.evidence import PooledGroup
from resil.stats.intervals import clopper_pearson
from tests.resil.protection import plans
from tests.resil.protection.plans import block_choice, plan_of

PLAN = plan_of(
    fit=0.010,
    fit_hi=0.03,
    spfm=0.999,
    spfm_lo=0.995,
    budget_fit=0.05,
    spfm_target=0.99,
    basis=PlanBasis(summary="", injections=2500),
)
HAZARDOUS = ("sdc_critical", "hang")
OTHER = GoldenComparison(
    state="differs", reference="TFLM", inputs=1, elements=9, differing=1, text="of input 0 all differ"
)


def on(network="other", bad=2, injections=2000, **changes):
    """A network: so many of the upsets outside copies are hazardous, of a raw rate of 8 FIT."""
    rest = PooledGroup("cc", "ff", 8.0, {"masked": injections - bad, "hang": bad})
    copies = PooledGroup("redundant", "ff", 2.0, {"latent": 3000})
    found = Observed(
        network, (ObservedStratum(rest), ObservedStratum(copies)), (Copies("triplication", 3000, 0),)
    )
    return replace(found, **{"unprotected": bare(), **changes})


def bare(bad=600, due=0, injections=2000):
    """What was found without protection: more than any limit below allows."""
    counts = {"masked": injections - bad - due, "hang": bad, "due": due}
    return (ObservedStratum(PooledGroup("cc", "ff", 8.0, counts)),)


def judged(*observed, **changes):
    return confirmation(PLAN.changed(**changes), observed, HAZARDOUS, 0.95)


def test_what_is_measured_confirms():
    found = judged(on())
    assert found.reasons == ()
    assert found.confirmed is True
    measured = found.measured
    assert measured.fit == pytest.approx(0.008)
    assert measured.fit_lo < PLAN.fit < measured.fit_hi < 0.05
    assert measured.spfm_lo == pytest.approx(1 - measured.fit_hi / 10.0)
    assert measured.injections == 5000
    assert found.predicted.injections == 2500
    # None of 3,000: 99.9 % are harmless, at 95 % confidence; 99.88 at 97.5 %.
    assert found.copies.harmless_lo == pytest.approx(1 - clopper_pearson(0, 3000, 0.95, "upper").hi)
    assert found.copies.harmless_lo > 0.9988


def covered(fit, before):
    """A plan that leaves so much of what was there, by parity on flip-flops at the weak end of its range."""
    block = block_choice("cc", {"ff": fit}).model_copy(update={"option": "flop_parity", "fit_before": before})
    return PLAN.changed(fit=fit, fit_hi=1.1 * fit, choices=(block,))


def test_a_set_that_leaves_nothing_is_not_predicted_too_high():
    """The fault: of a set that covers all, 1 % is counted as left, and the truth, none, was no part of it."""
    options = load_options(None).options
    plan = covered(0.04, before=4.0)
    reserve = weak_reserve(plan, options, HAZARDOUS)
    assert reserve == pytest.approx(0.01 / 0.99)
    none = [on(bad=0, injections=5000)]
    assert confirmation(plan, none, HAZARDOUS, 0.95, None, reserve).reasons == ()
    # What no option covers stays predicted, whatever options are worth at their strong ends.
    for other, own in ((plan, 0.0), (covered(0.04, before=0.5), reserve)):
        found = confirmation(other, none, HAZARDOUS, 0.95, None, own)
        assert "is too high" in " ".join(found.reasons)
        assert found.predicted.fit_lo > found.measured.fit_hi


@pytest.mark.parametrize(
    ("observed", "changes", "why"),
    [
        ((on(),), {"fit": 0.0005}, "predicted 0.0005 FIT is too low"),
        ((on(),), {"fit": 0.04, "fit_hi": 0.05}, "predicted at least 0.032 FIT is too high"),
        ((on(),), {"budget_fit": 0.02}, "asked: 0.02 FIT or less"),
        ((on(),), {"spfm_target": 0.999}, "asked: 99.900% or more"),
        (
            (on(copies=(Copies("triplication", 3000, 1),)),),
            {},
            "1 of 3,000 upsets of triplication on other were haz",
        ),
        ((on(copies=(Copies("triplication", 3000, 0, 1, 0),)),), {}, "said to be corrected and showed"),
        ((on(copies=(Copies("triplication", 3000, 0, 0, 1),)),), {}, "raised no alarm"),
        (
            (on(copies=(Copies("parity", 3000, 60, counted=0.01),)),),
            {},
            "at least 1.60%, where the plan counts 1.00%",
        ),
        ((on(nothing_measured="no fault reaches it"),), {}, "on other nothing was measured: no fault"),
        ((on(safety="inconclusive"),), {}, "the safety verdict is inconclusive"),
        ((on(bad=2), on("worse", bad=20)), {"budget_fit": 1.0}, r"too low: .* on worse"),
        ((on(bad=2), on("worse", bad=9)), {}, r"on worse at most .* asked: 0.05"),
        ((on(bad=30),), {"fit_share_target": 0.05}, r"on other at most 7\.\d+% of its FIT .* asked: 5"),
        ((on(unprotected=bare(0)),), {"fit_share_target": 0.05}, "an unknown part of its FIT"),
        ((on(),), {"due_fit_target": 0.001}, "detected failures, asked: 0.001 FIT"),
        ((on(injections=50, bad=0),), {}, "SPFM of at least"),
        ((on(golden=OTHER),), {}, "the outputs of other without a fault are not the network's: of input 0"),
        ((on(unprotected=()),), {}, "on other nothing shows that it can refuse a set: expected more than"),
        ((on(unprotected=bare(0, 600)),), {"due_fit_target": 0.1}, "nothing shows that it can refuse"),
        (
            (on(unprotected=bare()),),
            {"budget_fit": None, "spfm_target": None, "due_fit_target": 0.1},
            "expected more than 0.1 FIT of detected failures without protection",
        ),
    ],
)
def test_what_contradicts_is_named(observed, changes, why):
    found = judged(*observed, **changes)
    assert found.confirmed is False
    assert any(re.search(why, reason) for reason in found.reasons), found.reasons


def test_a_safety_verdict_that_is_met_counts_for_it():
    assert judged(on(safety="met")).confirmed


@pytest.mark.parametrize(
    ("changes", "unprotected", "missed"),
    [
        ({}, bare(), ("fit", "spfm")),
        ({"fit_share_target": 0.1}, bare(), ("fit", "spfm", "fit_share")),
        ({"budget_fit": 3.0}, bare(), ("spfm",)),
        ({"budget_fit": None, "spfm_target": None, "due_fit_target": 0.1}, bare(0, 600), ("due",)),
    ],
)
def test_a_network_that_misses_a_limit_of_each_kind_without_protection_confirms(changes, unprotected, missed):
    """The fault: a limit of detected failures alone was confirmed by a network that could refuse nothing."""
    found = judged(on(unprotected=unprotected), **changes)
    assert found.reasons == ()
    assert found.networks[0].missed_unprotected == missed


def test_intervals_of_several_networks_hold_together():
    one, two = judged(on()), judged(on("a"), on("b"))
    assert two.measured.fit_hi > one.measured.fit_hi
    assert [row.confidence for row in two.networks] == pytest.approx([0.975, 0.975])


def test_hardened_cells_keep_their_range():
    """Their factor is no result of RTL: limits are at its ends, and SPFM at the worse of them."""
    plain = judged(on()).measured
    hardened = on()
    strata = (replace(hardened.strata[0], factors=(0.1, 0.25, 0.5)), hardened.strata[1])
    found = judged(replace(hardened, strata=strata)).measured
    assert found.fit == pytest.approx(plain.fit * 0.25)
    assert found.fit_lo == pytest.approx(plain.fit_lo * 0.1)
    # The bound of the copies, whose rate stays, is in it too.
    assert plain.fit_hi * 0.5 < found.fit_hi < plain.fit_hi
    assert found.spfm_lo < 1 - found.fit_hi / 10.0


def test_latent_coverage_is_exact():
    found = latent_coverage("made", 95, 100, 0.95)
    assert found.coverage_lo == pytest.approx(clopper_pearson(95, 100, 0.95, "lower").lo)


def test_a_choice_on_another_computation_is_said_wherever_it_is_confirmed():
    """The fault: a run whose golden output was accepted chose, and *confirmed* stood there alone."""
    said = "digits: The golden output is not the network's, which was accepted."
    found = plans.confirmation(PLAN, golden_of_choice=(said,))
    line = confirmation_line(ProtectionState(PLAN, plans.build(PLAN), found))
    start = "CONFIRMED by injection, chosen on a golden output that is not the network's, seed 8: "
    assert line.startswith(start)
    assert line.endswith(said)
    assert said in confirmation_text(found)
    sound = confirmation_line(ProtectionState(PLAN, None, plans.confirmation(PLAN)))
    assert sound.startswith("CONFIRMED by injection, seed 8: ")
