# SPDX-License-Identifier: Apache-2.0
"""Pulses in logic: along the gates, by an evaluation of all of them, and in a simulator of the netlist."""

import random
from collections import Counter
from pathlib import Path

import pytest

from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.errors import AuditError, HarnessError
from resil.rtl_harness.faults import Fault, Outcome
from resil.rtl_harness.logic import pulse_engine
from resil.rtl_harness.logic.evaluation import Evaluation
from resil.rtl_harness.logic.pulse_engine import PulseEngine
from resil.rtl_harness.logic.pulses import PulseEffects
from resil.rtl_harness.logic.sites import CLOCK, pulse_sites
from testkit.closed_cores import core_target
from testkit.errors import about
from testkit.pulses import compared_pulses

PULSED = Path(__file__).with_name("pulsed.sv")


@pytest.fixture(scope="module")
def engine(target, workload, elaboration, netlist):
    sites = pulse_sites(elaboration.sites, netlist)
    with PulseEngine(target, workload, elaboration, netlist, sites, sweep=True) as made:
        yield made


def drawn(engine, number, seed=1):
    choose, sites = random.Random(seed), engine._sites
    cycles = engine.golden().cycles
    return [
        Fault(choose.randrange(sites.first, sites.table.size), choose.randrange(cycles))
        for _ in range(number)
    ]


def at_nets(engine, nets):
    """Return the sites of pulses at some nets."""
    sites, on = engine._sites, engine._netlist.pins["net"]
    return [s for s in range(sites.first, sites.table.size) if int(on[sites.pin(s)]) in nets]


def sizes_of_equal(engine, faults):
    """Return how many bytes differ after pulses, each as an evaluation of all gates says."""
    faults = sorted(faults, key=lambda fault: fault.cycle)
    effects = engine._effects(faults)
    evaluation = Evaluation(engine._netlist, engine.engine.model)
    sizes = set()
    for index, fault in enumerate(faults):
        net = int(engine._netlist.pins["net"][engine._sites.pin(fault.site)])
        found = evaluation.difference(net, fault.cycle)
        assert found == {int(b["offset"]): int(b["mask"]) for b in effects.difference(index)}
        sizes.add(len(found))
    return sizes


def test_every_pulse_is_what_an_evaluation_of_all_gates_says(engine):
    assert {0, 1} < sizes_of_equal(engine, drawn(engine, 80))


def test_an_alarm_that_a_pulse_raises_is_of_its_cycle(engine):
    (site,) = at_nets(engine, {net for nets in engine._netlist.gates.alarms for net in nets})
    (found,) = engine.run([Fault(site, 40)])
    assert found.detected is not None
    assert (found.detected.alarm, found.detected.cycle) == ("error", 40)


def test_shortcuts_give_what_runs_to_the_end_give(engine):
    faults = drawn(engine, 150, seed=2)
    found = {injection.fault: injection for injection in engine.run(faults)}
    assert {fault: engine.replay(fault) for fault in found} == found
    assert {injection.outcome for injection in found.values()} >= {Outcome.MASKED, Outcome.SDC_CRITICAL}
    assert engine.audits["pulse, unseen"].answers > 20
    assert engine.audits["pulse, taken"].tried > 2


def test_sweeps_that_pay_go_along_the_gates_of_the_rtl(target, workload, elaboration, netlist, engine):
    """Without being asked for: a campaign of many pulses makes them once it expects enough."""
    with PulseEngine(target, workload, elaboration, netlist, engine._sites) as other:
        other.expect(4000)
        faults = drawn(engine, 1000, seed=5)
        assert Counter(map(repr, other.run(faults))) == Counter(map(repr, engine.run(faults)))
        assert other.engine.model.sites is not other.engine.model.elaboration.sites


def test_repeated_and_equal_pulses_are_all_answered(engine):
    fault = next(f for f in drawn(engine, 50) if len(engine._effects([f]).difference(0)))
    assert [injection.fault for injection in engine.run([fault, fault, fault])] == [fault] * 3


def test_a_pulse_followed_wrongly_fails_the_audit(engine, monkeypatch):
    """What the gates say is left out: without the audit the pulse would be masked."""
    monkeypatch.setattr(PulseEffects, "difference", lambda self, index: self.bytes[:0])
    monkeypatch.setattr(pulse_engine, "AUDITED", 200)
    with pytest.raises(AuditError, match=r"pulse at u_dut\S+, cycle \d+.*0 bytes of the state"):
        list(engine.run(drawn(engine, 200, seed=3)))


@pytest.mark.parametrize(
    ("fault", "field"),
    [
        (Fault(0, 5), "fault.site"),
        (Fault(3000, 0, held=1), "fault.site"),
        (Fault(10**7, 5), "fault.site"),
        (Fault(3000, 10**6), "fault.cycle"),
    ],
)
def test_what_is_no_pulse_in_the_run_is_refused(engine, fault, field):
    with pytest.raises(HarnessError, check=about(field)):
        list(engine.run([fault]))


def test_pulses_are_as_in_the_netlist(tmp_path):
    """Of a design in which they reach clocks, resets, memories, an alarm and the end of the run."""
    target = core_target(PULSED)
    data = {"input": bytes(37 * i % 251 for i in range(16))}
    workload = Workload("sum", data, OutputSpec("output", 0, (16,)), decide=exact)
    found = compared_pulses(target, workload, 1500, 11, tmp_path)
    assert found.different == []
    assert len(found.outcomes) >= 3
    assert found.clocks > 0
    assert 0 < found.unseen < found.pulses


def test_pulses_of_the_last_cycle_are_seen_when_the_run_ends(tmp_path):
    """The fault: an asynchronous reset that one lets act in that very cycle was taken for nothing."""
    target = core_target(PULSED)
    data = {"input": bytes(37 * i % 251 for i in range(16))}
    workload = Workload("sum", data, OutputSpec("output", 0, (16,)), decide=exact)
    found = compared_pulses(target, workload, 3000, 12, tmp_path, last=1)
    assert found.different == []
    assert found.outcomes["latent"] >= 2


def test_clock_gates_are_a_class_of_their_own(engine):
    elements = engine._sites.table.elements
    assert sum(element.register_class == CLOCK for element in elements) == 15
