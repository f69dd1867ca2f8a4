# SPDX-License-Identifier: Apache-2.0
"""Alarms that stay up: what keeps them up is found, and runs that differ in nothing else are at their end."""

from dataclasses import replace
from pathlib import Path

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import TargetAlarm
from resil.rtl_harness.engine.fast.audit_sample import EVERYTHING, NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import AlarmBit, Injector, Shortcut
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.errors import AuditError
from resil.rtl_harness.faults import Fault, Reported, Seen
from testkit.errors import about
from tests.rtl_harness.engine.test_alarms import TARGET as WATCHED
from tests.rtl_harness.engine.test_alarms import OutputTail, by_fault, drawn, workload_with

ALARMS = {
    "major": TargetAlarm("major_o"),
    "minor": TargetAlarm("minor_o", "corrected"),
    "bad": TargetAlarm("bad_o"),
    "late": TargetAlarm("late_o"),
    "clear": TargetAlarm("clear_o"),
    "tick": TargetAlarm("tick_o", "corrected"),
}
TARGET = replace(
    WATCHED,
    name="lasting",
    top="lasting",
    sources=(*WATCHED.sources, Path(__file__).parent / "lasting.sv"),
    alarms=ALARMS,
)
STAY = {"major_q": 2, "minor_q": 1, "ok_q": 1, "seen_q": 1, "late_q": 1}


class LastingTail(OutputTail):
    quiet = tuple(alarm.output for alarm in ALARMS.values())


@pytest.fixture(scope="module")
def elaboration():
    return elaborate(TARGET)


@pytest.fixture(scope="module")
def faults(elaboration):
    return sorted(drawn(elaboration, 900, seed=6))


@pytest.fixture(scope="module")
def plain(elaboration, faults):
    """Every injection run to its end."""
    with VerilatorEngine(TARGET, workload_with(), elaboration, shortcuts=Shortcut.NONE) as engine:
        return by_fault(engine.run(faults))


def swept(elaboration, **options):
    return VerilatorEngine(TARGET, workload_with(LastingTail()), elaboration, sweep=True, **options)


