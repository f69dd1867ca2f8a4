# SPDX-License-Identifier: Apache-2.0
"""Runs that fall behind: by few cycles or many, by different ones, or with nothing but a memory changing."""

from pathlib import Path

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.engine.fast.audit_sample import EVERYTHING, NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import Flip, Shortcut
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.faults import Fault, Seen
from testkit.closed_cores import core_target

TARGET = core_target(Path(__file__).parent / "stall.sv")
WORKLOAD = Workload("sum", {"input": bytes(range(40, 56))}, OutputSpec("output", 0, (48,)), decide=exact)
CYCLES = 1200


@pytest.fixture(scope="module")
def elaboration():
    return elaborate(TARGET)


def engine(elaboration, **options):
    return VerilatorEngine(TARGET, WORKLOAD, elaboration, **options)


def bit(elaboration, name, number):
    table = elaboration.sites
    (place,) = [i for i, e in enumerate(table.elements) if e.path == f"u_core.{name}"]
    return table.offsets[place] + number


def every_bit(elaboration, cycles):
    return [Fault(site, cycle) for site in range(elaboration.sites.size) for cycle in cycles]


@pytest.fixture(scope="module")
def plain(elaboration):
    """All faults to their end, by time-out."""
    faults = every_bit(elaboration, range(3, CYCLES, 61))

    def of(factor):
        with engine(elaboration, shortcuts=Shortcut.NONE, timeout_factor=factor) as made:
            assert made.golden().end.end_cycle == CYCLES
            return {injection.fault: injection for injection in made.run(faults)}

    return {factor: of(factor) for factor in (1.0, 1.05, 2.0)}


@pytest.mark.parametrize("sweep", [False, True])
@pytest.mark.parametrize("factor", [1.0, 1.05, 2.0])
def test_a_run_that_comes_too_late_is_a_hang(elaboration, plain, factor, sweep):
    """The fault: a run is as the golden one again, and its end counts though the time-out comes first."""
    with engine(elaboration, timeout_factor=factor, sweep=sweep, audit=NOTHING) as made:
        assert {i.fault: i for i in made.run(list(plain[factor]))} == plain[factor]
    assert any(injection.detected for injection in plain[factor].values())
    hangs = sum(injection.seen is Seen.HANG for injection in plain[factor].values())
    fewer = sum(injection.seen is Seen.HANG for injection in plain[2.0].values())
    assert hangs > fewer or factor == 2.0


def test_the_same_difference_at_another_distance_is_another_run(elaboration, monkeypatch):
    """The fault: runs with the same wrong bytes in the same golden cycle are merged, one of them later."""
    flipped = {1: 0, 2: 1, 3: 2}
    with engine(elaboration, sweep=True, audit=EVERYTHING) as made:
        flips, wrong = made._model.map.flip, Flip(made._model.map.storage("out_q"), 63, 0)
        lag = [bit(elaboration, "lag_q", number) for number in flipped.values()]
        monkeypatch.setattr(made._model.map, "flips", lambda fault: [flips(fault.site), wrong])
        found = {i.fault.site: i.end_cycle for i in made.run([Fault(site, 100) for site in lag])}
    assert found == {site: CYCLES + (1 << number) for site, number in zip(lag, flipped.values(), strict=True)}


@pytest.mark.parametrize("sweep", [False, True])
def test_what_goes_on_in_a_memory_alone_is_no_hang(elaboration, sweep):
    """The fault: a state counts as seen before, or as golden, by its registers alone."""
    fault = Fault(bit(elaboration, "spin_q", 0), 301)
    with engine(elaboration, sweep=sweep, audit=NOTHING) as made:
        (found,) = made.run([fault])
        assert found == made.replay(fault)
    assert found.end_cycle == CYCLES + 256
    assert found.seen is not Seen.HANG
