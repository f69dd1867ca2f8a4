"""The design as gates between its storage, from Yosys: they decide whether a flipped bit is looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rtl_harness.cache import cached_folder, content_key, write_atomically
from rtl_harness.elaboration import Elaboration
from rtl_harness.elaboration.netlist import Netlist
from rtl_harness.elaboration.parallel import may_coincide
from rtl_harness.elaboration.yosys import READER, read_commands, rtl_key, run_yosys
from rtl_harness.engines.verilator.gates_file import Gates, packed, unpacked
from rtl_harness.engines.verilator.logic import ONE, ZERO, Logic, Net
from rtl_harness.engines.verilator.word_cells import KINDS, Bit, made_of, parts_of
from rtl_harness.errors import HarnessError
from rtl_harness.target import Target

# Flip-flops and memory ports are kept as they are, an undefined value is 0 as in the simulator. Logic stays
# in words, which are made into gates here, much faster than there; only what is seldom met is mapped.
SCRIPT = (
    "setattr -unset src",
    "setattr -set keep 1 t:$*ff* t:$mem*",
    "setundef -zero",
    "opt_expr",
    "opt_clean",
    "simplemap t:$*ff*",
    "techmap c:* " + " ".join(f"t:{kind} %d" for kind in (*KINDS, "$mem*", "$_*FF*")),
    "setattr -unset src",
    "write_json gates.json",
)

_RESULT, _REFUSED = "gates.npz", "unsupported.txt"
_HERE, _HARNESS = Path(__file__).parent, Path(__file__).parents[2]
_OWN = [
    *(_HERE / name for name in ("gates.py", "gates_file.py", "logic.py", "word_cells.py")),
    *(_HARNESS / "elaboration" / name for name in ("model.py", "netlist.py", "parallel.py")),
    _HARNESS / "sites.py",
    *READER,
]

_FLIP_FLOP = re.compile(r"\$_(DFF_P|DFF_P[NP][01]|ALDFF_P[NP])_")
_WAITING, _MADE = 1, 2


class UnsupportedError(Exception):
    """The netlist has something that the evaluation of gates does not cover."""


def read_gates(target: Target, elaboration: Elaboration) -> Gates:
    """Return the target as gates; from the cache if it was seen before.

    Raises:
        UnsupportedError: If a flip-flop has another clock than the target's, or the design has latches, loops
            or cells without a known function, or leaves open which of several conditions counts; if Yosys
            cannot make the gates, as of a memory that is written and never read.
    """
    if several := may_coincide(target):
        raise UnsupportedError(several)
    parameters = dict(elaboration.parameters)
    ports = [target.clock, target.reset, target.reset_active_low, list(target.outputs.items())]
    described = json.dumps([ports, _memories(elaboration), _variables(elaboration)])
    key = content_key(rtl_key(target, parameters), "gates", described, SCRIPT, _OWN)

    def build(folder: Path) -> None:
        run_yosys(
            [*read_commands(target, parameters, [], folder), *SCRIPT], folder, f"gates of {target.name}"
        )
        file = folder / "gates.json"
        document = json.loads(file.read_text(encoding="utf-8"))
        file.unlink()
        try:
            gates = _Reader(document, target, elaboration).gates()
        except UnsupportedError as error:
            write_atomically(folder / _REFUSED, str(error).encode())
        else:
            write_atomically(folder / _RESULT, packed(gates))

    try:
        folder = cached_folder("gates", key, build)
    except HarnessError as error:
        raise UnsupportedError(str(error)) from error
    if (folder / _REFUSED).is_file():
        raise UnsupportedError((folder / _REFUSED).read_text(encoding="utf-8"))
    return unpacked((folder / _RESULT).read_bytes())


def _memories(elaboration: Elaboration) -> list[str]:
    elements = (*elaboration.sites.elements, *elaboration.bench_elements)
    return sorted(element.path for element in elements if element.kind == "sram")


def _variables(elaboration: Elaboration) -> list[str]:
    return sorted({place.path for place in elaboration.locations.values()})


@dataclass(eq=False, slots=True)
class _Part:
    """A cell, or the part of one that does not depend on the rest of it, and how far it is."""

    kind: str
    inputs: Mapping[str, list[Bit]]
    parameters: Mapping[str, int]
    driven: list[Bit]
    state: int = 0


class _Reader:
    def __init__(self, document: Mapping[str, Any], target: Target, elaboration: Elaboration) -> None:
        self.netlist = Netlist(document, target.top)
        module = document["modules"][target.top]
        self.cells: Mapping[str, Any] = module["cells"]
        self.ports = {name: port["bits"] for name, port in module["ports"].items()}
        self.clock, self.reset = self.ports[target.clock][0], self.ports[target.reset][0]
        self.level = 1 if target.reset_active_low else 0
        self.outputs = (target.done, target.status)
        self.alarms = [alarm.output for alarm in target.alarms.values()]
        self.memories = set(_memories(elaboration))
        self.paths = set(_variables(elaboration))
        self.logic = Logic()
        self.known: dict[Bit, Net] = {"1": ONE, self.reset: self.level}
        self.drivers: dict[Bit, _Part] = {}

    def net(self, bit: Bit) -> Net:
        """Return the net of a bit that is driven by now; what nothing drives is 0."""
        if bit == self.clock:
            raise UnsupportedError("the clock is used as data")
        return self.known.get(bit, ZERO)

    def nets(self, bits: Sequence[Bit]) -> tuple[Net, ...]:
        return tuple(map(self.net, bits))

    def gates(self) -> Gates:
        flip_flops: list[tuple[Bit, Bit, Bit, int]] = []
        reads: list[tuple[int, list[Bit], list[Bit]]] = []
        writes: list[tuple[int, list[Bit], list[Bit], list[Bit]]] = []
        memories = {name: i for i, name in enumerate(self.netlist.memories)}
        for name, cell in self.cells.items():
            kind, pins = cell["type"], cell["connections"]
            if kind in KINDS:
                self.add_cell(kind, pins, cell["parameters"])
            elif _FLIP_FLOP.fullmatch(kind):
                if pins["C"][0] != self.clock:
                    raise UnsupportedError(f"{name} has a clock of its own")
                load = pins["L"][0] if "L" in pins else pins["R"][0] if "R" in pins else "0"
                active = int(("L" in pins or "R" in pins) and kind.split("_P")[1][0] == "P")
                flip_flops.append((pins["Q"][0], pins["D"][0], load, 1 if load == "0" else active))
                self.known[pins["Q"][0]] = self.logic.net()
            elif kind == "$memrd_v2" and int(cell["parameters"]["CLK_ENABLE"], 2) == 0:
                memory = memories[cell["parameters"]["MEMID"].removeprefix("\\")]
                reads.append((memory, pins["ADDR"], pins["DATA"]))
            elif kind == "$memwr_v2" and pins["CLK"][0] == self.clock:
                memory = memories[cell["parameters"]["MEMID"].removeprefix("\\")]
                writes.append((memory, pins["ADDR"], pins["DATA"], pins["EN"]))
            elif kind not in {"$scopeinfo", "$meminit", "$meminit_v2"}:
                raise UnsupportedError(f"{name} is a {kind}")
        stored = set(self.known)
        for number, (_, address, data) in enumerate(reads):
            self.add_read(number, address, data)
        ports = [bit for port in self.outputs if port for bit in self.ports[port]]
        observed = [self.ports[port] for port in self.alarms]
        roots = [bit for flip_flop in flip_flops for bit in flip_flop[1:3]]
        roots += [bit for _, address, data in reads for bit in (*address, *data)]
        roots += [bit for write in writes for word in write[1:] for bit in word]
        self.make([*roots, *ports, *(bit for bits in observed for bit in bits)])
        held = [(memory.path, memory.first_word) for memory in self.netlist.memories.values()]
        if single := [path for path, _ in held if path not in self.memories]:
            raise UnsupportedError(f"the words of {', '.join(single)} are registers")
        looked_at = self.nets([*roots, *ports, *(bit for bits in observed for bit in bits), *stored])
        gates, numbers = self.logic.needed(looked_at)
        self.known = {bit: numbers[net] for bit, net in self.known.items()}
        wires = {
            path: tuple(self.net(bit) if bit in stored else ZERO for bit in bits)
            for path, bits in self.netlist.wires.items()
            if path in self.paths
        }
        return Gates(
            numbers[-1],
            np.array(gates, np.int32).reshape(-1, 5),
            np.array([(*self.nets(f[:3]), f[3]) for f in flip_flops], np.int32).reshape(-1, 4),
            np.array(self.nets(ports), np.int32),
            tuple(self.nets(bits) for bits in observed),
            wires,
            tuple(held),
            tuple((memory, self.nets(address), self.nets(data)) for memory, address, data in reads),
            tuple((m, self.nets(a), self.nets(d), self.nets(e)) for m, a, d, e in writes),
        )

    def add_cell(self, kind: str, pins: Mapping[str, list[Bit]], parameters: Mapping[str, str]) -> None:
        """Note the parts of a cell, by the bits that they drive."""
        numbers = {name: int(value, 2) for name, value in parameters.items() if set(value) <= {"0", "1"}}
        first = 0
        for inputs, width in parts_of(kind, pins, numbers):
            driven = pins["Y"][first : first + width]
            self.add(_Part(kind, inputs, numbers, driven))
            first += width

    def add_read(self, number: int, address: list[Bit], data: list[Bit]) -> None:
        for bit in data:
            self.known[bit] = self.logic.net()
        self.add(_Part("read", {"A": address}, {"number": number}, data))

    def add(self, part: _Part) -> None:
        for bit in part.driven:
            if isinstance(bit, int):
                self.drivers[bit] = part

    def make(self, wanted: Sequence[Bit]) -> None:
        """Make gates for bits and for all that they depend on, each part after those that it depends on."""
        for bit in wanted:
            stack = [self.drivers[bit]] if bit in self.drivers else []
            while stack:
                part = stack[-1]
                if part.state == _MADE:
                    stack.pop()
                    continue
                waiting = [
                    driver
                    for word in part.inputs.values()
                    for needed in word
                    if (driver := self.drivers.get(needed)) is not None and driver.state != _MADE
                ]
                if not waiting:
                    self.evaluate(part)
                    part.state = _MADE
                    stack.pop()
                elif part.state == _WAITING:
                    raise UnsupportedError("the logic has a loop or a latch made of gates")
                else:
                    part.state = _WAITING
                    stack += waiting

    def evaluate(self, part: _Part) -> None:
        pins = {port: list(self.nets(bits)) for port, bits in part.inputs.items()}
        if part.kind == "read":
            self.logic.read(part.parameters["number"])
            return
        made = made_of(self.logic, part.kind, pins, part.parameters)
        self.known.update(zip(part.driven, made, strict=True))