def test_what_does_nothing_but_keep_alarms_up_is_found(elaboration):
    with swept(elaboration) as engine:
        engine.prepare()
        sweep = engine._made_acceleration._simulator.sweep
        found = sweep.alarm_storage()
        places = {
            (place.offset + (low + bit) // 8, 1 << (low + bit) % 8): path.rpartition(".")[2]
            for path in (f"u_core.{name}" for name in STAY)
            for place, low, width in [engine.model.map.place(path)]
            for bit in range(width)
        }
        names = [places.pop((bit.offset, bit.mask)) for bit in found]
        assert places == {}
        assert {name: names.count(name) for name in STAY} == STAY
        rest = {name: bit for name, bit in zip(names, found, strict=True)}
    # The alarm that each may raise, and what it is without a fault.
    order = list(ALARMS)
    assert {name: bit.alarms for name, bit in rest.items()} == {
        "major_q": 1 << order.index("major"),
        "minor_q": 1 << order.index("minor"),
        "ok_q": 1 << order.index("bad"),
        "seen_q": 1 << order.index("late"),
        "late_q": 1 << order.index("late"),
    }
    assert {name for name, bit in rest.items() if bit.golden} == {"ok_q"}


@pytest.mark.parametrize(
    "shortcuts",
    [
        Shortcut.SAME_CYCLE,
        Shortcut.SHIFTED_CYCLE,
        Shortcut.REPETITION,
        Shortcut.FORESIGHT,
        Shortcut.LEAVE,
        Shortcut.ALL & ~Shortcut.FORESIGHT,
        Shortcut.ALL,
    ],
)
def test_runs_with_alarms_that_are_up_end_as_in_the_rtl(elaboration, faults, plain, shortcuts):
    with swept(elaboration, shortcuts=shortcuts, audit=NOTHING) as engine:
        assert by_fault(engine.run(faults)) == plain
        assert engine.notes == []
    reported = [i for i in plain.values() if i.reported is not None]
    assert {i.seen for i in reported} > {Seen.LATENT, Seen.HANG}
    # What is latent though it raised an alarm, and what rose long after its fault.
    assert {i.detected.alarm for i in plain.values() if i.detected} == {"major", "bad", "late", "clear"}
    late = [i for i in plain.values() if i.detected and i.detected.alarm == "late"]
    assert any(i.detected.cycle > i.fault.cycle + 4 for i in late)


def test_they_end_early_by_that(elaboration, faults, plain, monkeypatch):
    chosen = [fault for fault, injection in plain.items() if injection.reported is not None]
    simulated = []
    for spends in (True, False):
        if not spends:
            monkeypatch.setattr(Injector, "spend", lambda self, bits: None)
        with swept(elaboration, audit=NOTHING) as engine:
            assert by_fault(engine.run(chosen)) == {fault: plain[fault] for fault in chosen}
            simulated.append((engine.simulated, engine.ends["vanished"]))
    (fewer, vanished), (more, before) = simulated
    assert fewer < 0.9 * more
    assert vanished > before + 100


def test_injections_by_themselves_end_early_too(elaboration, plain):
    """Once the gates are there; by a run alone no digest may take what is spent for what is not."""
    chosen = list(plain)[::3]
    with swept(elaboration, audit=NOTHING) as engine:
        engine.prepare()
        done = [engine._singles.inject(fault, Shortcut.ALL) for fault in chosen]
        assert [one.injection for one in done] == [plain[fault] for fault in chosen]
        up = [one for one in done if one.how == "vanished" and one.injection.seen is Seen.LATENT]
        assert len(up) > 10
        assert {one.injection.reported for one in up} == {Reported.DETECTED, Reported.CORRECTED}


def test_nothing_is_spent_any_more_once_the_gates_are_given_up(elaboration, plain):
    """The fault: what wrong gates said of alarms still ends runs that go without them."""
    chosen = list(plain)[::3]
    with swept(elaboration, audit=NOTHING) as engine:
        engine.prepare()
        engine._acceleration._give_up("the gates differ")
        done = [engine._singles.inject(fault, Shortcut.ALL) for fault in chosen]
        assert [one.injection for one in done] == [plain[fault] for fault in chosen]
        assert not any(one.how == "vanished" and one.injection.seen is Seen.LATENT for one in done)


def test_stuck_bits_do_too(elaboration):
    stuck = [
        Fault(site, 0, held=held)
        for site in range(0, elaboration.sites.size, 3)
        if not elaboration.is_latch(elaboration.sites[site].element.path)
        for held in (0, 1)
    ][:400]
    with swept(elaboration, shortcuts=Shortcut.NONE) as engine:
        expected = by_fault(engine.run(stuck))
    with swept(elaboration, audit=NOTHING) as engine:
        engine.prepare()
        assert by_fault(engine.run(stuck)) == expected


def test_a_judge_that_shares_nothing_says_the_same(elaboration, plain):
    chosen = list(plain)[::9]
    with PlainEngine(TARGET, workload_with(), elaboration) as judge:
        assert by_fault(judge.run(chosen)) == {fault: plain[fault] for fault in chosen}


@pytest.mark.parametrize("name", ["shown_q", "clear_q"])
def test_storage_that_does_more_than_keep_alarms_up_is_noticed_by_the_audit(
    elaboration, faults, monkeypatch, name
):
    """The fault: it is taken for spent, so that what else it decides is never seen."""
    with swept(elaboration) as engine:
        place, low, _ = engine.model.map.place(f"u_core.{name}")
    wrong = AlarmBit(place.offset + low // 8, 1 << low % 8, 0, 1)
    spend = Injector.spend
    monkeypatch.setattr(Injector, "spend", lambda self, bits: spend(self, [*bits, wrong]))
    with (
        swept(elaboration, audit=EVERYTHING) as engine,
        pytest.raises(AuditError, check=about("early stops")),
    ):
        list(engine.run(faults))
