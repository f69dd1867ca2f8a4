# SPDX-License-Identifier: Apache-2.0
"""Registers of a netlist replaced by redundant ones, and their alarms led to its top."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from resil.rtl_harness.design.elaboration.netlist import runs, source_path
from resil.rtl_harness.redundancy.cells import (
    FLIP_FLOPS,
    POLARITY,
    WHY,
    constant_reset,
    own_reset,
    parameter,
)
from resil.rtl_harness.redundancy.codes import Coded
from resil.rtl_harness.redundancy.editable import EditableNetlist, Net, binary
from resil.rtl_harness.redundancy.groups import (
    PARITY_BITS,
    GroupError,
    Mechanism,
    RegisterPiece,
    UnprotectedStorage,
)
from resil.rtl_harness.redundancy.memories import MemoryCoder
from resil.rtl_harness.redundancy.names import plain
from resil.rtl_harness.redundancy.places import MAJOR, MINOR
from resil.rtl_harness.redundancy.watchdog import DONE, INSTANCE, OPERATION, Timer
from resil.rtl_harness.redundancy.watchdog import MODULE as WATCHDOG

MODULES = {
    Mechanism.PARITY: "resil_flop_parity",
    Mechanism.DUPLICATION: "resil_flop_dup",
    Mechanism.TRIPLICATION: "resil_flop_tmr",
}


_CONSTANT, _UNREAD = "constant", "read by nothing"


@dataclass(frozen=True, slots=True)
class Redundant:
    """A redundant register that was built.

    Attributes:
        path: Of its instance, below the top.
        mechanism: That it has.
        bits: That it protects.
        names: Of what it protects, as the source code writes it.
        group: That asked for it.
        elements: Paths of the registers of the source that these are bits of.
        ways: Parity bits that neighbours lie under in turn; 1 of other mechanisms.
    """

    path: str
    mechanism: Mechanism
    bits: int
    names: tuple[str, ...]
    group: str
    elements: tuple[str, ...] = ()
    ways: int = 1


@dataclass(frozen=True, slots=True)
class ProtectedBits:
    """Bits that are to be protected, as the netlist has them.

    Attributes:
        piece: What was asked.
        instance: Path of the instance whose module holds them.
        wire: Name of the wire there.
        low: Position of the first bit in the wire.
    """

    piece: RegisterPiece
    instance: str
    wire: str
    low: int


@dataclass
class _Chunk:
    """Bits of one flip-flop cell that are protected together, each with the bit of a register that it is."""

    cell: str
    bits: dict[int, tuple[RegisterPiece, int]] = field(default_factory=dict)


class ProtectedNetlist(EditableNetlist):
    """A netlist that is given redundancy.

    Attributes:
        built: Redundant registers.
        coded: Memories with a code.
        left_out: Bits in protected blocks that have none.
        cut: Flip-flop cells of which a part was taken out, with the path of their instance.

    Args:
        document: What Yosys wrote.
        top: Path of the instance whose module it is.
        module: Its name.
        initial: Values in binary that registers begin with, by path; others begin as zeros.
    """

    def __init__(
        self, document: dict[str, Any], top: str, module: str, initial: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(document, top, module)
        self._find_begins(initial or {})
        self.built: list[Redundant] = []
        self.coded: list[Coded] = []
        self.left_out: list[UnprotectedStorage] = []
        self.cut: set[tuple[str, str]] = set()
        self._alarms: dict[str, dict[str, list[Net]]] = defaultdict(lambda: {MINOR: [], MAJOR: []})

    def _find_begins(self, initial: Mapping[str, str]) -> None:
        missing = {
            name for name, value in initial.items() if name.startswith(f"{self.top}.") and "1" in value
        }
        for path, module in self.modules.items():
            for name, wire in module["netnames"].items():
                own = f"{path}.{source_path(name, wire)}"
                missing.discard(own)
                values = initial.get(own, "")[::-1].ljust(len(wire["bits"]), "0")
                self.begins[path] |= {n: v for n, v in zip(wire["bits"], values, strict=False) if v == "1"}
        if missing:
            raise GroupError(min(missing), "begins with a value, and is not found again in the netlist")

    def begin(self) -> None:
        """Give wires the values that their flip-flops begin with, once all else is done."""
        for path, module in self.modules.items():
            held = {n for c in module["cells"].values() for n in c["connections"].get("Q", [])}
            begins = {net for net in self.begins[path] if net in held}
            for wire in module["netnames"].values():
                if begins.intersection(wire["bits"]):
                    value = "".join("1" if net in begins else "0" for net in reversed(wire["bits"]))
                    wire["attributes"]["init"] = value

    def protect(self, requests: Sequence[ProtectedBits], macros: Collection[str] = ()) -> None:
        """Replace the flip-flops of the requests, and give memories their codes.

        Args:
            requests: What is protected.
            macros: Paths of registers inside SRAM macros, through which codes go.

        Raises:
            GroupError: A request cannot be met.
        """
        by_place: dict[tuple[str, Mechanism], list[ProtectedBits]] = defaultdict(list)
        for request in requests:
            if request.instance not in self.modules:
                raise GroupError(
                    request.piece.group.path,
                    f"{request.piece.name} lies in {request.instance}, which is no module of its own",
                )
            by_place[request.instance, request.piece.group.mechanism].append(request)
        for (path, mechanism), found in by_place.items():
            if mechanism.of_memories:
                self._code(path, found, macros)
            else:
                self._protect(path, mechanism, found)

    def lead_out(self) -> None:
        """Lead all alarms to ports of the top, minor and major apart.

        Raises:
            GroupError: A module has a port of an alarm's name.
        """
        for path in sorted(self.modules, key=lambda path: -len(path)):
            nets = self._alarms[path]
            if path != self.top and not any(nets.values()):
                continue
            for port in (MINOR, MAJOR):
                if port in self.modules[path]["netnames"]:
                    raise GroupError(path, f"its module already has {port}, which would be its alarm's name")
                self.add_port(path, port, "output", self.any_of(path, nets[port]))
                if path in self.parents:
                    parent = self.parents[path][0]
                    net = self.net(parent)
                    self.connect(path, port, "output", [net])
                    self._alarms[parent][port].append(net)

    def add_alert(self, clock: str, reset: str, active_low: bool) -> None:
        """Keep the alarms of the top in a register there: it is the whole design under test."""
        module = self.modules[self.top]
        net = module["ports"][reset]["bits"][0]
        nets: dict[str, Sequence[Net]] = {"clk_i": module["ports"][clock]["bits"]}
        nets["rst_ni"] = self._low(self.top, net, not active_low)
        for port, pin in ((MINOR, "minor_i"), (MAJOR, "major_i")):
            held = [self.net(self.top)]
            nets |= {pin: module["ports"][port]["bits"], port: held}
            module["ports"][port]["bits"] = held
            module["netnames"][port]["bits"] = held
        self.add_cell(self.top, "u_resil_alert", "resil_alert", {"Width": binary(1, 32)}, nets)

    def add_watchdog(self, clock: str, reset: str, active_low: bool, timer: Timer) -> None:
        """Give the top a watchdog, before its alarms are led out: it is the whole design under test."""
        module = self.modules[self.top]
        seen: dict[str, list[Net]] = {}
        for port, width in ((OPERATION, timer.width), (DONE, 1)):
            if port in module["netnames"] or INSTANCE in module["cells"]:
                raise GroupError(self.top, f"its module already has {port} or {INSTANCE}, of the watchdog")
            seen[port] = [self.net(self.top) for _ in range(width)]
            self.add_port(self.top, port, "input", seen[port])
        expired = self.net(self.top)
        self.add_cell(
            self.top,
            INSTANCE,
            WATCHDOG,
            {"Width": binary(timer.width, 32), "Limit": binary(timer.limit, 32)},
            {
                "clk_i": module["ports"][clock]["bits"],
                "rst_ni": self._low(self.top, module["ports"][reset]["bits"][0], not active_low),
                "operation_i": seen[OPERATION],
                "done_i": seen[DONE],
                "expired_o": [expired],
            },
        )
        self._alarms[self.top][MAJOR].append(expired)

    def _code(self, path: str, requests: Sequence[ProtectedBits], macros: Collection[str]) -> None:
        for request in requests:
            coder = MemoryCoder(self, path, request.piece, request.wire, macros)
            self.coded.append(coder.code())
            for corrected, nets in coder.alarms.items():
                self._alarms[path][MINOR if corrected else MAJOR] += nets

    def _protect(self, path: str, mechanism: Mechanism, requests: Sequence[ProtectedBits]) -> None:
        module = self.modules[path]
        drivers = {
            net: (name, position)
            for name, cell in module["cells"].items()
            for position, net in enumerate(cell["connections"].get("Q", []))
        }
        chunks: dict[str, _Chunk] = {}
        for request in requests:
            for cell, position, bit in self._driven(request, module, drivers):
                chunk = chunks.setdefault(cell, _Chunk(cell))
                chunk.bits.setdefault(position, (request.piece, bit))
        for chunk in chunks.values():
            self._replace(path, mechanism, chunk)

    def _driven(
        self, request: ProtectedBits, module: Mapping[str, Any], drivers: Mapping[Net, tuple[str, int]]
    ) -> Iterator[tuple[str, int, int]]:
        """Yield flip-flop cell and position of each bit that can be protected, and which bit it is."""
        piece = request.piece
        wire = module["netnames"].get(request.wire)
        nets = wire["bits"] if wire else []
        lost: dict[str, int] = defaultdict(int)
        for bit in range(piece.bits):
            place = request.low + bit
            net = nets[place] if place < len(nets) else None
            if net is None or net not in drivers:
                lost[_CONSTANT if isinstance(net, str) else _UNREAD] += 1
                continue
            cell, position = drivers[net]
            kind = module["cells"][cell]["type"]
            if (
                kind in MODULES.values()
                or kind not in FLIP_FLOPS
                or not constant_reset(module["cells"][cell])
            ):
                lost[WHY.get(kind, f"held by a cell {kind}, of which no copy can be made")] += 1
                continue
            yield cell, position, piece.low + bit
        for why, bits in lost.items():
            if piece.strict:
                raise GroupError(piece.group.path, f"{bits} of {piece.bits} bits of {piece.name}: {why}")
            self.left_out.append(
                UnprotectedStorage(piece.name, bits, why, hardware=why not in (_CONSTANT, _UNREAD))
            )

    def _replace(self, path: str, mechanism: Mechanism, chunk: _Chunk) -> None:
        cell = self.modules[path]["cells"][chunk.cell]
        positions = sorted(chunk.bits)
        ways = max(piece.group.ways for piece, _ in chunk.bits.values())
        most = PARITY_BITS * ways if mechanism is Mechanism.PARITY else len(positions)
        reset, values, has_reset = self._reset(path, cell)
        for first in range(0, len(positions), most):
            part = positions[first : first + most]
            own = {position: chunk.bits[position] for position in part}
            error = self.net(path)
            more = min(ways, len(part)) if mechanism is Mechanism.PARITY else 1
            nets = [cell["connections"]["Q"][p] for p in reversed(part)]
            begins = "".join(self.begins[path].pop(net, "0") for net in nets)
            built = self.add_cell(
                path,
                _name_of(path, own),
                MODULES[mechanism],
                {
                    "Width": binary(len(part), 32),
                    "ResetValue": "".join(values[p] for p in reversed(part)),
                    "FallingEdge": "0" if parameter(cell, "CLK_POLARITY") else "1",
                    "HasReset": str(int(has_reset)),
                    **({"InitialValue": begins} if "1" in begins else {}),
                    **({"Ways": binary(more, 32)} if mechanism is Mechanism.PARITY else {}),
                },
                {
                    "clk_i": cell["connections"]["CLK"],
                    "rst_ni": reset,
                    "d_i": [cell["connections"]["D"][p] for p in part],
                    "q_o": [cell["connections"]["Q"][p] for p in part],
                    "err_o": [error],
                },
            )
            self._alarms[path][MINOR if mechanism.corrects else MAJOR].append(error)
            pieces = [piece for piece, _ in own.values()]
            names = tuple(dict.fromkeys(piece.name for piece in pieces))
            group = pieces[0].group.path
            elements = tuple(dict.fromkeys(piece.element.path for piece in pieces))
            self.built.append(
                Redundant(f"{path}.{built}", mechanism, len(part), names, group, elements, more)
            )
        self._take_out(path, chunk.cell, positions)

    def _reset(self, path: str, cell: Mapping[str, Any]) -> tuple[list[Net], list[str], bool]:
        """Return the reset of a flip-flop, active low, its value, and whether it has one."""
        pin, values = own_reset(cell)
        if not pin:
            return ["1"], ["0"] * len(cell["connections"]["Q"]), False
        active = parameter(cell, POLARITY[pin])
        return self._low(path, cell["connections"][pin][0], bool(active)), values, True

    def _low(self, path: str, net: Net, active_high: bool) -> list[Net]:
        return self.gate(path, "$not", [net]) if active_high else [net]

    def _take_out(self, path: str, name: str, positions: Collection[int]) -> None:
        """Leave a flip-flop cell without some of its bits: a cell for each run of neighbours that is left."""
        cells = self.modules[path]["cells"]
        cell = cells.pop(name)
        left = [p for p in range(len(cell["connections"]["Q"])) if p not in set(positions)]
        for first, bits in runs(left):
            part = slice(first, first + bits)
            connections, parameters = dict(cell["connections"]), dict(cell["parameters"])
            for pin in ("D", "Q", "AD"):
                if pin in connections:
                    connections[pin] = connections[pin][part]
            if "ARST_VALUE" in parameters:
                parameters["ARST_VALUE"] = parameters["ARST_VALUE"][::-1][part][::-1]
            parameters["WIDTH"] = binary(bits, 32)
            own = f"$resil{name}${first}"
            cells[own] = {**cell, "connections": connections, "parameters": parameters}
            self.cut.add((path, own))


def _name_of(path: str, bits: Mapping[int, tuple[RegisterPiece, int]]) -> str:
    """Return a name for the instance of a redundant register: its own, and the bits if it is a part."""
    piece = next(iter(bits.values()))[0]
    own = [bit for found, bit in bits.values() if found.element is piece.element]
    part = "" if len(own) == piece.element.width else f"_{max(own)}_{min(own)}"
    scope, dot, name = piece.element.path.removeprefix(f"{path}.").rpartition(".")
    return f"{scope}{dot}u_{plain(name)}{part}"
