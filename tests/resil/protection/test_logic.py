# SPDX-License-Identifier: Apache-2.0
"""Pulses in logic are in all that a choice has to keep: copies of blocks cover them, nothing else does."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resil.campaign.safety import SafetySettings
from resil.protection.basis import _require_alike
from resil.protection.choose import Chooser, choose
from resil.protection.confirm import confirmation
from resil.protection.corners import with_logic
from resil.protection.effects import Effect, Mechanisms
from resil.protection.items import NPU, Item, covered_logic
from resil.protection.judge import judge_with_logic
from resil.protection.logic import BlockLogic, LogicCover, PulseRates, block_logic, together
from resil.protection.observed import Observed, ObservedStratum
from resil.protection.options import ProtectionError, load_options
from resil.protection.risks import OUTCOME_KINDS
from resil.protection.targets import Targets
from resil.protection.unit_plan import _logic
from resil.record.logic_share import LogicShare
from resil.results.grounds import Grounds
from resil.results.logic_share import logic_shares
from resil.results.named_run import NamedRun
from resil.stats.evidence import Evidence, PooledGroup
from tests.resil.protection.designs import design_of, network_of, rates_of, storage_of
from tests.resil.protection.plans import plan_of
from tests.resil.protection.test_choose import stored

OPTIONS = load_options().options
BLOCKS = SimpleNamespace(blocks={"a": None, "b": None})
HAZARDOUS = ("sdc_critical", "hang")
STORAGE = storage_of(
    [("u.u_a.x_q", 64, "ff", "a", "control"), ("u.u_b.y_q", 64, "ff", "b", "control")],
)


def row(block, fit, faults="transient", highest=1.0):
    own = {"storage_fit": 1.0, "storage_lo": 0.5, "storage_hi": 2.0, "logic_fit": fit}
    share = dict.fromkeys(("share", "share_lo", "share_hi", "other_logic_fit", "other_share"))
    own |= {"logic_lo": 0.5 * fit, "logic_hi": 1.5 * fit, "logic_joint": 2.0 * fit, "logic_raw": 20.0 * fit}
    own |= {"logic_due": 3.0 * fit, "logic_due_joint": 5.0 * fit, "logic_lowest": 0.1}
    own |= {"logic_unaided": 4.0 * fit, "logic_unaided_joint": 6.0 * fit, "logic_highest": highest}
    return LogicShare(faults=faults, block=block, **own, **share)


def logic_of(blocks, whole=None, ends=(1.0, 1.0)):
    """Return logic from raw rate, FIT, its limit, detected FIT and its limit of each block."""
    rates = {name: PulseRates(*own) for name, own in blocks.items()}
    unaided = {n: PulseRates(r.raw, r.fit + r.due, r.fit_hi + r.due_hi) for n, r in rates.items()}
    both = [together(own.values()) for own in (rates, unaided)]
    if whole is not None:
        both[0] = replace(both[0], fit_hi=whole)
    return BlockLogic(rates, unaided, (both[0], both[1]), ends)


ROWS = (row("a", 1.0), row("b", 3.0), row("total", 4.0), row("a", 99.0, "permanent"))
LOGIC = logic_of({"a": (20.0, 1.0, 2.0), "b": (60.0, 3.0, 6.0)}, 7.0)


def test_a_run_says_what_is_in_logic_by_block():
    found = block_logic(SimpleNamespace(logic=ROWS))
    assert found.credited == {
        "a": PulseRates(20.0, 1.0, 2.0, 3.0, 5.0),
        "b": PulseRates(60.0, 3.0, 6.0, 9.0, 15.0),
    }
    assert found.unaided["b"] == PulseRates(60.0, 12.0, 18.0)
    assert found.whole == (PulseRates(80.0, 4.0, 8.0, 12.0, 20.0), PulseRates(80.0, 16.0, 24.0))
    high = block_logic(SimpleNamespace(logic=(row("a", 1.0, highest=3.0), row("total", 1.0, highest=3.0))))
    assert high.ends == (0.1, 3.0)
    assert block_logic(SimpleNamespace(logic=())) is None
    rows = (row("a", 1.0, "permanent"), row("total", 1.0, "permanent"))
    assert block_logic(SimpleNamespace(logic=rows)) is None


def covered(items, logic=LOGIC, hazardous=HAZARDOUS):
    return covered_logic(BLOCKS, items, SimpleNamespace(hazardous=hazardous, logic=logic, stuck=False))


def test_a_copy_of_a_block_covers_its_logic_and_no_other():
    found = covered([Item(OPTIONS["lockstep"], (0,), "b")])
    # 99 % of it, and of the copy, which is struck as well; each pulse in either may be reported.
    assert found == {"b": LogicCover(pytest.approx(0.01 * 2), 2.0, 0.0)}
    left = LOGIC.left(found)
    assert (left.raw, left.fit, left.fit_hi) == pytest.approx((80.0, 1.0 + 3.0 * 0.02, 2.0 + 6.0 * 0.02))
    assert (left.due, left.due_hi) == (120.0, 120.0)


def test_without_a_copy_the_limit_of_all_logic_holds():
    assert LOGIC.left({}).fit_hi == 7.0
    wide = replace(LOGIC, whole=(replace(LOGIC.whole[0], fit_hi=9.0), LOGIC.whole[1]))
    assert wide.left({}).fit_hi == 8.0


def test_a_copy_of_everything_covers_all_logic_but_what_lies_in_no_block():
    everything = [Item(OPTIONS["lockstep"], (0, 1), NPU)]
    assert LOGIC.left(covered(everything)).fit == pytest.approx(4.0 * 0.02)
    glue = logic_of({"a": (20.0, 1.0, 2.0), "(no block)": (5.0, 0.5, 1.0)})
    left = glue.left(covered(everything, glue))
    assert (left.fit, left.due) == (pytest.approx(1.0 * 0.02 + 0.5), 50.0)


@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in ("none", "lockstep")])
def test_what_guards_storage_is_credited_with_nothing(name):
    items = [Item(OPTIONS[name], (0,)), Item(OPTIONS[name], (1,), "b" if name == "flop_tmr" else "")]
    assert covered(items) == {}


def test_a_copy_that_does_not_protect_all_kinds_is_none():
    assert covered([Item(OPTIONS["duplicate"], (0,), "b")]) == {}


def test_what_makes_cells_upset_less_is_no_credit_for_logic():
    """The fault: a factor of storage's upset rate was taken off the pulses of a block that is copied."""
    hard = replace(OPTIONS["lockstep"], raw_factor=0.1)
    assert covered([Item(hard, (0,), "b")])["b"].residual == pytest.approx(0.02)


