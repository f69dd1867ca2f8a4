# SPDX-License-Identifier: Apache-2.0
"""Clocks of a closed design: their trees of buffers, inverters and clock gates, and what is not clocked once.

A register that takes the clock behind such a tree takes it, or its other edge behind an odd number of
inverters. What changes at any other moment has to be looked at more than once in a cycle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from resil.rtl_harness.design.cells import CLOCK_GATE_PINS
from resil.rtl_harness.engine.fast.gates.moments import UnsupportedError
from resil.rtl_harness.engine.fast.gates.word_cells import Bit
from resil.rtl_harness.logic.joined import Cell, Joined

_, _CLOCK, _GATED = CLOCK_GATE_PINS


@dataclass(frozen=True)
class ClockCell:
    """A cell that hands on a clock: a buffer, an inverter or a clock gate.

    Attributes:
        cell: It.
        clock: The bit that it takes.
        pin: At which input it takes it.
        inverts: Whether it gives the inverse.
        is_gate: Whether it is a clock gate.
    """

    cell: Cell
    clock: Bit
    pin: str
    inverts: bool = False
    is_gate: bool = False


class Clocks:
    """Says where clocks come from, and which cells change within a cycle.

    Args:
        design: The closed design.
        clock: Its clock.

    Attributes:
        within: Names of the cells that have to be looked at more than once in a cycle.
        early: What flip-flops of the falling edge depend on.
        buffers: Names of buffers and inverters of the clock's tree that give nothing but a clock.

    Raises:
        UnsupportedError: If a clock that is gated is used as data, or its falling edge is taken.
    """

    def __init__(self, design: Joined, clock: Bit) -> None:
        self._design = design
        self._clock = clock
        self._cells: dict[Bit, ClockCell] = {}
        takers: defaultdict[Bit, list[tuple[Bit, ClockCell]]] = defaultdict(list)
        for cell in design.cells:
            for output, own in _handed_on(cell):
                takers[own.clock].append((output, own))
        self._find([clock], takers)
        on_clock = set(self._cells)
        gates = [(bit, own) for every in takers.values() for bit, own in every if own.is_gate]
        self._cells |= dict(gates)
        self._find([bit for bit, _ in gates], takers)
        data = self._data()
        self.buffers = {
            own.cell.name
            for bit, own in self._cells.items()
            if bit in on_clock - data and not own.is_gate and len(own.cell.outputs) == 1
        }
        self.early: set[Bit] = set()
        handed = {own.cell.name for own in self._cells.values() if not own.is_gate}
        self.within = (self._within() | handed) - self.buffers

    def of(self, bit: Bit) -> ClockCell | None:
        """Return the cell that hands on the clock that a bit is; None if none does."""
        return self._cells.get(bit)

    def edge(self, bit: Bit, rising: bool) -> tuple[Bit, bool]:
        """Return the clock behind the tree that ends in a bit, and whether an edge is its rising one.

        Raises:
            UnsupportedError: If it is the falling edge of a clock that is gated.
        """
        while (own := self._cells.get(bit)) is not None:
            if own.is_gate and not rising:
                raise UnsupportedError(f"the falling edge of the clock that {own.cell.name} gates is taken")
            rising, bit = rising != own.inverts, own.clock
        return bit, rising

    def is_odd(self, bit: Bit, rising: bool) -> bool:
        """Whether what is stored changes at another moment than the rising edge of the design's clock."""
        return self.edge(bit, rising) != (self._clock, True)

    def idle(self, bit: Bit) -> int:
        """Return the level of a bit of the clock's tree while the clock is low."""
        own = self._cells.get(bit)
        return 0 if own is None or own.is_gate else int(own.inverts) ^ self.idle(own.clock)

    def edges_behind(self, name: str) -> set[bool]:
        """Return which edges of the clock, rising or not, what lies behind a cell of its tree takes."""
        found = set()
        taken = [(clock, rising) for clock, rising, *_ in self._stored()]
        for clock, rising in [*taken, *((w.clock, w.rising) for w in self._design.writes)]:
            bit = clock
            while (own := self._cells.get(bit)) is not None:
                if own.cell.name == name:
                    found.add(self.edge(clock, rising)[1])
                bit = own.clock
        return found

    def _find(self, ahead: list[Bit], takers: Mapping[Bit, list[tuple[Bit, ClockCell]]]) -> None:
        """Note the cells that hand on what these bits are, each after that whose clock it takes."""
        for bit in ahead:
            for output, own in takers.get(bit, ()):
                if output not in self._cells:
                    self._cells[output] = own
                    ahead.append(output)

    def _data(self) -> set[Bit]:
        """Return bits that are used as anything but clocks; a gated clock must not be among them."""
        design = self._design
        handed = {own.cell.name for own in self._cells.values()}
        found: set[Bit] = set()
        for cell in design.cells:
            if not cell.outputs and cell.type.flip_flop is None:
                continue
            if cell.type.clock_gate or cell.name not in handed:
                found.update(bit for pin, bit in cell.inputs.items() if not cell.is_clock_pin(pin))
            elif not self._cells.keys() >= set(cell.outputs.values()):
                found.update(cell.inputs.values())
        found.update(bit for _, pins, _ in design.bench_cells for bits in pins.values() for bit in bits)
        found.update(bit for latch in design.latches for bits in latch.inputs.values() for bit in bits)
        found.update(bit for f in design.bench_flip_flops for bit in (f.d, f.load))
        found.update(bit for read in design.reads for bit in read.address)
        found.update(bit for w in design.writes for bits in (w.address, w.data, w.enable) for bit in bits)
        # Each comes after that whose clock it takes, but for clock gates.
        for bit, own in reversed(self._cells.items()):
            if bit in found and own.is_gate:
                raise UnsupportedError(f"the clock that {own.cell.name} gates is used as data")
            if bit in found:
                found.add(own.clock)
        return found

    def _within(self) -> set[str]:
        """Return cells that have to be looked at more than once in a cycle."""
        design = self._design
        odd_clocks, odd_inputs, odd_outputs = [], [], [self._clock]
        of_clocks: defaultdict[Bit, list[Bit]] = defaultdict(list)
        for clock, rising, taken, given in self._stored():
            if self.is_odd(clock, rising):
                root, _ = self.edge(clock, rising)
                odd_clocks.append(root)
                odd_inputs += taken
                odd_outputs += given
                of_clocks[root] += taken
        for write in design.writes:
            if self.is_odd(write.clock, write.rising):
                odd_clocks.append(self.edge(write.clock, write.rising)[0])
                odd_inputs += [*write.address, *write.data, *write.enable]
        for latch in design.latches:
            odd_clocks += [*latch.inputs["E"], *latch.inputs.get("R", [])]
            odd_inputs += latch.inputs["D"]
            odd_outputs += latch.driven
        # A clock that logic makes of the design's may have its edge with the falling one of that.
        on_clock = design.before([self._clock])
        clocks = {bit for cell in design.cells if cell.name in on_clock for bit in cell.outputs.values()}
        clocks |= {self._clock, *(bit for _, pins, _ in design.bench_cells for bit in pins["Y"])}
        falling = [bit for root, taken in of_clocks.items() if root in clocks for bit in taken]
        behind = design.behind(falling)
        taken = [bit for cell in design.cells if cell.name in behind for bit in cell.inputs.values()]
        self.early = {*design.sources([*falling, *taken])}
        odd_clocks = [bit for bit in odd_clocks if bit != self._clock]
        return design.behind([*odd_clocks, *odd_inputs]) | design.before(odd_outputs)

    def _stored(self) -> Iterator[tuple[Bit, bool, list[Bit], list[Bit]]]:
        """Yield clock, whether its rising edge, inputs and outputs of each flip-flop of design and bench."""
        for f in self._design.bench_flip_flops:
            yield f.clock, f.rising, [f.d], [f.q]
        for cell in self._design.cells:
            group = cell.type.flip_flop
            if group is not None:
                clock, rising = cell.level(group.clock)
                taken = [cell.inputs[pin] for pin in group.next_state.pins if pin in cell.inputs]
                given = [*cell.outputs.values()]
                yield self._design.source(clock), rising, self._design.sources(taken), given


def _handed_on(cell: Cell) -> Iterator[tuple[Bit, ClockCell]]:
    """Yield the outputs of a cell that are a clock if an input is one."""
    if cell.type.clock_gate:
        if _GATED in cell.outputs:
            yield cell.outputs[_GATED], ClockCell(cell, cell.inputs.get(_CLOCK, "0"), _CLOCK, is_gate=True)
    elif cell.type.flip_flop is None:
        for pin, output in cell.outputs.items():
            function = cell.type.outputs[pin]
            inverts = function is not None and function.operation == "not"
            inner = function.operands[0] if function is not None and inverts else function
            if inner is not None and inner.operation == "pin" and inner.name in cell.inputs:
                yield output, ClockCell(cell, cell.inputs[inner.name], inner.name, inverts)
