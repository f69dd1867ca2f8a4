# SPDX-License-Identifier: Apache-2.0
"""From netlist and declarations to storage elements that are named as the source names them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Container
from dataclasses import dataclass, field

from resil.rtl_harness.design.elaboration.declarations import Declaration, Declarations
from resil.rtl_harness.design.elaboration.model import Clocking, Location
from resil.rtl_harness.design.elaboration.netlist import (
    Bit,
    FlipFlops,
    MemoryArray,
    Netlist,
    runs,
)
from resil.rtl_harness.design.sites import Kind, StorageElement

SRAM_MINIMUM_BITS = 1024
SRAM_MAXIMUM_PORTS = 2


@dataclass
class Storage:
    """Elements found so far, and by their paths where they lie, how they are clocked, and their nets.

    `roms` are paths of arrays that are never written, `constants` of variables that begin with a value which
    nothing changes, and which the netlist lacks, `passing` of variables of functions and tasks of which no
    call reads what another has left there.
    """

    elements: list[StorageElement] = field(default_factory=list)
    locations: dict[str, Location] = field(default_factory=dict)
    clocking: dict[str, Clocking] = field(default_factory=dict)
    outputs: dict[str, tuple[Bit, ...] | str] = field(default_factory=dict)
    roms: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    passing: list[str] = field(default_factory=list)
    unmapped: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add(
        self,
        element: StorageElement,
        location: Location,
        clocking: Clocking,
        outputs: tuple[Bit, ...] | str,
    ) -> None:
        """Record an element; `outputs` are the nets of its flip-flops, or the name of its memory cell."""
        self.elements.append(element)
        self.locations[element.path] = location
        self.clocking[element.path] = clocking
        self.outputs[element.path] = outputs


def find_storage(
    netlist: Netlist,
    declarations: Declarations,
    memories: Container[str] = (),
    stored_as: Callable[[str, str], Kind | None] = lambda path, module: None,
) -> Storage:
    """List every flip-flop and memory of `netlist`, without blocks.

    A memory array counts as what `stored_as` says of its path and module. If that says nothing, it
    counts as SRAM if it is one of `memories`, paths of arrays that a target calls so, or if
    it could be one: at least 1024 bits, at most two addresses that it is written at and two that it is read
    at, none of them constant. Any other array is flip-flops, an element a word. A variable of which only
    some bits are flip-flops gives one element for each run.
    """
    finder = _Finder(netlist, declarations, memories, stored_as)
    finder.flip_flops()
    for name, memory in netlist.memories.items():
        finder.memory(name, memory)
    found = finder.found
    found.unmapped += [
        f"{path}: module {module} is a black box, its storage is not visible; give its RTL without "
        "(* blackbox *)"
        for path, module in sorted(netlist.black_boxes.items())
    ]
    found.unmapped += [
        f"{path}: module {module} has outputs and no content; if it stands for a macro, give a model of it, "
        "else drive its outputs"
        for path, module in sorted(declarations.stubs.items())
        if path not in netlist.black_boxes
    ]
    found.unmapped += [
        f"{path or 'the top'}: an initial block that waits for events, whose state is no storage; use an "
        "always block"
        for path in sorted(declarations.waiting)
    ]
    found.unmapped += [
        f"{path}: {netlist.undriven(path)} of its bits are assigned in an asynchronous reset and at no "
        "clock; let the clocked branch keep them (q <= q;), or make them constants (wire, localparam)"
        for path in sorted(declarations.loaded)
        if netlist.undriven(path)
    ]
    found.constants += [
        path
        for path in sorted(declarations.begun)
        if netlist.undriven(path) and int(declarations.initial.get(path, "1"), 2)
    ]
    return found


class _Finder:
    def __init__(
        self,
        netlist: Netlist,
        declarations: Declarations,
        memories: Container[str],
        stored_as: Callable[[str, str], Kind | None],
    ) -> None:
        self.netlist = netlist
        self.memories = memories
        self.stored_as = stored_as
        self.declarations = declarations
        self.found = Storage()

    def flip_flops(self) -> None:
        bits: defaultdict[str, dict[int, FlipFlops]] = defaultdict(dict)
        for cell in self.netlist.flip_flops:
            for number, net in enumerate(cell.outputs):
                owner = self._owner(cell, net)
                if owner is None:
                    self.found.unmapped.append(
                        f"{cell.name or 'a flip-flop'}: bit {number} has no name in the source"
                    )
                else:
                    bits[owner[0]][owner[1]] = cell
        passing = {path: self.netlist.wires[path] for path in bits if self._in_subroutine(path)}
        own = {net for nets in passing.values() for net in nets}
        for path, held in bits.items():
            # What no call reads of what another has left in a function or task is no storage.
            if path not in passing or self.netlist.matters(passing[path], own):
                self._register(path, held)
            else:
                self.found.passing.append(path)

    def _in_subroutine(self, path: str) -> bool:
        scope = path.rpartition(".")[0]
        return any(scope == own or scope.startswith(f"{own}.") for own in self.declarations.subroutines)

    def _owner(self, cell: FlipFlops, net: int | str) -> tuple[str, int] | None:
        names = self.netlist.names_of(net)
        driven = [n for n in names if cell.name.startswith(n[0])]
        return max(driven, key=lambda n: len(n[0]), default=None) or min(names, default=None)

    def _register(self, path: str, held: dict[int, FlipFlops]) -> None:
        declared = self._declaration(path)
        total = len(self.netlist.wires[path])
        if declared.unpacked_struct:
            self._members(path, declared, held)
            return
        width = total // declared.words
        for word in range(declared.words):
            base = (declared.words - 1 - word) * width
            positions = [p for p in range(width) if base + p in held]
            for low, length in runs(positions):
                cells = dict.fromkeys(held[base + low + p] for p in range(length))
                nets = self.netlist.wires[path][base + low : base + low + length]
                span, net = (low, length, width), (path, base + low)
                clocking = self._clocking(cells)
                self._add_slice(path, declared, declared.indices(word), span, clocking, nets, net)

    def _members(self, path: str, declared: Declaration, held: dict[int, FlipFlops]) -> None:
        for cell in dict.fromkeys(held.values()):
            name = cell.name or path
            element = StorageElement(name, "ff", len(cell.outputs))
            variable = name.removeprefix(f"{declared.scope}.")
            first = min(position for position, owner in held.items() if owner is cell)
            location = Location(
                declared.scope,
                declared.module,
                variable,
                packed_width=element.width,
                net=path,
                net_low=first,
            )
            self.found.add(element, location, self._clocking([cell]), cell.outputs)

    def memory(self, net_name: str, memory: MemoryArray) -> None:
        rom = not memory.clocks and memory.path not in self.memories
        if rom and memory.path not in self.declarations.variables:
            # Yosys makes some of case statements, without a name in the source.
            return
        declared = self._declaration(memory.path)
        clock = min(memory.clocks, key=str, default=None)
        clocking = self._clock(clock[0], clock[1]) if clock else Clocking("")
        if rom:
            self.found.roms.append(memory.path)
        if declared.unpacked_struct:
            if not rom:
                self.found.unmapped.append(f"{memory.path}: an array of unpacked structures")
            return
        inner = declared.unpacked[1:]
        width = memory.width // Declaration("", "", "", inner).words
        outer = range(memory.first_word, memory.first_word + memory.size)
        if not rom and self._kind(memory) == "ff":
            parts = list(enumerate(reversed(_indices(inner))))
            for word, (place, rest) in ((word, part) for word in outer for part in parts):
                net = (f"{memory.path}[{word}]", place * width)
                self._add_slice(
                    memory.path, declared, (word, *rest), (0, width, width), clocking, net_name, net
                )
        elif not inner:
            extent = (memory.first_word, memory.size, width)
            self._add_array(memory.path, declared, (), extent, clocking, net_name)
        else:
            extent = (min(inner[-1]), abs(inner[-1][0] - inner[-1][1]) + 1, width)
            for indices in ((word, *rest) for word in outer for rest in _indices(inner[:-1])):
                self._add_array(memory.path, declared, indices, extent, clocking, net_name)

    def _add_array(
        self,
        path: str,
        declared: Declaration,
        indices: tuple[int, ...],
        extent: tuple[int, int, int],
        clocking: Clocking,
        net_name: str,
    ) -> None:
        first_word, depth, width = extent
        name = path + "".join(f"[{i}]" for i in indices)
        element = StorageElement(
            name,
            "sram",
            width,
            depth,
            lsb=_lsb(declared),
            first_word=first_word,
            ascending=_ascending(declared),
        )
        location = Location(
            declared.scope, declared.module, declared.name, indices, 0, width, declared.port, path
        )
        self.found.add(element, location, clocking, net_name)

    def _kind(self, memory: MemoryArray) -> Kind:
        said = self.stored_as(memory.path, self._declaration(memory.path).module)
        if said is not None:
            return said
        if memory.path in self.memories:
            return "sram"
        bits = memory.width * memory.size
        ports = max(len(memory.write_addresses), len(memory.read_addresses))
        if bits >= SRAM_MINIMUM_BITS and ports <= SRAM_MAXIMUM_PORTS and not memory.constant_addresses:
            return "sram"
        if bits >= SRAM_MINIMUM_BITS:
            self.found.warnings.append(
                f"{memory.path}: {bits} bits in an array counted as flip-flops: it is written at "
                f"{len(memory.write_addresses)} and read at {len(memory.read_addresses)} addresses, "
                f"{memory.constant_addresses} of them constant"
            )
        return "ff"

    def _add_slice(
        self,
        path: str,
        declared: Declaration,
        indices: tuple[int, ...],
        span: tuple[int, int, int],
        clocking: Clocking,
        outputs: tuple[Bit, ...] | str,
        net: tuple[str, int],
    ) -> None:
        low, length, width = span
        lsb = _lsb(declared)
        sign = -1 if _ascending(declared) else 1
        name = path + "".join(f"[{i}]" for i in indices)
        if length != width:
            name += f"[{lsb + sign * (low + length - 1)}:{lsb + sign * low}]"
        element = StorageElement(name, "ff", length, lsb=lsb + sign * low, ascending=sign < 0)
        location = Location(
            declared.scope, declared.module, declared.name, indices, low, width, declared.port, *net
        )
        self.found.add(element, location, clocking, outputs)

    def _declaration(self, path: str) -> Declaration:
        found = self.declarations.variables.get(path)
        if found is not None:
            return found
        scope, _, name = path.rpartition(".")
        return Declaration(scope, self.declarations.instances.get(scope, ""), name)

    def _clocking(self, cells: Collection[FlipFlops]) -> Clocking:
        first = next(iter(cells))
        clocking = self._clock(first.clock, first.rising)
        resets = ["" if c.reset is None else self.netlist.root(c.reset)[0] for c in cells]
        latch = any(c.latch for c in cells)
        return Clocking(clocking.clock, clocking.rising, max(resets), all(resets), latch)

    def _clock(self, net: int | str | None, rising: bool) -> Clocking:
        if net is None:
            return Clocking("")
        name, inverted = self.netlist.root(net)
        return Clocking(name, rising != inverted)


def _indices(dimensions: tuple[tuple[int, int], ...]) -> list[tuple[int, ...]]:
    array = Declaration("", "", "", dimensions)
    return [array.indices(word) for word in range(array.words)]


def _ascending(declared: Declaration) -> bool:
    return declared.left is not None and declared.right is not None and declared.left < declared.right


def _lsb(declared: Declaration) -> int:
    return declared.right or 0
