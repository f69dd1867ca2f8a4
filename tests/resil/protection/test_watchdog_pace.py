# SPDX-License-Identifier: Apache-2.0
"""A watchdog is credited only where it detects hangs in time, and with nothing that goes on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from resil.protection.basis import outcome_kinds
from resil.protection.choose import choose
from resil.protection.confirm import confirmation
from resil.protection.effects import Effect, Mechanisms
from resil.protection.groups_to_build import groups_of, watchdog_of
from resil.protection.judge import judge
from resil.protection.observed import Hangs, Observed, ObservedStratum
from resil.protection.options import ProtectionError, load_options
from resil.protection.risks import HANG, HARMFUL
from resil.protection.targets import Targets
from resil.protection.unit_plan import Origin, unit_plan
from resil.protection.units import Granularity
from resil.protection.watchdog_pace import WatchdogPace, watchdog_limit
from resil.record.protection_parts import ChoosingRun
from resil.stats.evidence import PooledGroup
from testkit.errors import about
from tests.resil.protection.designs import PACE, SUMMARY, design_of, network_of, rates_of, storage_of
from tests.resil.protection.plans import plan_of, watchdog

STORAGE = storage_of([("u.a_q", 24, "ff", "a", "control")])
RATES = rates_of(STORAGE, 0.0, hang=0.2)
DOG = load_options().options["watchdog"]


@pytest.mark.parametrize(
    ("pace", "limit", "detects"),
    [
        (WatchdogPace(100, 1000, 2000), 150, True),
        # Alarm and time-out fall together, or the time-out comes first.
        (WatchdogPace(100, 1000, 2000), 997, True),
        (WatchdogPace(100, 1000, 2000), 998, False),
        (WatchdogPace(100, 1000, 2000), 5000, False),
        # A false alarm helps nobody.
        (WatchdogPace(150, 1000, 2000), 150, False),
        # Each operation has a time-out of the host.
        (WatchdogPace(100, 1000, 2000, 200), 150, True),
        (WatchdogPace(100, 1000, 2000, 200), 198, False),
    ],
)
def test_when_it_detects(pace, limit, detects):
    assert pace.detects(limit) is detects


def test_the_limit_lets_the_longest_through():
    assert watchdog_limit([10], 1.0) == 11
    assert watchdog_limit([10, 300], 1.5) == 450


@pytest.mark.parametrize(
    ("pace", "helps"), [(PACE, True), (replace(PACE, allowed=1100), False), (None, False)]
)
def test_hangs_count_unless_it_detects_them_in_time(pace, helps):
    network = network_of(STORAGE, RATES, 2000, np.random.default_rng(1), pace=pace)
    design = design_of(STORAGE)
    dog = Mechanisms(DOG, None, 150)
    found = [
        judge(network, design.cells, [Effect()] * len(design.cells.bits), own) for own in (Mechanisms(), dog)
    ]
    assert (found[1].fit.hi < 0.2 * found[0].fit.hi) is helps
    if not helps:
        assert found[1].fit == found[0].fit
        assert found[1].due == found[0].due


@pytest.mark.parametrize("limit", [150, None, 1500])
def test_it_is_chosen_only_where_it_helps(limit):
    exclude = ("hardened_light", "hardened_leap_dice", "flop_parity", "flop_duplicate", "flop_triplicate")
    design = design_of(STORAGE, exclude=(*exclude, "lockstep"), buildable=True, limit=limit)
    network = network_of(STORAGE, RATES, 4000, np.random.default_rng(2))
    targets = Targets(fit_share=0.5)
    choice = choose(design, [network], targets)
    origin = Origin("made", (ChoosingRun(run="made", summary="", injections=4000),))
    plan = unit_plan(design, [network], targets, choice, Granularity.GROUP, [SUMMARY], origin)[0]
    if limit == 150:
        assert choice.chosen.mechanisms.watchdog == DOG
        own = next(own for own in plan.mechanisms if own.option == "watchdog")
        assert (own.limit, own.watched) == (150, ("made",))
        assert groups_of(plan, design.options, {}) == []
        assert watchdog_of(plan, design.options).limit == 150
        assert any("waits 150 cycles" in text for text in plan.assumptions)
    else:
        assert choice.chosen is None
        why = "not offered" if limit is None else "only after the time-out: it counts for nothing"
        assert any(why in text for text in plan.assumptions)


def test_a_watchdog_without_rtl_is_refused():
    options = load_options()
    options.options["watchdog"] = replace(DOG, builds="")
    plan = plan_of(mechanisms=(watchdog(5),))
    with pytest.raises(ProtectionError, check=about("watchdog")):
        watchdog_of(plan, options)
    assert watchdog_of(plan_of(), options) is None


def test_hangs_that_go_on_are_no_hangs_to_a_watchdog():
    names = np.array(["hang", "hang", "sdc_critical"])
    kinds = outcome_kinds(names, names, ("hang", "sdc_critical"), np.array([True, False, True]))
    assert kinds.tolist() == [HARMFUL, HANG, HARMFUL]


@pytest.mark.parametrize(
    ("reported", "promised", "confirmed"), [(40, 0.97, True), (30, 0.97, False), (0, 0.0, True)]
)
def test_a_watchdog_that_does_not_detect_is_not_confirmed(reported, promised, confirmed):
    counts = {"masked": 5000 - 40 + reported, "hang": 40 - reported}
    strata = (ObservedStratum(PooledGroup("a", "ff", 1.0, counts)),)
    bare = (ObservedStratum(PooledGroup("a", "ff", 100.0, {"hang": 1000})),)
    observed = Observed("other", strata, (), None, Hangs(40, reported, promised), unprotected=bare)
    plan = plan_of(fit=(40 - reported) / 5000, spfm=0.99, spfm_lo=0.9)
    found = confirmation(plan, [observed], {"hang"}, 0.95)
    assert found.confirmed is confirmed, found.reasons
    assert found.networks[0].hangs_reported == reported
