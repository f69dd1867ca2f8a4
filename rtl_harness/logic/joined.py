# SPDX-License-Identifier: Apache-2.0
"""Modules of cells and the bench around them as one design: every bit has a number, every wire its driver."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from resil.rtl_harness.design.cells import CLOCK_GATE_PINS, CellType, Expression
from resil.rtl_harness.design.elaboration.blocks import block_of
from resil.rtl_harness.design.elaboration.netlist import Netlist, source_path
from resil.rtl_harness.design.synthesis import PART
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.gates.moments import UnsupportedError
from resil.rtl_harness.engine.fast.gates.word_cells import KINDS, Bit
from resil.rtl_harness.errors import HarnessError

_FLIP_FLOP = re.compile(r"\$_(DFF_[NP]|DFF_[NP][NP][01]|ALDFF_[NP][NP])_")
_LATCH = re.compile(r"\$_DLATCH_[NP]([NP][01])?_")
_NO_LOGIC = {"$scopeinfo", "$meminit", "$meminit_v2", "$print", "$check", "$assert", "$assume", "$cover"}
_PART = re.compile(rf"_{PART}(\d+)$")


@dataclass
class Cell:
    """A cell of the library.

    Attributes:
        name: Hierarchical name.
        type: What it is.
        block: That it belongs to.
        inputs: Bit of each input that is connected.
        outputs: Bit of each output that is connected.
        is_own: The design under test is a netlist, and the cell is one of it; its name is the netlist's.
        tied: Value of each input that the design under test itself ties to a constant.
    """

    name: str
    type: CellType
    block: str
    inputs: dict[str, Bit]
    outputs: dict[str, Bit]
    is_own: bool = False
    tied: dict[str, int] = field(default_factory=dict)

    def level(self, function: Expression) -> tuple[Bit, bool]:
        """Return bit and level of a function that is one pin, or its inverse."""
        inner = function.operands[0] if function.operation == "not" else function
        if inner.operation != "pin":
            raise UnsupportedError(
                f"{self.name}: clock, set or reset of {self.type.name} is more than one pin"
            )
        return self.inputs.get(inner.name, "0"), function.operation != "not"

    def is_clock_pin(self, pin: str) -> bool:
        """Whether an input is a clock."""
        if self.type.clock_gate:
            return pin == CLOCK_GATE_PINS[1]
        return self.type.flip_flop is not None and pin in self.type.flip_flop.clock.pins


@dataclass(frozen=True)
class BenchFlipFlop:
    """A flip-flop of the bench, as `cycle.FlipFlop`.

    `value` is what it is worth while `load` acts, -1 if that is not constant.
    """

    q: Bit
    d: Bit
    clock: Bit
    rising: bool
    load: Bit
    active: int
    value: int


@dataclass(frozen=True)
class Latch:
    """A latch; as a `Part` of kind `LATCH`."""

    inputs: Mapping[str, list[Bit]]
    parameters: Mapping[str, int]
    driven: list[Bit]


@dataclass(frozen=True)
class Read:
    """A read port: number of its memory, bits of address and data."""

    memory: int
    address: list[Bit]
    data: list[Bit]


@dataclass(frozen=True)
class WritePort:
    """A write port, as `cycle.Write`."""

    name: str
    memory: int
    order: int
    clock: Bit
    rising: bool
    address: list[Bit]
    data: list[Bit]
    enable: list[Bit]


@dataclass
class Joined:
    """A closed design.

    Attributes:
        ports: Bits of the ports of the top.
        cells: Of the design under test.
        bench_cells: Kind, pins and parameters of the logic around it.
        bench_flip_flops, latches, reads, writes: Of both.
        memories: Path and first word of each memory.
        wires: Bits of each name of the design under test, by path.
        dut_module: Name of the design's module in the source.
        dut_ports: Direction and bits of each port of it.
        bench_wires: Bits of each variable of the bench that holds storage, by path.
        no_cells: Logic of a design that is a netlist which is no cell of it.
    """

    ports: dict[str, list[Bit]]
    cells: list[Cell] = field(default_factory=list)
    bench_cells: list[tuple[str, dict[str, list[Bit]], dict[str, int]]] = field(default_factory=list)
    bench_flip_flops: list[BenchFlipFlop] = field(default_factory=list)
    latches: list[Latch] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    writes: list[WritePort] = field(default_factory=list)
    memories: list[tuple[str, int]] = field(default_factory=list)
    wires: dict[str, list[Bit]] = field(default_factory=dict)
    bench_wires: dict[str, list[Bit]] = field(default_factory=dict)
    dut_module: str = ""
    dut_ports: dict[str, tuple[str, list[Bit]]] = field(default_factory=dict)
    no_cells: list[str] = field(default_factory=list)
    aliases: dict[Bit, Bit] = field(default_factory=dict)
    bits: int = 0

    def new_bit(self) -> Bit:
        """Return a bit that nothing has yet."""
        self.bits += 1
        return self.bits - 1

    def source(self, bit: Bit) -> Bit:
        """Return the bit that drives a bit through the boundaries of modules."""
        if bit not in self.aliases:
            return bit
        passed = []
        while bit in self.aliases:
            passed.append(bit)
            bit = self.aliases[bit]
        for one in passed:
            self.aliases[one] = bit
        return bit

    def sources(self, bits: Iterable[Bit]) -> list[Bit]:
        """Return the drivers of bits."""
        return [self.source(bit) for bit in bits]

    def behind(self, bits: Iterable[Bit]) -> set[str]:
        """Return cells that any of these bits depends on within a moment."""
        drivers: dict[Bit, tuple[str, list[Bit]]] = {}
        for cell, inputs, outputs in self._logic():
            for bit in outputs:
                drivers[bit] = (cell, inputs)
        found: set[str] = set()
        seen: set[Bit] = set()
        waiting = list(bits)
        while waiting:
            bit = self.source(waiting.pop())
            if bit in seen or bit not in drivers:
                continue
            seen.add(bit)
            name, inputs = drivers[bit]
            found.add(name)
            waiting += inputs
        return found - {""}

    def before(self, bits: Iterable[Bit]) -> set[str]:
        """Return cells that depend on any of these bits within a moment."""
        readers: defaultdict[Bit, list[tuple[str, list[Bit]]]] = defaultdict(list)
        for cell, inputs, outputs in self._logic():
            for bit in inputs:
                readers[bit].append((cell, outputs))
        found: set[str] = set()
        seen: set[Bit] = set()
        waiting = self.sources(bits)
        while waiting:
            bit = waiting.pop()
            if bit in seen:
                continue
            seen.add(bit)
            for name, outputs in readers.get(bit, ()):
                found.add(name)
                waiting += outputs
        return found - {""}

    def _logic(self) -> Iterator[tuple[str, list[Bit], list[Bit]]]:
        """Yield name ("" in the bench), inputs and outputs of all logic."""
        for cell in self.cells:
            if cell.type.flip_flop is None and not cell.type.clock_gate:
                yield cell.name, list(cell.inputs.values()), list(cell.outputs.values())
        for _, pins, _ in self.bench_cells:
            yield "", [bit for pin, bits in pins.items() if pin != "Y" for bit in bits], pins["Y"]
        for read in self.reads:
            yield "", read.address, read.data


def joined(
    bench: Mapping[str, Any],
    mapped: Mapping[str, Any],
    target: Target,
    library: Mapping[str, CellType],
    parts: Mapping[str, str],
) -> Joined:
    """Return the closed design.

    Args:
        bench: Modules of what closes it, with the design as a cell without content.
        mapped: Modules of the design.
        target: The design.
        library: Cells.
        parts: Path of the generate block that a module was made of, by its name.

    Raises:
        HarnessError: If there is no design in the bench, or a memory of it is no SRAM array.
        UnsupportedError: If there are cells without a known function.
    """
    reader = _Joiner(mapped, target, library, parts)
    reader.bench(bench[target.top])
    for name, module in mapped.items():
        reader.module(name, module)
    return reader.finished()


class _Joiner:
    def __init__(
        self,
        mapped: Mapping[str, Any],
        target: Target,
        library: Mapping[str, CellType],
        parts: Mapping[str, str],
    ) -> None:
        self.mapped = mapped
        self.target = target
        self.library = library
        self.offsets: dict[str, int] = {}
        self.design = Joined({})
        self.parts = parts

    def _place(self, module: str, most: int) -> int:
        """Return the number that bits of a module begin with."""
        self.offsets[module] = self.design.bits
        self.design.bits += most + 1
        return self.offsets[module]

    def bench(self, module: Mapping[str, Any]) -> None:
        """Take what closes the design."""
        design = self.design
        self._place("", _most(module))
        design.ports = {name: port["bits"] for name, port in module["ports"].items()}
        netlist = Netlist({"modules": {self.target.top: module}}, self.target.top)
        numbers = self._memories(netlist, "")
        for name, own in self.mapped.items():
            self._place(name, _most(own))
        inside = f"{self.target.dut}."
        design.bench_wires = {
            path: list(bits) for path, bits in netlist.wires.items() if not path.startswith(inside)
        }
        found = False
        for name, cell in module["cells"].items():
            if cell["type"] in self.mapped:
                found = True
                self._dut(cell["type"])
                self._instance(cell, self.mapped[cell["type"]], "")
            else:
                self._other(name, cell, "", numbers)
        if not found:
            raise HarnessError(
                f"target {self.target.name}: {self.target.dut} is no module within "
                f"{self.target.top}; name an instance of a module as dut",
                "dut",
            )

    def _dut(self, name: str) -> None:
        self.design.dut_module = name.partition("$")[0]
        for port, own in self.mapped[name]["ports"].items():
            self.design.dut_ports[port] = (own["direction"], self._moved(own["bits"], name))

    def module(self, name: str, module: Mapping[str, Any]) -> None:
        """Take a module of the design."""
        place = name.partition("$")[2].partition(".")[2]
        around = _PART.sub("", place)
        path = self.parts.get(name, around)
        netlist = Netlist({"modules": {name: module}}, name)
        numbers = self._memories(netlist, f"{around}." if around else "")
        self._names(name, module, f"{around}." if around else "")
        block = block_of(path, self.target.blocks)
        count = 0
        for own, cell in module["cells"].items():
            kind = cell["type"]
            if kind in self.mapped:
                self._instance(cell, self.mapped[kind], name)
            elif kind in self.library:
                is_own = not cell["hide_name"]
                count += not is_own
                named = cell["attributes"].get("hdlname", own).replace(" ", ".") if is_own else f"U{count}"
                self._cell(f"{path}.{named}", self.library[kind], block, cell, name, is_own=is_own)
            else:
                self._other(own, cell, name, numbers)

    def finished(self) -> Joined:
        """Return the design, with every input at its driver."""
        d = self.design
        # First of all, while it can be seen what crosses the boundary of the design.
        given = {bit for way, bits in d.dut_ports.values() if way == "input" for bit in bits}
        for cell in d.cells:
            ends = {pin: self._end(bit, given) for pin, bit in cell.inputs.items()}
            cell.tied = {pin: int(end) for pin, end in ends.items() if end in ("0", "1")}
        source, sources = d.source, d.sources
        d.ports = {name: sources(bits) for name, bits in d.ports.items()}
        for cell in d.cells:
            cell.inputs = {pin: source(bit) for pin, bit in cell.inputs.items()}
        d.bench_cells = [
            (kind, {pin: bits if pin == "Y" else sources(bits) for pin, bits in pins.items()}, parameters)
            for kind, pins, parameters in d.bench_cells
        ]
        d.bench_flip_flops = [
            replace(f, d=source(f.d), clock=source(f.clock), load=source(f.load)) for f in d.bench_flip_flops
        ]
        d.latches = [
            replace(latch, inputs={pin: sources(bits) for pin, bits in latch.inputs.items()})
            for latch in d.latches
        ]
        d.reads = [replace(read, address=sources(read.address)) for read in d.reads]
        d.writes = [
            replace(
                w,
                clock=source(w.clock),
                address=sources(w.address),
                data=sources(w.data),
                enable=sources(w.enable),
            )
            for w in d.writes
        ]
        return d

    def _end(self, bit: Bit, given: set[Bit]) -> Bit:
        """Return the bit that drives a bit within the design under test, or that it is given from outside."""
        while bit in self.design.aliases and bit not in given:
            bit = self.design.aliases[bit]
        return bit

    def _moved(self, bits: Iterable[Bit], module: str) -> list[Bit]:
        offset = self.offsets[module]
        return [bit + offset if isinstance(bit, int) else bit for bit in bits]

    def _instance(self, cell: Mapping[str, Any], module: Mapping[str, Any], around: str) -> None:
        for port, given in cell["connections"].items():
            declared = module["ports"][port]
            outer, inner = self._moved(given, around), self._moved(declared["bits"], cell["type"])
            inputs = declared["direction"] == "input"
            if declared["direction"] == "inout":
                if not _PART.search(cell["type"]):
                    raise UnsupportedError(f"port {port} of {cell['type']} is an inout")
                inside = set(self._moved(_driven(module, self.library), cell["type"]))
            for out, own in zip(outer, inner, strict=True):
                # A part that was made of a generate block has ports of bits that go either way.
                into = inputs or (declared["direction"] == "inout" and own not in inside)
                driven, driver = (own, out) if into else (out, own)
                if isinstance(driven, int) and driven != driver:
                    self.design.aliases[driven] = driver

    def _cell(
        self,
        name: str,
        kind: CellType,
        block: str,
        cell: Mapping[str, Any],
        module: str,
        *,
        is_own: bool,
    ) -> None:
        canonical = dict(zip(kind.clock_gate_pins, CLOCK_GATE_PINS, strict=True)) if kind.clock_gate else {}
        pins = {canonical.get(pin, pin): bits[0] for pin, bits in cell["connections"].items() if bits}
        moved = dict(zip(pins, self._moved(pins.values(), module), strict=True))
        outputs = set(CLOCK_GATE_PINS[2:]) if kind.clock_gate else set(kind.outputs)
        self.design.cells.append(
            Cell(
                name,
                kind,
                block,
                {pin: bit for pin, bit in moved.items() if pin not in outputs},
                {pin: bit for pin, bit in moved.items() if pin in outputs},
                is_own,
            )
        )

    def _other(self, name: str, cell: Mapping[str, Any], module: str, numbers: Mapping[str, int]) -> None:
        kind, parameters, design = cell["type"], cell["parameters"], self.design
        pins = {pin: self._moved(bits, module) for pin, bits in cell["connections"].items()}
        if kind in KINDS and (not module or self.target.cells is not None):
            if module:
                design.no_cells.append(f"{name}, a {kind}")
            values = {n: int(v, 2) for n, v in parameters.items() if v and set(v) <= {"0", "1"}}
            design.bench_cells.append((kind, pins, values))
        elif _FLIP_FLOP.fullmatch(kind):
            design.bench_flip_flops.append(_flip_flop(kind, pins))
        elif _LATCH.fullmatch(kind):
            design.latches.append(_latch(kind.split("_")[2], pins))
        elif kind == "$memrd_v2" and int(parameters["CLK_ENABLE"], 2) == 0:
            memory = numbers[parameters["MEMID"].removeprefix("\\")]
            design.reads.append(Read(memory, pins["ADDR"], pins["DATA"]))
        elif kind == "$memwr_v2" and int(parameters["CLK_ENABLE"], 2) == 1:
            memory = numbers[parameters["MEMID"].removeprefix("\\")]
            rising = int(parameters["CLK_POLARITY"], 2) == 1
            bits = (pins["ADDR"], pins["DATA"], pins["EN"])
            order = int(parameters["PORTID"], 2)
            design.writes.append(WritePort(name, memory, order, pins["CLK"][0], rising, *bits))
        elif kind not in _NO_LOGIC:
            raise UnsupportedError(
                f"{name} is a {kind}, which is no cell of the library and has no function that is known"
            )

    def _memories(self, netlist: Netlist, prefix: str) -> dict[str, int]:
        numbers = {}
        for name, memory in netlist.memories.items():
            numbers[name] = len(self.design.memories)
            self.design.memories.append((prefix + memory.path, memory.first_word))
        return numbers

    def _names(self, name: str, module: Mapping[str, Any], prefix: str) -> None:
        driven = {
            bit
            for cell in module["cells"].values()
            if (kind := self.library.get(cell["type"])) is not None and kind.flip_flop is not None
            for pin in kind.outputs
            for bit in cell["connections"].get(pin, ())
        }
        for wire, held in module["netnames"].items():
            if held["hide_name"]:
                continue
            path = prefix + source_path(wire, held)
            # Names go through the boundary of a generate block: that beside the flip-flop counts.
            if path not in self.design.wires or any(bit in driven for bit in held["bits"]):
                self.design.wires[path] = self._moved(held["bits"], name)


def _driven(module: Mapping[str, Any], library: Mapping[str, CellType]) -> Iterator[Bit]:
    """Yield the bits that cells of a module drive."""
    for cell in module["cells"].values():
        kind = library.get(cell["type"])
        for pin, bits in cell["connections"].items():
            if kind is None:
                drives = cell["port_directions"].get(pin) == "output"
            else:
                drives = pin in (CLOCK_GATE_PINS[2:] if kind.clock_gate else kind.outputs)
            if drives:
                yield from bits


def _most(module: Mapping[str, Any]) -> int:
    bits = (bit for held in module["netnames"].values() for bit in held["bits"] if isinstance(bit, int))
    return max(bits, default=0)


def _flip_flop(kind: str, pins: Mapping[str, list[Bit]]) -> BenchFlipFlop:
    levels = kind.split("_")[2]
    load = (pins.get("L") or pins.get("R") or ["0"])[0]
    active = int(load == "0" or levels[1] == "P")
    value = -1
    if "R" in pins:
        value = int(levels[2])
    elif "AD" in pins and pins["AD"][0] in ("0", "1"):
        value = int(str(pins["AD"][0]))
    return BenchFlipFlop(pins["Q"][0], pins["D"][0], pins["C"][0], levels[0] == "P", load, active, value)


def _latch(levels: str, pins: Mapping[str, list[Bit]]) -> Latch:
    reset = pins.get("R", [])
    parameters = {"E": int(levels[0] == "P"), "R": 0, "value": 0}
    if reset:
        parameters |= {"R": int(levels[1] == "P"), "value": int(levels[2])}
    return Latch({"E": pins["E"], "D": pins["D"], "R": reset}, parameters, pins["Q"])
