# SPDX-License-Identifier: Apache-2.0
"""Permanent faults, of storage and of logic, in what a choice has to keep."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resil.protection.assumptions import assumptions
from resil.protection.choose import Chooser, choose, judged_on
from resil.protection.confirm import confirmation
from resil.protection.corners import Corner, with_logic
from resil.protection.effects import Effect
from resil.protection.items import NPU, Item, covered_logic, what_is_left
from resil.protection.observed import Observed, ObservedStratum, PermanentLimits, permanent_limits
from resil.protection.options import ProtectionError, load_options
from resil.protection.permanent import require_permanent
from resil.protection.risks import OUTCOME_KINDS
from resil.protection.targets import Targets, joined, limits_of
from resil.protection.unit_plan import _network
from resil.protection.units import Granularity
from resil.record.protection_parts import NOT_PERMANENT
from resil.record.provenance import ESTIMATE
from resil.stats.evidence import PooledGroup
from testkit.campaigns import TEXT
from tests.resil.protection.designs import SUMMARY, design_of, network_of, rates_of
from tests.resil.protection.plans import judged, plan_of
from tests.resil.protection.test_choose import stored
from tests.resil.protection.test_logic import BLOCKS, HAZARDOUS, OPTIONS, SMALL, STORAGE, logic_of

COVERING = ("duplicate", "triplicate", "parity", "secded", "flop_parity", "flop_duplicate", "lockstep")
BASE = 2e-5


def stuck_of(storage, rates, injections, rng, logic=None, corners=None):
    """Return the permanent faults of a network, of which the options know no pace."""
    own = network_of(storage, rates, injections, rng, fit=BASE, pace=None)
    return replace(own, stuck=True, logic=logic, corners=with_logic(corners or {}, logic))


@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in ("none", "watchdog", "error_flag")])
def test_an_option_is_credited_for_stuck_bits_only_if_it_is_declared_for_them(name):
    """The fault: cells that upset less, or a repetition later, were credited for bits that are stuck."""
    option = OPTIONS[name]
    for kind in option.protects:
        upset, stuck = (Effect.of(option, kind, HAZARDOUS, permanent=own) for own in (False, True))
        if name in (*COVERING, "flop_triplicate"):
            assert stuck.residual == upset.residual < 1.0
        else:
            assert stuck == Effect()
        assert stuck.raw == 1.0
        assert Effect.of(replace(option, permanent=False), kind, HAZARDOUS, permanent=True) == Effect()


def test_a_copy_that_upsets_less_gets_stuck_as_often():
    hard = replace(OPTIONS["lockstep"], raw_factor=0.1, raw_factor_low=0.05, raw_factor_high=0.2)
    assert Effect.of(hard, "ff", HAZARDOUS, permanent=True) == Effect.of(OPTIONS["lockstep"], "ff", HAZARDOUS)


def covered(items, stuck=True):
    logic = logic_of({"a": (20.0, 1.0, 2.0), "b": (60.0, 3.0, 6.0)})
    return covered_logic(BLOCKS, items, SimpleNamespace(hazardous=HAZARDOUS, logic=logic, stuck=stuck))


@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in ("none", "lockstep")])
def test_what_guards_storage_is_credited_with_no_permanent_fault_of_logic(name):
    assert (
        covered([Item(OPTIONS[name], (0,)), Item(OPTIONS[name], (1,), "b" if name == "flop_tmr" else "")])
        == {}
    )


def test_a_copy_of_a_block_is_credited_for_its_logic_if_it_is_declared_for_permanent_faults():
    copy = Item(OPTIONS["lockstep"], (0,), "b")
    assert covered([copy])["b"].residual == pytest.approx(0.02)
    later = replace(copy, option=replace(OPTIONS["lockstep"], permanent=False))
    assert covered([later]) == {}
    assert covered([later], stuck=False)["b"].residual == pytest.approx(0.02)


def test_options_say_in_words_what_they_are_declared_for(tmp_path):
    file = tmp_path / "own.toml"
    text = (
        '[[option]]\nname = "twice"\ntitle = "t"\nprotects = ["ff"]\nff_area = 1\nraw_factor = 1\n'
        'coverage = 0.9\nturns_into = "due"\nunits = ["group"]\nstatus = "assumed"\nsource = "s"\n'
    )
    file.write_text(text)
    assert not load_options(file).options["twice"].permanent
    file.write_text(f"{text}permanent = true\n")
    assert load_options(file).options["twice"].permanent
    file.write_text(f"{text}permanent = 1\n")
    with pytest.raises(ProtectionError, match="permanent needs to be true or false, found 1"):
        load_options(file)


def test_a_watchdog_is_credited_with_no_permanent_hang():
    """The fault: a hang of a bit that is stuck counted as reported before the time-out."""
    design = design_of(STORAGE)
    own = stuck_of(STORAGE, rates_of(STORAGE, 0.0, hang=0.5), 2000, np.random.default_rng(1))
    (dog,) = [m for m in design.mechanisms() if m.watchdog is not None and m.error_flag is not None]
    risks = np.tile(rates_of(STORAGE, 0.0, hang=0.5)[0], (len(design.cells.bits), 1))
    left = what_is_left(design, [Item(None, (n,)) for n in range(len(design.units))], own, risks, dog)
    assert left.fit.sum() == pytest.approx(0.5 * BASE * len(STORAGE))


def least_by_force(design, upset, rates, stuck, bits, logic, targets, reserve):
    """Least area among all sets: stuck bits reckoned bit by bit, pins block by block."""
    known = design.options.options
    groups = [None, *(o for o in known.values() if "group" in o.units)]
    memories = [None, *(o for o in known.values() if "memory" in o.units)]
    best, plain = np.inf, SimpleNamespace(clusters=(1.0,))
    for dog, a, b in product([None, known["watchdog"]], *2 * ([None, known["lockstep"]],)):
        copied = {"a": a, "b": b}
        area = 0.0 if dog is None else dog.cells_area * 6.667
        area += sum(1.03 * design.blocks[name].area for name, o in copied.items() if o)
        menus = [[None] if copied[u.block] else memories if u.memory else groups for u in design.units]
        for options in product(*menus):
            more = 0.0
            for unit, option in zip(design.units, options, strict=True):
                if option is not None:
                    own = dict(unit.bits)
                    more += 6.667 * option.ff_area * own.get("ff", 0) if not unit.memory else 0.0
                    more += 0.66 * option.sram_area * own.get("sram", 0) if unit.memory else 0.0
            if area + more >= best - 1e-9:
                continue
            fit, _, _ = stored(design, plain, rates, options, copied, known["error_flag"], dog)
            if targets.budget_fit is not None and fit > reserve * targets.budget_fit + 1e-12:
                continue
            if all(
                kept(design, bits, logic, targets, reserve, options, copied, own) for own in stuck.corners
            ):
                best = area + more
    return best


def kept(design, bits, logic, targets, reserve, options, copied, corner):
    """Whether a set keeps the limits of permanent faults at a corner: rates where they are highest alone."""
    of_bits, of_pins = (
        {"lowest": 0.2, "highest": 3.0}[end] for end in (corner.split()[0], corner.split()[-1])
    )
    fit = raw = 0.0
    for unit, own in zip(design.units, options, strict=True):
        option = copied[unit.block] or own
        for cell in unit.cells:
            rate = of_bits * BASE * design.cells.bits[cell]
            _, harm, hang, *_ = bits[cell]
            covers = option is not None and not option.name.startswith("hardened")
            left = (
                1.0
                if not covers
                else (1.0 - (option.coverage if option.coverage_low is None else option.coverage_low))
                * (1.0 + option.added_bits)
            )
            fit, raw = fit + rate * (harm + hang) * left, raw + rate
    pins = sum(
        of_pins * own.fit_hi * (0.02 if copied[block] else 1.0) for block, own in logic.credited.items()
    )
    if not any(copied.values()):
        pins = min(pins, of_pins * logic.whole[0].fit_hi)
    raw += of_pins * sum(own.raw for own in logic.credited.values())
    highest = of_bits == of_pins == 3.0
    asked = targets.permanent_fit
    if asked is not None and highest and fit > reserve * (asked - pins) + 1e-12:
        return False
    return (
        targets.permanent_spfm is None
        or fit <= reserve * ((1.0 - targets.permanent_spfm) * raw - pins) + 1e-12
    )


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["fit", "spfm", "both", "upsets and fit", "upsets and spfm"]),
    st.sampled_from([0.05, 0.1, 0.3, 0.6, 0.9]),
    st.sampled_from([0.3, 1.0]),
)
def test_equals_brute_force_with_permanent_faults_in_the_targets(seed, asked, part, reserve):
    rng = np.random.default_rng(seed)
    design = design_of(SMALL, exclude=("flop_duplicate", "parity"))
    size = len(design.cells.bits)
    both = []
    for _ in range(2):
        rates = np.zeros((size, OUTCOME_KINDS))
        rates[:, 1:] = rng.random((size, 5)) * 10.0 ** rng.uniform(-2.5, -1, (size, 5))
        rates[:, 0] = 1.0 - rates.sum(axis=1)
        both.append(rates)
    blocks = {}
    for block in ("a", "b"):
        raw = 80 * BASE * 10.0 ** rng.uniform(-1, 0.5)
        fit, due = raw * 10.0 ** rng.uniform(-2.5, -1, 2)
        blocks[block] = (raw, fit, 1.5 * fit, due, 1.5 * due)
    logic = logic_of(blocks, 1.1 * sum(own[1] for own in blocks.values()), ends=(0.2, 3.0))
    kinds = ("ff", "sram")
    corners = {
        f"{end} bits": Corner(dict.fromkeys(kinds, f)) for end, f in (("lowest", 0.2), ("highest", 3.0))
    }
    stuck = stuck_of(SMALL, rates_of(SMALL, 0.1), 10, rng, logic, corners)
    upset = replace(network_of(SMALL, rates_of(SMALL, 0.1), 10, rng), permanent=stuck)
    cells = np.array(design.cells.bits)
    there = 3.0 * (BASE * float(cells @ both[1][:, 1:3].sum(axis=1)) + logic.whole[0].fit_hi)
    whole = 3.0 * (BASE * float(cells.sum()) + logic.whole[0].raw)
    targets = Targets(
        budget_fit=part * 1e-4 * float(cells @ both[0][:, 1:3].sum(axis=1)) if "upsets" in asked else None,
        permanent_fit=part * there if "fit" in asked or asked == "both" else None,
        permanent_spfm=1.0 - part * there / whole if "spfm" in asked or asked == "both" else None,
    )
    expected = least_by_force(design, upset, both[0], stuck, both[1], logic, targets, reserve)
    found = Chooser(design, [upset], np.array([both[0]]), targets, np.array([both[1]])).least(reserve)
    if found is None:
        assert expected == np.inf
    elif any(item.block == NPU for item in found.items):
        assert found.area_added <= expected + 1e-6
    else:
        assert found.area_added == pytest.approx(expected, rel=1e-9, abs=1e-6)
        assert found.gap == pytest.approx(0.0, abs=1e-9)


def made(harm, logic=None, injections=20_000, seed=3):
    rng = np.random.default_rng(seed)
    stuck = stuck_of(STORAGE, rates_of(STORAGE, harm), injections, rng, logic)
    return replace(network_of(STORAGE, rates_of(STORAGE, 0.001), 20_000, rng), permanent=stuck)


def test_a_set_is_chosen_against_stuck_bits_that_upsets_alone_would_let_through():
    """The fault: the claimed SPFM of permanent faults was no limit of the choice."""
    design = design_of(STORAGE)
    own = made(0.5)
    assert not choose(design, [own], Targets(budget_fit=1.0)).needed
    found = choose(design, [own], Targets(budget_fit=1.0, permanent_spfm=0.9))
    assert found.needed
    assert found.chosen is not None
    (after,) = found.judged
    assert after.permanent.least_spfm >= 0.9
    assert {item.option.name for item in found.chosen.items if item.option} <= {*COVERING, "flop_triplicate"}
    row = _network(after, Targets(permanent_spfm=0.9), ()).permanent
    assert row.fit_hi <= 0.1 * BASE * 128 < row.fit_before
    assert "no run of stuck pins was named" in row.text


def test_a_block_is_copied_for_the_permanent_faults_of_its_logic():
    """The fault: parity on registers would have been credited for the gates before them."""
    design = design_of(STORAGE)
    base = BASE * 128
    heavy = logic_of({"a": (base, 0.01 * base, 0.02 * base), "b": (base, 0.5 * base, 0.6 * base)})
    found = choose(design, [made(0.01, heavy)], Targets(permanent_fit=0.3 * base))
    assert [(item.block, item.option.name) for item in found.chosen.items if item.option] == [
        ("b", "lockstep")
    ]
    bare = design_of(STORAGE, exclude=("lockstep",))
    none = choose(bare, [made(0.01, heavy)], Targets(permanent_fit=0.3 * base))
    assert none.chosen is None
    assert "of permanent faults" in none.judged[0].missed(Targets(permanent_fit=0.3 * base))[0]


def test_a_limit_of_permanent_faults_of_which_nothing_is_known_is_missed():
    design = design_of(STORAGE)
    alone = replace(made(0.5), permanent=None)
    found = choose(design, [alone], Targets(permanent_spfm=0.1))
    assert found.chosen is None
    assert "permanent faults not known" in found.judged[0].missed(Targets(permanent_spfm=0.1))[0]


def test_halves_of_permanent_faults_are_apart_too():
    """The fault: the same stuck bits chose and judged."""
    one, other = made(0.5).halves()
    assert not set(one.permanent.number) & set(other.permanent.number)
    assert len(one.permanent.bit) + len(other.permanent.bit) == 20_000
    assert one.permanent.stuck


def test_a_choice_with_permanent_faults_is_right_as_often_as_it_says():
    """Sets chosen for an SPFM of stuck bits, each judged by the truth."""
    design = design_of(STORAGE, exclude=("watchdog",))
    harm, target = np.repeat([0.02, 0.3], 64), 0.92
    wrong = chosen = 0
    for seed in range(40):
        best = choose(design, [made(harm, injections=3000, seed=seed)], Targets(permanent_spfm=target)).chosen
        if best is None:
            continue
        chosen += 1
        effects = best.effects(design, SimpleNamespace(hazardous=HAZARDOUS, clusters=(1.0,), stuck=True))
        left = sum(effects[c].residual * harm[b] for b, c in enumerate(design.cells.of_bit))
        wrong += 1.0 - left / 128 < target
    assert chosen >= 30
    assert wrong <= 3


def test_a_plan_says_that_it_was_not_chosen_against_permanent_faults():
    """The fault: a plan beside runs of stuck pins looked as if it kept what they say."""
    design = design_of(STORAGE)
    alone = replace(made(0.5), permanent=None)
    assert any(NOT_PERMANENT in text for text in assumptions(design, [alone], Granularity.GROUP, SUMMARY))
    (said,) = [t for t in assumptions(design, [made(0.5)], Granularity.GROUP, SUMMARY) if "permanent" in t]
    assert NOT_PERMANENT not in said
    assert "none of these figures" in said
    assert plan_of().permanent_text == NOT_PERMANENT
    bare = choose(design, [made(0.001)], Targets(permanent_spfm=0.5))
    row = _network(bare.judged[0], Targets(permanent_spfm=0.5))
    assert row.permanent is not None
    assert "permanent faults:" in plan_of(networks=(row,), permanent_spfm_target=0.5).permanent_text
    assert judged(1.0).permanent is None


def test_a_limit_of_permanent_faults_is_refused_unless_new_injections_keep_it():
    """The fault: a set that was chosen against permanent faults was confirmed by upsets alone."""
    strata = (ObservedStratum(PooledGroup("cc", "ff", 8.0, {"masked": 9990, "hang": 10})),)
    bare = (ObservedStratum(PooledGroup("cc", "ff", 8.0, {"masked": 900, "hang": 100})),)
    plan = plan_of(fit=0.008, fit_hi=0.012, budget_fit=0.03)

    def reasons(limits, **asked):
        observed = [Observed("other", strata, (), unprotected=bare, permanent=limits)]
        return confirmation(plan.changed(**asked), observed, set(HAZARDOUS), 0.95, {}).reasons

    good, bad = PermanentLimits(0.1, 0.95), PermanentLimits(0.3, 0.85)
    asked = {"permanent_fit_target": 0.2, "permanent_spfm_target": 0.9}
    assert reasons(None) == reasons(bad) == ()
    assert reasons(good, **asked) == ()
    assert "nothing is known of permanent faults" in reasons(None, **asked)[0]
    fit, spfm = reasons(bad, **asked)
    assert "at most 0.3 FIT of permanent faults, asked: 0.2" in fit
    assert "SPFM of permanent faults of at least 85.000%, asked: 90.000%" in spfm


def test_limits_of_permanent_faults_are_those_of_the_worst_base_rates():
    def rows(spfm, single, residual):
        found = {"spfm_permanent": (spfm, 1.0), "single_point_permanent": (0.0, single)}
        found |= {"residual_permanent": (0.0, residual)}
        return tuple(SimpleNamespace(name=name, lo=lo, hi=hi) for name, (lo, hi) in found.items())

    def of(*variations, centre=(0.95, 0.1, 0.0)):
        again = [SimpleNamespace(title=title, rows=rows(*own)) for title, own in variations]
        return permanent_limits(
            SimpleNamespace(safety=SimpleNamespace(rows=rows(*centre), sensitivity=again))
        )

    high, low = ("base rates of permanent faults highest", "base rates of permanent faults lowest")
    assert of() == PermanentLimits(0.1, 0.95)
    assert of((high, (0.93, 0.4, 0.2)), (low, (0.9, 0.01, 0.0))) == PermanentLimits(pytest.approx(0.6), 0.9)
    assert of(("detection not credited", (0.1, 9.0, 9.0))) == PermanentLimits(0.1, 0.95)
    assert of((high, (None, None, None))) is None
    assert permanent_limits(SimpleNamespace(safety=None)) is None


def test_an_estimate_of_a_campaign_that_claims_permanent_faults_says_what_to_waive(tmp_path):
    """The fault: the refusal was of an estimate where a run was expected, and named no way out."""
    (tmp_path / "campaign.toml").write_text(TEXT)
    found = SimpleNamespace(path=tmp_path, kind=ESTIMATE, summary=SimpleNamespace(safety=None))
    with pytest.raises(ProtectionError, match=r"found an estimate.*--waive spfm_permanent"):
        require_permanent([found])


def test_what_a_campaign_claims_of_permanent_faults_is_a_limit_unless_it_is_waived():
    safety = SimpleNamespace(claims=("spfm_permanent",), spfm=0.99, due_fit=None)
    limits = limits_of(0.1, safety, HAZARDOUS)
    assert limits == {"budget": 0.1, "spfm": None, "due": None, "spfm_permanent": 0.99}
    assert joined(Targets(), limits).permanent_spfm == 0.99
    laxer = joined(Targets(permanent_spfm=0.9), limits)
    assert laxer.permanent_spfm == 0.9
    assert "0.9 in place of the campaign's SPFM of permanent faults of at least 0.99" in laxer.waived[0]
    assert joined(Targets(waive=("spfm_permanent",)), limits).permanent_spfm is None


def test_a_set_is_judged_at_the_corners_of_the_base_rates():
    design = design_of(STORAGE)
    logic = logic_of({"a": (1.0, 0.1, 0.2)}, ends=(0.5, 2.0))
    rng = np.random.default_rng(5)
    own = stuck_of(
        STORAGE, rates_of(STORAGE, 0.1), 2000, rng, logic, {"base rates highest": Corner({"ff": 3.0})}
    )
    upset = replace(network_of(STORAGE, rates_of(STORAGE, 0.1), 2000, rng), permanent=own)
    plain = choose(design, [upset], Targets(budget_fit=9.0)).chosen
    found = judged_on(design, upset, plain).permanent
    corner, worst = found.worst
    assert corner == "base rates highest and logic highest"
    assert worst.most == pytest.approx(3.0 * found.fit.hi + 2.0 * found.logic.fit_hi)
    assert found.missed(Targets(budget_fit=found.most * 1.01)) != []
