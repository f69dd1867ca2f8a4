# SPDX-License-Identifier: Apache-2.0
"""Which faults in logic are the same fault: structural equivalence of stuck pins, and of pulses.

Two faults are equivalent if the design with one is, net by net behind both, the design with the other. So
what comes of one is what comes of all of its class, whatever runs. Draws stay draws of all faults: a member
is simulated as the representative of its class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from resil.rtl_harness.engine.fast.gates.logic import READ
from resil.rtl_harness.logic.expand import AND, BUFFER, NAND, NOR, NOT, OR, XNOR, XOR
from resil.rtl_harness.logic.netlist import NOWHERE, TO_GATE, Ints, LogicNetlist
from resil.rtl_harness.logic.sites import LogicSites

# Of gates with a deciding input: what it is, and what the output is then.
_DECIDED = {AND: (0, 0), NAND: (0, 1), OR: (1, 1), NOR: (1, 0)}


@dataclass(frozen=True)
class Collapsed:
    """Classes of equivalent faults.

    Attributes:
        representative: Fault that is simulated in place of each, itself of those that stand for a class,
            (faults,).
    """

    representative: Ints

    @property
    def faults(self) -> int:
        """Number of faults."""
        return len(self.representative)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(np.unique(self.representative))

    def members(self, fault: int) -> list[int]:
        """Return all faults of the class of a fault."""
        return np.flatnonzero(self.representative == self.representative[fault]).tolist()


def collapsed_pins(netlist: LogicNetlist) -> Collapsed:
    """Return the classes of stuck pins; fault `2 * pin + value` is a row of `pins` held at a value.

    Clock pins are classes by themselves: what they are equivalent to depends on the values out of reset.
    """
    gates, pins = netlist.gates.gates, netlist.pins
    nets = netlist.gates.nets
    uses = _uses(netlist)
    stored = set(netlist.gates.flip_flops[:, 0].tolist())
    # Faults of nets first, then of the places at which gates take them: the columns a, b and s of each.
    joined = _Joined(2 * (nets + 3 * len(gates)))

    def taken(row: int, column: int) -> int:
        return nets + 3 * row + column - 1

    for row, (operation, *operands, y) in enumerate(gates.tolist()):
        if operation == READ:
            continue
        for column, net in enumerate(operands, 1):
            if not _is_operand(operation, column):
                continue
            place = taken(row, column)
            # What a register holds is state, which a pin behind it is not.
            if net > 1 and uses[net] == 1 and net not in stored:
                joined.join(2 * net, 2 * place)
                joined.join(2 * net + 1, 2 * place + 1)
            if operation in (BUFFER, NOT):
                joined.join(2 * place, 2 * y + operation)
                joined.join(2 * place + 1, 2 * y + 1 - operation)
            elif operation in _DECIDED:
                value, output = _DECIDED[operation]
                joined.join(2 * place + value, 2 * y + output)
    own: list[int] = []
    extra = 2 * (nets + 3 * len(gates))
    for number, (_, _, output, net, consumer, row, column) in enumerate(pins.tolist()):
        for value in (0, 1):
            if output:
                own.append(joined.root(2 * net + value))
            elif consumer == TO_GATE:
                own.append(joined.root(2 * taken(row, column) + value))
            elif consumer != NOWHERE and uses[net] == 1 and net not in stored:
                own.append(joined.root(2 * net + value))
            else:
                own.append(extra + 2 * number + value)
    return _by_first(own)


def collapsed_pulses(netlist: LogicNetlist, sites: LogicSites) -> Collapsed:
    """Return the classes of pulses in one cycle, by place among the sites.

    A pulse goes on as a pulse through a gate that passes every change: an inverter, a buffer, an exclusive
        OR, if
    nothing else takes the net.
    """
    uses = _uses(netlist)
    joined = _Joined(netlist.gates.nets)
    for operation, a, b, _, y in netlist.gates.gates.tolist():
        passed = [a] if operation in (BUFFER, NOT) else [a, b] if operation in (XOR, XNOR) and a != b else []
        for net in passed:
            if net > 1 and uses[net] == 1:
                joined.join(net, y)
    return _by_first([joined.root(net) for net in netlist.pins["net"][sites.pins].tolist()])


class _Joined:
    """Sets that are joined."""

    def __init__(self, size: int) -> None:
        self._above = list(range(size))

    def root(self, one: int) -> int:
        while self._above[one] != one:
            self._above[one] = self._above[self._above[one]]
            one = self._above[one]
        return one

    def join(self, one: int, other: int) -> None:
        self._above[self.root(one)] = self.root(other)


def _by_first(classes: list[int]) -> Collapsed:
    """Return the first fault of each class for all of it."""
    first: dict[int, int] = {}
    return Collapsed(np.array([first.setdefault(own, i) for i, own in enumerate(classes)], np.int32))


def _is_operand(operation: int, column: int) -> bool:
    return column == 1 or (column == 2 and operation not in (BUFFER, NOT)) or operation >= 10


def _uses(netlist: LogicNetlist) -> Ints:
    """Return how often each net is taken, by gates, storage, memories, and whoever looks at the design."""
    found = np.zeros(netlist.gates.nets, np.int32)
    for net in _taken(netlist):
        found[net] += 1
    return found


def _taken(netlist: LogicNetlist) -> Iterator[int]:
    gates = netlist.gates
    for operation, *operands, _ in gates.gates.tolist():
        if operation != READ:
            yield from (net for column, net in enumerate(operands, 1) if _is_operand(operation, column))
    yield from gates.flip_flops[:, 1:3].ravel().tolist()
    for _, address, _ in gates.reads:
        yield from address
    for _, address, data, enable in gates.writes:
        yield from (*address, *data, *enable)
    yield from gates.ports.tolist()
    yield from (net for nets in gates.alarms for net in nets)
    yield from (*gates.operation, *gates.undefined)
