# SPDX-License-Identifier: Apache-2.0
"""Whether the cells of a block compute what its RTL does, for all inputs: by induction in Yosys."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from resil.rtl_harness.design.cell_models import model_text
from resil.rtl_harness.design.cells import CLOCK_GATE_PINS, CellType, cells_of
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.elaboration.undefined import DEFINED
from resil.rtl_harness.design.elaboration.yosys import READER, run_side_script
from resil.rtl_harness.design.snapshot import frozen
from resil.rtl_harness.design.synthesis import DESIGN, design_netlist
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.logic.synthesis import mapped_design

SECONDS = 120.0
"""For one block; what takes longer is open."""

_FLAT = ("setattr -unset init */w:*", "setattr -unset keep */w:* */c:*", "dffunmap", "opt_expr", "opt_clean")
_SYNCHRONOUS = ("setundef -zero -undriven", "async2sync", "simplemap", "opt_expr", "opt_clean")
_PROVE = (
    *("read_json gold.json", "read_json gate.json", "equiv_make gold gate equiv", "hierarchy -top equiv"),
    *("opt_clean", "equiv_struct", "equiv_simple -undef", "equiv_induct -undef", "equiv_status"),
)
_PROVEN = "Equivalence successfully proven!"
_Clock = tuple[frozenset[str], int]
_OPEN = re.compile(r"Unproven \$equiv \S+ \\(\S+?)_gold(?: \[(\d+)\])?")
_STORAGE = re.compile(r"\$_?(?:DLATCH|dlatch|adlatch|SR|sr|ALDFF_|mem)")


class Proof(StrEnum):
    """What is known of a block.

    PROVEN: its cells compute what its RTL does, from any state in which all registers are equal. OPEN: it
    did not close for some points, or in time; that does not say that the two differ. NOT_TRIED: it has what
    the induction does not know.
    """

    PROVEN = "proven"
    OPEN = "open"
    NOT_TRIED = "not tried"


@dataclass(frozen=True)
class BlockProof:
    """What is known of the cells of a block, or of what lies between blocks.

    Attributes:
        path: Of its instance.
        proof: What is known.
        why: Of what was not tried, or not in time.
        points: Of an open one, the register bits and outputs that are not proven equal.
        unpaired: Likewise, register bits of one side that the other has not under that name: those that
            synthesis removed, and any that are only in the netlist.
    """

    path: str
    proof: Proof
    why: str = ""
    points: tuple[str, ...] = ()
    unpaired: tuple[str, ...] = ()


def prove_blocks(
    target: Target,
    elaboration: Elaboration,
    liberty: Path | None = None,
    seconds: float = SECONDS,
    begins: Callable[[str], None] = lambda path: None,
) -> tuple[BlockProof, ...]:
    """Return what is known of each block of a target's netlist, as `logic_netlist` makes it.

    Registers of one name are taken for equal, and each is shown to stay so. A flip-flop behind a clock gate
    of the netlist takes what it takes while the gate is open, and else what it has. All clocks are one.

    Args:
        target: The design.
        elaboration: Its storage.
        liberty: As of `logic_netlist`.
        seconds: For each block.
        begins: Called with the path of each block before it is tried.

    Raises:
        HarnessError: If the design cannot be read or synthesised, or is a netlist of cells itself.
    """
    if target.cells is not None:
        raise HarnessError(
            f"target {target.name}: expected RTL to prove the netlist of, found a netlist of cells: it is "
            "what faults are injected into, as it is; compare it with its RTL where it was made",
            "cells",
        )
    target = frozen(target)
    mapped, library = mapped_design(target, elaboration, liberty)
    source = design_netlist(target, elaboration) / DESIGN
    cells = cells_of(library)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(mapped):
            begins(_path(name))
            own = Path(tempfile.mkdtemp(dir=folder))
            found.append(prove_module(name, mapped, cells, source, own, seconds))
    return tuple(found)


def prove_module(
    name: str,
    mapped: Mapping[str, Any],
    cells: Mapping[str, CellType],
    source: Path,
    folder: Path,
    seconds: float = SECONDS,
) -> BlockProof:
    """Return what is known of one module of a netlist.

    Args:
        name: Of the module in both.
        mapped: Modules of the netlist.
        cells: Of the library.
        source: Netlist of words of the design, before synthesis.
        folder: For what lies between, empty.
        seconds: To take at most.
    """
    path, module = _path(name), mapped[name]
    kinds = {cell["type"] for cell in module["cells"].values()}
    if inner := sorted(kind for kind in kinds if kind in mapped):
        return BlockProof(
            path, Proof.NOT_TRIED, f"{inner[0].partition('$')[0]} lies in it, a block of its own"
        )
    if odd := sorted(kind for kind in kinds if _STORAGE.match(kind)):
        return BlockProof(path, Proof.NOT_TRIED, f"it has a {odd[0]}")
    models = "\n".join(model_text(cells[kind]) for kind in sorted(kinds & cells.keys()))
    (folder / "models.v").write_text(models, encoding="utf-8")
    whole = {"modules": {name: _without_clock_gates(module, cells)}}
    (folder / "mapped.json").write_text(json.dumps(whole), encoding="utf-8")
    gold = [f"read_rtlil {source}", f"hierarchy -top {name}", "flatten", DEFINED, "memory_map"]
    gate = ["read_json mapped.json", "read_verilog -sv models.v", f"hierarchy -top {name}", "proc", "flatten"]
    clocks: list[dict[str, _Clock]] = []
    sides: list[Mapping[str, Any]] = []
    for own, script in (("gold", gold), ("gate", gate)):
        script = [
            *script,
            *_FLAT,
            f"write_json {own}_stored.json",
            *_SYNCHRONOUS,
            f"write_json {own}_flat.json",
        ]
        said = _run(script, folder, seconds)
        if said is None or not (folder / f"{own}_flat.json").is_file():
            return BlockProof(path, Proof.NOT_TRIED, f"the {own} side could not be read")
        stored, modules = (
            json.loads((folder / f"{own}_{what}.json").read_text(encoding="utf-8"))["modules"]
            for what in ("stored", "flat")
        )
        if name not in modules:
            return BlockProof(path, Proof.NOT_TRIED, "it is no module of the source")
        found = modules[name]
        if odd := sorted({c["type"] for c in found["cells"].values() if _STORAGE.match(c["type"])}):
            return BlockProof(path, Proof.NOT_TRIED, f"it has a {odd[0]}")
        clocks.append(_clocks(stored[name]))
        sides.append(stored[name])
        text = json.dumps({"modules": {own: _named(found, stored[name])}})
        (folder / f"{own}.json").write_text(text, encoding="utf-8")
    unpaired = _unpaired(*sides)
    if other := [key for key, clock in clocks[0].items() if not _same(clock, clocks[1].get(key, clock))]:
        return BlockProof(path, Proof.OPEN, "of another clock or edge", tuple(other), unpaired)
    said = _run(_PROVE, folder, seconds)
    if said is None:
        return BlockProof(path, Proof.OPEN, f"it takes more than {seconds:g} s", (), unpaired)
    if _PROVEN in said:
        return BlockProof(path, Proof.PROVEN)
    points = dict.fromkeys(f"{own}[{bit}]" if bit else own for own, bit in _OPEN.findall(said))
    return BlockProof(path, Proof.OPEN, points=tuple(points), unpaired=unpaired)


def _path(name: str) -> str:
    return name.partition("$")[2].partition(".")[2] or name


def _unpaired(gold: Mapping[str, Any], gate: Mapping[str, Any]) -> tuple[str, ...]:
    """Return names of register bits that one side alone has, by none of their names."""
    sides = [_stored_names(own) for own in (gold, gate)]
    known = [{name for names in side for name in names} for side in sides]
    alone = (
        names
        for side, other in zip(sides, reversed(known), strict=True)
        for names in side
        if names and not names & other
    )
    return tuple(sorted(min(names) for names in alone))


def _stored_names(module: Mapping[str, Any]) -> list[frozenset[str]]:
    """Return the names of each register bit, without those that tools have made."""
    names: dict[int, set[str]] = {}
    for name, wire in module["netnames"].items():
        for place, bit in enumerate(wire["bits"] if not name.startswith("$") else ()):
            names.setdefault(bit, set()).add(f"{name}[{place}]")
    stored = [bit for cell in module["cells"].values() for bit in cell["connections"].get("Q", ())]
    return [frozenset(names.get(bit, ())) for bit in stored]


def _clocks(module: Mapping[str, Any]) -> dict[str, _Clock]:
    """Return the names of the clock, and the edge, of each register bit; the induction takes all for one."""
    names: dict[int, set[str]] = {}
    for name, wire in module["netnames"].items():
        for place, bit in enumerate(wire["bits"]):
            names.setdefault(bit, set()).add(f"{name}[{place}]")
    found = {}
    for cell in module["cells"].values():
        pins = cell["connections"]
        if "CLK" in pins and "Q" in pins:
            clock = frozenset(names.get(pins["CLK"][0], ()))
            edge = int(str(cell["parameters"]["CLK_POLARITY"]), 2)
            found.update({name: (clock, edge) for bit in pins["Q"] for name in names.get(bit, ())})
    return found


def _same(one: _Clock, other: _Clock) -> bool:
    return one[1] == other[1] and bool(one[0] & other[0])


def _named(module: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return a module in which ports and registers alone have names, those that are constant among them.

    What lies between may be something else in the netlist. `before` has the flip-flops as they are clocked.
    """
    stored = {bit for cell in before["cells"].values() for bit in cell["connections"].get("Q", ())}
    names = {
        name
        for name, wire in before["netnames"].items()
        if not wire["hide_name"] and any(bit in stored or bit in ("0", "1") for bit in wire["bits"])
    }
    kept = names | module["ports"].keys()
    return {**module, "netnames": {name: own for name, own in module["netnames"].items() if name in kept}}


