# SPDX-License-Identifier: Apache-2.0
"""Classes of equivalent faults: every member makes the same of every state."""

import random

import numpy as np
import pytest

from resil.rtl_harness.engine.fast.gates.gates_file import Gates
from resil.rtl_harness.logic import collapse
from resil.rtl_harness.logic.collapse import (
    DOMINATED,
    collapsed_pins,
    collapsed_pulses,
    dominance_collapsed_pins,
)
from resil.rtl_harness.logic.netlist import PINS, TO_GATE, LogicNetlist
from resil.rtl_harness.logic.sites import pulse_sites


class Machine:
    """Evaluates the gates in random states, with a fault: memories read what their address says."""

    def __init__(self, netlist, seed):
        self.netlist = netlist
        choose = random.Random(seed)
        self.state = {int(row[0]): choose.getrandbits(1) for row in netlist.gates.flip_flops}

    def response(self, *, place=None, net=None, value=0, pulse=None):
        gates = self.netlist.gates
        values = [0] * gates.nets
        values[1] = 1
        for q, held in self.state.items():
            values[q] = held
        if net in self.state:
            values[net] = value
        for row, (operation, *operands, y) in enumerate(gates.gates.tolist()):
            if operation == 12:
                _, address, data = gates.reads[operands[0]]
                word = hash(tuple(values[n] for n in address))
                for i, n in enumerate(data):
                    values[n] = word >> i % 60 & 1
                continue
            a, b, s = (value if place == (row, column) else values[n] for column, n in enumerate(operands, 1))
            inner = {0: a, 2: a & b, 4: a | b, 6: a ^ b, 10: b if s else a}[operation & ~1]
            values[y] = value if y == net else inner ^ (operation & 1) ^ (y == pulse)
        taken = [values[n] for n in gates.flip_flops[:, 1:3].ravel().tolist()]
        written = [values[n] for write in gates.writes for word in write[1:] for n in word]
        seen = [*gates.ports.tolist(), *(n for nets in gates.alarms for n in nets)]
        return taken, written, [values[n] for n in seen]


