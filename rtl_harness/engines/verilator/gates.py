"""The design as gates between its storage, from Yosys: they decide whether a flipped bit is looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rtl_harness.cache import cached_folder
from rtl_harness.elaboration import Elaboration
from rtl_harness.elaboration.netlist import Netlist
from rtl_harness.elaboration.yosys import read_commands, rtl_key, run_yosys
from rtl_harness.errors import HarnessError
from rtl_harness.target import Target

Ints = npt.NDArray[np.int32]

# Flip-flops and memory ports are kept as they are; only the logic between them is simplified, and an
# undefined value is 0 as in the simulator.
SCRIPT = (
    "setattr -unset src",
    "setattr -set keep 1 t:$*ff* t:$mem*",
    "setundef -zero",
    "opt_expr",
    "opt_clean",
    "simplemap",
    "techmap",
    "simplemap",
    "setattr -unset src",
    "setattr -set keep 1 t:$_*FF* t:$mem*",
    "opt_expr",
    "opt_merge",
    "opt_clean",
    "write_json gates.json",
)

OPERATIONS = {
    **{"$_BUF_": 0, "$_NOT_": 1, "$_AND_": 2, "$_NAND_": 3, "$_OR_": 4, "$_NOR_": 5, "$_XOR_": 6},
    **{"$_XNOR_": 7, "$_ANDNOT_": 8, "$_ORNOT_": 9, "$_MUX_": 10, "$_NMUX_": 11},
}
READ = 12

_FLIP_FLOP = re.compile(r"\$_(DFF_P|DFF_P[NP][01]|ALDFF_P[NP])_")
_ZERO, _ONE, _FIRST = 0, 1, 2


class UnsupportedError(Exception):
    """The netlist has something that the evaluation of gates does not cover."""


@dataclass(frozen=True)
class Gates:
    """Logic in the order of evaluation; nets are numbered, 0 and 1 are the constants.

    Attributes:
        nets: Number of nets.
        gates: Operation and nets (a, b, s, y) of each, (gates, 5). For `READ`, `a` is the read port's number.
        flip_flops: Nets of q, d and asynchronous reset or load, and its active level, (flip_flops, 4).
        ports: Nets of the outputs of the top, alarms aside.
        alarms: Nets of each alarm.
        wires: Nets of each variable that holds storage, least significant first, by path.
        memories: Paths of the memories.
        reads: Memory, address nets and data nets of each read port.
        writes: Memory, address, data and enable nets of each write port.
    """

    nets: int
    gates: Ints
    flip_flops: Ints
    ports: Ints
    alarms: tuple[tuple[int, ...], ...]
    wires: Mapping[str, tuple[int, ...]]
    memories: tuple[tuple[str, int], ...]
    reads: tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...]
    writes: tuple[tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...]], ...]


def read_gates(target: Target, elaboration: Elaboration) -> Gates:
    """Return the target as gates; from the cache if it was seen before.

    Raises:
        UnsupportedError: If a flip-flop has another clock than the target's, or the design has latches, loops
            or cells without a known function; if Yosys cannot make the gates, as of a memory that is written
            and never read.
    """
    parameters = dict(elaboration.parameters)
    outputs = json.dumps([target.clock, target.reset, list(target.outputs.items())])
    key = rtl_key(target, parameters, "gates", outputs, *SCRIPT, Path(__file__).read_text(encoding="utf-8"))

    def build(folder: Path) -> None:
        run_yosys(
            [*read_commands(target, parameters, [], folder), *SCRIPT], folder, f"gates of {target.name}"
        )
        file = folder / "gates.json"
        document = json.loads(file.read_text(encoding="utf-8"))
        file.unlink()
        try:
            text = _dump(_Reader(document, target, elaboration).gates())
        except UnsupportedError as error:
            text = json.dumps({"unsupported": str(error)})
        (folder / "small.json").write_text(text, encoding="utf-8")

    try:
        folder = cached_folder("gates", key, build)
    except HarnessError as error:
        raise UnsupportedError(str(error)) from error
    found = json.loads((folder / "small.json").read_text(encoding="utf-8"))
    if "unsupported" in found:
        raise UnsupportedError(found["unsupported"])
    return _load(found)


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
        elements = (*elaboration.sites.elements, *elaboration.bench_elements)
        self.memories = {element.path for element in elements if element.kind == "sram"}
        self.paths = {place.path for place in elaboration.locations.values()}
        self.numbers: dict[int | str, int] = {"0": _ZERO, "x": _ZERO, "z": _ZERO, "1": _ONE}
        self.numbers[self.reset] = self.level
        self.pending: list[tuple[int, Ints, tuple[int, ...]]] = []

    def net(self, bit: int | str) -> int:
        if bit == self.clock:
            raise UnsupportedError("the clock is used as data")
        return self.numbers.setdefault(bit, _FIRST + len(self.numbers))

    def nets(self, bits: list[int | str]) -> tuple[int, ...]:
        return tuple(self.net(bit) for bit in bits)

    def gates(self) -> Gates:
        gates: list[tuple[int, int, int, int, int]] = []
        flip_flops: list[tuple[int, int, int, int]] = []
        reads: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = []
        writes: list[tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = []
        memories = {name: i for i, name in enumerate(self.netlist.memories)}
        for name, cell in self.cells.items():
            kind, pins = cell["type"], cell["connections"]
            if kind in OPERATIONS:
                a, b, s = (self.net(pins[p][0]) if p in pins else _ZERO for p in ("A", "B", "S"))
                gates.append((OPERATIONS[kind], a, b, s, self.net(pins["Y"][0])))
            elif _FLIP_FLOP.fullmatch(kind):
                if pins["C"][0] != self.clock:
                    raise UnsupportedError(f"{name} has a clock of its own")
                load = self.net(pins["L"][0] if "L" in pins else pins["R"][0] if "R" in pins else "0")
                active = int(("L" in pins or "R" in pins) and kind.split("_P")[1][0] == "P")
                if load == _ZERO:
                    active = 1
                flip_flops.append((self.net(pins["Q"][0]), self.net(pins["D"][0]), load, active))
            elif kind == "$memrd_v2" and int(cell["parameters"]["CLK_ENABLE"], 2) == 0:
                memory = memories[cell["parameters"]["MEMID"].removeprefix("\\")]
                reads.append((memory, self.nets(pins["ADDR"]), self.nets(pins["DATA"])))
            elif kind == "$memwr_v2" and pins["CLK"][0] == self.clock:
                memory = memories[cell["parameters"]["MEMID"].removeprefix("\\")]
                writes.append(
                    (memory, self.nets(pins["ADDR"]), self.nets(pins["DATA"]), self.nets(pins["EN"]))
                )
            elif kind not in {"$scopeinfo", "$meminit", "$meminit_v2"}:
                raise UnsupportedError(f"{name} is a {kind}")
        ordered = _ordered(gates, reads)
        alarms = tuple(self.nets(self.ports[port]) for port in self.alarms)
        ports = [self.net(bit) for port in self.outputs if port for bit in self.ports[port]]
        wires = {p: self.nets(list(bits)) for p, bits in self.netlist.wires.items() if p in self.paths}
        held = [(memory.path, memory.first_word) for memory in self.netlist.memories.values()]
        if single := [path for path, _ in held if path not in self.memories]:
            raise UnsupportedError(f"the words of {', '.join(single)} are registers")
        return Gates(
            _FIRST + len(self.numbers),
            np.array(ordered, np.int32).reshape(-1, 5),
            np.array(flip_flops, np.int32).reshape(-1, 4),
            np.array(ports, np.int32),
            alarms,
            wires,
            tuple(held),
            tuple(reads),
            tuple(writes),
        )


def _ordered(
    gates: list[tuple[int, int, int, int, int]],
    reads: list[tuple[int, tuple[int, ...], tuple[int, ...]]],
) -> list[tuple[int, int, int, int, int]]:
    """Sort gates and read ports so that each comes after what it depends on."""
    nodes: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, int, int, int, int]]] = []
    for gate in gates:
        used = gate[1:4] if gate[0] >= OPERATIONS["$_MUX_"] else gate[1 : 3 if gate[0] > 1 else 2]
        nodes.append((used, gate[4:], gate))
    for number, (_, address, data) in enumerate(reads):
        nodes.append((address, data, (READ, number, 0, 0, 0)))
    driver = {net: i for i, (_, results, _) in enumerate(nodes) for net in results}
    state = bytearray(len(nodes))
    order: list[tuple[int, int, int, int, int]] = []
    for start in range(len(nodes)):
        stack = [start]
        while stack:
            node = stack[-1]
            if state[node] == 2:
                stack.pop()
                continue
            waiting = [driver[n] for n in nodes[node][0] if n in driver and state[driver[n]] != 2]
            if not waiting:
                state[node] = 2
                order.append(nodes[node][2])
                stack.pop()
            elif state[node] == 1:
                raise UnsupportedError("the logic has a loop or a latch made of gates")
            else:
                state[node] = 1
                stack.extend(waiting)
    return order


def _dump(gates: Gates) -> str:
    fields = {name: getattr(gates, name) for name in Gates.__dataclass_fields__}
    return json.dumps({k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in fields.items()})


def _load(found: Mapping[str, Any]) -> Gates:
    return Gates(
        found["nets"],
        np.array(found["gates"], np.int32).reshape(-1, 5),
        np.array(found["flip_flops"], np.int32).reshape(-1, 4),
        np.array(found["ports"], np.int32),
        tuple(tuple(nets) for nets in found["alarms"]),
        {path: tuple(nets) for path, nets in found["wires"].items()},
        tuple((path, first) for path, first in found["memories"]),
        tuple((m, tuple(a), tuple(d)) for m, a, d in found["reads"]),
        tuple((m, tuple(a), tuple(d), tuple(e)) for m, a, d, e in found["writes"]),
    )
