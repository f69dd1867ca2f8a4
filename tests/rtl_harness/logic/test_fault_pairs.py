# SPDX-License-Identifier: Apache-2.0
"""A pin that is held and a second fault, beside the netlist with that pin tied in an untouched simulator."""

from dataclasses import replace

import numpy as np
import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.faults import Fault, Seen
from resil.rtl_harness.logic.fault_pairs import FaultPairs
from resil.rtl_harness.logic.pulse_engine import PulseEngine
from resil.rtl_harness.logic.sites import pin_sites, pulse_sites
from resil.rtl_harness.logic.synthesis import logic_netlist
from testkit.held import compared_pairs
from tests.rtl_harness.redundancy.stepping import stepper, stepper_work


@pytest.fixture(scope="module")
def design(tmp_path_factory):
    target = stepper(tmp_path_factory.mktemp("stepper"))
    elaboration = with_hardware(target, elaborate(target))
    return target, stepper_work(), elaboration, logic_netlist(target, elaboration)


def test_pairs_end_as_those_of_the_netlist_in_an_untouched_simulator(design, tmp_path):
    target, workload, elaboration, netlist = design
    sites = pin_sites(elaboration.sites, netlist)
    with FaultPairs(target, workload, elaboration, netlist, sites) as engine:
        single = [Fault(site, 0, held=1) for site in range(sites.first, sites.table.size, 7)]
        # The judge's time-out is that of its own run without a fault, which here has the first.
        ended = [own for own in engine.run(single) if own.end_cycle == engine.golden().end.end_cycle]
    wrong = next(own.fault for own in ended if own.seen is Seen.SDC_CRITICAL)
    quiet = next(own.fault for own in ended if own.seen is Seen.MASKED)
    firsts = [(fault.site - sites.first, 1) for fault in (wrong, quiet)]
    found = compared_pairs(target, workload, elaboration, firsts, 120, 7, tmp_path)
    # What is latent is not compared: there it is what differs from a machine that has the first fault alone.
    alike = {Seen.LATENT: Seen.MASKED}

    def answer(own):
        return replace(
            own, seen=Seen.MASKED if own.seen in alike or own.seen is Seen.SDC_CRITICAL else own.seen
        )

    assert [(a, b) for a, b in found if answer(a) != answer(b)] == []
    assert len({ours.output_hash for ours, _ in found}) > 20
    assert {ours.seen for ours, _ in found} >= {Seen.HANG, Seen.SDC_CRITICAL, Seen.MASKED}


def test_a_second_fault_that_does_nothing_leaves_what_the_first_does(design):
    target, workload, elaboration, netlist = design
    sites = pin_sites(elaboration.sites, netlist)
    with FaultPairs(target, workload, elaboration, netlist, sites) as engine:
        faults = [Fault(site, 0, held=1) for site in range(sites.first, sites.table.size, 40)]
        alone = {own.fault: own for own in engine.run(faults)}
        values = engine.simulator[0].values()
        always = next(
            pin for pin, row in enumerate(netlist.pins) if row["output"] and values[row["net"]] == 2
        )
        nothing = engine.held(Fault(sites.first + always, 0, held=1))
        both = list(engine.together([(fault, (*engine.held(fault), *nothing)) for fault in faults]))
        same = [both_ for fault, both_ in zip(faults, both, strict=True) if both_ == alone[fault]]
        # Where the first makes the net 0 it is another machine.
        assert len(same) > 0.5 * len(faults)
        once = list(engine.together([(fault, engine.held(fault)) for fault in faults]))
    assert once == [alone[fault] for fault in faults]
    assert np.unique([own.seen for own in once]).size > 2


def test_a_pulse_ends_as_where_its_difference_is_worked_out_and_simulated_in_rtl(design):
    target, workload, elaboration, netlist = design
    sites = pulse_sites(elaboration.sites, netlist)
    with PulseEngine(target, workload, elaboration, netlist, sites) as judge:
        cycles = judge.golden().cycles
        pulses = [
            Fault(sites.first + number, (7 * number + 13 * turn) % cycles)
            for number in range(len(sites.pins))
            for turn in range(6)
        ]
        expected = {own.fault: own for own in judge.run(pulses)}
    with FaultPairs(target, workload, elaboration, netlist, pin_sites(elaboration.sites, netlist)) as engine:
        struck = [(own, (engine.pulse_at(sites.pin(own.site), own.cycle),)) for own in pulses]
        found = engine.together(struck)
        assert engine.audited > 20
    assert [(own, expected[own.fault]) for own in found if own != expected[own.fault]] == []
    assert len({own.seen for own in found}) > 2


def test_a_pulse_meets_what_the_first_fault_has_brought_about(design):
    """The fault: a pulse is one of the machine without the first."""
    target, workload, elaboration, netlist = design
    sites, pulses = pin_sites(elaboration.sites, netlist), pulse_sites(elaboration.sites, netlist)
    with FaultPairs(target, workload, elaboration, netlist, sites) as engine:
        held = engine.held(Fault(sites.first + int(netlist.first_pin[3]), 0, held=1))
        struck = [(int(pin), cycle) for pin in pulses.pins for cycle in (3, 11)]
        alone = engine.together([(Fault(pin, c), (engine.pulse_at(pin, c),)) for pin, c in struck])
        both = engine.together([(Fault(pin, c), (*held, engine.pulse_at(pin, c))) for pin, c in struck])
        once = engine.together([(Fault(0, 0), held)])[0]
    # A pulse behind the held pin does nothing more; others do, and not what they do alone.
    assert any(own.output_hash == once.output_hash for own in both)
    others = [(a, b) for a, b in zip(alone, both, strict=True) if b.output_hash != once.output_hash]
    assert len(others) > 10
