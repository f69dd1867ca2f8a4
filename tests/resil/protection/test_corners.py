# SPDX-License-Identifier: Apache-2.0
"""Targets hold at every corner of the raw rates, and the corner that decides is named."""

from dataclasses import replace

import numpy as np
import pytest

from resil.protection.choose import choose
from resil.protection.confirm import confirmation
from resil.protection.corners import Corner
from resil.protection.effects import Effect, Mechanisms
from resil.protection.judge import judge, judge_over_corners
from resil.protection.observed import Observed, ObservedStratum
from resil.protection.options import load_options
from resil.protection.risks import HARMFUL
from resil.protection.targets import Targets
from resil.protection.texts import build_text, plan_text
from resil.protection.unit_plan import _network
from resil.record.protection_build import AREA_DIFFERS
from resil.stats.evidence import PooledGroup
from resil.stats.intervals import clopper_pearson
from tests.resil.protection.designs import design_of, network_of, rates_of, storage_of
from tests.resil.protection.plans import build, plan_of

OPTIONS = load_options().options
STORAGE = storage_of(
    [("u.u_a.x_q", 64, "ff", "a", "control"), ("u.mem", 64, "sram", "b", "memory")],
)
CORNERS = {
    "raw rates of flip-flops highest and SRAM lowest": Corner({"ff": 2.0, "sram": 0.5}),
    "raw rates of flip-flops lowest and SRAM highest": Corner({"ff": 0.5, "sram": 2.0}),
    "raw rates of flip-flops highest and SRAM highest": Corner({"ff": 2.0, "sram": 2.0}),
}


def network(seed=1, rate=0.3):
    rng = np.random.default_rng(seed)
    return replace(network_of(STORAGE, rates_of(STORAGE, rate), 20_000, rng), corners=CORNERS)


def test_rates_at_a_corner_are_those_of_its_raw_rates():
    own, design = network(), design_of(STORAGE)
    effects = [Effect()] * len(design.cells.bits)
    found = judge_over_corners(own, design.cells, lambda _: effects, Mechanisms())
    plain = judge(replace(own, corners={}), design.cells, effects, Mechanisms())
    assert (found.fit, found.spfm_lo) == (plain.fit, plain.spfm_lo)
    corner, worst = found.worst
    assert corner == "raw rates of flip-flops highest and SRAM highest"
    assert worst.fit.hi == pytest.approx(2.0 * plain.fit.hi)
    # Which part of the rate is that of dangerous storage decides the metric.
    assert found.least_spfm == min(at.spfm_lo for at in found.corners.values())


def test_a_budget_that_the_centre_alone_keeps_is_missed():
    """The fault: choices were made, and sets confirmed, at the centre of the raw rates alone."""
    own, design = network(), design_of(STORAGE)
    effects = [Effect()] * len(design.cells.bits)
    found = judge_over_corners(own, design.cells, lambda _: effects, Mechanisms())
    targets = Targets(budget_fit=1.5 * found.fit.hi)
    assert judge(own, design.cells, effects, Mechanisms()).missed(targets) == []
    (why,) = found.missed(targets)
    assert "(raw rates of flip-flops highest and SRAM highest)" in why
    assert not choose(design, [replace(own, corners={})], targets).needed
    chosen = choose(design, [own], targets)
    assert chosen.needed
    assert chosen.chosen is not None
    assert chosen.judged[0].worst[1].fit.hi <= targets.budget_fit


def test_where_nobody_reacts_only_what_is_corrected_helps():
    own, design = network(), design_of(STORAGE)
    bare, parity, triple = (
        judge(own, design.cells, effects, Mechanisms())
        for effects in (
            [Effect()] * len(design.cells.bits),
            *(
                [Effect.of(OPTIONS[name], kind, own.hazardous) for kind in design.cells.kind]
                for name in ("flop_parity", "flop_triplicate")
            ),
        )
    )
    assert parity.fit.estimate < 0.6 * bare.fit.estimate
    assert parity.unaided.estimate >= bare.unaided.estimate
    assert triple.unaided.estimate < 0.7 * bare.unaided.estimate


def confirmed(budget, corners):
    strata = (
        ObservedStratum(PooledGroup("cc", "ff", 8.0, {"masked": 9990, "hang": 10})),
        ObservedStratum(PooledGroup("redundant", "ff", 2.0, {"latent": 2700, "due": 300})),
    )
    plan = plan_of(fit=0.008, fit_hi=0.012, budget_fit=budget)
    bare = (ObservedStratum(PooledGroup("cc", "ff", 8.0, {"masked": 900, "hang": 100})),)
    observed = [Observed("other", strata, (), unprotected=bare)]
    return confirmation(plan, observed, {"hang", "sdc_critical"}, 0.95, corners)


def test_a_confirmation_holds_at_the_worst_corner():
    assert confirmed(0.02, {}).confirmed
    found = confirmed(0.02, CORNERS)
    assert not found.confirmed
    assert "raw rates of flip-flops highest and SRAM" in found.reasons[0]
    (row,) = found.networks
    assert row.corner_fit_hi == pytest.approx(2.0 * row.fit_hi)
    # What is detected counts where nobody reacts.
    assert row.unaided_hi > 0.2
    assert row.corner_unaided_hi == pytest.approx(2.0 * row.unaided_hi)
    assert confirmed(0.04, CORNERS).confirmed


