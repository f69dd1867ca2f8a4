# SPDX-License-Identifier: Apache-2.0
"""From RTL to the netlist of a closed design: synthesis by block as for area, within its bench."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resil.rtl_harness.cache import cached_folder, content_key, write_atomically
from resil.rtl_harness.design.area import GATED_FLIP_FLOPS
from resil.rtl_harness.design.area_library import library_text, smallest_clock_gate
from resil.rtl_harness.design.cell_models import modelled_cells
from resil.rtl_harness.design.cells import cells_of
from resil.rtl_harness.design.drivers import require_single_drivers
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.elaboration.undefined import DEFINED
from resil.rtl_harness.design.elaboration.yosys import READER, read_commands, rtl_key
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.snapshot import frozen
from resil.rtl_harness.design.synthesis import (
    DESIGN,
    design_netlist,
    design_under_test,
    parts_by_module,
    run_side,
    scopes_of,
)
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.gates.gates import SCRIPT
from resil.rtl_harness.engine.fast.gates.moments import UnsupportedError
from resil.rtl_harness.logic.build import built_netlist
from resil.rtl_harness.logic.joined import Joined, joined
from resil.rtl_harness.logic.netlist import LogicNetlist, packed_netlist, unpacked_netlist

_HERE = Path(__file__).parent
_SIDE = _HERE / "synthesis_side.py"
_RESULT, _MAPPED, _BENCH = "netlist.npz", "mapped.json", "bench.json"
_MORE = ("build.py", "clocks.py", "netlist.py", "joined.py", "expand.py", "order.py")
_OWN = [_HERE / name for name in ("synthesis_side.py", "synthesis.py", *_MORE)]
_OWN.append(_HERE.parent / "design" / "cells.py")
_GATES = _HERE.parent / "engine" / "fast" / "gates"
_READS = [_GATES / name for name in ("gates.py", "gates_file.py", "moments.py", "cycle.py", "logic.py")]


def logic_netlist(target: Target, elaboration: Elaboration, liberty: Path | None = None) -> LogicNetlist:
    """Return the synthesised netlist of a target within its bench; from the cache if it was seen before.

    Args:
        target: The design.
        elaboration: Its storage.
        liberty: Cell library; without it the built-in table of gate equivalents.

    Raises:
        HarnessError: If synthesis fails, a register of the design is not in the netlist, or a net of a target
            that is a netlist has several drivers; it is named.
        UnsupportedError: If gates cannot say what the bench or the clocks do.
    """
    target = frozen(target)
    library = library_text(target.cells or liberty)
    parameters = dict(elaboration.parameters)
    require_single_drivers(target, elaboration)
    elaboration = with_hardware(target, elaboration)
    storage = [
        [e.path, e.kind, e.width, e.depth, e.block, repr(elaboration.locations[e.path])]
        for e in (*elaboration.sites.elements, *elaboration.bench_elements)
    ]
    ports = [target.clock, target.reset, target.reset_active_low, list(target.outputs.items()), target.dut]
    described = json.dumps([ports, storage, [list(map(repr, elaboration.sites.absent))], target.blocks])
    gates = design_under_test(target, elaboration).gates_key
    key = content_key(rtl_key(target, parameters), gates, "logic", described, library, SCRIPT, _OWN, _READS)

    def build(folder: Path) -> None:
        netlist = built_netlist(_joined(target, elaboration, library), target, elaboration, library)
        write_atomically(folder / _RESULT, packed_netlist(netlist))

    return unpacked_netlist((cached_folder("logic-netlist", key, build) / _RESULT).read_bytes())


def joined_design(target: Target, elaboration: Elaboration, liberty: Path | None = None) -> Joined:
    """Return cells, memories and wires of a target and its bench, of which `logic_netlist` makes gates."""
    return _joined(frozen(target), elaboration, library_text(target.cells or liberty))


def mapped_design(
    target: Target, elaboration: Elaboration, liberty: Path | None = None
) -> tuple[Mapping[str, Any], str]:
    """Return the modules of cells of which `logic_netlist` makes gates, and the text of the library."""
    target = frozen(target)
    library = library_text(target.cells or liberty)
    return _modules(_mapped(target, elaboration, library) / _MAPPED), library


def _joined(target: Target, elaboration: Elaboration, library: str) -> Joined:
    parameters = dict(elaboration.parameters)
    script = [*SCRIPT[:-1], f"write_json {_BENCH}"]

    def build(folder: Path) -> None:
        read = read_commands(target, parameters, ["--best-effort-hierarchy"], folder)
        config = {"read": read, "dut": target.dut, "top": target.top, "script": script}
        run_side(target, "bench", config, folder, _BENCH, _SIDE)

    key = content_key(rtl_key(target, parameters), target.dut, script, _SIDE, *READER)
    bench = _modules(cached_folder("logic-bench", key, build) / _BENCH)
    scopes = scopes_of(target, design_under_test(target, elaboration).instances)
    parts = {scope.made: scope.path for scope in scopes}
    mapped = _modules(_mapped(target, elaboration, library) / _MAPPED)
    return joined(bench, mapped, target, cells_of(library), parts)


def _mapped(target: Target, elaboration: Elaboration, library: str) -> Path:
    design = design_under_test(target, elaboration)
    parts, own = parts_by_module(scopes_of(target, design.instances)), _own_cells(target, library)

    def build(folder: Path) -> None:
        (folder / "cells.lib").write_text(library, encoding="utf-8")
        config = {
            "design": str(design_netlist(target, elaboration) / DESIGN),
            "scopes": parts,
            "liberty": "cells.lib",
            "clock_gate": "" if target.cells else smallest_clock_gate(library),
            "own": own,
            "is_netlist": target.cells is not None,
            "gated_flip_flops": GATED_FLIP_FLOPS,
        }
        run_side(target, "map", config, folder, _MAPPED, _SIDE, "flip-flops with set and reset")
        for name in ("latches.json", "parts.json", "parted.il"):
            (folder / name).unlink(missing_ok=True)

    key = content_key(design.gates_key, library, parts, GATED_FLIP_FLOPS, DEFINED, own, _SIDE)
    return cached_folder("logic-cells", key, build)


def _own_cells(target: Target, library: str) -> list[str]:
    """Return the cells that stay as they are, if it is a netlist: gates, flip-flops and clock gates.

    Of a cell that a source defines the simulator runs that, whatever the library says: it is no cell here.
    """
    if target.cells is None:
        return []
    cells, modelled = cells_of(library).values(), modelled_cells(target.sources)
    return sorted(c.name for c in cells if c.name in modelled and c.latch is None)


def _modules(file: Path) -> Mapping[str, Any]:
    modules: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))["modules"]
    return modules


__all__ = ["UnsupportedError", "joined_design", "logic_netlist", "mapped_design"]
