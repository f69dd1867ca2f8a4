# SPDX-License-Identifier: Apache-2.0
"""Small circuits of gates, and what comes of permanent faults in them, by truth tables of all gates.

The judge shares nothing with the simulator of faulty logic but the numbers of operations and the words of
results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.engine.fast.native.circuit import ALARM, FLIP_FLOP, GATE, MEMORY, PORT, Circuit
from resil.rtl_harness.engine.logic.library import (
    OUTPUT,
    HeldPin,
    HeldPins,
    How,
    LogicEnd,
    LogicObserved,
    PinKind,
    dominated,
    opened,
    opened_data,
    stored,
    wired,
)

BUF, NOT, AND, NAND, OR, NOR, XOR, XNOR, ANDNOT, ORNOT, MUX, NMUX, READ = range(13)
NET, OPERAND, DATA, LOAD, _, _, BRIDGE, WIRED, OPEN, OPEN_DATA, STORED, PULSE = PinKind

# Of gates that have not two.
_INPUTS = {BUF: 1, NOT: 1, MUX: 3, NMUX: 3}

# Outputs for s, b, a from 000 to 111.
TRUTH = np.array(
    [
        [int(v) for v in table]
        for table in (
            *("01010101", "10101010", "00010001", "11101110", "01110111", "10001000", "01100110", "10011001"),
            *("01000100", "11011101", "01010011", "10101100"),
        )
    ],
    np.int64,
)


@dataclass
class GateNetlist:
    """A circuit that is made gate by gate.

    Attributes:
        flip_flops: q, d, load, active, initial value, reset value of each.
        gates: Operation, a, b, s, y.
        memory: Initial words; none without a memory.
        width: Bits of a word.
    """

    nets: int = 2
    gates: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    flip_flops: list[list[int]] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    width: int = 0
    reads: list[tuple[list[int], list[int]]] = field(default_factory=list)
    writes: list[tuple[list[int], list[int], list[int]]] = field(default_factory=list)
    done: int = 0
    status: list[int] = field(default_factory=list)
    alarms: list[int] = field(default_factory=list)
    operation: list[int] = field(default_factory=list)
    detects: int = 0
    corrects: int = 0
    uncounted: set[int] = field(default_factory=set)
    outputs: int = 0

    def gate(self, operation: int, a: int = 0, b: int = 0, s: int = 0) -> int:
        """Add a gate; return the net that it drives."""
        self.gates.append((operation, a, b, s, self.nets))
        self.nets += 1
        return self.nets - 1

    def flip_flop(self, initial: int = 0, reset: int = -1) -> int:
        """Add a flip-flop whose input is given later; return its output."""
        self.flip_flops.append([self.nets, 0, 0, 1, initial, reset])
        self.nets += 1
        return self.nets - 1

    def drive(self, q: int, d: int, load: int = 0, active: int = 1) -> None:
        """Give a flip-flop its input."""
        row = next(row for row in self.flip_flops if row[0] == q)
        row[1:4] = [d, load, active]

    def read(self, address: Sequence[int]) -> list[int]:
        """Add a read port; return its data."""
        data = list(range(self.nets, self.nets + self.width))
        self.nets += self.width
        self.gates.append((READ, len(self.reads), 0, 0, 0))
        self.reads.append((list(address), data))
        return data

    def pins(self) -> list[HeldPins]:
        """Return every pin at both values: nets, inputs of gates, of flip-flops, and their loads."""
        driven = [y for op, *_, y in self.gates if op != READ]
        driven += [net for _, data in self.reads for net in data] + [row[0] for row in self.flip_flops]
        found = [HeldPin(NET, net, v) for net in sorted(driven) for v in (0, 1)]
        for row, (operation, *_) in enumerate(self.gates):
            columns = {READ: (), BUF: (1,), NOT: (1,), MUX: (1, 2, 3), NMUX: (1, 2, 3)}.get(operation, (1, 2))
            found += [HeldPin(OPERAND, row, v, column) for column in columns for v in (0, 1)]
        found += [HeldPin(DATA, row, v) for row in range(len(self.flip_flops)) for v in (0, 1)]
        for row, (_, _, load, active, *_) in enumerate(self.flip_flops):
            if load:
                found.append(HeldPin(LOAD, row, 1 - active))
        return [(pin,) for pin in found]

    def depends(self) -> npt.NDArray[np.bool_]:
        """Return which nets depend along gates on which, (nets, nets)."""
        found = np.eye(self.nets, dtype=bool)
        for operation, *operands, y in self.gates:
            if operation != READ:
                found[y] |= found[operands[: _INPUTS.get(operation, 2)]].any(axis=0)
                continue
            address, data = self.reads[operands[0]]
            found[data] |= found[address].any(axis=0)
        return found

    def opens(self, rng: np.random.Generator, number: int) -> list[HeldPins]:
        """Return open inputs of gates, each of what lies some gates behind, and of flip-flops."""
        depends, found = self.depends(), []
        rows = [row for row, (operation, *_) in enumerate(self.gates) if operation != READ]
        while len(found) < number:
            row, value = int(rng.choice(rows)), int(rng.integers(2))
            operation, *_, y = self.gates[row]
            column = int(rng.integers(_INPUTS.get(operation, 2))) + 1
            behind = [net for *_, net in self.gates[row : row + 6] if depends[net, y] and net > 1]
            behind = [net for net in behind if self._is_direct(row, net)]
            kind = rng.integers(4)
            if kind == 0:
                found.append((opened_data(int(rng.integers(len(self.flip_flops))), value),))
            elif kind == 1:
                flip_flops = [i for i, own in enumerate(self.flip_flops) if own[1] in behind]
                found += [(opened_data(i, value, (row, column)),) for i in flip_flops[:1]]
            elif behind:
                nets = dict.fromkeys(int(net) for net in rng.choice(behind, 2))
                found.append(tuple(opened(net, row, column, value) for net in nets))
        return found

    def _is_direct(self, row: int, net: int) -> bool:
        """Return whether nothing of what a gate drives reaches a net through a memory."""
        reached = {self.gates[row][4]}
        for operation, *operands, y in self.gates[row + 1 :]:
            if operation == READ:
                address, data = self.reads[operands[0]]
                if reached & set(address) and self.depends()[net, data].any():
                    return False
            elif reached & set(operands[: _INPUTS.get(operation, 2)]):
                reached.add(y)
        return True

    def bridges(self, rng: np.random.Generator, number: int) -> list[HeldPins]:
        """Return bridges of any two nets that close no loop."""
        depends, found = self.depends(), []
        while len(found) < number:
            one, other = (int(net) for net in rng.integers(2, self.nets, 2))
            if depends[other, one]:
                continue
            found.append((*dominated(one, other), *self._stored(one, rng)))
            if not depends[one, other]:
                own = wired(one, other, int(rng.integers(2)))
                found.append((*own, *self._stored(one, rng), *self._stored(other, rng)))
        return found

    def _stored(self, net: int, rng: np.random.Generator) -> HeldPins:
        """Return that some gate takes what a flip-flop stores in place of its net."""
        flip_flop = next((i for i, row in enumerate(self.flip_flops) if row[0] == net), None)
        takers = [
            (row, column)
            for row, (operation, *operands, _) in enumerate(self.gates)
            for column, own in enumerate(operands[: _INPUTS.get(operation, 2)], 1)
            if operation != READ and own == net
        ]
        if flip_flop is None or not takers:
            return ()
        return (stored(flip_flop, *takers[int(rng.integers(len(takers)))]),)

    def circuit(self) -> Circuit:
        """Return it as the simulator takes it: a byte of the state for each flip-flop, then the memory."""
        count = len(self.flip_flops)
        flip_flops = np.zeros(count, FLIP_FLOP)
        for column, name in enumerate(("q", "d", "load", "active")):
            flip_flops[name] = [row[column] for row in self.flip_flops]
        flip_flops["offset"] = np.arange(count)
        lists: list[int] = []
        ports = {}
        for kind, given in (("reads", self.reads), ("writes", self.writes)):
            ports[kind] = np.zeros(len(given), PORT)
            for i, port in enumerate(given):
                ports[kind][i] = (0, len(port[0]), len(port[1]), len(lists))
                lists += [net for nets in port for net in nets]
        memories = np.zeros(min(1, len(self.memory)), MEMORY)
        if self.memory:
            memories[0] = (count, len(self.memory), 1, 0)
        return Circuit(
            self.nets, np.array(self.gates, GATE), flip_flops, memories, ports["reads"], ports["writes"],
            np.array([self.done, *self.status], np.int32),
            np.array([(net, i) for i, net in enumerate(self.alarms)], ALARM),
            np.array(self.operation, np.int32), np.zeros(0, np.int32), np.array(lists, np.int32),
        )  # fmt: skip

    def observed(self) -> LogicObserved:
        """Return what is observed of it: the first words of the memory are the output."""
        state = [row[4] for row in self.flip_flops] + self.memory
        counted = [i not in self.uncounted for i in range(len(self.flip_flops))]
        return LogicObserved(
            np.array(state, np.uint8),
            np.array([row[5] for row in self.flip_flops], np.int8),
            np.array(counted, np.uint8),
            np.ones(min(1, len(self.memory)), np.uint8),
            np.array([(0, word, 0) for word in range(self.outputs)], OUTPUT),
            1,
            self.detects,
            self.corrects,
        )


class JudgedMachines:
    """A machine for each fault, all evaluated in full in every cycle: a row of an array is a machine.

    Attributes:
        rises: Cycle in which each alarm rose first, -1 if it did not, (faults, alarms).
        end: Cycles run, (faults,); all that follows is as of then.
        done, detected, status: (faults,).
        stored: Of flip-flops, (faults, flip-flops).
        memory: (faults, words).
    """

    def __init__(self, netlist: GateNetlist, faults: Sequence[HeldPins]) -> None:
        self.n = netlist
        count = len(faults)
        self.held: dict[tuple[PinKind, int, int], list[tuple[int, int]]] = {}
        for i, fault in enumerate(faults):
            for pin in fault:
                self.held.setdefault((pin.kind, pin.at, pin.column), []).append((i, pin.value))
        self.stored = np.tile(np.array([row[4] for row in netlist.flip_flops], np.int64), (count, 1))
        self.memory = np.tile(np.array(netlist.memory, np.int64), (count, 1))
        self.value = np.zeros((netlist.nets, count), np.int64)
        self.value[1] = 1
        self.driven = self.value.copy()
        # What nets are where an open pin has the value at which it is open; what they were before.
        self.other = self.value.copy()
        self.before: npt.NDArray[np.int64] | None = None
        self.row = 0
        self.faults = faults
        self.of_net: dict[int, list[tuple[int, HeldPin]]] = {}
        self.of_operand: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self.of_data: dict[int, list[tuple[int, HeldPin]]] = {}
        self.of_stored: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for i, fault in enumerate(faults):
            for pin in fault:
                if pin.kind in (BRIDGE, WIRED, OPEN, PULSE):
                    self.of_net.setdefault(pin.at, []).append((i, pin))
                if pin.kind is STORED:
                    flip_flop, column = divmod(pin.column, 4)
                    self.of_stored.setdefault((pin.at, column), []).append((i, flip_flop))
                if pin.kind is OPEN_DATA:
                    self.of_data.setdefault(pin.at, []).append((i, pin))
                if pin.kind in (OPEN, OPEN_DATA) and pin.column >= 0:
                    self.of_operand.setdefault(divmod(pin.column, 4), []).append((i, pin.value))

    def _as_held(self, key: tuple[PinKind, int, int], value: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        if key in self.held:
            value = value.copy()
            for machine, held in self.held[key]:
                value[machine] = held
        return value

    def _on_net(self, net: int, value: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return what a net has of what it is driven to."""
        value = self._as_held((NET, net, 0), value)
        self.driven[net] = value
        for machine, pin in self.of_net.get(net, ()):
            value = value.copy()
            if pin.kind is BRIDGE:
                value[machine] = self.value[pin.column, machine]
            elif pin.kind is WIRED:
                pair = [int(self.driven[n, machine]) for n in (net, pin.column)]
                value[machine] = max(pair) if pin.value else min(pair)
            elif pin.kind is PULSE:
                value[machine] ^= pin.column == self.row
            elif self.before is not None and self.other[net, machine] != value[machine]:
                value[machine] = self.before[net, machine]
        return value

    def _number(self, nets: Sequence[int]) -> npt.NDArray[np.int64]:
        return sum((self.value[net] << i for i, net in enumerate(nets)), self.value[0] * 0)

    def _loaded(self, row: int) -> npt.NDArray[np.bool_]:
        _, _, load, active, *_ = self.n.flip_flops[row]
        acts = self.value[load] == active
        for machine, _ in self.held.get((LOAD, row, 0), ()):
            acts[machine] = False
        return acts

    def _operand(self, row: int, column: int, net: int) -> npt.NDArray[np.int64]:
        value = self._as_held((OPERAND, row, column), self.value[net])
        for machine, flip_flop in self.of_stored.get((row, column), ()):
            value = value.copy()
            value[machine] = self.stored[machine, flip_flop]
        return value

    def _taken(self, row: int, d: int) -> npt.NDArray[np.int64]:
        value = self._as_held((DATA, row, 0), self.value[d]).copy()
        for machine, pin in self.of_data.get(row, ()):
            other = pin.value if pin.column < 0 else self.other[d, machine]
            if other != value[machine]:
                value[machine] = self.stored[machine, row]
        return value

    def strike(self, row: int) -> None:
        """Invert what upsets of this row invert; pulses of it invert nets."""
        self.row = row
        for machine, fault in enumerate(self.faults):
            for kind, at, value, _ in fault:
                if value == row and kind is PinKind.FLIP_FLOP_UPSET:
                    self.stored[machine, at] ^= 1
                if value == row and kind is PinKind.MEMORY_UPSET:
                    self.memory[machine, at // 8] ^= 1 << at % 8

    def settle(self) -> None:
        """Evaluate all, until no asynchronous load changes anything."""
        every = np.arange(self.value.shape[1])
        while True:
            earlier = self.value.copy()
            for i, row in enumerate(self.n.flip_flops):
                self.value[row[0]] = self.other[row[0]] = self._on_net(row[0], self.stored[:, i])
            for i, (operation, *operands, y) in enumerate(self.n.gates):
                if operation == READ:
                    address, data = self.n.reads[operands[0]]
                    word = self._number(address)
                    there = word < self.memory.shape[1]
                    content = np.where(there, self.memory[every, np.where(there, word, 0)], 0)
                    for k, net in enumerate(data):
                        self.value[net] = self.other[net] = self._on_net(net, content >> k & 1)
                    continue
                if self.of_operand:
                    a, b, s = (self.other[n].copy() for n in operands)
                    for k, own in enumerate((a, b, s)):
                        for machine, held in self.of_operand.get((i, k + 1), ()):
                            own[machine] = held
                    self.other[y] = TRUTH[operation][4 * s + 2 * b + a]
                a, b, s = (self._operand(i, k + 1, n) for k, n in enumerate(operands))
                self.value[y] = self._on_net(y, TRUTH[operation][4 * s + 2 * b + a])
            before = self.stored.copy()
            for i, row in enumerate(self.n.flip_flops):
                self.stored[self._loaded(i), i] = row[5]
            if (before == self.stored).all() and (earlier == self.value).all():
                return

    def edge(self) -> None:
        """Take the next state."""
        taken = np.array(
            [
                np.where(self._loaded(i), self.stored[:, i], self._taken(i, row[1]))
                for i, row in enumerate(self.n.flip_flops)
            ]
        ).T
        self.before = self.value.copy()
        for address, data, enable in self.n.writes:
            word, mask, content = self._number(address), self._number(enable), self._number(data)
            at = np.flatnonzero(word < self.memory.shape[1])
            now = self.memory[at, word[at]]
            self.memory[at, word[at]] = now & ~mask[at] | content[at] & mask[at]
        self.stored = taken

    def run(self, limit: int, allowance: int | None, until: bool, usual: Sequence[bool]) -> JudgedMachines:
        """Run each to its end."""
        count = self.value.shape[1]
        self.rises = np.full((count, len(self.n.alarms)), -1)
        self.end, self.status = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.done, self.detected = np.zeros(count, bool), np.zeros(count, bool)
        last = [self.stored.copy(), self.memory.copy()]
        self.settle()
        clean = self if not self.held else JudgedMachines(self.n, [()])
        clean.settle()
        shown, moved = np.full(count, clean._number(self.n.operation)[0]), np.zeros(count, np.int64)
        news = [i for i in range(len(self.n.alarms)) if not usual[i] and self.n.detects >> i & 1]
        for cycle in range(1, limit + 1):
            self.edge()
            self.strike(cycle)
            self.settle()
            going = self.end == 0
            for i, net in enumerate(self.n.alarms):
                self.rises[going & (self.value[net] == 1) & (self.rises[:, i] < 0), i] = cycle - 1
            now = self._number(self.n.operation)
            moved[now != shown] = cycle
            shown = now
            detected = (self.rises[:, news] >= 0).any(axis=1) & until
            done = self.value[self.n.done] == 1
            over = (cycle >= moved + allowance) if allowance is not None else np.zeros(count, bool)
            ends = going & (detected | done | over | (cycle == limit))
            self.end[ends] = cycle
            self.done[ends], self.detected[ends] = (done & ~detected)[ends], detected[ends]
            self.status[ends] = self._number(self.n.status)[ends]
            last[0][ends], last[1][ends] = self.stored[ends], self.memory[ends]
            if (self.end > 0).all():
                break
        self.stored, self.memory = last
        return self


def expected(
    netlist: GateNetlist,
    faults: Sequence[HeldPins],
    golden: JudgedMachines,
    limit: int,
    allowance: int | None,
    until: bool,
) -> list[LogicEnd]:
    """Return how the simulator has to say that runs with faults end; how it finds out is its own affair."""
    usual = (golden.rises[0] >= 0).tolist()
    made = JudgedMachines(netlist, faults).run(limit, allowance, until, usual)
    kept = [i for i in range(len(netlist.flip_flops)) if i not in netlist.uncounted]
    outputs = [bytes(words) for words in made.memory[:, : netlist.outputs].astype(np.uint8)]
    same = (made.memory[:, : netlist.outputs] == golden.memory[0, : netlist.outputs]).all(axis=1)
    differs = (made.stored[:, kept] != golden.stored[0, kept]).any(axis=1)
    differs |= (made.memory != golden.memory[0]).any(axis=1)

    def first(machine: int, mask: int) -> tuple[int, int] | None:
        own = enumerate(made.rises[machine].tolist())
        known = [(rise, i) for i, rise in own if rise >= 0 and not usual[i] and mask >> i & 1]
        return min(known)[::-1] if known else None

    return [
        LogicEnd(
            How.DETECTED if made.detected[i] else How.DONE if made.done[i] else How.LIMIT,
            int(made.end[i]),
            int(made.status[i]),
            outputs[i],
            bool(differs[i] and made.done[i] and same[i]),
            first(i, netlist.detects),
            first(i, netlist.corrects),
        )
        for i in range(len(faults))
    ]