def test_stuck_pins_of_a_class_do_the_same_in_every_state(netlist):
    collapsed, pins = collapsed_pins(netlist), netlist.pins
    assert 0.4 < collapsed.classes / collapsed.faults < 0.7
    shared = [c for c in np.unique(collapsed.representative).tolist() if len(collapsed.members(c)) > 2]
    machines = [Machine(netlist, seed) for seed in range(3)]

    def fault(number):
        row, value = pins[number // 2], number % 2
        if row["output"]:
            return {"net": int(row["net"]), "value": value}
        return {"place": (int(row["row"]), int(row["column"])), "value": value}

    tried = 0
    for representative in random.Random(5).sample(shared, 25):
        members = [m for m in collapsed.members(representative) if pins[m // 2]["consumer"] == TO_GATE]
        for machine in machines:
            assert len({str(machine.response(**fault(m))) for m in members}) == 1
        tried += len(members)
    assert tried > 75


def test_pulses_of_a_class_do_the_same_in_every_state(netlist, elaboration):
    sites = pulse_sites(elaboration.sites, netlist)
    collapsed = collapsed_pulses(netlist, sites)
    assert 0.6 < collapsed.classes / collapsed.faults < 0.95
    nets = netlist.pins["net"][sites.pins]
    shared = [c for c in np.unique(collapsed.representative).tolist() if len(collapsed.members(c)) > 1]
    machine = Machine(netlist, 9)
    for representative in random.Random(6).sample(shared, 40):
        own = {str(machine.response(pulse=int(nets[m]))) for m in collapsed.members(representative)}
        assert len(own) == 1


def test_classes_have_all_faults_as_members(netlist):
    collapsed = collapsed_pins(netlist)
    assert collapsed.faults == 2 * len(netlist.pins)
    representatives = np.unique(collapsed.representative)
    assert (collapsed.representative[representatives] == representatives).all()
    assert sum(len(collapsed.members(c)) for c in representatives[:200].tolist()) == int(
        np.isin(collapsed.representative, representatives[:200]).sum()
    )


def test_classes_after_dominance_hold_those_of_equivalence(netlist):
    equal, fewer = collapsed_pins(netlist), dominance_collapsed_pins(netlist)
    assert 0.5 < fewer.classes / equal.classes < 0.95
    # Each class goes as a whole, and each that stays is its own.
    assert (fewer.representative == fewer.representative[equal.representative]).all()
    assert (fewer.representative[fewer.representative] == fewer.representative).all()


def small(inputs, gates, outputs):
    """Return a netlist of gates, a cell each: nets 2 .. are inputs, then what each gate drives."""
    table = np.zeros((len(gates), 5), np.int32)
    pins = []
    for row, (operation, *operands) in enumerate(gates):
        y = 2 + inputs + row
        table[row] = (operation, *operands, *[0] * (3 - len(operands)), y)
        pins.append((row, 0, 1, y, TO_GATE, row, 4))
        pins += [(row, i, 0, net, TO_GATE, row, i) for i, net in enumerate(operands, 1)]
    none = np.zeros((0, 5), np.int32)
    own = Gates(2 + inputs + len(gates), table, none, np.array(outputs, np.int32), (), (), (), {}, (), (), ())
    cells = np.zeros(len(gates), np.int32)
    empty = np.zeros(0, np.int32)
    first = np.array([i for i, pin in enumerate(pins) if pin[2]] + [len(pins)], np.int32)
    return LogicNetlist(
        own, tuple(f"U{i}" for i in range(len(gates))), ("G",), ("",), ("Y", "A", "B", "S"), cells, cells,
        np.array(pins, PINS), first, empty, empty, none[:, :2], none[:, :2], {}, none[:, :2], empty,
        (), 1, "",
    )  # fmt: skip


def patterns_of(netlist, inputs, fault):
    """Return the patterns, a bit each, in which some output shows a fault; all patterns are tried."""
    patterns = 1 << inputs
    every = (1 << patterns) - 1
    pin, value = fault
    row = netlist.pins[pin]

    def outputs(faulty):
        values = [0, every] + [sum(1 << p for p in range(patterns) if p >> i & 1) for i in range(inputs)]
        held = every if value else 0
        for at, (operation, a, b, s, _) in enumerate(netlist.gates.gates.tolist()):
            one, two, three = (
                held
                if faulty and not row["output"] and (at, column) == (row["row"], row["column"])
                else values[n]
                for column, n in enumerate((a, b, s), 1)
            )
            inner = {0: one, 2: one & two, 4: one | two, 6: one ^ two}.get(operation & ~1)
            inner = one & ~three | two & three if inner is None else inner
            inner = {8: one & ~two, 9: ~(one | every ^ two)}.get(operation, inner) & every
            found = inner ^ (every if operation & 1 else 0)
            values.append(held if faulty and row["output"] and at == row["row"] else found)
        return [values[n] for n in netlist.gates.ports.tolist()]

    found = 0
    for right, wrong in zip(outputs(False), outputs(True), strict=True):
        found |= right ^ wrong
    return found


# Six NANDs of two inputs, the smallest of the textbooks' benchmarks: inputs are nets 2 .. 6.
C17 = (5, [(3, 2, 4), (3, 4, 5), (3, 3, 8), (3, 8, 6), (3, 7, 9), (3, 9, 10)], [11, 12])
# A full adder of two half adders, and what decides where paths meet again.
ADDER = (3, [(6, 2, 3), (2, 2, 3), (6, 5, 4), (2, 5, 4), (4, 6, 8)], [7, 9])
MEETING = (4, [(3, 2, 3), (5, 6, 4), (4, 6, 7), (2, 8, 5), (1, 9), (0, 10), (10, 7, 10, 2)], [11, 12])


def drawn_circuits(count):
    choose = random.Random(3)
    for _ in range(count):
        inputs, gates = choose.randint(3, 6), []
        for row in range(choose.randint(4, 14)):
            operation = choose.choice((0, 1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 9, 10))
            operands = 1 if operation < 2 else 3 if operation == 10 else 2
            gates.append((operation, *(choose.randint(2, 1 + inputs + row) for _ in range(operands))))
        last = 2 + inputs + len(gates)
        yield inputs, gates, sorted({last - 1, *(choose.randrange(2 + inputs, last) for _ in range(2))})


def wrong_claims(circuits):
    """Return the faults that are not seen by all tests of what stands for them, and how many claims are."""
    wrong, claims = [], 0
    for inputs, gates, outputs in circuits:
        netlist = small(inputs, gates, outputs)
        found = dominance_collapsed_pins(netlist)
        own = [patterns_of(netlist, inputs, divmod(fault, 2)) for fault in range(found.faults)]
        for fault, stays in enumerate(found.representative.tolist()):
            claims += fault != stays
            if own[stays] & ~own[fault]:
                wrong.append((gates, fault, stays))
    return wrong, claims


def test_each_test_of_what_stays_is_one_of_all_that_it_stands_for():
    """Every pattern of small circuits is tried."""
    wrong, claims = wrong_claims([C17, ADDER, MEETING, *drawn_circuits(60)])
    assert wrong == []
    assert claims > 500
    # The textbooks' 22 and 16 have, besides, both faults of the input that two gates take: it is no pin here.
    netlist = small(*C17)
    assert (collapsed_pins(netlist).classes, dominance_collapsed_pins(netlist).classes) == (20, 14)


@pytest.mark.parametrize(
    "rule",
    [
        {own: 1 - output for own, output in DOMINATED.items()},
        {(operation, column, 1 - value): output for (operation, column, value), output in DOMINATED.items()},
    ],
)
def test_a_wrong_rule_is_found_by_trying_all_patterns(monkeypatch, rule):
    monkeypatch.setattr(collapse, "DOMINATED", rule)
    assert wrong_claims([C17, ADDER, MEETING])[0]
