# SPDX-License-Identifier: Apache-2.0
"""Pulses in logic are in the budget of a choice: copies of blocks cover them, nothing else does."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from resil.protection.choose import choose
from resil.protection.confirm import confirmation
from resil.protection.items import NPU, Item, covered_logic
from resil.protection.logic import BlockLogic, block_logic
from resil.protection.observed import Observed, ObservedStratum
from resil.protection.options import load_options
from resil.protection.targets import Targets
from resil.protection.unit_plan import _logic
from resil.record.logic_share import LogicShare
from resil.stats.evidence import PooledGroup
from tests.resil.protection.designs import design_of, network_of, rates_of, storage_of
from tests.resil.protection.plans import plan_of

OPTIONS = load_options().options
BLOCKS = SimpleNamespace(blocks={"a": None, "b": None})
HAZARDOUS = ("sdc_critical", "hang")
STORAGE = storage_of(
    [("u.u_a.x_q", 64, "ff", "a", "control"), ("u.u_b.y_q", 64, "ff", "b", "control")],
)


def row(block, fit, faults="transient", highest=1.0):
    own = {"storage_fit": 1.0, "storage_lo": 0.5, "storage_hi": 2.0, "logic_fit": fit}
    share = dict.fromkeys(("share", "share_lo", "share_hi", "other_logic_fit", "other_share"))
    own |= {"logic_lo": 0.5 * fit, "logic_hi": 2.0 * fit, "logic_highest": highest}
    return LogicShare(faults=faults, block=block, **own, **share)


ROWS = (row("a", 1.0), row("b", 3.0), row("total", 4.0), row("a", 99.0, "permanent"))
LOGIC = BlockLogic({"a": 1.0, "b": 3.0}, {"a": 2.0, "b": 6.0}, (4.0, 7.0))


def test_a_run_says_what_is_in_logic_by_block():
    assert block_logic(SimpleNamespace(logic=ROWS)) == replace(LOGIC, whole=(4.0, 8.0))
    high = block_logic(SimpleNamespace(logic=(row("a", 1.0, highest=3.0), row("total", 1.0, highest=3.0))))
    assert high == BlockLogic({"a": 1.0}, {"a": 6.0}, (1.0, 6.0))
    assert block_logic(SimpleNamespace(logic=())) is None
    assert (
        block_logic(SimpleNamespace(logic=(row("a", 1.0, "permanent"), row("total", 1.0, "permanent"))))
        is None
    )


def test_a_copy_of_a_block_covers_its_logic_and_no_other():
    covered = covered_logic(BLOCKS, [Item(OPTIONS["lockstep"], (0,), "b")], HAZARDOUS)
    # 99 % of it, and of the copy, which is struck as well.
    assert covered == {"b": pytest.approx(0.01 * 2)}
    assert LOGIC.left(covered) == pytest.approx((1.0 + 3.0 * 0.02, 2.0 + 6.0 * 0.02))


def test_without_a_copy_the_limit_of_all_logic_holds():
    assert LOGIC.left({}) == (4.0, 7.0)
    assert replace(LOGIC, whole=(4.0, 9.0)).left({}) == (4.0, 8.0)


def test_a_copy_of_everything_covers_all_logic():
    covered = covered_logic(BLOCKS, [Item(OPTIONS["lockstep"], (0, 1), NPU)], HAZARDOUS)
    assert LOGIC.left(covered)[0] == pytest.approx(4.0 * 0.02)


@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in ("none", "lockstep")])
def test_what_guards_storage_is_credited_with_nothing(name):
    items = [Item(OPTIONS[name], (0,)), Item(OPTIONS[name], (1,), "b" if name == "flop_tmr" else "")]
    assert covered_logic(BLOCKS, items, HAZARDOUS) == {}


def test_a_copy_that_does_not_protect_all_kinds_is_none():
    assert covered_logic(BLOCKS, [Item(OPTIONS["duplicate"], (0,), "b")], HAZARDOUS) == {}


def network(logic):
    rng = np.random.default_rng(3)
    return replace(network_of(STORAGE, rates_of(STORAGE, 0.1), 20_000, rng), logic=logic)


def test_a_block_is_copied_for_its_logic():
    """The fault: logic was stated beside a set that was chosen without it."""
    design = design_of(STORAGE)
    raw = float(network(None).raw(design.cells).sum())
    heavy = BlockLogic(
        {"a": 0.01 * raw, "b": 0.4 * raw}, {"a": 0.02 * raw, "b": 0.5 * raw}, (0.41 * raw, 0.52 * raw)
    )
    targets = Targets(budget_fit=0.3 * raw)
    plain, counted = (choose(design, [network(logic)], targets) for logic in (None, heavy))
    assert not plain.needed
    assert counted.needed
    assert counted.chosen is not None
    (copied,) = [item for item in counted.chosen.items if item.block]
    assert (copied.block, copied.option.name) == ("b", "lockstep")
    (judged,) = counted.judged
    assert judged.logic[1] == pytest.approx(0.02 * raw + 0.5 * raw * 0.02)
    assert judged.fit.hi + judged.logic[1] <= targets.budget_fit
    found = _logic(design, network(heavy), counted.chosen, judged, targets.budget_fit)
    assert (found.copied, found.within_budget) == (("b",), True)
    assert "copies of b are credited" in found.text


def test_where_nothing_covers_logic_there_is_no_set():
    design = design_of(STORAGE)
    raw = float(network(None).raw(design.cells).sum())
    options = replace(
        design.options, options={n: o for n, o in design.options.options.items() if n != "lockstep"}
    )
    heavy = BlockLogic({"b": 0.4 * raw}, {"b": 0.5 * raw}, (0.4 * raw, 0.5 * raw))
    found = choose(replace(design, options=options), [network(heavy)], Targets(budget_fit=0.3 * raw))
    assert found.chosen is None
    assert f"{0.5 * raw:.3g} of them in logic" in found.judged[0].missed(Targets(budget_fit=0.3 * raw))[0]


def test_a_confirmation_leaves_the_part_of_the_budget_that_logic_takes():
    strata = (ObservedStratum(PooledGroup("cc", "ff", 8.0, {"masked": 9990, "hang": 10})),)
    bare = (ObservedStratum(PooledGroup("cc", "ff", 8.0, {"masked": 900, "hang": 100})),)
    observed = [Observed("other", strata, (), unprotected=bare)]
    plan = plan_of(fit=0.008, fit_hi=0.012, budget_fit=0.03)
    left = dict.fromkeys(("fit_before", "fit_hi_before", "fit", "with_storage", "with_storage_hi"), 0.02)
    for fit_hi, confirmed in ((0.01, True), (0.02, False)):
        logic = {**left, "fit_hi": fit_hi, "copied": (), "within_budget": True}
        found = confirmation(plan.changed(logic=logic), observed, set(HAZARDOUS), 0.95, {})
        assert found.confirmed is confirmed
