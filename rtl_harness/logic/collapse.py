# SPDX-License-Identifier: Apache-2.0
"""Which faults in logic are the same fault: structural equivalence of stuck pins, and of pulses; dominance.

Two faults are equivalent if the design with one is, net by net behind both, the design with the other. So
what comes of one is what comes of all of its class, whatever runs. Draws stay draws of all faults: a member
is simulated as the representative of its class.

A stuck pin dominates another one if each test of the other is a test of it: a pattern of register outputs and
inputs, by which registers and outputs take something else than without the fault. So it need not be
tried for that. It is no equality: with either fault registers go on differently. Outcomes of runs go by
equivalence alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from resil.rtl_harness.engine.fast.gates.logic import READ
from resil.rtl_harness.logic.expand import BUFFER, DECIDED, NOT, XNOR, XOR, operand_columns
from resil.rtl_harness.logic.netlist import NOWHERE, TO_GATE, Ints, LogicNetlist
from resil.rtl_harness.logic.sites import LogicSites

# Of gates of several operands: the output held at the other value than one that an operand decides dominates
# that operand held at the other value.
DOMINATED = {own: output for own, output in DECIDED.items() if len(operand_columns(own[0])) > 1}


@dataclass(frozen=True)
class Collapsed:
    """Classes of faults.

    Attributes:
        representative: Fault that is simulated, or tried, in place of each, itself of those that stand for a
            class, (faults,).
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
    return _by_first(_pin_classes(netlist)[0])


def dominance_collapsed_pins(netlist: LogicNetlist) -> Collapsed:
    """Return the stuck pins that stay to be tried for detection by patterns, and what each stands for.

    The output of an AND that is stuck at 1 dominates each of its inputs that is: a pattern that shows such an
    input shows the output so. It is left to the first such input, and so on from gate to gate backwards.
    Numbers of faults as of `collapsed_pins`; what has one representative there has one here.

    A fault that stays and has no test says nothing of those that it stands for: then they are to be tried.
    """
    own, joined, taken = _pin_classes(netlist)
    there = set(own)
    below: dict[int, list[int]] = {}
    for row, (operation, *operands, y) in enumerate(netlist.gates.gates.tolist()):
        if operation == READ:
            continue
        for column, value in product(operand_columns(operation), (0, 1)):
            output = DOMINATED.get((operation, column, value))
            if output is not None and operands[column - 1] > 1:
                place = joined.root(2 * taken(row, column) + 1 - value)
                below.setdefault(joined.root(2 * y + 1 - output), []).append(place)

    found: dict[int, int] = {}

    def stays(root: int) -> int:
        """Return the class whose tests are tests of a class, or -1 if no pin is in such a one."""
        stack = [root]
        while stack:
            at = stack[-1]
            waiting = [other for other in below.get(at, ()) if other not in found]
            if at not in found and waiting:
                stack += waiting
                continue
            stack.pop()
            if at not in found:
                inner = [found[other] for other in below.get(at, ()) if found[other] >= 0]
                found[at] = inner[0] if inner else at if at in there else -1
        return found[root]

    first: dict[int, int] = {}
    for fault, root in enumerate(own):
        first.setdefault(root, fault)
    return Collapsed(np.array([first[stays(root)] for root in own], np.int32))


def _pin_classes(netlist: LogicNetlist) -> tuple[list[int], _Joined, Callable[[int, int], int]]:
    """Return the class of each stuck pin, the classes, and the number of the place of an operand."""
    gates, pins = netlist.gates.gates, netlist.pins
    nets = netlist.gates.nets
    uses = net_uses(netlist)
    stored = set(netlist.gates.flip_flops[:, 0].tolist())
    # Faults of nets first, then of the places at which gates take them: the columns a, b and s of each.
    joined = _Joined(2 * (nets + 3 * len(gates)))

    def taken(row: int, column: int) -> int:
        return nets + 3 * row + column - 1

    for row, (operation, *operands, y) in enumerate(gates.tolist()):
        if operation == READ:
            continue
        for column, net in enumerate(operands, 1):
            if column not in operand_columns(operation):
                continue
            place = taken(row, column)
            # What a register holds is state, which a pin behind it is not.
            if net > 1 and uses[net] == 1 and net not in stored:
                joined.join(2 * net, 2 * place)
                joined.join(2 * net + 1, 2 * place + 1)
            for value in (0, 1):
                decided = DECIDED.get((operation, column, value))
                if decided is not None:
                    joined.join(2 * place + value, 2 * y + decided)
    own: list[int] = []
    extra = 2 * (nets + 3 * len(gates))
    clock_cells = dict(netlist.clock_cells.tolist())
    for number, (cell, _, output, net, consumer, row, column) in enumerate(pins.tolist()):
        for value in (0, 1):
            if output and cell in clock_cells:
                # A gated clock that stands still, at whichever level: the register enable is 0.
                own.append(joined.root(2 * clock_cells[cell]))
            elif output:
                own.append(joined.root(2 * net + value))
            elif consumer == TO_GATE:
                own.append(joined.root(2 * taken(row, column) + value))
            elif consumer != NOWHERE and uses[net] == 1 and net not in stored:
                own.append(joined.root(2 * net + value))
            else:
                own.append(extra + 2 * number + value)
    return own, joined, taken


def collapsed_pulses(netlist: LogicNetlist, sites: LogicSites) -> Collapsed:
    """Return the classes of pulses in one cycle, by place among the sites.

    A pulse goes on as a pulse through a gate that passes every change: an inverter, a buffer, an exclusive
        OR, if
    nothing else takes the net.
    """
    uses = net_uses(netlist)
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


def net_uses(netlist: LogicNetlist) -> Ints:
    """Return how often each net is taken, by gates, storage, memories, and whoever looks at the design."""
    found = np.zeros(netlist.gates.nets, np.int32)
    for net in _taken(netlist):
        found[net] += 1
    return found


def _taken(netlist: LogicNetlist) -> Iterator[int]:
    gates = netlist.gates
    for operation, *operands, _ in gates.gates.tolist():
        if operation != READ:
            yield from (operands[column - 1] for column in operand_columns(operation))
    yield from gates.flip_flops[:, 1:3].ravel().tolist()
    for _, address, _ in gates.reads:
        yield from address
    for _, address, data, enable in gates.writes:
        yield from (*address, *data, *enable)
    yield from gates.ports.tolist()
    yield from (net for nets in gates.alarms for net in nets)
    yield from (*gates.operation, *gates.undefined)
