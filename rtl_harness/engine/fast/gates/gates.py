# SPDX-License-Identifier: Apache-2.0
"""The design as gates between its storage, from Yosys: they decide whether a flipped bit is looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from resil.rtl_harness.cache import cached_folder, content_key, write_atomically
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.elaboration.netlist import Netlist
from resil.rtl_harness.design.elaboration.parallel import may_coincide
from resil.rtl_harness.design.elaboration.undefined import DEFINED
from resil.rtl_harness.design.elaboration.yosys import (
    READER,
    read_commands,
    rtl_key,
    run_yosys,
)
from resil.rtl_harness.design.snapshot import frozen
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.gates.cycle import Cycle, FlipFlop, Write
from resil.rtl_harness.engine.fast.gates.gates_file import Gates, packed, unpacked
from resil.rtl_harness.engine.fast.gates.logic import ONE, ZERO, Net
from resil.rtl_harness.engine.fast.gates.logic import READ as READ_GATE
from resil.rtl_harness.engine.fast.gates.moments import (
    LATCH,
    READ,
    Part,
    Parts,
    UnsupportedError,
)
from resil.rtl_harness.engine.fast.gates.word_cells import KINDS, Bit, parts_of
from resil.rtl_harness.errors import HarnessError

# Flip-flops, latches and memory ports are kept as they are, an undefined value is 0 as in the simulator.
# Logic stays in words, which are made into gates here, much faster than there; only what is seldom met is
# mapped. What is selected beyond the end of a word stays undefined: there the simulator takes what it finds.
SCRIPT = (
    "setattr -unset src",
    "setattr -set keep 1 t:$*ff* t:$*latch* t:$mem*",
    DEFINED,
    "opt_expr",
    "opt_clean",
    "simplemap t:$*ff* t:$*latch*",
    "techmap c:* " + " ".join(f"t:{kind} %d" for kind in (*KINDS, "$mem*", "$_*FF*", "$_*LATCH*")),
    "setattr -unset src",
    "write_json gates.json",
)

_RESULT, _REFUSED = "gates.npz", "unsupported.txt"
_HERE = Path(__file__).parent
_DESIGN = Path(__file__).parents[3] / "design"
_GATES = ("gates.py", "gates_file.py", "moments.py", "cycle.py", "logic.py", "word_cells.py")
_ELABORATION = ("model.py", "netlist.py", "parallel.py", "undefined.py")
_OWN = [
    *(_HERE / name for name in _GATES),
    *(_DESIGN / "elaboration" / name for name in _ELABORATION),
    _DESIGN / "sites.py",
    *READER,
]

_FLIP_FLOP = re.compile(r"\$_(DFF_[NP]|DFF_[NP][NP][01]|ALDFF_[NP][NP])_")
_LATCH = re.compile(r"\$_DLATCH_[NP]([NP][01])?_")


def read_gates(target: Target, elaboration: Elaboration) -> Gates:
    """Return the target as gates; from the cache if it was seen before.

    Raises:
        UnsupportedError: If the design has loops or cells without a known function, clocks or latches that
            `Cycle` refuses, or leaves open which of several conditions counts; if Yosys cannot make the
            gates, as of a memory that is written and never read.
    """
    target = frozen(target)
    if several := may_coincide(target):
        raise UnsupportedError(several)
    parameters = dict(elaboration.parameters)
    ports = [target.clock, target.reset, target.reset_active_low, list(target.outputs.items())]
    words = _words(elaboration)
    described = json.dumps(
        [ports, _memories(elaboration), _variables(elaboration), words, elaboration.passing]
    )
    key = content_key(rtl_key(target, parameters), "gates", described, SCRIPT, _OWN)

    def build(folder: Path) -> None:
        script = [
            *read_commands(target, parameters, [], folder),
            *_in_registers(words),
            *_forgotten(elaboration),
            *SCRIPT,
        ]
        run_yosys(script, folder, f"gates of {target.name}")
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


def _words(elaboration: Elaboration) -> dict[str, tuple[str, int, int]]:
    """Return the words of arrays that are registers: by their paths, net, lowest bit in it, and width.

    Of several dimensions there are none: what an index beyond the first of them means, the netlist and the
    simulator do not say alike.
    """
    found = {}
    for element in (*elaboration.sites.elements, *elaboration.bench_elements):
        place = elaboration.locations[element.path]
        if (
            element.kind != "sram"
            and len(place.indices) == 1
            and place.net == f"{place.path}[{place.indices[0]}]"
        ):
            found[place.net] = (place.net, place.net_low - place.low, place.packed_width)
    return found


def _array(net: str) -> str:
    return net.rpartition("[")[0]


def _in_registers(words: Mapping[str, tuple[str, int, int]]) -> list[str]:
    """Return commands that make registers of the arrays whose words these are."""
    names = sorted({_pattern(_array(net)) for net, _, _ in words.values()})
    return ["flatten", *(f"memory_map m:{name}" for name in names)] if names else []


def _forgotten(elaboration: Elaboration) -> list[str]:
    """Return commands that remove what holds nothing from call to call of a function."""
    stored = "t:$*ff* t:$*latch* %u"
    return [f"delete w:{_pattern(path)} %ci1 {stored} %i" for path in elaboration.passing]


def _pattern(name: str) -> str:
    """Return what selects a name in Yosys."""
    return re.sub(r"([\[\]*?\\])", r"\\\1", name)


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
        self.operation = self.ports[target.operation] if target.operation else []
        self.memories = set(_memories(elaboration))
        self.paths = set(_variables(elaboration))
        self.words = _words(elaboration)
        self.parts = Parts()
        self.known: dict[Bit, Net] = {"1": ONE, self.reset: self.level}
        self.flip_flops: list[FlipFlop] = []
        self.latches: list[Bit] = []
        self.writes: list[Write] = []

    def gates(self) -> Gates:
        numbers = {name: i for i, name in enumerate(self.netlist.memories)}
        read_of: list[int] = []
        for name, cell in self.cells.items():
            kind, pins, parameters = cell["type"], cell["connections"], cell["parameters"]
            if kind in KINDS:
                self.add_cell(kind, pins, parameters)
            elif _FLIP_FLOP.fullmatch(kind):
                self.add_flip_flop(kind.split("_")[2], pins)
            elif _LATCH.fullmatch(kind):
                self.add_latch(kind.split("_")[2], pins)
            elif kind == "$memrd_v2" and int(parameters["CLK_ENABLE"], 2) == 0:
                memory = numbers[parameters["MEMID"].removeprefix("\\")]
                read = {"number": len(read_of), "memory": memory}
                read_of.append(memory)
                self.parts.add(Part(READ, {"A": pins["ADDR"]}, read, pins["DATA"]))
            elif kind == "$memwr_v2" and int(parameters["CLK_ENABLE"], 2) == 1:
                memory = numbers[parameters["MEMID"].removeprefix("\\")]
                rising = int(parameters["CLK_POLARITY"], 2) == 1
                bits = (pins["ADDR"], pins["DATA"], pins["EN"])
                order = int(parameters["PORTID"], 2)
                self.writes.append(Write(name, memory, order, pins["CLK"][0], rising, *bits))
            elif kind not in {"$scopeinfo", "$meminit", "$meminit_v2"}:
                raise UnsupportedError(f"{name} is a {kind}")
        held = [(memory.path, memory.first_word) for memory in self.netlist.memories.values()]
        if single := [path for path, _ in held if path not in self.memories]:
            raise UnsupportedError(f"the words of {', '.join(single)} are registers")
        self.writes.sort(key=lambda write: write.order)
        cycle = Cycle(self.parts, self.known, self.clock, self.flip_flops, self.writes)
        return self.numbered(cycle, read_of, tuple(held))

    def numbered(self, cycle: Cycle, read_of: list[int], held: tuple[tuple[str, int], ...]) -> Gates:
        """Return what a cycle comes to, with the gates that it needs and no others."""
        now, stored = cycle.now, {f.q: self.known[f.q] for f in self.flip_flops} | self.parts.stored
        rows = [(stored[f.q], cycle.values[f.q], now.net(f.load), f.active) for f in self.flip_flops]
        rows += [(stored[bit], cycle.latched(bit), ZERO, 1) for bit in self.latches]
        ports = now.nets([bit for port in self.outputs if port for bit in self.ports[port]])
        alarms = [now.nets(self.ports[port]) for port in self.alarms]
        operation = now.nets(self.operation)
        for part in self.parts.of_kind(READ):
            now.nets(part.driven)
        reads, logic = self.parts.reads, self.parts.logic
        sensitive = cycle.sensitive()
        roots = [net for row in rows for net in row[:3]]
        roots += [net for _, address, data in reads for net in (*address, *data)]
        roots += [net for write in cycle.writes for word in write for net in word]
        roots += [*ports, *(net for nets in alarms for net in nets), *operation, *sensitive, *logic.undefined]
        decide = self.deciding(sensitive)
        gates, numbers = logic.needed(roots)

        def renumbered(nets: Iterable[Net]) -> tuple[Net, ...]:
            return tuple(numbers[net] for net in nets)

        held_by = {path: bits for path, bits in self.netlist.wires.items() if path in self.paths}
        for path, (net, low, width) in self.words.items():
            if net in self.netlist.wires:
                held_by[path] = self.netlist.wires[net][low : low + width]
        wires = {path: renumbered(stored.get(bit, ZERO) for bit in bits) for path, bits in held_by.items()}
        return Gates(
            numbers[-1],
            np.array(gates, np.int32).reshape(-1, 5),
            np.array(
                [(*renumbered(row[:3]), row[3], int(row[0] in decide)) for row in rows], np.int32
            ).reshape(-1, 5),
            np.array(renumbered(ports), np.int32),
            tuple(map(renumbered, alarms)),
            renumbered(operation),
            renumbered(logic.undefined),
            wires,
            held,
            tuple((read_of[port], renumbered(a), renumbered(d)) for port, a, d in reads),
            tuple(
                (port.memory, renumbered(address), renumbered(data), renumbered(enable))
                for port, (address, data, enable) in zip(self.writes, cycle.writes, strict=True)
            ),
        )

    def deciding(self, nets: Sequence[Net]) -> set[Net]:
        """Return all nets that any of these depends on; errors if one of them comes from a memory."""
        found = set(nets) - {ZERO, ONE}
        for operation, a, b, select, y in reversed(self.parts.logic.gates if found else []):
            if operation == READ_GATE and found.intersection(self.parts.reads[a][2]):
                raise UnsupportedError("a clock or a latch depends on a memory")
            if operation != READ_GATE and y in found:
                found.update((a, b, select))
        return found

    def add_cell(self, kind: str, pins: Mapping[str, list[Bit]], parameters: Mapping[str, str]) -> None:
        """Note the parts of a cell, by the bits that they drive."""
        numbers = {name: int(value, 2) for name, value in parameters.items() if set(value) <= {"0", "1"}}
        first = 0
        for inputs, width in parts_of(kind, pins, numbers):
            driven = pins["Y"][first : first + width]
            self.parts.add(Part(kind, inputs, numbers, driven))
            first += width

    def add_flip_flop(self, levels: str, pins: Mapping[str, list[Bit]]) -> None:
        """Note a flip-flop; `levels` are those of its clock and, if it has one, of its asynchronous load."""
        load = (pins.get("L") or pins.get("R") or ["0"])[0]
        active = int(load == "0" or levels[1] == "P")
        q = pins["Q"][0]
        self.flip_flops.append(FlipFlop(q, pins["D"][0], pins["C"][0], levels[0] == "P", load, active))
        self.known[q] = self.parts.logic.net()

    def add_latch(self, levels: str, pins: Mapping[str, list[Bit]]) -> None:
        """Note a latch; `levels` are that at which it is open, of its reset, and what that sets it to."""
        reset = pins.get("R", [])
        parameters = {"E": int(levels[0] == "P"), "R": 0, "value": 0}
        if reset:
            parameters |= {"R": int(levels[1] == "P"), "value": int(levels[2])}
        self.latches.append(pins["Q"][0])
        self.parts.add(Part(LATCH, {"E": pins["E"], "D": pins["D"], "R": reset}, parameters, pins["Q"]))
