# SPDX-License-Identifier: Apache-2.0
"""Joins cells of the design under test with the bench around it, and makes gates of both.

Cells keep a gate for each operation that their library gives them: a fault is put on a net, or on where a
    gate
takes one. What closes the design goes through `Cycle`, as in the gates of the fast engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from resil.rtl_harness.cache import content_key
from resil.rtl_harness.design.cells import CLOCK_GATE_PINS, Expression, FlipFlopGroup
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.sites import Hardware
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.gates.cycle import Cycle, FlipFlop, Write
from resil.rtl_harness.engine.fast.gates.gates_file import Gates
from resil.rtl_harness.engine.fast.gates.logic import ONE, ZERO, Gate, Net
from resil.rtl_harness.engine.fast.gates.logic import READ as READ_GATE
from resil.rtl_harness.engine.fast.gates.moments import LATCH, READ, Moment, Part, Parts, UnsupportedError
from resil.rtl_harness.engine.fast.gates.word_cells import Bit, parts_of
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.logic.clocks import Clocks
from resil.rtl_harness.logic.expand import AND, BUFFER, MUX, NOT, OR, Expanded, expanded
from resil.rtl_harness.logic.joined import Cell, Joined
from resil.rtl_harness.logic.netlist import (
    FALLING_EDGE,
    NO_CELL,
    NOWHERE,
    PINS,
    TO_FLIP_FLOP,
    TO_GATE,
    WITHIN_CYCLE,
    LeftOut,
    LogicNetlist,
)
from resil.rtl_harness.logic.order import in_order

_KINDS = {
    0: "$_BUF_",
    1: "$_NOT_",
    2: "$_AND_",
    3: "$_NAND_",
    4: "$_OR_",
    5: "$_NOR_",
    6: "$_XOR_",
    7: "$_XNOR_",
}
_KINDS |= {10: "$_MUX_", 11: "$_NMUX_"}
_SHOWN = 5


def built_netlist(design: Joined, target: Target, elaboration: Elaboration, library: str) -> LogicNetlist:
    """Return the netlist of a closed design.

    Args:
        design: Cells, memories and wires of design and bench.
        target: The design.
        elaboration: Its storage, with what of it is hardware.
        library: Text of the Liberty file.

    Raises:
        HarnessError: If a register of the source is not in the netlist.
        UnsupportedError: If gates cannot say what the bench or the clocks do.
    """
    return _Builder(design, target, elaboration).netlist(content_key(library))


class _NetlistCycle(Cycle):
    """A cycle of a netlist.

    Attributes:
        low: When the clock has fallen and all has settled: what a clock gate, or a gated flip-flop, looks at.
    """

    low: Moment

    def _edge(self, before: Moment, level: Net) -> Moment:
        after = super()._edge(before, level)
        if level == ZERO:
            self.low = after
        return after


class _Builder:
    def __init__(self, design: Joined, target: Target, elaboration: Elaboration) -> None:
        self.design = design
        self.target = target
        self.elaboration = elaboration
        self.parts = Parts()
        self.clock = design.ports[target.clock][0]
        self.clocks = Clocks(design, self.clock)
        reset = design.ports[target.reset][0]
        self.known: dict[Bit, Net] = {"1": ONE, reset: 1 if target.reset_active_low else 0}
        self.kept: list[tuple[int, tuple[Bit, ...], Bit]] = []  # operation, operands, output
        self.runs: dict[Bit, Bit] = {}  # by the output of a clock gate: 1 while that clock runs
        self.flip_flops: list[FlipFlop] = []
        self.values: list[int] = []
        self.latches: list[Bit] = []
        self.writes: list[Write] = []
        self.left_out: dict[str, str] = {}  # reason by name of cell
        self.late: set[int] = (
            set()
        )  # numbers of kept gates that say what flip-flops take: just before the edge
        self.row_of: dict[int, int] = {}  # of the flip-flop that a cell is, by the cell's number
        self.stored_bits: list[tuple[Bit, int]] = []  # outputs that have what a flip-flop stores, and its row
        self.own_states: dict[str, Bit] = {}  # of flip-flops of the netlist that the design is, by name
        self.registers: dict[Net, str] = {}  # names of the source by the net of what is stored
        # By cell: name, whether an output, bit, and consumer: kept gate and column, or flip-flop and column.
        self.pins: list[list[tuple[str, bool, Bit, int, int, int]]] = [[] for _ in design.cells]

    def netlist(self, liberty: str) -> LogicNetlist:
        """Return all of it."""
        self.left_out |= dict.fromkeys(self.design.no_cells, NO_CELL)
        buffers = self.clocks.buffers
        for number, cell in enumerate(self.design.cells):
            if cell.type.flip_flop is None and not cell.type.clock_gate and cell.name not in buffers:
                self._combinational(number, cell, cell.name in self.clocks.within)
        for number, cell in enumerate(self.design.cells):
            if cell.type.clock_gate and cell.outputs:
                self._clock_gate(number, cell)
            elif cell.name in buffers:
                self._clock_buffer(number, cell)
        for number, cell in enumerate(self.design.cells):
            if cell.type.flip_flop is not None:
                self._flip_flop(number, cell)
        reads = self._others()
        self.writes.sort(key=lambda write: write.order)
        cycle = _NetlistCycle(self.parts, self.known, self.clock, self.flip_flops, self.writes)
        return self._numbered(cycle, reads, liberty)

    def _new(self) -> Bit:
        """Return a new bit, whose net a gate will drive."""
        bit = self.design.new_bit()
        self.known[bit] = self.parts.logic.net()
        return bit

    def _keep(self, operation: int, operands: tuple[Bit, ...], output: Bit | None = None) -> tuple[int, Bit]:
        """Note a gate; return its number and output."""
        if output is None:
            output = self._new()
        else:
            self.known.setdefault(output, self.parts.logic.net())
        self.kept.append((operation, operands, output))
        return len(self.kept) - 1, output

    # Cells.

    def _combinational(self, number: int, cell: Cell, within: bool) -> None:
        own = self._expanded(cell)
        if within:
            self.left_out[cell.name] = WITHIN_CYCLE
            for operation, operands, output in own.gates:
                self._part(operation, operands, output)
            return
        for made in own.gates:
            self._keep(*made)
        first = len(self.kept) - len(own.gates)
        pins = self.pins[number]
        for pin, bit in cell.outputs.items():
            if pin in own.drives:
                pins.append((pin, True, bit, TO_GATE, first + own.drives[pin], 4))
        for pin, bit in cell.inputs.items():
            if pin in own.takes:
                gate, column = own.takes[pin]
                pins.append((pin, False, bit, TO_GATE, first + gate, column))

    def _expanded(self, cell: Cell) -> Expanded:
        functions = {pin: cell.type.outputs[pin] for pin in cell.outputs}
        if missing := [pin for pin, function in functions.items() if function is None]:
            raise UnsupportedError(
                f"{cell.name}: the library gives no function of {cell.type.name}/{missing[0]}"
            )
        return expanded(functions, cell.inputs, cell.outputs, self.design.new_bit)

    def _part(self, operation: int, operands: tuple[Bit, ...], output: Bit) -> None:
        names = ("A", "B", "S")[: len(operands)]
        inputs = {name: [bit] for name, bit in zip(names, operands, strict=True)}
        self.parts.add(Part(_KINDS[operation], inputs, {}, [output]))

    def _clock_gate(self, number: int, cell: Cell) -> None:
        enable, clock, gated = CLOCK_GATE_PINS
        bit = cell.outputs[gated]
        opened = cell.inputs.get(enable, "0")
        tests = [pin for pin in cell.type.test_pins if pin in cell.inputs]
        inputs = []
        for pin in tests:
            either, opened = self._keep(OR, (opened, cell.inputs[pin]))
            inputs.append((pin, False, cell.inputs[pin], TO_GATE, either, 2))
        gate, _ = self._keep(BUFFER, (opened,), bit)
        if self._looks_late(cell):
            self.late.update((gate, *(own[4] for own in inputs)))
        first = inputs[0][4] if inputs else gate
        names = cell.type.clock_gate_pins if cell.is_own else CLOCK_GATE_PINS
        self.pins[number] = [
            (names[2], True, bit, TO_GATE, gate, 4),
            (names[0], False, cell.inputs.get(enable, "0"), TO_GATE, first, 1),
            (names[1], False, cell.inputs[clock], NOWHERE, -1, -1),
            *inputs,
        ]

    def _looks_late(self, cell: Cell) -> bool:
        """Whether a cell is a clock gate that looks at its enable just before the rising edge."""
        bit = cell.outputs.get(CLOCK_GATE_PINS[2]) if cell.type.clock_gate else None
        return bit is not None and self.clocks.edge(bit, True)[1]

    def _clock_buffer(self, number: int, cell: Cell) -> None:
        """Take a buffer of the clock's tree: as the output of a clock gate, its net is 1 while it runs."""
        ((output, bit),) = cell.outputs.items()
        own = self.clocks.of(bit)
        assert own is not None
        gate, _ = self._keep(BUFFER, (self._running(own.clock) or "1",), bit)
        self.pins[number] = [
            (output, True, bit, TO_GATE, gate, 4),
            (own.pin, False, own.clock, NOWHERE, -1, -1),
        ]

    def _flip_flop(self, number: int, cell: Cell) -> None:
        group = cell.type.flip_flop
        assert group is not None
        clock, rising = cell.level(group.clock)
        if self.clocks.is_odd(self.design.source(clock), rising):
            self._odd_flip_flop(number, cell, group)
            return
        state, pins = self._new(), self.pins[number]
        if cell.is_own:
            self.own_states[cell.name] = state
        row = len(self.flip_flops)
        self.row_of[number] = row
        outputs = self._outputs(cell, group)
        fed_back = {group.state, group.inverse} & set(group.next_state.pins)
        for pin, function in outputs.items():
            bit = cell.outputs[pin]
            if group.is_inverse(function):
                gate, _ = self._keep(NOT, (state,), bit)
                pins.append((pin, True, bit, TO_GATE, gate, 4))
            elif len(outputs) > 1 or fed_back:
                # A fault of this output is none of the other one, nor of what the cell takes next.
                gate, _ = self._keep(BUFFER, (state,), bit)
                pins.append((pin, True, bit, TO_GATE, gate, 4))
                self.stored_bits.append((bit, row))
            else:
                self.known[bit] = self.known[state]
                pins.append((pin, True, bit, TO_FLIP_FLOP, row, 0))
                self.stored_bits.append((bit, row))
        plain = group.next_state.operation == "pin" and not fed_back
        if plain:
            d = cell.inputs.get(group.next_state.name, "0")
        else:
            inputs = {**cell.inputs, group.state: state}
            if group.inverse in fed_back:
                inputs[group.inverse] = self._keep(NOT, (state,))[1]
            own = expanded(
                {"next": group.next_state}, inputs, {"next": self.design.new_bit()}, self.design.new_bit
            )
            d, first = own.gates[-1][2], len(self.kept)
            for gate_ in own.gates:
                self.late.add(self._keep(*gate_)[0])
            pins += [
                (pin, False, cell.inputs[pin], TO_GATE, first + gate, column)
                for pin, (gate, column) in own.takes.items()
                if pin in cell.inputs
            ]
        taken, at = self._gated(clock, state, d)
        if plain:
            consumer = (TO_FLIP_FLOP, row, 1) if at < 0 else (TO_GATE, at, 2)
            pins.append((group.next_state.name, False, d, *consumer))
        pins.append((group.clock.pins[0], False, clock, NOWHERE, -1, -1))
        pins += [
            (level.pins[0], False, cell.level(level)[0], TO_FLIP_FLOP, row, 2)
            for level in (group.clear, group.preset)
            if level is not None
        ]
        self._add_flip_flop(cell, group, state, taken)
        if self.clocks.early.intersection(cell.outputs[pin] for pin in outputs):
            # A pin that is held from the release of reset on would be taken by a falling edge before it.
            self.left_out[cell.name], self.pins[number] = FALLING_EDGE, []

    def _odd_flip_flop(self, number: int, cell: Cell, group: FlipFlopGroup) -> None:
        """Take a flip-flop that changes within a cycle: what it gives and takes is looked at at each moment.

        Its pins are no sites: what follows of one within the cycle does not take the net that would be held.
        """
        self.left_out[cell.name] = WITHIN_CYCLE
        outputs = self._outputs(cell, group)
        given = [cell.outputs[pin] for pin, function in outputs.items() if not group.is_inverse(function)]
        state = given[0] if given else self._new()
        self.known.setdefault(state, self.parts.logic.net())
        if cell.is_own:
            self.own_states[cell.name] = state
        self.row_of[number] = row = len(self.flip_flops)
        self.stored_bits += [(bit, row) for bit in given]
        for pin, function in outputs.items():
            if cell.outputs[pin] != state:
                self._part(NOT if group.is_inverse(function) else BUFFER, (state,), cell.outputs[pin])
        inputs = {**cell.inputs, group.state: state}
        if group.inverse in group.next_state.pins:
            inputs[group.inverse] = self.design.new_bit()
            self._part(NOT, (state,), inputs[group.inverse])
        own = expanded(
            {"next": group.next_state}, inputs, {"next": self.design.new_bit()}, self.design.new_bit
        )
        for operation, operands, output in own.gates:
            self._part(operation, operands, output)
        taken = self._gated_within(cell.level(group.clock)[0], state, own.gates[-1][2])
        self._add_flip_flop(cell, group, state, taken)

    def _outputs(self, cell: Cell, group: FlipFlopGroup) -> dict[str, Expression]:
        """Return what the outputs of a flip-flop that are connected give: what it stores, or its inverse."""
        found = {pin: f for pin, f in cell.type.outputs.items() if pin in cell.outputs and f is not None}
        for pin, function in found.items():
            if not (group.is_inverse(function) or group.is_state(function)):
                raise UnsupportedError(f"{cell.name}: {pin} is neither what it stores nor its inverse")
        return found

    def _add_flip_flop(self, cell: Cell, group: FlipFlopGroup, state: Bit, taken: Bit) -> None:
        """Note a flip-flop."""
        if group.clear is not None and group.preset is not None:
            raise UnsupportedError(f"{cell.name}: a flip-flop with both set and reset ({cell.type.name})")
        load: Bit = "0"
        active, value = 1, -1
        for level, forced in ((group.clear, 0), (group.preset, 1)):
            if level is not None:
                bit, high = cell.level(level)
                load, active, value = bit, int(high), forced
        clock, rising = cell.level(group.clock)
        edge = self.clocks.edge(self.design.source(clock), rising)
        if edge != (self.clock, True):
            taken = self._forced(taken, load, active, value)
        self.flip_flops.append(FlipFlop(state, taken, *edge, self.design.source(load), active))
        self.values.append(value)

    def _gated(self, clock: Bit, q: Bit, d: Bit) -> tuple[Bit, int]:
        """Return what is taken at an edge of a clock, and the gate that lets it while that runs, or -1."""
        runs = self._running(self.design.source(clock))
        if runs is None:
            return self.design.source(d), -1
        gate, taken = self._keep(MUX, (q, d, runs))
        self.late.add(gate)
        return taken, gate

    def _gated_within(self, clock: Bit, q: Bit, d: Bit) -> Bit:
        """Return what is taken at an edge of a clock by what changes within a cycle."""
        runs = self._running(self.design.source(clock))
        if runs is None:
            return d
        taken = self.design.new_bit()
        self._part(MUX, (q, d, runs), taken)
        return taken

    def _forced(self, d: Bit, load: Bit, active: int, value: int) -> Bit:
        """Return what is taken within a cycle: what an asynchronous load sets, while it acts."""
        if load == "0" or value < 0:
            return d
        taken, forced = self.design.new_bit(), str(value)
        self._part(MUX, (d, forced, load) if active else (forced, d, load), taken)
        return taken

    def _running(self, clock: Bit) -> Bit | None:
        """Return the bit that is 1 while a clock runs; None if it always does, whatever is struck."""
        own = self.clocks.of(clock)
        if own is None:
            return None
        above = self._running(own.clock)
        if own.is_gate and above is not None:
            if clock not in self.runs:
                self.runs[clock] = self._keep(AND, (above, clock))[1]
            return self.runs[clock]
        return clock if own.is_gate or own.cell.name in self.clocks.buffers else above

    # What is no cell of the library: the bench, memories, latches.

    def _others(self) -> list[int]:
        """Take the bench and memories; return the memory of each read port."""
        for kind, pins, parameters in self.design.bench_cells:
            self._bench_cell(kind, pins, parameters)
        for f in self.design.bench_flip_flops:
            self.known[f.q] = self.parts.logic.net()
            odd = self.clocks.is_odd(f.clock, f.rising)
            taken = self._gated_within(f.clock, f.q, f.d) if odd else self._gated(f.clock, f.q, f.d)[0]
            taken = self._forced(taken, f.load, f.active, f.value) if odd else taken
            edge = self.clocks.edge(f.clock, f.rising)
            self.flip_flops.append(FlipFlop(f.q, taken, *edge, f.load, f.active))
            self.values.append(f.value)
        for latch in self.design.latches:
            self.latches.append(latch.driven[0])
            self.parts.add(Part(LATCH, latch.inputs, latch.parameters, latch.driven))
        reads: list[int] = []
        for read in self.design.reads:
            parameters = {"number": len(reads), "memory": read.memory}
            reads.append(read.memory)
            self.parts.add(Part(READ, {"A": list(read.address)}, parameters, list(read.data)))
        for write in self.design.writes:
            runs, enable = self._running(write.clock), write.enable
            if runs is not None:
                made = {bit: self._keep(AND, (bit, runs))[1] for bit in dict.fromkeys(enable)}
                enable = [made[bit] for bit in enable]
            edge = self.clocks.edge(write.clock, write.rising)
            own = (*edge, write.address, write.data, enable)
            self.writes.append(Write(write.name, write.memory, write.order, *own))
        return reads

    def _bench_cell(self, kind: str, pins: Mapping[str, list[Bit]], parameters: Mapping[str, int]) -> None:
        first = 0
        for inputs, width in parts_of(kind, pins, parameters):
            self.parts.add(Part(kind, inputs, parameters, pins["Y"][first : first + width]))
            first += width

    # Numbers of all nets.

    def _numbered(self, cycle: _NetlistCycle, read_of: list[int], liberty: str) -> LogicNetlist:
        design, target, logic, now = self.design, self.target, self.parts.logic, cycle.now
        stored = {f.q: self.known[f.q] for f in self.flip_flops} | self.parts.stored
        rows = [(stored[f.q], cycle.values[f.q], now.net(f.load), f.active) for f in self.flip_flops]
        rows += [(stored[bit], cycle.latched(bit), ZERO, 1) for bit in self.latches]
        values = [*self.values, *(-1 for _ in self.latches)]
        outputs = (target.done, target.status)
        ports = now.nets([bit for port in outputs if port for bit in design.ports[port]])
        alarms = [now.nets(design.ports[alarm.output]) for alarm in target.alarms.values()]
        operation = now.nets(design.ports[target.operation]) if target.operation else ()
        for part in self.parts.of_kind(READ):
            now.nets(part.driven)
        sensitive = cycle.sensitive()
        low = cycle.low
        kept = [
            self._kept_gate(low if number in self.late else now, gate)
            for number, gate in enumerate(self.kept)
        ]
        pin_nets = [
            [(low if self._looks_late(cell) else now).net(design.source(pin[2])) for pin in own]
            for cell, own in zip(design.cells, self.pins, strict=True)
        ]
        reads = self.parts.reads
        roots = [net for row in rows for net in row[:3]]
        roots += [net for _, address, data in reads for net in (*address, *data)]
        roots += [net for write in cycle.writes for word in write for net in word]
        roots += [*ports, *(net for nets in alarms for net in nets), *operation, *sensitive, *logic.undefined]
        roots += [net for nets in pin_nets for net in nets]
        gates, places = in_order(logic.gates, kept, reads, roots)
        decide = _deciding(gates, reads, sensitive)
        numbers: dict[Net, int] = {ZERO: 0, ONE: 1}

        def number(net: Net) -> int:
            return numbers.setdefault(net, len(numbers))

        def renumbered(nets: Iterable[Net]) -> tuple[int, ...]:
            return tuple(number(net) for net in nets)

        table = []
        for gate in gates:
            table.append(
                (gate[0], gate[1], 0, 0, 0) if gate[0] == READ_GATE else (gate[0], *renumbered(gate[1:]))
            )
            if gate[0] == READ_GATE:
                renumbered((*reads[gate[1]][1], *reads[gate[1]][2]))
        wires, copies, constants = self._wires(rows, values, stored)
        flip_flops = [(*renumbered(row[:3]), row[3], int(row[0] in decide)) for row in rows]
        pins, first_pin, tied = self._pin_table(pin_nets, places, number)
        exits = [net for net in self._exits(now) if net not in (ZERO, ONE)]
        net_ports, net_alarms = renumbered(ports), tuple(map(renumbered, alarms))
        net_operation, undefined = renumbered(operation), renumbered(logic.undefined)
        net_reads = tuple((read_of[port], renumbered(a), renumbered(d)) for port, a, d in reads)
        net_writes = tuple(
            (port.memory, renumbered(address), renumbered(data), renumbered(enable))
            for port, (address, data, enable) in zip(self.writes, cycle.writes, strict=True)
        )
        named_wires = {path: renumbered(nets) for path, nets in wires.items()}
        whole = Gates(
            len(numbers),
            np.array(table, np.int32).reshape(-1, 5),
            np.array(flip_flops, np.int32).reshape(-1, 5),
            np.array(net_ports, np.int32),
            net_alarms,
            net_operation,
            undefined,
            named_wires,
            tuple(design.memories),
            net_reads,
            net_writes,
        )
        cells = design.cells
        types, type_of = _numbers(cell.type.name for cell in cells)
        blocks, block_of = _numbers(cell.block for cell in cells)
        # Of either kind of cell the first pin is the output.
        handing = [
            (i, number(pin_nets[i][0]))
            for i, cell in enumerate(cells)
            if (cell.type.clock_gate and cell.outputs) or cell.name in self.clocks.buffers
        ]
        names = self._names()
        return LogicNetlist(
            whole,
            names,
            types,
            blocks,
            self.pin_names,
            type_of,
            block_of,
            pins,
            first_pin,
            np.array(values, np.int32),
            np.array(copies, np.int32),
            np.array(constants, np.int32).reshape(-1, 2),
            np.array(handing, np.int32).reshape(-1, 2),
            self._without_sites(names),
            tied,
            np.array(sorted({*renumbered(exits)}), np.int32),
            tuple(sorted({cell.type.name for cell in cells if cell.type.flip_flop is not None})),
            len(design.ports[target.done]),
            liberty,
        )

    def _kept_gate(self, now: Moment, gate: tuple[int, tuple[Bit, ...], Bit]) -> Gate:
        operation, operands, output = gate
        a, b, s = (*now.nets([self.design.source(bit) for bit in operands]), ZERO, ZERO)[:3]
        return operation, a, b, s, self.known[output]

    def _pin_table(
        self,
        pin_nets: list[list[Net]],
        places: list[int],
        number: Any,  # noqa: ANN401
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        names: dict[str, int] = {}
        found: list[tuple[int, ...]] = []
        first, tied = [0], []
        for cell, (own, nets) in enumerate(zip(self.pins, pin_nets, strict=True)):
            for (pin, output, _, consumer, row, column), net in sorted(
                zip(own, nets, strict=True), key=lambda both: not both[0][1]
            ):
                at = places[row] if consumer == TO_GATE else row
                name = names.setdefault(pin, len(names))
                if pin in (values := self._tied(self.design.cells[cell])):
                    tied.append((len(found), values[pin]))
                found.append((cell, name, int(output), number(net), consumer, at, column))
            first.append(len(found))
        self.pin_names = tuple(names)
        return np.array(found, PINS), np.array(first, np.int32), np.array(tied, np.int32).reshape(-1, 2)

    def _tied(self, cell: Cell) -> Mapping[str, int]:
        """Return what inputs of a cell are tied to, by the names that its pins have here."""
        if not cell.type.clock_gate or not cell.is_own:
            return cell.tied
        own = dict(zip(CLOCK_GATE_PINS, cell.type.clock_gate_pins, strict=True))
        return {own.get(pin, pin): value for pin, value in cell.tied.items()}

    def _exits(self, now: Moment) -> Iterator[Net]:
        """Yield the nets that leave the design under test, or that cells without sites take."""
        design = self.design
        read = {bit for part in self.parts.of_kind(READ) for bit in part.driven}
        taken = [bit for way, bits in design.dut_ports.values() if way != "input" for bit in bits]
        taken += [bit for c in design.cells if c.name in self.left_out for bit in c.inputs.values()]
        taken += [bit for latch in design.latches for bits in latch.inputs.values() for bit in bits]
        if design.no_cells:
            taken += [bit for _, pins, _ in design.bench_cells for bits in pins.values() for bit in bits]
        for bit in dict.fromkeys(design.sources(taken)):
            if bit in self.known:
                yield self.known[bit]
            elif bit in read:
                yield now.net(bit)

    def _without_sites(self, names: tuple[str, ...]) -> dict[str, LeftOut]:
        """Return the cells that have no sites, by name."""
        found = {name: LeftOut(why) for name, why in self.left_out.items() if why == NO_CELL}
        for name, cell in zip(names, self.design.cells, strict=True):
            if cell.name not in self.left_out:
                continue
            group = cell.type.flip_flop
            levels = () if group is None else (group.clock, group.clear, group.preset)
            controls = {pin for level in levels if level is not None for pin in level.pins}
            found[name] = LeftOut(
                self.left_out[cell.name],
                cell.block,
                tuple(cell.outputs),
                tuple(pin for pin in cell.inputs if pin not in controls),
                tuple(pin for pin in cell.inputs if pin in controls),
                group is not None,
            )
        return found

    # Registers of the source.

    def _wires(
        self, rows: list[tuple[Net, Net, Net, int]], values: list[int], stored: Mapping[Bit, Net]
    ) -> tuple[dict[str, list[Net]], list[int], list[tuple[int, int]]]:
        """Return nets of each variable that holds storage, rows that are copies, and constant bits.

        A flip-flop that stands for several variables gets a row for each.
        """
        wires: dict[str, list[Net]] = {}
        copies: list[int] = []
        row_of = {row[0]: i for i, row in enumerate(rows)}
        state_of = self._states(stored)
        taken: set[Net] = set()
        lost: list[str] = []
        constants: list[tuple[int, int]] = []
        sites = self.elaboration.sites
        for index, element in enumerate(sites.elements):
            if element.kind == "sram":
                continue
            place = self.elaboration.locations[element.path]
            variable = wires.setdefault(
                place.path + "".join(f"[{i}]" for i in place.indices), [ZERO] * place.packed_width
            )
            bits = self._bits_of(place.net)
            for i in range(element.width):
                at = place.net_low + i
                bit = self.design.source(bits[at]) if at < len(bits) else None
                net = state_of.get(bit) if bit is not None else None
                site = sites.offsets[index] + i
                if bit in ("0", "1"):
                    # What nothing reads is driven by nothing, whatever it was in the source.
                    absent = sites.hardware(site)
                    if absent is None or absent.hardware is not Hardware.UNUSED:
                        constants.append((site, int(str(bit))))
                    continue
                if net is None:
                    if sites.hardware(site) is None and not self.elaboration.is_latch(element.path):
                        lost.append(sites[site].name)
                    continue
                if net in taken:
                    original = rows[row_of[net]]
                    net = self.parts.logic.net()
                    copies.append(len(rows))
                    values.append(values[row_of[original[0]]])
                    rows.append((net, *original[1:]))
                taken.add(net)
                self.registers.setdefault(net, sites[site].name)
                variable[place.low + i] = net
        if lost:
            raise HarnessError(
                f"{len(lost)} bits of registers are not in the synthesised netlist, among them "
                f"{', '.join(lost[:_SHOWN])}; the names of these registers must survive synthesis: mark them "
                "(* keep *), or leave logic out of the campaign's kinds",
                lost[0],
            )
        for path, bits in self.design.bench_wires.items():
            wires[path] = [stored.get(bit, ZERO) for bit in bits]
            taken.update(wires[path])
        nameless = [i for i, row in enumerate(rows) if row[0] not in taken]
        if nameless:
            own = {self.known[self.flip_flops[i].q] for i in nameless if i < len(self.flip_flops)}
            names = [
                c.name for c in self.design.cells if any(self.known.get(b) in own for b in c.outputs.values())
            ]
            raise HarnessError(
                f"{len(nameless)} flip-flops of the netlist have no register of the source, among "
                f"them {', '.join(names[:_SHOWN])}; their state could not be compared with the simulation's",
                "netlist",
            )
        return wires, copies, constants

    def _bits_of(self, net: str) -> list[Bit]:
        """Return the bits of a variable: of a netlist's flip-flop what it stores."""
        own = self.own_states.get(net.rpartition(".")[0])
        return self.design.wires.get(net, []) if own is None else [own]

    def _names(self) -> tuple[str, ...]:
        """Return the names of cells: flip-flops that synthesis made have those of their registers."""
        names = [cell.name for cell in self.design.cells]
        for number, row in self.row_of.items():
            if self.design.cells[number].is_own:
                continue
            stored = self.known[self.flip_flops[row].q]
            names[number] = self.registers.get(stored, names[number])
        return tuple(names)

    def _states(self, stored: Mapping[Bit, Net]) -> dict[Bit, Net]:
        """Return the net of what is stored by the bit of a cell's output that has it."""
        return dict(stored) | {bit: self.known[self.flip_flops[row].q] for bit, row in self.stored_bits}


def _numbers(names: Iterable[str]) -> tuple[tuple[str, ...], np.ndarray[Any, Any]]:
    found: dict[str, int] = {}
    return_of = np.array([found.setdefault(name, len(found)) for name in names], np.int32)
    return tuple(found), return_of


def _deciding(gates: list[Gate], reads: Any, nets: Iterable[Net]) -> set[Net]:  # noqa: ANN401
    """Return all nets that any of these depends on; errors if one of them comes from a memory."""
    found = set(nets) - {ZERO, ONE}
    for operation, a, b, select, y in reversed(gates if found else []):
        if operation == READ_GATE and found.intersection(reads[a][2]):
            raise UnsupportedError("a clock or a latch depends on a memory")
        if operation != READ_GATE and y in found:
            found.update((a, b, select))
    return found
