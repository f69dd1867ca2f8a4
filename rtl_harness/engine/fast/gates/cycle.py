# SPDX-License-Identifier: Apache-2.0
"""One cycle of the clock as the simulator takes it: falling and rising edge, and what follows of each.

A cycle begins when all has settled after a rising edge. A flip-flop takes its input when the logic says that
its clock has an edge: so a gated clock becomes an enable, and a latch what it held when it was closed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resil.rtl_harness.engine.fast.gates.logic import ONE, ZERO, Net
from resil.rtl_harness.engine.fast.gates.moments import READ, Moment, Parts, UnsupportedError
from resil.rtl_harness.engine.fast.gates.word_cells import Bit

# Changes of clocks by flip-flops, one after the other, that an edge may bring.
_LONGEST = 8


@dataclass(frozen=True)
class FlipFlop:
    """A flip-flop of one bit.

    Attributes:
        q, d: Output and input.
        clock, rising: Its clock, and which edge.
        load: Asynchronous reset or load; "0" if it has none.
        active: Level at which that acts.
    """

    q: Bit
    d: Bit
    clock: Bit
    rising: bool
    load: Bit
    active: int


@dataclass(frozen=True)
class Write:
    """A write port of a memory.

    Attributes:
        name: Of the port.
        memory: Number of the memory.
        order: Of ports that write one word in one cycle that with the highest wins.
        clock: Its clock, and which edge of it.
        rising: Whether that is the rising one.
        address: Bits, as all of the following.
        data: Of a word.
        enable: For each of these.
    """

    name: str
    memory: int
    order: int
    clock: Bit
    rising: bool
    address: Sequence[Bit]
    data: Sequence[Bit]
    enable: Sequence[Bit]


class Cycle:
    """A cycle of a design.

    Args:
        parts: Its logic.
        known: Nets of ports and of the outputs of flip-flops when the cycle begins.
        clock: The input that toggles.
        flip_flops: All of them.
        writes: Write ports of memories.

    Attributes:
        now: When it begins.
        values: Nets of all flip-flops, by output, when it has ended.
        writes: Address, data and enable nets of each write port.

    Raises:
        UnsupportedError: If a flip-flop or write port takes what changes with its own edge, if memories are
            written in other edges than the clock's rising one and those that are one with it, if an
            asynchronous reset changes within a cycle, or clocks change one another endlessly.
    """

    def __init__(
        self,
        parts: Parts,
        known: Mapping[Bit, Net],
        clock: Bit,
        flip_flops: Sequence[FlipFlop],
        writes: Sequence[Write],
    ) -> None:
        self._parts = parts
        self._fixed = dict(known)
        self._clock = clock
        self._flip_flops = flip_flops
        self._ports = writes
        self._clocks = {(f.clock, f.rising) for f in flip_flops} | {(w.clock, w.rising) for w in writes}
        self.values: dict[Bit, Net] = {f.q: self._fixed[f.q] for f in flip_flops}
        self.writes: list[tuple[tuple[Net, ...], tuple[Net, ...], tuple[Net, ...]]] = []
        self.now = Moment(parts, {**known, clock: ONE})
        self._passed: list[Moment] = []
        self._end = self._edge(self._edge(self.now, ZERO), ONE)
        self._check_resets()

    def latched(self, bit: Bit) -> Net:
        """Return the net of a latch when the cycle has ended."""
        return self._end.net(bit)

    def sensitive(self) -> list[Net]:
        """Return nets that must not change between edges: a clock would make one, or an open latch follow."""
        return [*self.now.nets([clock for clock, _ in self._clocks]), *self.now.sensitive()]

    def _edge(self, before: Moment, level: Net) -> Moment:
        """Return the moment when all has settled after an edge of the clock."""
        after = self._moment(before, level, [self._clock], set())
        first = True
        written: set[int] = set()
        for _ in range(_LONGEST):
            self._passed.append(after)
            edges = {key: self._rises(*key, before, after) for key in self._clocks}
            if level == ONE and first:
                written = self._write(before, after, edges)
            elif any(edges[port.clock, port.rising] != ZERO for port in self._ports):
                raise UnsupportedError("a memory is written at another edge than the rising one")
            struck = [f for f in self._flip_flops if edges[f.clock, f.rising] != ZERO]
            if not struck:
                return after
            taken = after.nets([f.d for f in struck])
            if first:
                self._check_race(before, [f.d for f in struck], taken)
            changed = []
            for f, d in zip(struck, taken, strict=True):
                value = self._parts.logic.mux(edges[f.clock, f.rising], self.values[f.q], d)
                if value != self.values[f.q]:
                    self.values[f.q] = value
                    changed.append(f.q)
            before, after = after, self._moment(after, level, changed, written)
            first = False
        raise UnsupportedError(f"clocks change one another more than {_LONGEST} times in an edge")

    def _moment(self, before: Moment, level: Net, changed: Sequence[Bit], written: set[int]) -> Moment:
        reads = [p for p in self._parts.of_kind(READ) if p.parameters["memory"] in written] if written else []
        known = {**self._fixed, **self.values, self._clock: level}
        other = [bit for part in reads for bit in part.driven]
        return Moment(self._parts, known, before, [*changed, *other], written)

    def _rises(self, clock: Bit, rising: bool, before: Moment, after: Moment) -> Net:
        """Return whether a clock has the edge between two moments."""
        logic = self._parts.logic
        old, new = before.net(clock), after.net(clock)
        return logic.and_(logic.not_(old), new) if rising else logic.and_(old, logic.not_(new))

    def _write(self, before: Moment, after: Moment, edges: Mapping[tuple[Bit, bool], Net]) -> set[int]:
        for port in self._ports:
            edge = edges[port.clock, port.rising]
            words = [after.nets(bits) for bits in (port.address, port.data, port.enable)]
            for bits, nets in zip((port.address, port.data, port.enable), words, strict=True):
                self._check_race(before, bits, nets)
            enable = tuple(self._parts.logic.and_(edge, net) for net in words[2])
            self.writes.append((words[0], words[1], enable))
        return {port.memory for port in self._ports if edges[port.clock, port.rising] != ZERO}

    @staticmethod
    def _check_race(before: Moment, bits: Sequence[Bit], nets: Sequence[Net]) -> None:
        if before.nets(bits) != tuple(nets):
            raise UnsupportedError("the clock is used as data")

    def _check_resets(self) -> None:
        """Resets are looked at when a cycle begins and when it has ended: they may not act in between."""
        resets = sorted({f.load for f in self._flip_flops if f.load != "0"}, key=str)
        begins, ends = self.now.nets(resets), self._end.nets(resets)
        between = [nets for moment in self._passed if (nets := moment.nets(resets)) != begins]
        if any(nets != ends for nets in between):
            raise UnsupportedError("an asynchronous reset changes within a cycle")
