# SPDX-License-Identifier: Apache-2.0
"""Nets that several outputs drive: simulators disagree with synthesis on what is on them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from resil.rtl_harness.cache import cached_folder, content_key, write_atomically
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.elaboration.netlist import source_path
from resil.rtl_harness.design.elaboration.yosys import run_yosys, yosys_version
from resil.rtl_harness.design.synthesis import DESIGN, design_netlist, design_under_test
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError

_RESULT = "drivers.json"
# As an assignment is.
_UNNAMED = "logic without a name"


def require_single_drivers(target: Target, elaboration: Elaboration) -> None:
    """Raise HarnessError, naming net and drivers, if a net of a netlist has several; of RTL do nothing.

    Verilator takes one of them, and synthesis makes of registers behind the net what it likes, as constants.

    Args:
        target: The design.
        elaboration: Its storage.

    Raises:
        HarnessError: A net of the design under test has several drivers, or it cannot be read.
    """
    if target.cells is None:
        return

    def build(folder: Path) -> None:
        design = design_netlist(target, elaboration) / DESIGN
        run_yosys([f"read_rtlil {design}", "write_json modules.json"], folder, f"netlist of {target.name}")
        file = folder / "modules.json"
        modules = json.loads(file.read_text(encoding="utf-8"))["modules"]
        file.unlink()
        found = [driven for name, module in modules.items() for driven in _several(name, module)]
        write_atomically(folder / _RESULT, json.dumps(found).encode())

    key = content_key(yosys_version(), design_under_test(target, elaboration).digest, Path(__file__))
    found = json.loads((cached_folder("drivers", key, build) / _RESULT).read_text(encoding="utf-8"))
    if found:
        net, one, other = found[0]
        more = f"; {len(found) - 1:,} more nets have several" if len(found) > 1 else ""
        raise HarnessError(
            f"target {target.name}: expected one driver of each net of the netlist, found {one} and {other} "
            f"at {net}{more}; leave one: a bus of outputs that can be switched off has no model here, put "
            "multiplexers in its place",
            net,
        )


def _several(name: str, module: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the nets of a module that have several drivers, each with two of them."""
    place = name.partition("$")[2].partition(".")[2]
    prefix = f"{place}." if place else ""
    drivers: defaultdict[int | str, list[str]] = defaultdict(list)
    for port, own in module["ports"].items():
        if own["direction"] == "input":
            for bit in own["bits"]:
                drivers[bit].append(f"the input {prefix}{port}")
    for cell, own in module["cells"].items():
        said = _UNNAMED if own["hide_name"] else prefix + source_path(cell, own)
        for port, bits in own["connections"].items():
            if own["port_directions"].get(port) == "output":
                for bit in bits:
                    drivers[bit].append(said if own["hide_name"] else f"{said}/{port}")
    several = {bit: own for bit, own in drivers.items() if isinstance(bit, int) and len(own) > 1}
    if not several:
        return
    for wire, held in module["netnames"].items():
        for number, bit in enumerate(held["bits"]):
            if (own := several.pop(bit, None)) is not None:
                index = f"[{held.get('offset', 0) + number}]" if len(held["bits"]) > 1 else ""
                one, other, *_ = sorted(own, key=lambda driver: (driver == _UNNAMED, driver))
                yield f"{prefix}{source_path(wire, held)}{index}", one, other
