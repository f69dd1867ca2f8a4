# SPDX-License-Identifier: Apache-2.0
"""Memories of a netlist given a code: words widened by check bits, encoders before them, decoders behind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from resil.rtl_harness.redundancy.cells import parameter
from resil.rtl_harness.redundancy.codes import (
    DECODERS,
    ENCODERS,
    MOST_BITS,
    REPORTS,
    Coded,
    check_bits,
    parts_of_word,
)
from resil.rtl_harness.redundancy.editable import EditableNetlist, Net, binary
from resil.rtl_harness.redundancy.groups import GroupError, Mechanism, RegisterPiece
from resil.rtl_harness.redundancy.names import plain

# Cells of which each bit of the output comes from the same bit of the inputs, or from one that selects.
_BITWISE = {"$mux", "$and", "$or", "$xor", "$xnor", "$not", "$buf", "$pos"}


class MemoryCoder:
    """Gives one memory a code.

    Args:
        netlist: That is changed.
        path: Of the instance that holds the memory.
        piece: The memory.
        wire: Its name there.
        macros: Paths of registers that lie inside SRAM macros, as the netlist has them before it is renamed.

    Attributes:
        alarms: Nets that report, by whether the error was corrected.
    """

    def __init__(
        self, netlist: EditableNetlist, path: str, piece: RegisterPiece, wire: str, macros: Collection[str]
    ) -> None:
        self._netlist = netlist
        self._path = path
        self._piece = piece
        self._wire = wire
        self._module = netlist.modules[path]
        self._mechanism = piece.group.mechanism
        self._ways = piece.group.ways if self._mechanism.is_parity else 1
        self._macros = [m.removeprefix(f"{path}.") for m in macros if m.startswith(f"{path}.")]
        self.alarms: dict[bool, list[Net]] = defaultdict(list)
        self._decoders: list[str] = []
        self._meanings: dict[Net, Net] = {}
        self._same: dict[tuple[Net, ...], Net] = {}
        self._bitwise = {
            net: (cell, at)
            for cell in self._module["cells"].values()
            if cell["type"] in _BITWISE and _equally_wide(cell)
            for at, net in enumerate(cell["connections"]["Y"])
        }

    def code(self) -> Coded:
        """Add the code.

        Raises:
            GroupError: The memory is of a form that cannot be given one.
        """
        cell = self._cell()
        width = parameter(cell, "WIDTH")
        reads = list(_rows(cell["connections"]["RD_DATA"], width))
        enables = list(_rows(cell["connections"]["WR_EN"], width))
        wanted = [tuple(self._meaning(net) for net in bit) for bit in zip(*enables, strict=True)]
        parts = parts_of_word(wanted, MOST_BITS[self._mechanism] * self._ways)
        latches = []
        for number, (data, held) in enumerate(zip(reads, self._widen(cell, parts), strict=True)):
            latch = self._latch(data)
            if latch:
                latches.append(latch)
                nets = self._behind(latch, data, held)
            else:
                nets = self._in_place(cell, data, held)
            self._decode(number, parts, *nets)
        storage = [self._wire, *latches]
        return Coded(
            f"{self._path}.{self._wire}",
            self._mechanism,
            self._piece.element.path,
            self._piece.group.path,
            parameter(cell, "SIZE"),
            tuple(bits for _, bits in parts),
            tuple(f"{self._path}.{name}" for name in storage),
            tuple(f"{self._path}.{name}" for name in latches),
            tuple(f"{self._path}.{name}" for name in self._decoders),
            self._ways,
        )

    def _meaning(self, net: Net) -> Net:
        """Return a number for what a net computes bit by bit: equal ones for equal gates of equal nets."""
        if net in self._meanings:
            return self._meanings[net]
        found = net
        if net in self._bitwise:
            cell, at = self._bitwise[net]
            pins = {pin: bits for pin, bits in cell["connections"].items() if pin != "Y"}
            own = tuple(self._meaning(bits[at] if len(bits) > 1 else bits[0]) for bits in pins.values())
            found = self._same.setdefault((cell["type"], *pins, *own), net)
        self._meanings[net] = found
        return found

    def _cell(self) -> dict[str, Any]:
        cell: dict[str, Any] = self._module["cells"].get(self._wire, {})
        why = ""
        if cell.get("type") != "$mem_v2":
            why = "is no memory of the netlist"
        elif "1" in cell["parameters"]["RD_CLK_ENABLE"] or "1" in cell["parameters"]["RD_WIDE_CONTINUATION"]:
            why = "has a read port of its own clock or width"
        elif "1" in cell["parameters"]["WR_WIDE_CONTINUATION"]:
            why = "has write ports of several widths"
        elif set(cell["parameters"]["INIT"]) != {"x"}:
            why = "has content from the beginning"
        elif not parameter(cell, "WR_PORTS"):
            why = "is written by nothing"
        if why:
            raise GroupError(self._piece.group.path, f"the memory {self._piece.element.path} {why}")
        return cell

    def _widen(self, cell: dict[str, Any], parts: Sequence[tuple[int, int]]) -> list[list[Net]]:
        """Give words check bits, above the data, through encoders; return those that each port reads."""
        pins, width = cell["connections"], parameter(cell, "WIDTH")
        data, enables, reads = (list(_rows(pins[pin], width)) for pin in ("WR_DATA", "WR_EN", "RD_DATA"))
        for port, (word, enabled) in enumerate(zip(data, enables, strict=True)):
            for low, bits in parts:
                check: list[Net] = ["0"] * check_bits(self._mechanism, bits, self._ways)
                enabled += [enabled[low]] * len(check)
                if enabled[low] != "0":
                    check = [self._netlist.net(self._path) for _ in check]
                    nets = {"data_i": word[low : low + bits], "check_o": check}
                    self._coder(ENCODERS, f"enc_{port}_{low}", bits, nets)
                word += check
        wide = len(data[0])
        held: list[list[Net]] = [[self._netlist.net(self._path) for _ in range(wide - width)] for _ in reads]
        pins["WR_DATA"], pins["WR_EN"] = list(chain(*data)), list(chain(*enables))
        pins["RD_DATA"] = [net for word, check in zip(reads, held, strict=True) for net in (*word, *check)]
        cell["parameters"]["WIDTH"] = binary(wide, 32)
        for unknown in ("RD_ARST_VALUE", "RD_SRST_VALUE", "RD_INIT_VALUE"):
            cell["parameters"][unknown] = "x" * (len(reads) * wide)
        return held

    def _coder(
        self, modules: Mapping[Mechanism, str], name: str, bits: int, nets: Mapping[str, Sequence[Net]]
    ) -> str:
        scope, dot, memory = self._wire.rpartition(".")
        wanted = f"{scope}{dot}u_{plain(memory)}_{name}"
        sizes = {"Width": binary(bits, 32)}
        if self._mechanism.is_parity:
            sizes["Ways"] = binary(check_bits(self._mechanism, bits, self._ways), 32)
        return self._netlist.add_cell(self._path, wanted, modules[self._mechanism], sizes, nets)

    def _decode(
        self,
        port: int,
        parts: Sequence[tuple[int, int]],
        data: Sequence[Net],
        held: Sequence[Net],
        out: Sequence[Net],
    ) -> None:
        """Add the decoders of a read port: between what was read, with its check bits, and what uses it."""
        place = 0
        for low, bits in parts:
            size = check_bits(self._mechanism, bits, self._ways)
            word = slice(low, low + bits)
            nets: dict[str, Sequence[Net]] = {"data_i": data[word], "check_i": held[place : place + size]}
            nets["data_o"] = out[word]
            for corrected, pin in REPORTS[self._mechanism].items():
                self.alarms[corrected].append(self._netlist.net(self._path))
                nets[pin] = self.alarms[corrected][-1:]
            self._decoders.append(self._coder(DECODERS, f"dec_{port}_{low}", bits, nets))
            place += size

    def _in_place(
        self, cell: Mapping[str, Any], data: Sequence[Net], held: list[Net]
    ) -> tuple[list[Net], list[Net], list[Net]]:
        """Let a read port drive new nets; what it drove is what the decoders drive now."""
        new = {net: self._netlist.net(self._path) for net in data}
        cell["connections"]["RD_DATA"] = [new.get(net, net) for net in cell["connections"]["RD_DATA"]]
        return [new[net] for net in data], held, list(data)

    def _latch(self, data: Sequence[Net]) -> str:
        """Return the register of the macro that alone takes what a read port reads; "" if there is none."""
        users = list(self._users(data))
        for name in self._macros:
            bits = self._module["netnames"].get(name, {}).get("bits", [])
            if len(bits) == len(data):
                taker = self._taker(data, bits)
                if taker and all(cell in taker for cell, _ in users):
                    return name
        return ""

    def _users(self, nets: Sequence[Net]) -> Iterator[tuple[str, str]]:
        """Yield cells and pins that read nets; "" of the module's own outputs."""
        wanted = set(nets)
        for name, cell in self._module["cells"].items():
            for pin, bits in cell["connections"].items():
                if _reads(cell, pin) and not wanted.isdisjoint(bits):
                    yield name, pin
        for name, port in self._module["ports"].items():
            if port["direction"] == "output" and not wanted.isdisjoint(port["bits"]):
                yield "", name

    def _taker(self, read: Sequence[Net], latched: Sequence[Net]) -> tuple[str, ...]:
        """Return the cells by which flip-flops without reset take a word or keep their own; () if none."""
        cells = self._module["cells"]
        flop = next(
            (n for n, c in cells.items() if c["type"] == "$dff" and c["connections"]["Q"] == latched), ""
        )
        if not flop:
            return ()
        wanted = cells[flop]["connections"]["D"]
        if wanted == read:
            return (flop,)
        for name, cell in cells.items():
            pins = cell["connections"]
            if cell["type"] == "$mux" and pins["Y"] == wanted:
                return (flop, name) if (pins["A"], pins["B"]) in ((read, latched), (latched, read)) else ()
        return ()

    def _behind(
        self, latch: str, data: Sequence[Net], held: Sequence[Net]
    ) -> tuple[list[Net], list[Net], list[Net]]:
        """Widen the latch, which takes the check bits as the data; let the decoders drive what it drove."""
        cells = self._module["cells"]
        latched: list[Net] = list(self._module["netnames"][latch]["bits"])
        keepers = self._taker(data, latched)
        kept: list[Net] = [self._netlist.net(self._path) for _ in held]
        wanted: Sequence[Net] = held
        pins = [cells[name]["connections"] for name in keepers]
        if len(keepers) > 1:
            wanted = [self._netlist.net(self._path) for _ in held]
            loads = "B" if pins[1]["B"] == data else "A"
            for pin in ("A", "B"):
                pins[1][pin] = [*pins[1][pin], *(held if pin == loads else kept)]
            pins[1]["Y"] = [*pins[1]["Y"], *wanted]
        pins[0]["D"], pins[0]["Q"] = [*pins[0]["D"], *wanted], [*latched, *kept]
        for name in keepers:
            cells[name]["parameters"]["WIDTH"] = binary(len(latched) + len(kept), 32)
        new: dict[Net, Net] = {net: self._netlist.net(self._path) for net in latched}
        for name, cell in cells.items():
            for pin, bits in cell["connections"].items():
                if _reads(cell, pin) and name not in keepers:
                    cell["connections"][pin] = [new.get(net, net) for net in bits]
        for port in self._module["ports"].values():
            port["bits"] = [new.get(net, net) for net in port["bits"]]
        for wire in self._module["netnames"].values():
            wire["bits"] = [new.get(net, net) for net in wire["bits"]]
        self._module["netnames"][latch]["bits"] = [*latched, *kept]
        return latched, kept, [new[net] for net in latched]


def _equally_wide(cell: Mapping[str, Any]) -> bool:
    """Whether each bit of what a cell drives comes from the same bit of its operands, and a select of one."""
    width = len(cell["connections"]["Y"])
    return all(len(bits) == (1 if pin == "S" else width) for pin, bits in cell["connections"].items())


def _rows(nets: Sequence[Net], width: int) -> Iterator[list[Net]]:
    for first in range(0, len(nets), width):
        yield list(nets[first : first + width])


def _reads(cell: Mapping[str, Any], pin: str) -> bool:
    return str(cell["port_directions"].get(pin, "input")) != "output"
