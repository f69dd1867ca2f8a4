# SPDX-License-Identifier: Apache-2.0
"""Memories with several write ports: of those that write one word, the last one wins, as in the simulator."""

from dataclasses import replace

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.engine.fast import acceleration as module
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.gates.gates import read_gates
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.faults import Fault
from tests.rtl_harness.engine.fast.lanes.test_machines import TARGET, WORKLOAD, faults_of

# After these, ports write to one word that do not in the golden run.
MEET = (Fault(1, 743), Fault(20, 1733))


@pytest.fixture(scope="module")
def elaboration():
    return elaborate(TARGET)


@pytest.fixture(scope="module")
def faults():
    return sorted({*faults_of(WORKLOAD, 200), *MEET})


@pytest.fixture(scope="module")
def plain(elaboration, faults):
    with VerilatorEngine(TARGET, WORKLOAD, elaboration, shortcuts=Shortcut.NONE) as made:
        return {injection.fault: injection for injection in made.run(faults)}


def test_the_last_port_wins(elaboration, faults, plain):
    with VerilatorEngine(TARGET, WORKLOAD, elaboration, sweep=True, lanes=False, audit=NOTHING) as made:
        assert {injection.fault: injection for injection in made.run(faults)} == plain
        assert made.notes == []


def test_ports_in_another_order_are_found_out(elaboration, faults, plain, monkeypatch):
    gates = read_gates(TARGET, elaboration)
    turned = replace(gates, writes=gates.writes[::-1])
    monkeypatch.setattr(module, "watched_gates", lambda *_: turned)
    with VerilatorEngine(TARGET, WORKLOAD, elaboration, sweep=True, lanes=False, audit=NOTHING) as made:
        assert {injection.fault: injection for injection in made.run(faults)} == plain
        assert "the gates and the model differ in the word at byte" in made.notes[0]
