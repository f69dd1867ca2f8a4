# SPDX-License-Identifier: Apache-2.0
"""What a plan predicts for networks that took no part, and how much its confirmation injects."""

from __future__ import annotations

import numpy as np
import pytest

from resil.campaign.safety import SafetySettings
from resil.protection.choose import choose
from resil.protection.confirm import confirmation
from resil.protection.hold_out import on_hold_out
from resil.protection.observed import Copies, Observed, ObservedStratum
from resil.protection.planned_upsets import Allowed, inputs_asked, planned_upsets
from resil.protection.predictions import predicted_fit
from resil.protection.sample_size import POWER, ExpectedStorage, InputsLikeThese, spread_needed
from resil.protection.targets import Targets
from resil.stats.clusters import weighted_sum_over_inputs
from resil.stats.evidence import Evidence, PooledGroup
from resil.stats.judgement import Kind
from resil.stats.safety import pmhf_row, rate_row, spfm_row
from resil.stats.weighted import weighted_sum
from tests.resil.protection.designs import design_of, network_of, rates_of, storage_of
from tests.resil.protection.plans import block_choice, judged, plan_of

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
    own = {one.network: one.fit.estimate for one in choice.judged}
    found = {one.network: one for one in on_hold_out(design, networks, targets, choice.chosen.reserve, 5.0)}
    assert set(found) == {"one", "two", "three", "unlike"}
    # Eight bits, half of whose upsets do harm, at 1e-4 FIT a bit: nobody else's injections could tell.
    assert found["unlike"].fit.estimate == pytest.approx(4e-4, rel=0.3)
    assert own["unlike"] < 1.2e-4
    assert max(found[name].fit.estimate for name in ("one", "two", "three")) < 1e-4
    # All of its injections judge: none of them chose.
    assert found["unlike"].injections == 6000
    assert on_hold_out(design, alike[:1], targets, 0.5, 5.0) == []


# Without protection every limit below is missed.
BARE = (ObservedStratum(PooledGroup("bare", "ff", 1e12, {"hang": 500, "due": 500})),)


def seen(strata, copies=(), name="other"):
    return Observed(name, tuple(strata), copies, unprotected=BARE)


def plan(fit, hold_out=(), **limits):
    """A plan with these limits alone; if there is none, with one that nothing misses."""
    others = tuple(judged(value) for value in hold_out)
    asked = {"budget_fit": None, "due_fit_target": 1e9} | limits
    return plan_of(fit=fit, fit_hi=2.0 * fit, spfm=0.99, spfm_lo=0.9, hold_out=others, **asked)


def test_the_prediction_is_that_for_hold_out_networks_if_it_is_more():
    assert predicted_fit(plan(0.01)) == 0.01
    assert predicted_fit(plan(0.01, (0.02, 0.06))) == pytest.approx(0.04)
    assert predicted_fit(plan(0.05, (0.02, 0.06))) == 0.05
    strata = (ObservedStratum(PooledGroup("a", "ff", 4.0, {"masked": 1960, "hang": 40})),)
    observed = [seen(strata)]
    # 0.08 FIT are measured: too low is said of the one, too high of the other.
    for fit, hold_out, why in (
        *((0.01, (), "too low"), (0.01, (0.09,), ""), (0.4, (), "too high"), (0.4, (0.3,), "too high")),
        # Of networks that differ tenfold the new one may be as harmless as the most harmless.
        *((0.4, (0.3, 0.09), ""), (0.07, (0.01, 0.02), "")),
    ):
        found = confirmation(plan(fit, hold_out), observed, {"hang"}, 0.95)
        assert found.predicted.fit == predicted_fit(plan(fit, hold_out))
        assert why in " ".join(found.reasons)
        assert found.confirmed is (not why), found.reasons


RAW = {("a", "ff"): 1.0, ("b", "ff"): 1.0, ("b", "sram"): 2.0, ("redundant", "ff"): 0.5}
FIXED = {("redundant", "ff"): 300}