def test_a_watchdog_is_credited_with_no_pulse_and_may_report_each():
    own, _ = LOGIC.counted(flagged=True, watched=True)
    assert own["b"] == replace(LOGIC.credited["b"], due=3.0, due_hi=6.0)


def network(logic):
    rng = np.random.default_rng(3)
    return replace(network_of(STORAGE, rates_of(STORAGE, 0.1), 20_000, rng), logic=logic)


def test_a_block_is_copied_for_its_logic():
    """The fault: logic was stated beside a set that was chosen without it."""
    design = design_of(STORAGE)
    raw = float(network(None).raw(design.cells).sum())
    heavy = logic_of({"a": (raw, 0.01 * raw, 0.02 * raw), "b": (raw, 0.4 * raw, 0.5 * raw)})
    targets = Targets(budget_fit=0.3 * raw)
    plain, counted = (choose(design, [network(logic)], targets) for logic in (None, heavy))
    assert not plain.needed
    assert counted.needed
    assert counted.chosen is not None
    (copied,) = [item for item in counted.chosen.items if item.block]
    assert (copied.block, copied.option.name) == ("b", "lockstep")
    (judged,) = counted.judged
    assert judged.logic.fit_hi == pytest.approx(0.02 * raw + 0.5 * raw * 0.02)
    assert judged.most <= targets.budget_fit
    found = _logic(design, network(heavy), counted.chosen, judged)
    assert found.copied == ("b",)
    assert found.with_storage_hi <= targets.budget_fit
    assert "copies of b are credited" in found.text


def test_where_nothing_covers_logic_there_is_no_set():
    design = design_of(STORAGE, exclude=("lockstep",))
    raw = float(network(None).raw(design.cells).sum())
    heavy = logic_of({"b": (raw, 0.4 * raw, 0.5 * raw)})
    found = choose(design, [network(heavy)], Targets(budget_fit=0.3 * raw))
    assert found.chosen is None
    assert f"{0.5 * raw:.3g} of them in logic" in found.judged[0].missed(Targets(budget_fit=0.3 * raw))[0]


