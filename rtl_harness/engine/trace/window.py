# SPDX-License-Identifier: Apache-2.0
"""What the nets of both runs are worth in consecutive cycles, each net as one number with a bit a cycle."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.engine.fast.gates.logic import AND, MUX, NOT, ONE, OR, READ, XOR, ZERO
from resil.rtl_harness.engine.fast.native.circuit import Circuit
from resil.rtl_harness.engine.fast.native.library import ModelInstance
from resil.rtl_harness.engine.trace.storage_bits import StorageBits

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.int64]


class NetValues(NamedTuple):
    """A net in the golden run and in the one with the fault; bit i is cycle i of the window."""

    golden: int
    faulty: int

    def at(self, place: int) -> tuple[int, int]:
        """Return both values in a cycle of the window."""
        return self.golden >> place & 1, self.faulty >> place & 1

    def differs(self, place: int) -> bool:
        """Whether they are not the same in a cycle of the window."""
        return bool((self.golden ^ self.faulty) >> place & 1)


class _NetGate(NamedTuple):
    operation: int
    a: int
    b: int
    s: int


class GateNetlist:
    """The gates of a design, by what drives each net.

    Args:
        circuit: The gates, with the places of their storage.
        bits: Numbers of all storage.

    Attributes:
        circuit: The same.
        drivers: The gate that drives a net, by net; nets of storage and constants have none.
        reads: Read port and data bit that drive a net, by net.
        stored: Number of the bit that a net is the output of, by net.
        flip_flops: Next value and asynchronous load of a bit, by number; load and its active level.
        memories: Place in the circuit of each memory of `bits`; None of one that the gates do not have.
    """

    def __init__(self, circuit: Circuit, bits: StorageBits) -> None:
        self.circuit = circuit
        self.drivers: dict[int, _NetGate] = {}
        self.reads: dict[int, tuple[int, int]] = {}
        for operation, a, b, s, y in circuit.gates.tolist():
            if operation == READ:
                port = circuit.reads[a]
                first = int(port["first"]) + int(port["address"])
                for i, net in enumerate(circuit.lists[first : first + int(port["data"])].tolist()):
                    self.reads[net] = (a, i)
            else:
                self.drivers[y] = _NetGate(operation, a, b, s)
        self.stored: dict[int, int] = {}
        self.flip_flops: dict[int, tuple[int, int, int]] = {}
        for flip_flop in circuit.flip_flops:
            number = bits.number(int(flip_flop["offset"]), int(flip_flop["bit"]))
            if number is not None:
                self.stored[int(flip_flop["q"])] = number
                self.flip_flops[number] = (
                    int(flip_flop["d"]),
                    int(flip_flop["load"]),
                    int(flip_flop["active"]),
                )
        known = {int(memory["offset"]): i for i, memory in enumerate(circuit.memories)}
        self.memories = [known.get(memory.place.offset) for memory in bits.memories]

    def inputs(self, net: int) -> tuple[int, ...]:
        """Return the nets that a net is computed from, read ports aside."""
        gate = self.drivers.get(net)
        if gate is None:
            return ()
        if gate.operation == NOT:
            return (gate.a,)
        return (gate.a, gate.b, gate.s) if gate.operation == MUX else (gate.a, gate.b)

    def address(self, port: int) -> list[int]:
        """Return the nets of the address of a read port."""
        read = self.circuit.reads[port]
        first = int(read["first"])
        return self._nets(first, int(read["address"]))

    def write(self, port: int) -> tuple[list[int], list[int], list[int]]:
        """Return the nets of address, data and enable of a write port."""
        write = self.circuit.writes[port]
        first, address, data = int(write["first"]), int(write["address"]), int(write["data"])
        return (
            self._nets(first, address),
            self._nets(first + address, data),
            self._nets(first + address + data, data),
        )

    def _nets(self, first: int, count: int) -> list[int]:
        return [int(net) for net in self.circuit.lists[first : first + count]]


class _Side:
    """Storage of one run in the cycles of a window."""

    def __init__(self, bits: StorageBits, cycles: int) -> None:
        self._bits = bits
        self.rows = np.zeros((cycles, len(bits.register_bytes)), np.uint8)
        self.first: list[Bytes] = []
        self.now: list[Bytes] = []
        # Of each memory: place in the window, byte and value of each change.
        self.changes: list[list[tuple[int, int, int]]] = [[] for _ in bits.memories]
        # Of each memory, the changes of a byte.
        self.of_byte: list[dict[int, list[tuple[int, int]]]] = [{} for _ in bits.memories]

    def take(self, place: int, instance: ModelInstance) -> None:
        self.rows[place] = instance.state[self._bits.register_bytes]
        for i, memory in enumerate(self._bits.memories):
            at, size = memory.place.offset, memory.place.size
            live = instance.state[at : at + size]
            if place == 0:
                self.first.append(live.copy())
                self.now.append(live.copy())
                continue
            before = self.now[i]
            if not np.array_equal(live, before):
                for byte in np.flatnonzero(live != before).tolist():
                    self.changes[i].append((place, byte, int(live[byte])))
                    self.of_byte[i].setdefault(byte, []).append((place, int(live[byte])))
                before[:] = live

    def column(self, number: int) -> int:
        """Return a register's bit in all cycles."""
        byte, bit = divmod(number, 8)
        return _packed(self.rows[:, byte] >> bit & 1)

    def words(self, memory: int, words: Words) -> Bytes:
        """Return what stands in a word of a memory in each cycle, (cycles, bytes of a word)."""
        size = self._bits.memories[memory].place.entry_bytes
        contents = self.first[memory].reshape(-1, size)
        inside = (words >= 0) & (words < len(contents))
        found = np.where(inside[:, None], contents[np.where(inside, words, 0)], np.uint8(0))
        read = set(words[inside].tolist())
        for place, byte, value in self.changes[memory]:
            word, rest = divmod(byte, size)
            if word in read:
                later = words == word
                later[:place] = False
                found[later, rest] = value
        return found

    def byte(self, memory: int, byte: int, place: int) -> int:
        """Return a byte of a memory in a cycle."""
        changes = self.of_byte[memory].get(byte, [])
        passed = bisect_right(changes, place, key=lambda change: change[0])
        return changes[passed - 1][1] if passed else int(self.first[memory][byte])


