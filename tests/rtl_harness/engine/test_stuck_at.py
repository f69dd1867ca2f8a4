# SPDX-License-Identifier: Apache-2.0
"""Stuck bits on the example of awkward RTL: every bit at both values, on both engines."""

import dataclasses
import random

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.elaboration.model import Clocking
from resil.rtl_harness.engine.fast.audit_sample import EVERYTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import (
    Ending,
    InjectionResult,
    Injector,
    Shortcut,
)
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.errors import AuditError, HarnessError
from resil.rtl_harness.faults import Fault, Outcome
from testkit.awkward import awkward_target, awkward_workload
from testkit.errors import about

JUDGES = (CocotbEngine, PlainEngine)


@pytest.fixture(scope="module")
def target():
    return awkward_target()


@pytest.fixture(scope="module")
def workload():
    return awkward_workload()


@pytest.fixture(scope="module")
def elaboration(target):
    return elaborate(target)


@pytest.fixture(scope="module")
def faults(elaboration):
    return [Fault(site, 0, held=value) for site in range(elaboration.sites.size) for value in (0, 1)]


@pytest.fixture(scope="module")
def plain(target, workload, elaboration, faults):
    """Every stuck bit there is, from reset to the end."""
    with VerilatorEngine(target, workload, elaboration, shortcuts=Shortcut.NONE) as made:
        return {injection.fault: injection for injection in made.run(faults)}


def test_shortcuts_give_what_runs_to_the_end_give(target, workload, elaboration, faults, plain):
    with VerilatorEngine(target, workload, elaboration, audit=EVERYTHING) as made:
        assert {injection.fault: injection for injection in made.run(faults, workers=2)} == plain
        assert made.ends["vanished"] > 200
        assert made.simulated < 0.8 * sum(injection.end_cycle for injection in plain.values())
        assert made.audited == made.early_stops > 1000
    assert {injection.outcome for injection in plain.values()} == set(Outcome)


@pytest.mark.parametrize("judge", JUDGES)
def test_engines_agree(target, workload, elaboration, faults, plain, judge):
    chosen = random.Random(5).sample(faults, 120)
    chosen += [next(f for f, i in plain.items() if i.outcome is outcome) for outcome in Outcome]
    chosen = sorted(set(chosen), key=lambda fault: (fault.site, fault.held))
    upset = Fault(chosen[0].site, 7)
    with judge(target, workload, elaboration) as made:
        found = {injection.fault: injection for injection in made.run([upset, *chosen])}
        assert made.replay(chosen[-1]) == plain[chosen[-1]]
    with VerilatorEngine(target, workload, elaboration) as fast:
        assert fast.replay(chosen[-1]) == plain[chosen[-1]]
        (own,) = fast.run([upset])
    assert found == {fault: plain[fault] for fault in chosen} | {upset: own}


def test_the_held_bit_by_itself_is_no_difference(elaboration, plain):
    """One of the two values is not the one that the bit has at the end of the golden run."""
    masked = {fault for fault, injection in plain.items() if injection.outcome is Outcome.MASKED}
    both = [
        site for site in range(elaboration.sites.size) if {Fault(site, 0, held=v) for v in (0, 1)} <= masked
    ]
    assert both
    assert any(injection.outcome is Outcome.LATENT for injection in plain.values())


def test_a_shortcut_that_is_wrong_is_caught_by_the_audit(target, workload, elaboration, faults, monkeypatch):
    hold = Injector.hold

    def blind(self, bits, value, limit, shortcuts):
        if not shortcuts:
            return hold(self, bits, value, limit, shortcuts)
        return InjectionResult(Ending.REJOINED, 0, limit // 2, 0)

    monkeypatch.setattr(Injector, "hold", blind)
    with (
        VerilatorEngine(target, workload, elaboration) as made,
        pytest.raises(AuditError, match="held at"),
    ):
        list(made.run(faults[:200]))


def test_a_latch_is_refused(target, workload, elaboration):
    element = elaboration.sites.elements[0]
    latch = {**elaboration.clocking, element.path: Clocking("clk_i", latch=True)}
    other = dataclasses.replace(elaboration, clocking=latch)
    for kind in (*JUDGES, VerilatorEngine):
        with kind(target, workload, other) as made, pytest.raises(HarnessError, check=about("fault.held")):
            list(made.run([Fault(0, 0, held=1)]))


@pytest.mark.parametrize("wrong", [{"held": 2}, {"held": 1, "bits": 2}, {"held": 0, "cycle": 1}])
def test_a_stuck_bit_is_one_bit_from_the_beginning(wrong):
    with pytest.raises(ValueError, match="held at 0 or 1 from cycle 0 on"):
        Fault(**{"site": 3, "cycle": 0} | wrong)