def test_a_metric_that_storage_alone_keeps_is_missed_with_logic():
    """The faults: SPFM, and detected failures, of a choice with logic were those of storage alone."""
    design = design_of(STORAGE)
    raw = float(network(None).raw(design.cells).sum())
    worse = logic_of(
        {"a": (raw, 0.3 * raw, 0.35 * raw), "b": (raw, 0.4 * raw, 0.5 * raw, 0.2 * raw, 0.3 * raw)}
    )
    targets = Targets(spfm=0.85)
    plain, counted = (choose(design, [network(logic)], targets) for logic in (None, worse))
    assert not plain.needed
    assert counted.needed
    assert counted.judged[0].spfm_lo >= 0.85
    (bare,) = choose(design, [network(worse)], Targets(budget_fit=9.0 * raw)).judged
    assert bare.spfm == pytest.approx(1.0 - (bare.fit.estimate + 0.7 * raw) / (3.0 * raw))
    assert bare.spfm_lo == pytest.approx(1.0 - (bare.fit.hi + 0.85 * raw) / (3.0 * raw))
    assert bare.due.estimate == pytest.approx(0.2 * raw)
    assert bare.due.hi == pytest.approx(0.3 * raw, abs=0.001 * raw)
    few = Targets(due_fit=0.25 * raw)
    assert [bool(judged.missed(few)) for judged in (plain.judged[0], bare)] == [False, True]


def test_much_logic_that_does_no_harm_lifts_no_metric_at_its_lowest_rate():
    """The fault: at the centre nearly all of the rate is logic that does nothing."""
    design, raw = design_of(STORAGE), 128e-4
    idle = logic_of({"a": (100.0 * raw, 0.0, 0.001 * raw)}, ends=(1e-4, 2.0))
    own = replace(network(idle), corners=with_logic({}, idle))
    targets = Targets(spfm=0.95)
    found = choose(design, [own], targets)
    assert set(own.corners) == {"raw rates of logic lowest", "raw rates of logic highest"}
    assert found.needed
    assert found.judged[0].least_spfm >= 0.95
    before = judge_with_logic(own, design.cells, [Effect()] * len(design.cells.bits), Mechanisms(), {})
    assert before.spfm_lo > 0.99


SMALL = storage_of(
    [
        ("u.u_a.x_q", 8, "ff", "a", "control"),
        ("u.u_b.z_q", 8, "ff", "b", "data"),
        ("u.u_b.mem", 64, "sram", "b", "memory"),
    ]
)
RAW = 80e-4


def least_by_force(design, own, rates, logic, targets, reserve):
    """Least area among all sets, storage and logic reckoned apart, bit by bit and block by block."""
    known = design.options.options
    groups = [None, *(o for o in known.values() if "group" in o.units)]
    memories = [None, *(o for o in known.values() if "memory" in o.units)]
    flags = [known["error_flag"], *([None] if targets.due_fit is not None else [])]
    best = np.inf
    for flag, dog, a, b in product(flags, [None, known["watchdog"]], *2 * ([None, known["lockstep"]],)):
        copied = {"a": a, "b": b}
        area = 0.0 if dog is None else dog.cells_area * 6.667
        area += sum(1.03 * design.blocks[name].area for name, o in copied.items() if o)
        menus = [
            [None] if copied[unit.block] else memories if unit.memory else groups for unit in design.units
        ]
        for options in product(*menus):
            more = 0.0
            for unit, option in zip(design.units, options, strict=True):
                if option is not None:
                    bits = dict(unit.bits)
                    more += 6.667 * option.ff_area * bits.get("ff", 0) if not unit.memory else 0.0
                    more += 0.66 * option.sram_area * bits.get("sram", 0) if unit.memory else 0.0
            if area + more >= best - 1e-9:
                continue
            if all(
                kept(design, rates, logic, targets, reserve, options, copied, flag, dog, f)
                for f in (1.0, *logic.ends)
            ):
                best = area + more
    return best


