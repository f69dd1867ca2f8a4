# SPDX-License-Identifier: Apache-2.0
"""The netlist as Verilog in place of the design under test, with pulses that an untouched simulator can make.

A register is added that is always 0: bit `k` of it inverts the output of the k-th chosen cell, and is cleared
    by
the next active edge. An upset of that bit is a pulse: so any engine that injects into storage simulates one.
In the same way a bit of another register that is stuck at 1 holds a pin.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from resil.rtl_harness.design.cell_models import formula
from resil.rtl_harness.design.cells import CLOCK_GATE_PINS, Expression
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.elaboration.model import Clocking, Location
from resil.rtl_harness.design.sites import Absent, Hardware, Kind, SiteTable, StorageElement
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.gates.word_cells import Bit
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.logic.clocks import Clocks
from resil.rtl_harness.logic.joined import Cell, Joined

PULSES, HELD, KEPT = "pulse_q", "held_q", "kept_q"
DOMINANT = "dominant"
# Flip-flops in one register: a simulator takes a time of the square of it for what is stored at an edge.
_REGISTER = 32


HeldName = tuple[str, str, int]
"""Names of cell and pin, and the value at which the pin is held, or at which it is open."""

BridgedName = tuple[tuple[str, str], tuple[str, str], str]
"""Names of cell and output, twice; the first has what the second one has ("dominant"), or both have what
both, or either, are driven to ("and", "or")."""


@dataclass(frozen=True)
class NetlistTarget:
    """A target whose design under test is its netlist.

    Attributes:
        target: With the sources that it is made of.
        elaboration: Its storage: flip-flops, memories, and the register of pulses.
        pulse: Site of the pulse at the output of each chosen cell, by the cell's name.
        held: Site of the bit that holds a pin where it is 1, by the names of cell and pin, and the value.
        opened: Likewise of the bit by which an input is open.
        bridged: Likewise of a bridge.
        flip_flops: Site of what each flip-flop stores, by the cell's name.
    """

    target: Target
    elaboration: Elaboration
    pulse: Mapping[str, int]
    held: Mapping[HeldName, int] = field(default_factory=dict)
    opened: Mapping[HeldName, int] = field(default_factory=dict)
    bridged: Mapping[BridgedName, int] = field(default_factory=dict)
    flip_flops: Mapping[str, int] = field(default_factory=dict)


def netlist_target(
    target: Target,
    elaboration: Elaboration,
    design: Joined,
    chosen: Sequence[str],
    folder: Path,
    held: Sequence[HeldName] = (),
    opened: Sequence[HeldName] = (),
    bridged: Sequence[BridgedName] = (),
) -> NetlistTarget:
    """Write the netlist of a target as Verilog.

    Args:
        target: The design.
        elaboration: Its storage.
        design: Its cells.
        chosen: Names of cells that pulses are to strike; of a clock gate a pulse inverts its enable, of a
            buffer of the clock's tree the phase of the clock that begins with the next edge.
        held: Pins that are to be held; none that load asynchronously, and of clock pins those of clock gates
            and buffers alone.
        opened: Inputs that are to be open, of cells that are no clock gates or such buffers; likewise.
        bridged: Outputs of cells that are to be bridged.
        folder: Where the sources go, which are copies but for the name of the design's module.

    Raises:
        HarnessError: If a chosen cell is not there, or the module of the design is not found in its sources.
    """
    writer = _VerilogWriter(target, elaboration, design, chosen, held, opened, bridged)
    header, sources = _sources(target, writer.module, folder)
    netlist = folder / "netlist.sv"
    netlist.write_text(writer.text(header), encoding="utf-8")
    folders = dict.fromkeys([*target.include_dirs, *(source.parent for source in target.sources)])
    data = dict.fromkeys([*target.data_dirs, *(source.parent for source in target.sources)])
    made = replace(
        target,
        name=f"{target.name}-netlist",
        sources=(*sources, netlist),
        include_dirs=tuple(folders),
        data_dirs=tuple(data),
        snapshot=None,
    )
    own = dict(writer.locations)
    bench = [e.path for e in elaboration.bench_elements]
    locations = own | {path: elaboration.locations[path] for path in bench}
    clocking = {path: Clocking(target.clock) for path in own}
    clocking |= {path: elaboration.clocking[path] for path in bench}
    bare = SiteTable.of(writer.elements)
    first = {e.path: o for o, e in zip(bare.offsets, bare.elements, strict=False)}
    # A pulse is no state of the design: where a run ends in its cycle, it is not compared.
    numbers = ((PULSES, len(chosen)), (HELD, len(held) + len(opened) + len(bridged)))
    added = [(first.get(f"{target.dut}.{name}", 0), number) for name, number in numbers]
    pulses = [Absent(at, size, Hardware.UNUSED) for at, size in added if size]
    table = SiteTable.of(writer.elements, pulses)
    storage = Elaboration(
        table, elaboration.bench_elements, locations, clocking, parameters=elaboration.parameters
    )
    (pulse, _), (holding, _) = added
    return NetlistTarget(
        made,
        storage,
        {name: pulse + i for i, name in enumerate(chosen)},
        {name: holding + i for i, name in enumerate(held)},
        {name: holding + len(held) + i for i, name in enumerate(opened)},
        {name: holding + len(held) + len(opened) + i for i, name in enumerate(bridged)},
        {name: first[f"{target.dut}.{variable}"] + i for name, (variable, i) in writer.stored.items()},
    )


def _sources(target: Target, module: str, folder: Path) -> tuple[str, list[Path]]:
    """Copy the sources, with another name for a module; return what its header imports and takes."""
    imports, parameters = r"((?:\s*import\s[^;]*;)*)", r"(#\s*\((?:[^()]|\([^()]*\))*\))?"
    head = re.compile(rf"\bmodule\s+{re.escape(module)}\b{imports}\s*{parameters}\s*\(")
    named = re.compile(rf"\b(module\s+|endmodule\s*:\s*){re.escape(module)}\b")
    header, copies = None, []
    for number, source in enumerate(target.sources):
        text = source.read_text(encoding="utf-8", errors="replace")
        bare = re.sub(r"//[^\n]*", "", text)
        if (found := head.search(bare)) is not None:
            header = f"module {module} {found[1]} {found[2] or ''} ("
        copy = folder / f"{number:03}_{source.name}"
        copy.write_text(named.sub(rf"\g<1>{module}__as_rtl", text), encoding="utf-8")
        copies.append(copy)
    if header is None:
        raise HarnessError(f"target {target.name}: no source has the module {module} of {target.dut}", "dut")
    return header, copies


class _VerilogWriter:
    def __init__(
        self,
        target: Target,
        elaboration: Elaboration,
        design: Joined,
        chosen: Sequence[str],
        held: Sequence[HeldName],
        opened: Sequence[HeldName],
        bridged: Sequence[BridgedName],
    ) -> None:
        self.target = target
        self.design = design
        self.module = design.dut_module
        self.clock = design.ports[target.clock][0]
        self.clocks = Clocks(design, self.clock)
        self.inside = f"{target.dut}."
        known = {cell.name for cell in design.cells}
        if missing := [name for name in chosen if name not in known]:
            raise HarnessError(f"expected cells of the netlist of {target.name}, found {missing[0]}")
        self.chosen = {name: i for i, name in enumerate(chosen)}
        self.held: defaultdict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        for i, (name, pin, value) in enumerate(held):
            self.held[name, pin].append((i, value))
        self.opened: defaultdict[str, list[tuple[int, str, int]]] = defaultdict(list)
        for i, (name, pin, value) in enumerate(opened, len(held)):
            self.opened[name].append((i, pin, value))
        self.bridged: defaultdict[tuple[str, str], list[tuple[int, tuple[str, str], str]]] = defaultdict(list)
        for i, (one, other, way) in enumerate(bridged, len(held) + len(opened)):
            self.bridged[one].append((i, other, way))
            if way != DOMINANT:
                self.bridged[other].append((i, one, way))
        self.holding = len(held) + len(opened) + len(bridged)
        self.kept: list[str] = []
        self.output = {(c.name, pin): bit for c in design.cells for pin, bit in c.outputs.items()}
        self.depth = {e.path: e.depth for e in elaboration.sites.elements if e.kind == "sram"}
        self.elements: list[StorageElement] = []
        self.locations: dict[str, Location] = {}
        self.lines: list[str] = []
        self.stored: dict[str, tuple[str, int]] = {}

    def text(self, header: str) -> str:
        """Return the module."""
        ports, driven = self._ports()
        for cell in self.design.cells:
            if cell.type.clock_gate and cell.outputs:
                self._clock_gate(cell)
            elif cell.name in self.clocks.buffers:
                self._clock_buffer(cell)
            elif cell.type.flip_flop is None:
                for pin, function in cell.type.outputs.items():
                    if pin in cell.outputs and function is not None:
                        formula = self._formula(function, cell)
                        opened = self._opened(cell, function, formula + self._pulse(cell), cell.outputs[pin])
                        self._drive(cell, pin, opened)
        self._flip_flops()
        self._memories()
        if self.chosen:
            self._store(PULSES, len(self.chosen))
            clock = self._name(self.clock)
            self.lines.append(f"always_ff @(posedge {clock}) {PULSES} <= '0;")
        if self.holding:
            clock = self._name(self.clock)
            self.lines.append(f"always_ff @(posedge {clock}) {HELD} <= {HELD};")
            self._store(HELD, self.holding)
            self.lines.append(f"initial {HELD} = '0;")
        if self.opened:
            # What nets had in the cycle before; nothing is kept in the first one.
            last, bits = self.holding - 1, len(self.kept) or 1
            self.lines.insert(0, f"logic [{last}:0] begun_q; logic [{bits - 1}:0] {KEPT};")
            nets = ", ".join(reversed(self.kept)) or "1'b0"
            self.lines.append(
                f"always_ff @(posedge {clock}) begin\nbegun_q <= {HELD}; {KEPT} <= {{{nets}}};\nend"
            )
            self.lines.append("initial begun_q = '0;")
        inputs = [f"assign {self._name(bit)} = {place};" for bit, place in driven.items()]
        used = sorted(set(re.findall(r"\bn\d+\b", "\n".join([*self.lines, *inputs, *ports[1]]))))
        declared = [f"wire {', '.join(used[i : i + 64])};" for i in range(0, len(used), 64)]
        body = [*declared, *inputs, *self.lines, *ports[1]]
        return "\n".join([header, ",\n".join(ports[0]), ");", *body, "endmodule", ""])

    def _ports(self) -> tuple[tuple[list[str], list[str]], dict[Bit, str]]:
        """Return declarations, what drives outputs, and by net the input that drives it."""
        own = {bit for cell in self.design.cells for bit in cell.outputs.values()}
        within = {i for i, (path, _) in enumerate(self.design.memories) if path.startswith(self.inside)}
        own |= {bit for read in self.design.reads if read.memory in within for bit in read.data}
        declared: list[str] = []
        outputs: list[str] = []
        driven: dict[Bit, str] = {}
        for name, (direction, bits) in self.design.dut_ports.items():
            declared.append(f"{direction} wire [{len(bits) - 1}:0] {name}")
            for i, bit in enumerate(self.design.sources(bits)):
                place = f"{name}[{i}]"
                if direction == "output":
                    outputs.append(f"assign {place} = {self._name(bit)};")
                elif isinstance(bit, int) and bit not in own:
                    driven.setdefault(bit, place)
        return (declared, outputs), driven

    def _name(self, bit: Bit) -> str:
        bit = self.design.source(bit)
        return f"n{bit}" if isinstance(bit, int) else f"1'b{1 if bit == '1' else 0}"

    def _word(self, bits: Sequence[Bit]) -> str:
        return "{" + ", ".join(self._name(bit) for bit in reversed(bits)) + "}"

    def _assign(self, bit: Bit, value: str) -> None:
        self.lines.append(f"assign {self._name(bit)} = {value};")

    def _drive(self, cell: Cell, pin: str, value: str) -> None:
        """Write what an output has: what it is driven to, or what it is bridged with."""
        bit, value = cell.outputs[pin], self._pin(cell, pin, value)
        own = self.bridged.get((cell.name, pin), ())
        if own:
            self.lines.append(f"wire driven_{self._name(bit)} = {value};")
            value = f"driven_{self._name(bit)}"
        for number, other, way in own:
            there = self._name(self.output[other])
            if way != DOMINANT:
                there = f"driven_{self._name(bit)} {'&' if way == 'and' else '|'} driven_{there}"
            value = f"({HELD}[{number}] ? ({there}) : {value})"
        self._assign(bit, value)

    def _opened(self, cell: Cell, function: Expression, value: str, bit: Bit | None, state: str = "") -> str:
        """Return what an output has, or a flip-flop takes, of which inputs may be open."""
        for number, pin, at in self.opened.get(cell.name, ()):
            if pin not in function.pins:
                continue
            other = formula(function, partial(self._taken_as, cell, pin, at, state))
            kept, acts = state, f"{HELD}[{number}]"
            if bit is not None:
                kept, acts = f"{KEPT}[{len(self.kept)}]", f"{acts} & begun_q[{number}]"
                self.kept.append(self._name(bit))
            value = f"(({acts} & (({value}) != ({other}))) ? {kept} : ({value}))"
        return value

    def _taken_as(self, cell: Cell, pin: str, value: int, stored: str, name: str) -> str:
        """Return what stands for a pin of a cell if one of them had a value."""
        if own := self._stored_as(cell, name, stored):
            return own
        return f"1'b{value}" if name == pin else self._name(cell.inputs.get(name, "0"))

    def _pin(self, cell: Cell, pin: str, value: str) -> str:
        for bit, held in self.held.get((cell.name, pin), ()):
            value = f"({HELD}[{bit}] ? 1'b{held} : ({value}))"
        return value

    def _pulse(self, cell: Cell) -> str:
        return f" ^ {PULSES}[{self.chosen[cell.name]}]" if cell.name in self.chosen else ""

    def _formula(self, function: Expression, cell: Cell, stored: str = "") -> str:
        """Return a function of a cell's pins, and of what it stores if it does."""

        def named(name: str) -> str:
            own = self._stored_as(cell, name, stored)
            return own or self._pin(cell, name, self._name(cell.inputs.get(name, "0")))

        return formula(function, named)

    def _stored_as(self, cell: Cell, name: str, stored: str) -> str:
        """Return what stands for the name of what a cell stores, or of its inverse; nothing for others."""
        group = cell.type.flip_flop
        if group is None or not name or name not in (group.state, group.inverse):
            return ""
        return stored if name == group.state else f"~{stored}"

    def _clock_gate(self, cell: Cell) -> None:
        enable, clock, gated = ({**cell.inputs, **cell.outputs}.get(pin, "0") for pin in CLOCK_GATE_PINS)
        held = f"latch_{len(self.lines)}"
        names = cell.type.clock_gate_pins if cell.is_own else CLOCK_GATE_PINS
        tests = [(pin, cell.inputs[pin]) for pin in cell.type.test_pins if pin in cell.inputs]
        opened = " | ".join(
            self._pin(cell, pin, self._name(bit)) for pin, bit in ((names[0], enable), *tests)
        )
        self.lines.append(f"logic {held};")
        self.lines.append(f"always_latch if (!{self._name(clock)}) {held} = ({opened}){self._pulse(cell)};")
        # A clock that is held has no edge; to go to 1 would be one, which a fault from the beginning has not.
        still = [f"{HELD}[{bit}]" for pin in names[1:] for bit, _ in self.held.get((cell.name, pin), ())]
        self._assign(gated, " & ".join([self._name(clock), held, *(f"~{own}" for own in still)]))

    def _clock_buffer(self, cell: Cell) -> None:
        """Write a buffer of the clock's tree: a pulse inverts it for the phase of the clock after an edge.

        That is the edge which registers behind it take next, and both if they take both. Held it stays at the
        level that it has while the clock is low, as the clock does in reset.
        """
        ((pin, bit),) = cell.outputs.items()
        function = cell.type.outputs[pin]
        assert function is not None
        value = formula(function, lambda name: self._name(cell.inputs.get(name, "0")))
        if cell.name in self.chosen:
            root, pulse = self._name(self.clock), f"{PULSES}[{self.chosen[cell.name]}]"
            if self.clocks.edges_behind(cell.name) == {True}:
                struck = f"struck_{len(self.lines)}"
                self.lines.append(f"logic {struck};\nalways_latch if (!{root}) {struck} = {pulse};")
                value = f"({value}) ^ ({root} & {struck})"
            else:
                value = f"({value}) ^ (~{root} & {pulse})"
        for own in (pin, *cell.inputs):
            for held, _ in self.held.get((cell.name, own), ()):
                value = f"({HELD}[{held}] ? 1'b{self.clocks.idle(bit)} : ({value}))"
        self._assign(bit, value)

    def _store(self, variable: str, width: int, depth: int = 1, first: int = 0) -> None:
        path = f"{self.target.dut}.{variable}"
        kind: Kind = "sram" if depth > 1 else "ff"
        self.elements.append(StorageElement(path, kind, width, depth, first_word=first))
        self.locations[path] = Location(self.target.dut, self.module, variable, packed_width=width)
        words = f" [{first}:{first + depth - 1}]" if depth > 1 else ""
        self.lines.insert(0, f"logic [{width - 1}:0] {variable}{words};")

    def _flip_flops(self) -> None:
        """Write registers of flip-flops that have clock and reset in common."""
        groups: defaultdict[tuple[str, str, str, int], list[tuple[Cell, Expression]]] = defaultdict(list)
        for cell in self.design.cells:
            group = cell.type.flip_flop
            if group is None:
                continue
            clock, rising = cell.level(group.clock)
            forced, value = group.clear or group.preset, int(group.clear is None)
            load, acts = cell.level(forced) if forced is not None else ("", True)
            edge = f"{'posedge' if rising else 'negedge'} {self._name(clock)}"
            reset = f"{'posedge' if acts else 'negedge'} {self._name(load)}" if load else ""
            level = f"{'' if acts else '!'}{self._name(load)}" if load else ""
            groups[edge, reset, level, value].append((cell, group.next_state))
        parts = [
            (group, every[i : i + _REGISTER])
            for group, every in sorted(groups.items())
            for i in range(0, len(every), _REGISTER)
        ]
        for number, ((edge, reset, level, value), members) in enumerate(parts):
            variable, width = f"state{number}_q", len(members)
            self._store(variable, width)
            formulas = (
                self._opened(cell, taken, self._formula(taken, cell, own), None, own)
                for own, (cell, taken) in reversed(
                    [(f"{variable}[{i}]", member) for i, member in enumerate(members)]
                )
            )
            take = f"{variable} <= {{{', '.join(formulas)}}};"
            if reset:
                forced_to = f"{{{width}{{1'b{value}}}}}"
                take = f"if ({level}) {variable} <= {forced_to}; else {take}"
            self.lines.append(f"always_ff @({edge}{f' or {reset}' if reset else ''}) {take}")
            for i, (cell, _) in enumerate(members):
                self.stored[cell.name] = (variable, i)
                self._outputs(cell, f"{variable}[{i}]")

    def _outputs(self, cell: Cell, stored: str) -> None:
        group = cell.type.flip_flop
        for pin in cell.outputs:
            function = cell.type.outputs[pin]
            if group is not None and function is not None:
                self._drive(cell, pin, f"~{stored}" if group.is_inverse(function) else stored)

    def _memories(self) -> None:
        names = {}
        for number, (path, first) in enumerate(self.design.memories):
            if path.startswith(self.inside):
                names[number] = f"memory{number}_q"
                width = next(len(w.data) for w in self.design.writes if w.memory == number)
                self._store(names[number], width, self.depth[path], first)
        for read in self.design.reads:
            if read.memory in names:
                word = f"{names[read.memory]}[{self._word(read.address)}]"
                self.lines.append(f"assign {self._word(read.data)} = {word};")
        clocks: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
        for write in sorted(self.design.writes, key=lambda w: w.order):
            if write.memory not in names:
                continue
            place = f"{names[write.memory]}[{self._word(write.address)}]"
            edge = f"{'posedge' if write.rising else 'negedge'} {self._name(write.clock)}"
            for enable, bits in _by_enable(write.enable):
                low, high = bits[0], bits[-1]
                data = self._word(write.data[low : high + 1])
                clocks[write.memory, edge].append(
                    f"if ({self._name(enable)}) {place}[{high}:{low}] <= {data};"
                )
        for (_, edge), own in clocks.items():
            self.lines.append(f"always_ff @({edge}) begin\n" + "\n".join(own) + "\nend")


def _by_enable(enables: Sequence[Bit]) -> list[tuple[Bit, list[int]]]:
    """Return runs of bits with one enable."""
    runs: list[tuple[Bit, list[int]]] = []
    for i, enable in enumerate(enables):
        if runs and runs[-1][0] == enable:
            runs[-1][1].append(i)
        else:
            runs.append((enable, [i]))
    return runs