def sized(own, networks, fixed=FIXED, size=None):
    """How many upsets are spread over all but redundant storage, and into what."""
    left = (block_choice("a", {"ff": 0.9 * own.fit}), block_choice("b", {"ff": 0.1 * own.fit, "sram": 0.0}))
    own = own.changed(choices=left)
    found = planned_upsets(own, RAW, fixed, networks, 0.95, size).by_storage
    size = sum(n for (block, _), n in found.items() if block != "redundant")
    # Redundant storage is a ninth of the rate.
    assert found["redundant", "ff"] == max(300, -(-size // 9))
    return size, found


@pytest.mark.parametrize(
    ("own", "networks", "expected"),
    [
        (plan(0.004, spfm_target=0.99), 2, 2000),
        (plan(0.02, spfm_target=0.99), 2, 3000),
        (plan(0.03, spfm_target=0.99), 2, 8000),
        (plan(0.004, (0.05,), spfm_target=0.99), 2, 20000),
        (plan(0.004, (0.002, 0.03), spfm_target=0.99), 2, 8000),
        (plan(0.004, (0.002, 0.09), spfm_target=0.99), 2, 20000),
        (plan(0.03, budget_fit=0.045), 2, 8000),
        (plan(0.03, budget_fit=0.4, spfm_target=0.99), 2, 8000),
        (plan(0.03), 2, 2000),
        (plan(0.042, spfm_target=0.99), 2, 20000),
    ],
)
def test_as_many_injections_as_the_limits_need(own, networks, expected):
    number, found = sized(own, networks)
    assert number == expected
    assert min(found.values()) > 0


def test_most_injections_are_where_failures_are_expected():
    _, found = sized(plan(0.02, spfm_target=0.99), 1)
    assert found["a", "ff"] > 2 * found["b", "ff"]
    _, found = sized(plan(0.02), 1)
    assert found["b", "sram"] == pytest.approx(2 * found["a", "ff"], abs=2)
    assert sized(plan(0.02, spfm_target=0.99), 1, size=500)[0] == 500


def test_what_is_planned_is_confirmed_as_often_as_is_said():
    """The fault: the number goes by another limit than the one that judges, and sound plans are refused."""
    rng, own = np.random.default_rng(3), plan(0.03, spfm_target=0.99)
    _, found = sized(own, 1)
    shares = {("a", "ff"): 0.027, ("b", "ff"): 0.003}
    confirmed = 0
    for _ in range(200):
        strata = []
        for key, n in found.items():
            events = int(rng.binomial(n, shares.get(key, 0.0)))
            strata.append(
                ObservedStratum(PooledGroup(*key, RAW[key], {"masked": n - events, "hang": events}))
            )
        observed = [seen(strata, (Copies("triplication", 300, 0),))]
        confirmed += confirmation(own, observed, {"hang"}, 0.95).confirmed
    # The prediction has to lie in a two-sided interval of 95 %, too.
    assert confirmed / 200 > POWER - 0.025 - 0.04


@pytest.mark.parametrize("networks", [1, 2, 4, 8])
def test_true_plans_are_confirmed_in_nine_cases_of_ten_over_all_networks(networks):
    """The fault: each network had a power of 95 % by itself; eight together confirmed 359 of 400."""
    rng, confirmed, tried = np.random.default_rng(networks), 0, 0
    for _ in range(20):
        fit = float(rng.uniform(0.008, 0.024))
        own = plan(fit, spfm_target=0.99)
        if rng.random() < 0.5:
            own = own.changed(budget_fit=float(rng.uniform(1.4, 3.0)) * fit)
        part = float(rng.uniform(0.5, 1.0))
        left = {"ff": (1.0 - part) * fit, "sram": 0.0}
        own = own.changed(choices=(block_choice("a", {"ff": part * fit}), block_choice("b", left)))
        spread = planned_upsets(own, RAW, FIXED, networks, 0.95)
        if spread.power < POWER:
            continue
        shares = {("a", "ff"): part * fit, ("b", "ff"): (1.0 - part) * fit}
        for _ in range(20):
            observed = []
            for number in range(networks):
                strata = []
                for key, n in spread.by_storage.items():
                    events = int(rng.binomial(n, shares.get(key, 0.0)))
                    strata.append(
                        ObservedStratum(PooledGroup(*key, RAW[key], {"masked": n - events, "hang": events}))
                    )
                observed.append(seen(strata, (Copies("triplication", 300, 0),), f"other{number}"))
            confirmed += confirmation(own, observed, {"hang"}, 0.95).confirmed
            tried += 1
    assert tried >= 200
    assert confirmed / tried >= 0.9


@pytest.mark.parametrize(("networks", "budget"), [(1, None), (4, 0.08)])
def test_true_plans_with_a_limit_of_detected_failures_are_confirmed_in_nine_cases_of_ten(networks, budget):
    """The fault: the size went by FIT and SPFM alone, and detected failures refused sound plans."""
    rng = np.random.default_rng(networks)
    # Half of the upsets of `a` are told, all of redundant storage are, and a few of memory.
    told = {("a", "ff"): 0.5, ("b", "sram"): 0.01, ("redundant", "ff"): 1.0}
    fit, due = 0.02, sum(RAW[key] * share for key, share in told.items())
    own = plan(fit, budget_fit=budget, due_fit_target=1.04 * due).changed(due=due)
    own = own.changed(
        choices=(
            block_choice("a", {"ff": 0.9 * fit}, {"ff": 0.5}, due_added=0.5),
            block_choice("b", {"ff": 0.1 * fit, "sram": 0.0}, {"ff": 0.0, "sram": 0.02}),
        )
    )
    spread = planned_upsets(own, RAW, FIXED, networks, 0.95)
    assert spread.power >= POWER
    few = planned_upsets(own.changed(due_fit_target=1e9), RAW, FIXED, networks, 0.95)
    bad = {("a", "ff"): 0.9 * fit, ("b", "ff"): 0.1 * fit}
    confirmed = []
    for by_storage, trials in ((spread.by_storage, 100), (few.by_storage, 30)):
        confirmed.append(0.0)
        for _ in range(trials):
            observed = []
            for number in range(networks):
                strata = []
                for key, n in by_storage.items():
                    shares = [bad.get(key, 0.0), told.get(key, 0.0)]
                    hang, detected, masked = rng.multinomial(n, [*shares, 1.0 - sum(shares)]).tolist()
                    counts = {"masked": masked, "hang": hang, "due": detected}
                    strata.append(ObservedStratum(PooledGroup(*key, RAW[key], counts)))
                observed.append(seen(strata, (Copies("triplication", 300, 0),), f"other{number}"))
            confirmed[-1] += confirmation(own, observed, {"hang"}, 0.95).confirmed / trials
    assert confirmed[0] >= 0.9 > confirmed[1]


@pytest.mark.parametrize("claim", ["spfm_transient", "pmhf_share", "due_rate"])
def test_rows_of_a_safety_verdict_are_shown_as_often_as_is_said(claim):
    """The fault: claims beyond the plan's own limits had no part in the size."""
    rng, fit, due = np.random.default_rng(5), 0.02, 0.5
    own = plan(fit, budget_fit=1.0).changed(due=due, due_fit_target=None)
    own = own.changed(
        choices=(
            block_choice("a", {"ff": 0.9 * fit}, {"ff": due}),
            block_choice("b", {"ff": 0.1 * fit, "sram": 0.0}, {"ff": 0.0, "sram": 0.0}),
        )
    )
    whole = sum(RAW.values())
    settings = SafetySettings(
        (claim,),
        spfm=1.0 - 1.5 * fit / whole,
        pmhf_fit=1.5 * fit,
        pmhf_covers="transient",
        due_fit=1.08 * due,
    )
    allowed = Allowed.by(own, whole, 1.0, settings, {"hang"})
    spread = planned_upsets(own, RAW, FIXED, 1, 0.95, allowed=allowed)
    few = planned_upsets(own, RAW, FIXED, 1, 0.95)
    assert spread.power >= POWER
    assert sum(few.by_storage.values()) < sum(spread.by_storage.values())
    kinds = {
        "spfm_transient": (spfm_row, Kind(claim, "share", True, settings.spfm), {"hang"}),
        "pmhf_share": (pmhf_row, Kind(claim, "FIT", False, settings.pmhf_fit), {"hang"}),
        "due_rate": (rate_row, Kind(claim, "FIT", False, settings.due_fit), {"due"}),
    }
    row, kind, outcomes = kinds[claim]
    met = 0
    for _ in range(200):
        groups = []
        for key, n in spread.by_storage.items():
            share = {("a", "ff"): 0.9 * fit, ("b", "ff"): 0.1 * fit}.get(key, 0.0)
            bad = int(rng.binomial(n, share))
            told = int(rng.binomial(n - bad, due / (1.0 - share))) if key == ("a", "ff") else 0
            groups.append(PooledGroup(*key, RAW[key], {"masked": n - bad - told, "hang": bad, "due": told}))
        met += row(kind, Evidence(tuple(groups), 0.95, 0.95), outcomes).state == "met"
    assert met >= 180


def test_limits_far_above_all_upsets_need_no_more_than_the_least():
    """The fault: the floor of a share went above 1, and the plan of the confirmation failed."""
    spread = spread_needed(
        [ExpectedStorage("a", "ff", 0.001, 0.1), ExpectedStorage("b", "ff", 0.002, 0.0)], 0.1, 0.95
    )
    assert sum(spread.by_storage.values()) == 2000
    assert spread.power == 1.0


def test_power_is_that_of_trials():
    rng = np.random.default_rng(4)
    storage = [
        ExpectedStorage("a", "ff", 1.0, 0.02),
        ExpectedStorage("b", "ff", 2.0, 0.001),
        ExpectedStorage("c", "ff", 0.1, 0.0, 300),
    ]
    found = spread_needed(storage, 0.034, 0.95, sizes=(3000,))
    shares = np.array([one.share for one in storage])
    weights = [one.fit_raw for one in storage]
    made = list(found.by_storage.values())
    draws = rng.binomial(made, shares, (1000, 3))
    met = [weighted_sum(events, made, weights, 0.95).hi <= 0.034 for events in draws]
    assert 0.3 < found.power < 0.999
    assert np.mean(met) == pytest.approx(found.power, abs=0.06)
    assert made[2] == 300


# As a set for 256 MACs predicted it: what is left in flip-flops, and redundant memories that weigh most.
LEFT = [
    ExpectedStorage("mac", "ff", 0.46, 0.0093),
    ExpectedStorage("others", "ff", 0.27, 0.0185),
    ExpectedStorage("redundant", "ff", 2.0, 0.0, 6000),
    ExpectedStorage("redundant", "sram", 8.84, 0.0, 3000),
]


@pytest.mark.parametrize("variation", [0.0, 0.4])
def test_power_is_that_of_trials_over_inputs_that_differ(variation):
    """The fault: sizes were planned for these inputs and judged for inputs like them: half were refused."""
    rng = np.random.default_rng(8)
    drawn = InputsLikeThese(32, variation)
    weights, shares = [own.fit_raw for own in LEFT], np.array([own.share for own in LEFT])
    powers = []
    for size in (2000, 8000):
        found = spread_needed(LEFT, 0.0272, 0.9875, (size,), drawn=drawn)
        counts = np.array([*found.by_storage.values()])
        met = []
        for _ in range(300):
            trials = rng.multinomial(counts, [1 / 32] * 32).T
            moved = rng.lognormal(-np.log1p(variation**2) / 2, np.sqrt(np.log1p(variation**2)), 32)
            events = rng.binomial(trials, np.minimum(1.0, moved[:, None] * shares))
            met.append(weighted_sum_over_inputs(events, trials, weights, 0.9875).interval.hi <= 0.0272)
        assert np.mean(met) == pytest.approx(found.power, abs=0.12)
        powers.append(found.power)
    assert powers[0] < 0.75
    assert powers[1] > 0.85
    assert spread_needed(LEFT, 0.0272, 0.9875, (2000,)).power > 0.9
    few, many = (spread_needed(LEFT, 0.0272, 0.9875, drawn=own) for own in (None, drawn))
    assert sum(few.by_storage.values()) < sum(many.by_storage.values())


def test_how_inputs_differ_is_taken_from_upsets_without_protection():
    def network(rates, trials=2000):
        bad = [round(rate * trials) for rate in rates]
        each = tuple({"hang": own, "masked": trials - own} for own in bad)
        counts = {name: sum(own[name] for own in each) for name in ("hang", "masked")}
        return Observed("n", (ObservedStratum(PooledGroup("a", "ff", 1.0, counts), inputs=each),), ())

    alike, unlike = network([0.02] * 8), network([0.01, 0.03] * 3)
    assert inputs_asked([alike], {"hang"}) == InputsLikeThese(8, 0.0)
    found = inputs_asked([alike, unlike], {"hang"})
    assert found is not None
    assert found.inputs == 6
    assert found.variation == pytest.approx(0.5, abs=0.1)
    # About these inputs, or about one.
    assert inputs_asked([Observed("n", BARE, ())], {"hang"}) is None
    assert inputs_asked([network([0.02])], {"hang"}) is None


@pytest.mark.parametrize("rate", [0.1, 0.0])
def test_where_all_storage_is_redundant_it_gets_its_least(rate):
    spread = spread_needed([ExpectedStorage("c", "sram", rate, 0.0, 9000)], 0.1 * rate, 0.95)
    assert spread.by_storage == ({("c", "sram"): 9000} if rate else {})


def test_redundant_storage_gets_as_many_as_its_rate_asks():
    """The fault: its own doubt, of the fewest, is more than the whole plan is allowed, whatever is spread."""
    storage = [ExpectedStorage("a", "ff", 1.0, 0.0002), ExpectedStorage("redundant", "sram", 9.0, 0.0, 3000)]
    spread = spread_needed(storage, 0.009, 0.95)
    assert spread.by_storage["redundant", "sram"] > 5000
    assert spread.power > POWER


def test_no_more_is_planned_than_there_are_faults():
    """The fault: a design whose run is soon over was refused, "12000 injections were given"."""
    faults = {("a", "ff"): 900, ("b", "ff"): 800, ("b", "sram"): 10**9, ("redundant", "ff"): 200}
    own = plan(0.03, spfm_target=0.99)
    own = own.changed(choices=(block_choice("a", {"ff": 0.027}), block_choice("b", {"ff": 0.003})))
    found = planned_upsets(own, RAW, FIXED, 2, 0.95, 8000, faults=faults)
    assert found.by_storage["a", "ff"] == 900
    assert found.by_storage["b", "ff"] <= 800
    assert found.by_storage["redundant", "ff"] == 200
    # What the rest can show is said.
    assert found.power < planned_upsets(own, RAW, FIXED, 2, 0.95, 8000).power