def _without_clock_gates(module: Mapping[str, Any], cells: Mapping[str, CellType]) -> dict[str, Any]:
    """Return a module whose flip-flops behind clock gates keep what they have while these are shut."""
    enable, clock, gated = CLOCK_GATE_PINS
    own = {name: {**cell, "connections": dict(cell["connections"])} for name, cell in module["cells"].items()}
    gates = {
        cell["connections"][gated][0]: cell["connections"]
        for cell in own.values()
        if (kind := cells.get(cell["type"])) is not None and kind.clock_gate
    }
    bits = [bit for wire in module["netnames"].values() for bit in wire["bits"] if isinstance(bit, int)]
    last = max(bits, default=1)
    for name, cell in list(own.items()):
        kind = cells.get(cell["type"])
        group = None if kind is None else kind.flip_flop
        if kind is None or group is None or group.next_state.operation != "pin":
            continue
        pins, take = cell["connections"], group.next_state.name
        stored = next((pin for pin, f in kind.outputs.items() if f is not None and f.name == group.state), "")
        while (at := pins[group.clock.pins[0]][0]) in gates and pins.get(stored):
            last += 1
            own[f"$hold${name}${last}"] = {
                "hide_name": 1,
                "type": "$_MUX_",
                "parameters": {},
                "attributes": {},
                "port_directions": {"A": "input", "B": "input", "S": "input", "Y": "output"},
                "connections": {"A": pins[stored], "B": pins[take], "S": gates[at][enable], "Y": [last]},
            }
            pins[take] = [last]
            pins[group.clock.pins[0]] = gates[at][clock]
    return {**module, "cells": own}


def _run(script: tuple[str, ...] | list[str], folder: Path, seconds: float) -> str | None:
    """Return what Yosys prints; None if it takes longer."""
    file = folder / "script.ys"
    file.write_text("\n".join(script) + "\n", encoding="utf-8")
    try:
        return run_side_script(READER[1], [str(file)], folder, seconds).stdout
    except subprocess.TimeoutExpired:
        return None