def kept(design, rates, logic, targets, reserve, options, copied, flag, dog, factor):
    """Whether a set keeps the targets at a raw rate of pulses; rates where that is highest alone."""
    own = SimpleNamespace(clusters=(1.0,))
    fit, raw, due = stored(design, own, rates, options, copied, flag, dog)
    pulses = most = reported = 0.0
    for block in logic.credited:
        found = logic.credited[block] if flag else logic.unaided[block]
        seen = found.due_hi + (found.fit_hi if dog else 0.0)
        pulses += factor * found.raw
        if copied[block]:
            most += factor * 0.01 * 2 * found.fit_hi
            reported += factor * 2 * found.raw
        else:
            most += factor * found.fit_hi
            reported += factor * seen
    if not any(copied.values()):
        whole = logic.whole[0 if flag else 1]
        most = min(most, factor * whole.fit_hi)
        reported = min(reported, factor * (whole.due_hi + (whole.fit_hi if dog else 0.0)))
    slack, high = 1e-12, factor == max(logic.ends)
    part = 1 - 0.3 * (1 - reserve)
    room = (1.0 - targets.spfm) * (raw + pulses) - most if targets.spfm is not None else np.inf
    return (
        (targets.budget_fit is None or not high or fit <= reserve * (targets.budget_fit - most) + slack)
        and fit <= reserve * room + slack
        and (targets.due_fit is None or not high or due <= part * (targets.due_fit - reported) + slack)
    )


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["spfm", "budget", "spfm and due", "budget and due", "budget and spfm"]),
    st.sampled_from([0.1, 0.3, 0.6, 0.9]),
    st.sampled_from([0.3, 1.0]),
)
def test_equals_brute_force_with_logic_in_all_targets(seed, asked, part, reserve):
    rng = np.random.default_rng(seed)
    design = design_of(SMALL, exclude=("flop_duplicate", "parity", "hardened_light"))
    size = len(design.cells.bits)
    rates = np.zeros((size, OUTCOME_KINDS))
    rates[:, 1:] = rng.random((size, 5)) * 10.0 ** rng.uniform(-2.5, -1, (size, 5))
    rates[:, 0] = 1.0 - rates.sum(axis=1)
    blocks = {}
    for block in ("a", "b"):
        raw = RAW * 10.0 ** rng.uniform(-1, 0.5)
        fit, due = raw * 10.0 ** rng.uniform(-2.5, -1, 2)
        blocks[block] = (raw, fit, 1.5 * fit, due, 1.5 * due)
    logic = logic_of(blocks, 1.1 * sum(own[1] for own in blocks.values()), ends=(0.05, 3.0))
    own = network_of(SMALL, rates_of(SMALL, 0.1), 10, rng)
    own = replace(own, logic=logic, corners=with_logic({}, logic))
    # A part of what there is without protection, of detected failures more: copies make them.
    fit = 1e-4 * float(np.array(design.cells.bits) @ rates[:, 1:3].sum(axis=1))
    pulses, there = logic.whole[0].raw, 3.0 * logic.whole[0].fit_hi
    targets = Targets(
        budget_fit=part * (fit + there) if "budget" in asked else None,
        spfm=1.0 - part * (fit + there) / (RAW + 3.0 * pulses) if "spfm" in asked else None,
        due_fit=6.0 * pulses * rng.random() + RAW if "due" in asked else None,
    )
    expected = least_by_force(design, own, rates, logic, targets, reserve)
    found = Chooser(design, [own], np.array([rates]), targets).least(reserve)
    if found is None:
        assert expected == np.inf
    elif any(item.block == NPU for item in found.items):
        assert found.area_added <= expected + 1e-6
    else:
        assert found.area_added == pytest.approx(expected, rel=1e-9, abs=1e-6)
        assert found.gap == pytest.approx(0.0, abs=1e-9)


def test_limits_of_logic_cover_though_the_blocks_that_are_left_were_chosen_by_them():
    """The fault: limits that hold one by one, summed over those blocks that came out best."""
    rng, wrong, runs, names = np.random.default_rng(4), [0, 0], 3000, [f"b{i}" for i in range(8)]
    true, pulses = 0.004, 2500
    found = rng.binomial(pulses, true, (runs, len(names)))
    shares = {
        int(n): {own.block: own for own in shares_of([(name, int(n)) for name in names], pulses)}["b0"]
        for n in np.unique(found)
    }
    for counts in found.tolist():
        # All blocks but the one with the lowest limit are copied, and leave nothing.
        best = shares[min(counts)]
        wrong[0] += true > best.logic_hi
        wrong[1] += true > best.logic_joint
    assert wrong[0] / runs > 0.05
    assert wrong[1] / runs < 0.025


def shares_of(blocks, pulses):
    """Return the logic of blocks of 1 FIT each, of which so many pulses were hazardous."""
    groups = tuple(PooledGroup(n, "logic", 1.0, {"masked": pulses - x, "hang": x}) for n, x in blocks)
    stored = tuple(PooledGroup(n, "ff", 1.0, {"masked": 10}) for n, _ in blocks)
    run = NamedRun(Evidence(groups), None, "pulses")
    both = Evidence((*stored, *groups))
    asked = SafetySettings(("spfm_transient",), spfm=0.9)
    own = Grounds(asked, frozenset({"hang"}), both, both, "upsets", "", "none", {}, logic=run)
    return logic_shares(own, [name for name, _ in blocks])


