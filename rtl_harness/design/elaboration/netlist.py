# SPDX-License-Identifier: Apache-2.0
"""A word-level netlist as Yosys writes it to JSON: flip-flops, memories, clock networks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

Bit = int | str

_FLIP_FLOPS = {
    *("$dff", "$dffe", "$adff", "$adffe", "$sdff", "$sdffe", "$sdffce"),
    *("$aldff", "$aldffe", "$dffsr", "$dffsre", "$ff"),
}
_LATCHES = {"$dlatch", "$adlatch", "$dlatchsr", "$sr"}
# Cells that are no hardware: what is printed and checked.
_UNSEEN = {"$print", "$check", "$assert", "$assume", "$cover", "$scopeinfo"}
_ASYNC_PORTS = ("ARST", "ALOAD", "CLR", "SET")


@dataclass(frozen=True)
class FlipFlops:
    """A flip-flop or latch cell.

    Attributes:
        name: The source's name of what it drives where the front end knows it, else "".
        outputs: Net of each bit, least significant first.
        clock: Net of the clock, of a latch its enable; None if it has none.
        rising: Active edge; of a latch whether it is open while its enable is 1.
        reset: Net of the asynchronous reset or load; None if it has none.
        latch: It is a latch.
    """

    name: str
    outputs: tuple[Bit, ...]
    clock: Bit | None
    rising: bool
    reset: Bit | None
    latch: bool = False


@dataclass
class MemoryArray:
    """A memory of the netlist with the addresses that its ports use."""

    path: str
    width: int
    size: int
    first_word: int
    write_addresses: set[tuple[Bit, ...]] = field(default_factory=set)
    read_addresses: set[tuple[Bit, ...]] = field(default_factory=set)
    clocks: set[tuple[Bit, bool]] = field(default_factory=set)

    @property
    def constant_addresses(self) -> int:
        """Number of ports that always use the same word."""
        return sum(not any(isinstance(b, int) for b in a) for a in self.write_addresses | self.read_addresses)


class Netlist:
    """One flattened module.

    Args:
        document: What Yosys' `write_json` wrote.
        top: Name of the module.
    """

    def __init__(self, document: Mapping[str, Any], top: str) -> None:
        module = document["modules"][top]
        self.cells: Mapping[str, Mapping[str, Any]] = module["cells"]
        self.ports: dict[str, int] = {name: len(p["bits"]) for name, p in module["ports"].items()}
        self.wires: dict[str, tuple[Bit, ...]] = {}
        self.flip_flops: list[FlipFlops] = []
        self.memories: dict[str, MemoryArray] = {}
        self.black_boxes: dict[str, str] = {}
        self._sources: dict[Bit, tuple[Bit, bool]] = {}
        self._names: defaultdict[Bit, list[tuple[str, int]]] = defaultdict(list)
        self._read_wires(module["netnames"])
        self._read_memories(module.get("memories", {}))
        for name, cell in self.cells.items():
            self._read_cell(name, cell)
        self._outputs = {b for p in module["ports"].values() if p["direction"] != "input" for b in p["bits"]}
        self._port_bits = {bit: name for name, p in module["ports"].items() for bit in p["bits"]}

    def names_of(self, bit: Bit) -> list[tuple[str, int]]:
        """Return the source's variables that hold the net, each with the position in it."""
        return self._names.get(bit, [])

    def root(self, bit: Bit) -> tuple[str, bool]:
        """Follow buffers and inverters from a net to their source.

        Returns:
            The last name that the source code gives on this way, and whether the net is inverted.
        """
        inverted = False
        name = ""
        while True:
            if bit in self._port_bits:
                return self._port_bits[bit], inverted
            name = min((n for n, _ in self.names_of(bit)), default=name)
            if bit not in self._sources:
                return name or f"net {bit}", inverted
            bit, inverts = self._sources[bit]
            inverted ^= inverts

    def undriven(self, path: str) -> int:
        """Return how many bits of a variable nothing drives."""
        return sum(self._sources.get(bit, (bit,))[0] == "x" for bit in self.wires.get(path, ()))

    def matters(self, bits: Iterable[Bit], own: Set[Bit]) -> bool:
        """Whether nets reach, along the logic, an output or storage other than that which drives `own`."""
        waiting, seen = [*bits], set(bits)
        while waiting:
            bit = waiting.pop()
            if bit in self._outputs:
                return True
            for kind, driven in self._readers.get(bit, ()):
                if kind in _FLIP_FLOPS | _LATCHES and own >= set(driven):
                    continue
                if kind in _FLIP_FLOPS | _LATCHES or not driven:
                    return True
                further = set(driven) - seen
                seen |= further
                waiting += further
        return False

    @cached_property
    def _readers(self) -> Mapping[Bit, list[tuple[str, tuple[Bit, ...]]]]:
        """Cells that read a net, by it: type, and what they drive."""
        found: defaultdict[Bit, list[tuple[str, tuple[Bit, ...]]]] = defaultdict(list)
        for cell in self.cells.values():
            if cell["type"] in _UNSEEN:
                continue
            outputs = {pin for pin, way in cell["port_directions"].items() if way == "output"}
            driven = tuple(bit for pin in outputs for bit in cell["connections"][pin])
            for pin in cell["connections"].keys() - outputs:
                for bit in cell["connections"][pin]:
                    found[bit].append((cell["type"], driven))
        return found

    def _read_wires(self, netnames: Mapping[str, Any]) -> None:
        for name, wire in netnames.items():
            if wire["hide_name"]:
                continue
            path = source_path(name, wire)
            self.wires[path] = tuple(wire["bits"])
            for position, bit in enumerate(wire["bits"]):
                if isinstance(bit, int):
                    self._names[bit].append((path, position))

    def _read_memories(self, memories: Mapping[str, Any]) -> None:
        for name, memory in memories.items():
            path = source_path(name, memory)
            self.memories[name] = MemoryArray(path, memory["width"], memory["size"], memory["start_offset"])

    def _read_cell(self, name: str, cell: Mapping[str, Any]) -> None:
        kind, connections, parameters = cell["type"], cell["connections"], cell["parameters"]
        if kind in _FLIP_FLOPS | _LATCHES:
            latch = kind in _LATCHES
            pin, polarity = ("EN", "EN_POLARITY") if latch else ("CLK", "CLK_POLARITY")
            reset = next((connections[p][0] for p in _ASYNC_PORTS if p in connections), None)
            clock = connections[pin][0] if pin in connections else None
            rising = parameters.get(polarity, "1").endswith("1")
            outputs = tuple(connections["Q"])
            self.flip_flops.append(FlipFlops(_driven(name), outputs, clock, rising, reset, latch))
        elif kind in {"$memwr_v2", "$memrd_v2", "$memwr", "$memrd"}:
            self._read_port(kind, connections, parameters)
        elif kind in {"$buf", "$not", "$logic_not", "$pos"} and len(connections["Y"]) == len(
            connections["A"]
        ):
            for source, result in zip(connections["A"], connections["Y"], strict=True):
                self._sources[result] = (source, "not" in kind)
        elif not kind.startswith("$"):
            self.black_boxes[name] = kind

    def _read_port(self, kind: str, connections: Mapping[str, Any], parameters: Mapping[str, str]) -> None:
        memory = self.memories[parameters["MEMID"].removeprefix("\\")]
        address = tuple(connections["ADDR"])
        if kind.startswith("$memrd"):
            memory.read_addresses.add(address)
        else:
            memory.write_addresses.add(address)
            memory.clocks.add((connections["CLK"][0], parameters.get("CLK_POLARITY", "1").endswith("1")))


def _driven(cell: str) -> str:
    return cell.removeprefix("$driver$") if cell.startswith("$driver$") else ""


def source_path(name: str, item: Mapping[str, Any]) -> str:
    """Return the path of a wire or memory of a module in the words of the source.

    Yosys writes a blank behind a text that could be taken for a number, such as the register `x1`.
    """
    hdlname: str = item["attributes"].get("hdlname", name)
    return ".".join(hdlname.split())


def runs(positions: Iterator[int] | list[int]) -> Iterator[tuple[int, int]]:
    """Yield the maximal runs (first, length) of consecutive numbers in ascending `positions`."""
    first, length = 0, 0
    for position in positions:
        if length and position == first + length:
            length += 1
            continue
        if length:
            yield first, length
        first, length = position, 1
    if length:
        yield first, length
