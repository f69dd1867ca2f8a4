# SPDX-License-Identifier: Apache-2.0
"""How values flow between the storage of a word-level netlist, bit by bit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

Bit = int | str


class Step(IntEnum):
    """What became of a value on its way, in the order of how far it is from what it was.

    MOVED: it was passed on as it is. ADDED: something was added to it or subtracted. COMPUTED: it went
    through other arithmetic or bitwise logic. COMPARED: only a condition on it is left.
    """

    MOVED = 0
    ADDED = 1
    COMPUTED = 2
    COMPARED = 3


class Pass(NamedTuple):
    """A net goes on through a cell to `outputs`."""

    cell: str
    step: Step
    outputs: tuple[Bit, ...]
    picked: bool = False


class Use(NamedTuple):
    """A net ends: it chooses ("select") or addresses ("index") `width` bits."""

    cell: str
    role: str
    width: int


class Stored(NamedTuple):
    """A net is stored in the flip-flop bit `output`, or in the memory `memory`."""

    output: Bit
    memory: str


_ADDERS = {"$add", "$sub", "$alu", "$neg", "$macc", "$macc_v2"}
_CONDITIONS = {
    *("$eq", "$ne", "$eqx", "$nex", "$lt", "$le", "$gt", "$ge", "$logic_and", "$logic_or", "$logic_not"),
    *("$reduce_bool", "$reduce_or", "$reduce_and", "$reduce_xor", "$reduce_xnor"),
}
_BITWISE = {"$not", "$and", "$or", "$xor", "$xnor"}
_SHIFTS = {"$shl", "$shr", "$sshl", "$sshr", "$shift", "$shiftx"}
_ENABLES = ("EN", "SRST")


@dataclass
class Dataflow:
    """The cells of a netlist as edges from net to net.

    Attributes:
        readers: What each net goes into.
        drivers: Name of the cell that drives each net, what it does to values, and the nets they come from.
        inputs: Net at the data input of each flip-flop bit, by the net at its output.
        enabled: Nets at the outputs of flip-flops that have an enable.
        indexed: Memories that are read at an address that is no constant.
        read_data: Nets at the read ports of each memory.
        write_data: Nets at its write ports.
    """

    readers: defaultdict[Bit, list[Pass | Use | Stored]] = field(default_factory=lambda: defaultdict(list))
    drivers: dict[Bit, tuple[str, Step, tuple[Bit, ...]]] = field(default_factory=dict)
    inputs: dict[Bit, Bit] = field(default_factory=dict)
    enabled: set[Bit] = field(default_factory=set)
    indexed: set[str] = field(default_factory=set)
    read_data: defaultdict[str, list[Bit]] = field(default_factory=lambda: defaultdict(list))
    write_data: defaultdict[str, list[Bit]] = field(default_factory=lambda: defaultdict(list))

    @staticmethod
    def of(cells: Mapping[str, Mapping[str, Any]]) -> Dataflow:
        """Read the cells as Yosys' `write_json` gives them. An unknown cell computes outputs from inputs."""
        flow = Dataflow()
        for name, cell in cells.items():
            flow._read(name, cell["type"], cell["connections"], cell["parameters"])
        return flow

    def origins(self, nets: Iterable[Bit], furthest: Step) -> set[Bit]:
        """Return where the values of `nets` come from, passing only cells up to the step `furthest`.

        These are nets of storage and ports, constants ("0", "1"), and outputs of cells that go further.
        """
        found: set[Bit] = set()
        stack, seen = list(nets), set(nets)
        while stack:
            net = stack.pop()
            driver = self.drivers.get(net)
            if driver is None or driver[1] > furthest:
                found.add(net)
                continue
            for source in driver[2]:
                if source not in seen:
                    seen.add(source)
                    stack.append(source)
        return found

    def loops(self) -> list[tuple[Bit, ...]]:
        """Return the nets of each loop that no flip-flop or memory interrupts, each once."""
        edges = [(n, s) for n, (_, _, sources) in self.drivers.items() for s in sources if s in self.drivers]
        nets = sorted({net for edge in edges for net in edge}, key=str)
        place = {net: i for i, net in enumerate(nets)}
        rows, columns = ([place[edge[side]] for edge in edges] for side in (0, 1))
        graph = coo_array((np.ones(len(edges)), (rows, columns)), shape=(len(nets), len(nets)))
        _, labels = connected_components(graph, connection="strong")
        itself = {to for to, source in edges if to == source}
        members: defaultdict[int, list[Bit]] = defaultdict(list)
        for net, label in zip(nets, labels.tolist(), strict=True):
            members[label].append(net)
        return [tuple(m) for m in members.values() if len(m) > 1 or m[0] in itself]

    def _pass(self, name: str, step: Step, pairs: Iterator[tuple[Iterable[Bit], Bit]]) -> None:
        """Record that each output of `pairs` takes its value from the nets before it."""
        for sources, output in pairs:
            sources = tuple(sources)
            self.drivers[output] = (name, step, sources)
            for source in sources:
                if isinstance(source, int):
                    self.readers[source].append(Pass(name, step, (output,)))

    def _spread(
        self, name: str, step: Step, sources: Iterable[Bit], outputs: Iterable[Bit], *, picked: bool = False
    ) -> None:
        """Record that every output may take its value from any source."""
        sources, outputs = tuple(sources), tuple(outputs)
        for output in outputs:
            self.drivers[output] = (name, step, sources)
        for source in {s for s in sources if isinstance(s, int)}:
            self.readers[source].append(Pass(name, step, outputs, picked))

    def _use(self, nets: Iterable[Bit], cell: str, role: str, width: int) -> None:
        for net in {n for n in nets if isinstance(n, int)}:
            self.readers[net].append(Use(cell, role, width))

    def _read(
        self, name: str, kind: str, pins: Mapping[str, list[Bit]], parameters: Mapping[str, str]
    ) -> None:
        if "Q" in pins:
            self._flip_flop(name, pins)
        elif kind.startswith(("$memrd", "$memwr")):
            self._port(name, kind, pins, parameters["MEMID"].removeprefix("\\"))
        elif "Y" not in pins:
            return
        elif kind in {"$mux", "$pmux", "$bwmux", "$bmux", "$demux"}:
            self._multiplexer(name, kind, pins)
        elif kind in _SHIFTS:
            self._spread(name, Step.MOVED, pins["A"], pins["Y"], picked=True)
            self._use(pins["B"], name, "index", len(pins["Y"]))
        elif kind in {"$buf", "$pos"}:
            self._pass(name, Step.MOVED, (((a,), y) for a, y in zip(pins["A"], pins["Y"], strict=False)))
        elif kind in _BITWISE and len(pins["Y"]) > 1:
            operands = [pins[p] for p in ("A", "B") if p in pins]
            columns = ([o[min(i, len(o) - 1)] for o in operands] for i in range(len(pins["Y"])))
            self._pass(name, Step.COMPUTED, zip(columns, pins["Y"], strict=True))
        else:
            step = Step.ADDED if kind in _ADDERS else Step.COMPUTED
            if kind in _CONDITIONS or kind in _BITWISE:
                step = Step.COMPARED
            self._spread(name, step, [b for p, bits in pins.items() if p != "Y" for b in bits], pins["Y"])

    def _multiplexer(self, name: str, kind: str, pins: Mapping[str, list[Bit]]) -> None:
        outputs, data = pins["Y"], pins["A"]
        if kind == "$demux":
            self._pass(name, Step.MOVED, (((data[i % len(data)],), y) for i, y in enumerate(outputs)))
        elif kind == "$bmux":
            width = len(outputs)
            for i, y in enumerate(outputs):
                self._spread(name, Step.MOVED, data[i::width], (y,), picked=True)
        else:
            width = len(outputs)
            choices = zip(
                data, *(pins["B"][i : i + width] for i in range(0, len(pins["B"]), width)), strict=True
            )
            self._pass(name, Step.MOVED, zip(choices, outputs, strict=True))
        role = "index" if kind in {"$bmux", "$demux"} else "select"
        self._use(pins["S"], name, role, 1 if kind == "$bwmux" else len(outputs))

    def _flip_flop(self, name: str, pins: Mapping[str, list[Bit]]) -> None:
        for d, q in zip(pins.get("D", ()), pins["Q"], strict=False):
            self.inputs[q] = d
            if "EN" in pins:
                self.enabled.add(q)
            if isinstance(d, int):
                self.readers[d].append(Stored(q, ""))
        for pin in _ENABLES:
            self._use(pins.get(pin, ()), name, "select", len(pins["Q"]))

    def _port(self, name: str, kind: str, pins: Mapping[str, list[Bit]], memory: str) -> None:
        self._use(pins["ADDR"], name, "index", len(pins["DATA"]))
        self._use(pins["EN"], name, "select", len(pins["DATA"]))
        if kind.startswith("$memrd"):
            self.read_data[memory] += pins["DATA"]
            if any(isinstance(bit, int) for bit in pins["ADDR"]):
                self.indexed.add(memory)
            return
        self.write_data[memory] += pins["DATA"]
        for bit in pins["DATA"]:
            if isinstance(bit, int):
                self.readers[bit].append(Stored("", memory))