def test_a_choice_with_logic_is_right_as_often_as_it_says():
    """Sets chosen for an SPFM of storage and logic, each judged by the truth."""
    rng, wrong, chosen = np.random.default_rng(8), 0, 0
    design = design_of(STORAGE, exclude=("watchdog",))
    raw, target = 128e-4, 0.93
    harm = np.repeat([0.02, 0.05], 64)
    for _ in range(40):
        truth = {"a": 0.05, "b": 0.12}
        found = {n: int(rng.binomial(2000, p)) for n, p in truth.items()}
        made = shares_of(list(found.items()), 2000)
        logic = block_logic(SimpleNamespace(logic=made)).scaled(raw / 2)
        own = replace(network_of(STORAGE, rates_of(STORAGE, harm), 4000, rng), logic=logic)
        best = choose(design, [own], Targets(spfm=target)).chosen
        if best is None:
            continue
        chosen += 1
        effects = best.effects(design, own)
        stored = sum(1e-4 * effects[c].residual * harm[b] for b, c in enumerate(design.cells.of_bit))
        covers = covered_logic(design, best.items, own)
        left = sum(raw / 2 * p * covers.get(n, LogicCover()).residual for n, p in truth.items())
        wrong += 1.0 - (stored + left) / (2.0 * raw) < target
    assert chosen >= 30
    assert wrong <= 3


def test_a_set_that_was_chosen_with_logic_is_confirmed_by_pulses_in_what_was_built():
    """The fault: upsets alone confirmed it, beside the limit of logic that the plan had."""
    strata = (ObservedStratum(PooledGroup("cc", "ff", 8.0, {"masked": 9990, "hang": 10})),)
    bare = (ObservedStratum(PooledGroup("cc", "ff", 8.0, {"masked": 900, "hang": 100})),)
    names = ("fit_before", "fit_hi_before", "raw", "fit", "due", "due_hi", "with_storage", "with_storage_hi")
    left = {**dict.fromkeys(names, 0.01), "fit_hi": 0.01, "copied": (), "lowest": 0.1, "highest": 4.0}
    plan = plan_of(fit=0.008, fit_hi=0.012, budget_fit=0.03, logic=left)

    def found(logic, **asked):
        observed = [Observed("other", strata, (), unprotected=bare, logic=logic)]
        return confirmation(plan.changed(**asked), observed, set(HAZARDOUS), 0.95, {})

    few, many = (logic_of({"cc": (1.0, own / 2, own)}, ends=(0.1, 4.0)) for own in (0.001, 0.02))
    nothing = found(None)
    assert not nothing.confirmed
    assert "no pulses in logic were injected" in nothing.reasons[0]
    assert found(few).confirmed
    assert found(few).networks[0].logic_fit_hi == pytest.approx(0.004)
    assert found(few).networks[0].corner == "raw rates of logic highest"
    assert not found(many).confirmed
    # Detected failures, and SPFM at either end of the raw rates of logic.
    reported = logic_of({"cc": (1.0, 0.0, 0.001, 0.1, 0.2)}, ends=(0.1, 4.0))
    assert found(reported, due_fit_target=0.9).confirmed
    assert not found(reported, due_fit_target=0.7).confirmed
    idle = logic_of({"cc": (100.0, 0.0, 0.001)}, ends=(0.001, 4.0))
    assert found(idle, spfm_target=0.99).networks[0].spfm_lo > 0.999
    assert not found(idle, spfm_target=0.999).confirmed


def test_runs_of_which_one_knows_logic_are_not_chosen_for_together():
    """The fault: one network keeps the budget with its logic, the other without, and nothing says so."""
    facts = SimpleNamespace(
        target=SimpleNamespace(name="t", parameters={}),
        campaign=SimpleNamespace(kinds=[], hazardous=[], clusters=[], confidence=0.95, timeout="inference"),
        technology=SimpleNamespace(entries=()),
        total=SimpleNamespace(area_unit="GE"),
    )
    one, two = (
        SimpleNamespace(path=Path(name), summary=SimpleNamespace(**vars(facts), logic=rows))
        for name, rows in (("one", ROWS), ("two", ()))
    )
    _require_alike([one, one])
    with pytest.raises(ProtectionError, match="pulses in logic: none in two, named in one"):
        _require_alike([one, two])