SIZES = {"upsets of one bit alone": Corner(size=1), "upsets of 2 adjacent bits alone": Corner(size=2)}


def two_sizes(rate, share=0.2, injections=20_000):
    """A network of which upsets of two bits alone do harm; a tenth of these is cut at the end of a word."""
    rng = np.random.default_rng(5)
    plain = network_of(STORAGE, rates_of(STORAGE, 0.0), injections, rng)
    drawn = np.where(rng.random(injections) < share, 2, 1)
    flipped = np.where(rng.random(injections) < 0.1, 1, drawn)
    outcome = np.where((flipped == 2) & (rng.random(injections) < rate), HARMFUL, plain.outcome)
    return replace(
        plain, outcome=outcome, clusters=(1.0 - share, share), size=flipped, drawn=drawn, corners=SIZES
    )


def test_at_a_corner_of_sizes_all_upsets_have_that_size():
    own, design = two_sizes(0.5), design_of(STORAGE)
    found = judge_over_corners(own, design.cells, lambda _: [Effect()] * len(design.cells.bits), Mechanisms())
    raw = float(own.raw(design.cells).sum())
    one, two = (found.corners[name] for name in SIZES)
    assert one.fit.estimate == 0.0
    assert two.fit.estimate == pytest.approx(raw * 0.5 * 0.9, rel=0.05)
    assert found.fit.estimate == pytest.approx(0.2 * two.fit.estimate, rel=0.05)
    assert found.worst[0] == "upsets of 2 adjacent bits alone"


def test_a_code_that_misses_a_size_is_worth_nothing_at_its_corner():
    """The fault: parity was judged by a mixture of sizes of which it misses the fewest."""
    own, design = two_sizes(0.5), design_of(STORAGE)
    parity = OPTIONS["flop_parity"]

    def effects(network):
        kinds = design.cells.kind
        return [Effect.of(parity, kind, network.hazardous, network.clusters) for kind in kinds]

    found = judge_over_corners(own, design.cells, effects, Mechanisms())
    bare = judge_over_corners(own, design.cells, lambda _: [Effect()] * len(design.cells.bits), Mechanisms())
    two = found.corners["upsets of 2 adjacent bits alone"].fit
    assert parity.misses(2)
    in_parity = bare.corners["upsets of 2 adjacent bits alone"].fit.estimate
    assert two.estimate >= 0.95 * in_parity
    assert found.fit.estimate < 0.3 * two.estimate


def test_a_confirmation_holds_for_each_size_alone():
    """The fault: what of upsets the declared shares hide would be let through."""
    one = ObservedStratum(PooledGroup("cc", "ff", 8.0, {"masked": 9000}))
    two = ObservedStratum(PooledGroup("cc", "ff", 8.0, {"masked": 990, "hang": 10}))
    whole = PooledGroup("cc", "ff", 8.0, {"masked": 9990, "hang": 10})
    strata = (ObservedStratum(whole, of_size={1: one, 2: two}),)
    plan = plan_of(fit=0.008, fit_hi=0.012, budget_fit=0.02)
    bare = ObservedStratum(PooledGroup("cc", "ff", 8.0, {"masked": 900, "hang": 100}))
    observed = [Observed("other", strata, (), unprotected=(replace(bare, of_size={1: bare, 2: bare}),))]
    hazardous = {"hang", "sdc_critical"}
    assert confirmation(plan, observed, hazardous, 0.95, {}).confirmed
    found = confirmation(plan, observed, hazardous, 0.95, SIZES)
    assert not found.confirmed
    assert "2 adjacent bits alone" in found.reasons[0]
    (row,) = found.networks
    assert row.corner_fit_hi == pytest.approx(8.0 * clopper_pearson(10, 1000, 0.95).hi, rel=0.1)


def test_area_that_is_not_as_planned_is_named():
    plan = plan_of()
    record = build(plan)
    assert "AREA IS NOT AS PLANNED" not in build_text(record, "built")
    more = record.area_measured.changed(added=1.0 + 1.01 * AREA_DIFFERS, overhead=0.3)
    said = build_text(record.changed(area_measured=more), "built")
    assert "AREA IS NOT AS PLANNED: 1 GE measured, 1 planned for the same, +25%: by more than 25%" in said
    # A hundredth of the design more or less is no other choice.
    small = more.changed(overhead=0.001)
    assert "AREA IS NOT" not in build_text(record.changed(area_measured=small), "built")


def test_a_plan_says_which_corner_decides():
    own, design = network(), design_of(STORAGE)
    found = judge_over_corners(own, design.cells, lambda _: [Effect()] * len(design.cells.bits), Mechanisms())
    row = _network(found, Targets(budget_fit=1.0))
    text = plan_text(plan_of(networks=(row,)))
    assert "at the raw rates of flip-flops highest and SRAM highest at most" in text
    assert "unaided, with nobody to react to alarms, at most" in text