class TraceWindow:
    """Both runs in consecutive cycles. Fill it by `take`, in order, then ask.

    Args:
        netlist: The design.
        bits: Its storage.
        first: The first cycle.
        cycles: How many.
    """

    def __init__(self, netlist: GateNetlist, bits: StorageBits, first: int, cycles: int) -> None:
        self.netlist = netlist
        self.bits = bits
        self.first = first
        self.cycles = cycles
        self._all = (1 << cycles) - 1
        self._golden, self._faulty = _Side(bits, cycles), _Side(bits, cycles)
        self._pairs: dict[int, NetValues] = {ZERO: NetValues(0, 0), ONE: NetValues(self._all, self._all)}
        self._words: dict[int, tuple[Bytes, Bytes]] = {}
        self._addresses: dict[tuple[int, ...], tuple[Words, Words]] = {}
        self._memory_of = {place: i for i, place in enumerate(netlist.memories) if place is not None}

    def take(self, golden: ModelInstance, faulty: ModelInstance, cycle: int) -> None:
        """Note the storage of both runs in a cycle."""
        self._golden.take(cycle - self.first, golden)
        self._faulty.take(cycle - self.first, faulty)

    def bit(self, number: int, place: int) -> tuple[int, int]:
        """Return both values of a bit of storage in a cycle of the window."""
        if (found := self.bits.memory_of(number)) is None:
            byte, bit = divmod(number, 8)
            rows = self._golden.rows[place, byte], self._faulty.rows[place, byte]
        else:
            memory, word, at = found
            byte, bit = word * self.bits.memories[memory].place.entry_bytes + at // 8, at % 8
            rows = self._golden.byte(memory, byte, place), self._faulty.byte(memory, byte, place)
        return int(rows[0]) >> bit & 1, int(rows[1]) >> bit & 1

    def net(self, net: int) -> NetValues:
        """Return a net in all cycles."""
        stack = [net]
        while stack:
            top = stack[-1]
            if top in self._pairs:
                stack.pop()
                continue
            waiting = [other for other in self._needs(top) if other not in self._pairs]
            if waiting:
                stack += waiting
            else:
                self._pairs[top] = self._evaluated(top)
                stack.pop()
        return self._pairs[net]

    def addresses(self, nets: list[int]) -> tuple[Words, Words]:
        """Return the number that nets stand for in each cycle, in both runs."""
        key = tuple(nets)
        if key not in self._addresses:
            both = np.zeros((2, self.cycles), np.int64)
            for i, net in enumerate(nets):
                for side, value in enumerate(self.net(net)):
                    both[side] |= _unpacked(value, self.cycles).astype(np.int64) << i
            self._addresses[key] = (both[0], both[1])
        return self._addresses[key]

    def word_of(self, port: int, place: int) -> tuple[int, int, int]:
        """Return memory, and the word that a read port takes in both runs in a cycle of the window."""
        memory, first_word = self._memory(int(self.netlist.circuit.reads[port]["memory"]))
        golden, faulty = self.addresses(self.netlist.address(port))
        return memory, int(golden[place]) - first_word, int(faulty[place]) - first_word

    def _memory(self, circuit_number: int) -> tuple[int, int]:
        first_word = int(self.netlist.circuit.memories[circuit_number]["first_word"])
        return self._memory_of[circuit_number], first_word

    def _needs(self, net: int) -> list[int]:
        if net in self.netlist.reads:
            return self.netlist.address(self.netlist.reads[net][0])
        return list(self.netlist.inputs(net))

    def _evaluated(self, net: int) -> NetValues:
        if (number := self.netlist.stored.get(net)) is not None:
            return NetValues(self._golden.column(number), self._faulty.column(number))
        if (read := self.netlist.reads.get(net)) is not None:
            port, bit = read
            golden, faulty = self._read(port)
            return NetValues(*(_packed(words[:, bit // 8] >> bit % 8 & 1) for words in (golden, faulty)))
        gate = self.netlist.drivers.get(net)
        if gate is None:
            return NetValues(0, 0)
        a, b, s = (self._pairs.get(other, NetValues(0, 0)) for other in (gate.a, gate.b, gate.s))
        return NetValues(*(self._gate(gate.operation, *values) for values in zip(a, b, s, strict=True)))

    def _gate(self, operation: int, a: int, b: int, s: int) -> int:
        if operation == NOT:
            return a ^ self._all
        if operation == AND:
            return a & b
        if operation == OR:
            return a | b
        if operation == XOR:
            return a ^ b
        return a & ~s | b & s

    def _read(self, port: int) -> tuple[Bytes, Bytes]:
        if port not in self._words:
            memory, first_word = self._memory(int(self.netlist.circuit.reads[port]["memory"]))
            golden, faulty = self.addresses(self.netlist.address(port))
            self._words[port] = (
                self._golden.words(memory, golden - first_word),
                self._faulty.words(memory, faulty - first_word),
            )
        return self._words[port]


def _packed(bits: npt.NDArray[np.integer[Any]]) -> int:
    return int.from_bytes(np.packbits(bits.astype(np.uint8), bitorder="little").tobytes(), "little")


def _unpacked(value: int, count: int) -> Bytes:
    raw = np.frombuffer(value.to_bytes((count + 7) // 8, "little"), np.uint8)
    return np.unpackbits(raw, count=count, bitorder="little")
