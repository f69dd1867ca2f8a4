# SPDX-License-Identifier: Apache-2.0
"""Area of each block of a target, by synthesis to gates."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from resil.rtl_harness.cache import cached_folder, content_key, write_atomically
from resil.rtl_harness.design.area_library import (
    GateTable,
    gate_table,
    library_text,
    smallest_clock_gate,
    smallest_nand2,
)
from resil.rtl_harness.design.elaboration import Elaboration, block_of
from resil.rtl_harness.design.elaboration.yosys import yosys_version
from resil.rtl_harness.design.hardware import macro_cells
from resil.rtl_harness.design.stated_area import stated_areas
from resil.rtl_harness.design.synthesis import (
    GATES,
    Scope,
    design_under_test,
    gates_of_design,
    parted_gates,
    parts_by_module,
    run_side,
    scopes_of,
)
from resil.rtl_harness.design.target import Target

GATED_FLIP_FLOPS = 4
"""Fewest with one clock and one enable whose clock synthesis gates; with fewer each has a multiplexer."""

_HERE = Path(__file__).parent
_OWN = [
    *(_HERE / name for name in ("area.py", "area_library.py", "hardware.py", "sites.py")),
    *(_HERE / "elaboration" / name for name in ("blocks.py", "model.py")),
]


@dataclass(frozen=True, slots=True)
class BlockArea:
    """Area of one block, in the unit of the report.

    Attributes:
        block: Name of the block; "" for what lies between the blocks of the design under test.
        logic: Area of gates and flip-flops.
        sram: Area of its SRAM arrays.
    """

    block: str
    logic: float
    sram: float

    @property
    def total(self) -> float:
        """Logic and SRAM together."""
        return self.logic + self.sram


@dataclass(frozen=True)
class AreaReport:
    """Area of a target.

    Attributes:
        unit: "GE" for gate equivalents (NAND2 = 1), "um2" with a Liberty file.
        blocks: By name, in the order of the target's block map, then "" if there is anything between blocks.
        notes: Assumptions that the figures rest on.
    """

    unit: str
    blocks: Mapping[str, BlockArea]
    notes: tuple[str, ...]

    @property
    def total(self) -> BlockArea:
        """Sum over the blocks."""
        parts = self.blocks.values()
        return BlockArea("total", sum(b.logic for b in parts), sum(b.sram for b in parts))


def area_per_block(target: Target, elaboration: Elaboration, liberty: Path | None = None) -> AreaReport:
    """Synthesise the design under test, keeping the boundaries of blocks, and add up the area of each.

    Every block is flattened, optimised, mapped to gates by Yosys and ABC, for area rather than for a clock
    period, with clock gates as synthesis infers them from enables. Arrays that the elaboration counts as
    SRAM stay arrays and get an area a bit; flip-flops inside SRAM macros belong to that area and have none
    of their own. A block whose path is a generate block gets a boundary as a module has one: around what
    drives names declared in it, or reads those alone. Cached by the content of the design under test: what
    surrounds it may change without another synthesis.

    Args:
        target: The design.
        elaboration: Its storage; gives the parameters too. Arrays that it says are no hardware have no area.
        liberty: Cell library; its areas are taken to be um2. Without it the built-in table is used.

    Raises:
        HarnessError: If synthesis fails or the library lacks what it needs.
    """
    table = gate_table()
    library = library_text(liberty)
    design = design_under_test(target, elaboration)
    sites = elaboration.sites
    srams = [(e.path, e.block, sites.present(i)) for i, e in enumerate(sites.elements) if e.kind == "sram"]
    macros = [asdict(elaboration.locations[e.path]) for e in sites.elements if e.kind == "macro"]
    description = json.dumps([target.blocks, srams, macros])
    parts = (design.gates_key, design.instances, library, description, table.text, _OWN)

    def build(folder: Path) -> None:
        scopes = scopes_of(target, design.instances)
        gates = _gates(target, elaboration, scopes, folder)
        (folder / "cells.lib").write_text(library, encoding="utf-8")
        _map(target, gates, folder, smallest_clock_gate(library), macro_cells(elaboration, gates))
        given = None if liberty is None else library
        report = _report(target, elaboration, table, given, design.instances, scopes, folder)
        write_atomically(folder / "area.json", json.dumps(asdict(report)).encode())

    folder = cached_folder("area", content_key(yosys_version(), *parts), build)
    result = json.loads((folder / "area.json").read_text(encoding="utf-8"))
    blocks = {name: BlockArea(**block) for name, block in result["blocks"].items()}
    report = AreaReport(result["unit"], blocks, tuple(result["notes"]))
    return _with_stated(report, target, elaboration, liberty) if target.black_boxes else report


def _with_stated(
    report: AreaReport, target: Target, elaboration: Elaboration, liberty: Path | None
) -> AreaReport:
    gate = 1.0 if liberty is None else smallest_nand2(library_text(liberty))
    bit = gate_table().sram_bit.area * gate
    changes, notes = stated_areas(target, elaboration, report.unit, bit)
    blocks = dict(report.blocks)
    for block, logic, sram in changes:
        own = blocks.get(block, BlockArea(block, 0.0, 0.0))
        blocks[block] = BlockArea(block, own.logic + logic, round(own.sram + sram, 6))
    return AreaReport(report.unit, blocks, (*report.notes, *notes))


def _gates(target: Target, elaboration: Elaboration, scopes: Sequence[Scope], folder: Path) -> Path:
    if not scopes:
        return gates_of_design(target, elaboration)
    parted_gates(target, elaboration, parts_by_module(scopes), folder)
    return folder


def _map(target: Target, gates: Path, folder: Path, clock_gate: str, macros: Mapping[str, list[str]]) -> None:
    cells = {"gates": str(gates / GATES), "macros": macros}
    config = cells | {"liberty": "cells.lib", "clock_gate": clock_gate, "gated_flip_flops": GATED_FLIP_FLOPS}
    run_side(target, "map", config, folder, "stat.json")


def _report(
    target: Target,
    elaboration: Elaboration,
    table: GateTable,
    library: str | None,
    instances: Mapping[str, str],
    scopes: Sequence[Scope],
    folder: Path,
) -> AreaReport:
    modules: dict[str, Any] = json.loads((folder / "stat.json").read_text(encoding="utf-8"))["modules"]
    shutil.rmtree(folder / "abc", ignore_errors=True)
    logic = dict.fromkeys(target.blocks, 0.0)
    parts = {scope.path: scope.made for scope in scopes}
    for path, module in {**instances, **parts}.items():
        found = modules.get(f"\\{module}")
        if found is not None:
            block = block_of(path, target.blocks)
            logic[block] = logic.get(block, 0.0) + _own_area(found, modules)
    bit = table.sram_bit
    unit, gate, notes = "GE", 1.0, [f"areas are gate equivalents of an assumed cell library: {table.basis}"]
    if library is not None:
        unit, gate = "um2", smallest_nand2(library)
        notes = [f"areas from the given Liberty file; a NAND2 has {gate} um2"]
    notes.append("constant registers are removed and equal ones merged")
    notes.append(
        f"clock gating: the enable of {GATED_FLIP_FLOPS} or more flip-flops is a clock-gating cell, of fewer "
        "multiplexers"
        if smallest_clock_gate(table.liberty() if library is None else library)
        else "no clock gating, as the library has no cell for it: clock enables are multiplexers"
    )
    notes.append(f"SRAM: {bit.area} GE a bit, {bit.status}: {bit.source}")
    if any(element.kind == "macro" for element in elaboration.sites.elements):
        notes.append(
            "flip-flops inside SRAM macros have no area of their own: it is in that of the macro's bits"
        )
    notes += [
        f"block {block}: {path} is a generate block; it has the gates that drive what is declared in it, or "
        "read that alone"
        for block, paths in target.blocks.items()
        for path in paths
        if path in parts
    ]
    bits = dict.fromkeys(logic, 0)
    sites = elaboration.sites
    for index, element in enumerate(sites.elements):
        if element.kind == "sram":
            bits[element.block] = bits.get(element.block, 0) + sites.present(index)
    blocks = {
        name: BlockArea(name, logic.get(name, 0.0), bits[name] * bit.area * gate)
        for name in bits
        if name or logic.get(name, 0.0) or bits[name]
    }
    return AreaReport(unit, blocks, tuple(notes))


def _own_area(module: Mapping[str, Any], modules: Mapping[str, Any]) -> float:
    """Return the area of a module without that of the blocks instantiated in it."""
    below = (
        count * float(modules[f"\\{kind}"].get("area", 0.0))
        for kind, count in module["num_cells_by_type"].items()
        if f"\\{kind}" in modules
    )
    own = float(module.get("area", 0.0)) - sum(below)
    return float(round(own, 6))
