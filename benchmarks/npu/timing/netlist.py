# SPDX-License-Identifier: Apache-2.0
"""The NPU as gates: mapped by Yosys, read from a BLIF file as arrays of nets."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.design.area_library import gate_table
from resil.rtl_harness.design.elaboration.yosys import read_commands, run_yosys
from resil.rtl_harness.design.target import Target

TOP = "npu"
BENCH = "bench"
SRAM = "*sb_bank*"
_PREPARE = (
    *("proc", "memory_collect", f"setattr -set keep_as_sram 1 {SRAM}/t:$mem_v2", "flatten -scopename"),
    *("opt", "wreduce", "share", "alumacc", "opt -fast", "memory_map t:$mem_v2 a:keep_as_sram=1 %d"),
    *("opt -fast", "techmap", "opt -fast"),
)
_TO_GATES = ("abc -g simple -script +strash;balance;map", "opt_clean")
_TO_CELLS = (
    "dfflegalize -cell $_DFF_P_ x -cell $_DFF_PN0_ x -cell $_DFF_PN1_ x",
    *("opt -fast", "abc -liberty cells.lib -script +strash;dch;map,-B,0.9", "opt_clean"),
)
_STORES = re.compile(r"\$_S?DFF|\$mem_v2")
_INDEX = re.compile(r"\[\d+\]$")
_ADDED = re.compile(r"\.?\$.*")
_MOST_INPUTS = 4


@dataclass(frozen=True)
class Register:
    """A flip-flop bit or a port of an SRAM: where paths begin and end.

    Attributes:
        name: Hierarchical name below the NPU, "" for the NPU's own ports.
        block: Block that it belongs to, "port" for ports of the NPU.
    """

    name: str
    block: str


@dataclass
class Netlist:
    """Gates and storage; nets are numbered.

    Attributes:
        nets: Name of each net.
        gates: For each gate its inputs' nets, padded with net 0, which is constant.
        outputs: For each gate its output's net.
        kinds: For each gate its cell.
        starts: Net and register that drives it.
        ends: Net and register that takes it.
    """

    nets: list[str]
    gates: npt.NDArray[np.int32]
    outputs: npt.NDArray[np.int32]
    kinds: npt.NDArray[np.str_]
    starts: list[tuple[int, Register]]
    ends: list[tuple[int, Register]]


def map_design(target: Target, folder: Path, cells: bool) -> tuple[Path, Path]:
    """Map the NPU of `target` to two-input gates and, if `cells`, to the built-in cells; return the files.

    SRAM banks stay as they are; every other array is flip-flops and multiplexers.
    """
    sources = tuple(path for path in target.sources if path.parent.name != BENCH)
    design = dataclasses.replace(target, top=TOP, sources=sources)
    (folder / "cells.lib").write_text(gate_table().liberty(), encoding="utf-8")
    read = read_commands(design, target.parameters, ["--best-effort-hierarchy"], folder)
    script = [*read, f"hierarchy -top {TOP}", *_PREPARE, "design -push-copy"]
    script += [*_TO_GATES, "write_blif -icells -noalias -attr -impltf gates.blif"]
    if cells:
        script += ["design -pop", *_TO_CELLS, "write_blif -icells -noalias -attr -impltf cells.blif"]
    run_yosys(script, folder, f"mapping {target.name}")
    return folder / "gates.blif", folder / "cells.blif"


def block_of_scope(scope: str) -> str:
    """Return the block of a hierarchical name below the NPU: "u_cc.u_decode" is in "cc"."""
    first = scope.partition(".")[0]
    return first.removeprefix("u_") if first.startswith("u_") else TOP


def read_netlist(file: Path) -> Netlist:
    """Read a BLIF file that `map_design` wrote."""
    return _Reader().read(file)


class _Reader:
    def __init__(self) -> None:
        self.numbers: dict[str, int] = {"": 0}
        self.gates: list[tuple[list[int], int, str]] = []
        self.stores: list[tuple[str, dict[str, str], str]] = []
        self.ports: tuple[list[str], list[str]] = ([], [])
        self.stored = False

    def net(self, name: str) -> int:
        if name.startswith("$") and name in ("$false", "$true", "$undef"):
            return 0
        return self.numbers.setdefault(name, len(self.numbers))

    def read(self, file: Path) -> Netlist:
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                words = line.split()
                if not words:
                    continue
                if words[0] in (".subckt", ".gate"):
                    self._cell(words[1], dict(word.split("=", 1) for word in words[2:]))
                elif words[0] == ".attr" and words[1] == "scopename" and self.stored:
                    kind, pins, _ = self.stores[-1]
                    self.stores[-1] = (kind, pins, line.split('"')[1].replace(" ", "."))
                elif words[0] == ".names" and len(words) == 3:
                    self.gates.append(([self.net(words[1])], self.net(words[2]), "alias"))
                elif words[0] in (".inputs", ".outputs"):
                    self.ports[words[0] == ".outputs"].extend(words[1:])
        return self._netlist()

    def _cell(self, kind: str, pins: dict[str, str]) -> None:
        self.stored = bool(_STORES.match(kind))
        if self.stored:
            self.stores.append((kind, pins, ""))
            return
        output = "Y"
        self.gates.append(
            ([self.net(net) for pin, net in pins.items() if pin != output], self.net(pins[output]), kind)
        )

    def _netlist(self) -> Netlist:
        starts = [(self.net(name), Register(name, "port")) for name in self.ports[0]]
        ends = [(self.net(name), Register(name, "port")) for name in self.ports[1]]
        for kind, pins, scope in self.stores:
            taken, given = _pins(kind, pins)
            name = _plain(given[0]) if given else ""
            if not scope:
                scope = name
            register = Register(name if name.startswith(scope) else f"{scope}.{name}", block_of_scope(scope))
            starts += [(self.net(net), register) for net in given]
            ends += [(self.net(net), register) for net in taken]
        gates = np.zeros((len(self.gates), _MOST_INPUTS), np.int32)
        for row, (inputs, _, _) in enumerate(self.gates):
            gates[row, : len(inputs)] = inputs
        return Netlist(
            list(self.numbers),
            gates,
            np.array([output for _, output, _ in self.gates], np.int32),
            np.array([kind for _, _, kind in self.gates]),
            starts,
            ends,
        )


def _plain(net: str) -> str:
    """Return the name of what drives a net, without its bit and without what the synthesis added."""
    return _ADDED.sub("", _INDEX.sub("", net).removeprefix("$flatten").replace("\\", ""))


def _pins(kind: str, pins: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the nets that a storage cell takes, its clock left out, and those that it drives."""
    if kind == "$mem_v2":
        given = [net for pin, net in pins.items() if pin.startswith("RD_DATA")]
        taken = [net for pin, net in pins.items() if not pin.startswith(("RD_DATA", "RD_CLK", "WR_CLK"))]
        return taken, given
    return [net for pin, net in pins.items() if pin not in ("Q", "C")], [pins["Q"]]
