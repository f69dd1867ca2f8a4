# SPDX-License-Identifier: Apache-2.0
"""Pulses in logic under a chosen set: copies of blocks are credited, nothing else is."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from resil.protection.items import NPU, Item
from resil.protection.logic import logic_left
from resil.protection.options import load_options
from resil.record.logic_share import LogicShare
from resil.stats.intervals import Interval

OPTIONS = load_options().options
DESIGN = SimpleNamespace(blocks={"cc": None, "mac": None})
NETWORK = SimpleNamespace(hazardous=("sdc_critical", "hang"))
WORST = SimpleNamespace(fit=Interval(0.4, 0.2, 0.6, 0.95))
JUDGED = SimpleNamespace(fit=Interval(0.2, 0.1, 0.3, 0.95), worst=("highest", WORST))


def row(block, fit, faults="transient"):
    own = {"storage_fit": 1.0, "storage_lo": 0.5, "storage_hi": 2.0, "logic_fit": fit}
    share = dict.fromkeys(("share", "share_lo", "share_hi", "other_logic_fit", "other_share"))
    return LogicShare(faults=faults, block=block, logic_lo=0.5 * fit, logic_hi=2.0 * fit, **own, **share)


LOGIC = (row("cc", 1.0), row("mac", 3.0), row("total", 4.0), row("cc", 99.0, "permanent"))


def left(*items, logic=LOGIC, budget=None):
    chosen = SimpleNamespace(items=items)
    return logic_left(DESIGN, SimpleNamespace(logic=logic), NETWORK, chosen, JUDGED, budget)


def test_a_copy_of_a_block_covers_its_logic_and_no_other():
    found = left(Item(OPTIONS["lockstep"], (0,), "mac"))
    # 99 % of it, and of the copy, which is struck as well.
    assert found.fit == pytest.approx(1.0 + 3.0 * 0.01 * 2)
    assert found.fit_hi == pytest.approx(2.0 + 6.0 * 0.01 * 2)
    assert found.copied == ("mac",)
    assert found.with_storage_hi == pytest.approx(0.6 + found.fit_hi)
    assert "copies of mac are credited" in found.text


def test_a_copy_of_everything_covers_all_logic():
    found = left(Item(OPTIONS["lockstep"], (0, 1), NPU))
    assert found.fit == pytest.approx(4.0 * 0.02)
    assert found.copied == ("cc", "mac")


@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in ("none", "lockstep")])
def test_what_guards_storage_is_credited_with_nothing(name):
    found = left(Item(OPTIONS[name], (0,)), Item(OPTIONS[name], (1,), "mac" if name == "flop_tmr" else ""))
    assert (found.fit, found.fit_hi, found.copied) == (4.0, 8.0, ())
    assert "nothing that was chosen covers logic" in found.text


def test_a_copy_that_does_not_protect_all_kinds_is_none():
    found = left(Item(OPTIONS["duplicate"], (0,), "mac"))
    assert found.fit == 4.0


def test_a_budget_that_storage_alone_keeps_is_said_to_be_exceeded():
    assert left(budget=0.5).within_budget is False
    assert "ABOVE THE BUDGET" in left(budget=0.5).text
    assert left(budget=8.5).within_budget is False
    assert left(budget=8.6).within_budget is True
    assert left().within_budget is None


def test_nothing_is_said_where_nothing_is_known():
    assert left(logic=()) is None
    assert left(logic=(row("cc", 1.0, "permanent"), row("total", 1.0, "permanent"))) is None
    assert logic_left(DESIGN, SimpleNamespace(logic=LOGIC), NETWORK, None, JUDGED, 1.0) is None
