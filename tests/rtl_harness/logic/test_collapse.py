# SPDX-License-Identifier: Apache-2.0
"""Classes of equivalent faults: every member makes the same of every state."""

import random

import numpy as np

from resil.rtl_harness.logic.collapse import collapsed_pins, collapsed_pulses
from resil.rtl_harness.logic.netlist import TO_GATE
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
