# SPDX-License-Identifier: Apache-2.0
"""Which ports of the design under test carry the clock and the reset of the bench."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from resil.rtl_harness.design.elaboration.yosys import run_yosys
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.redundancy.places import SourceDesign

# Cells through which a clock or a reset goes on its way, with whether they invert it. Others may gate it.
_THROUGH = {"$buf": False, "$pos": False, "$not": True, "$logic_not": True}
_GATING = {"$and", "$or", "$logic_and", "$logic_or", "$mux"}


def modules_around(
    target: Target, design: SourceDesign, netlist: Path, folder: Path
) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the modules around the design under test, the top last, each with the cell that is the next one.

    Args:
        target: The design.
        design: Its instances.
        netlist: What Yosys wrote of it as RTLIL.
        folder: To work in.
    """
    chain = design.chain(target.dut)
    modules = {p: f"{design.instances[p].module}${target.top}.{p}" if p else target.top for p in chain}
    script = [f"read_rtlil {netlist}", f"select {' '.join(modules.values())}"]
    run_yosys([*script, "write_json -selected chain.json"], folder, f"reading {target.name}")
    found = json.loads((folder / "chain.json").read_text(encoding="utf-8"))["modules"]
    inner = [target.dut, *chain[:-1]]
    cells = [path.removeprefix(f"{around}.") for path, around in zip(inner, chain, strict=True)]
    return [(cell, found[modules[p]]) for cell, p in zip(cells, chain, strict=True)]


def clock_and_reset(target: Target, chain: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[str, str, bool]:
    """Return the ports of the design under test that carry clock and reset, and whether that is active low.

    Args:
        target: The design.
        chain: Modules around the design under test as Yosys writes them to JSON, the top last, each with the
            name of the cell in it that is the next one.

    Raises:
        HarnessError: There is no such port.
    """
    cell, around = chain[0]
    pins = around["cells"][cell]["connections"]
    clock = next((pin for pin in pins if _root(chain, pin, gates=False) == (target.clock, False)), "")
    for gates in (False, True):
        for pin in pins:
            found = _root(chain, pin, gates=gates)
            if clock and found is not None and found[0] == target.reset and pin != clock:
                return clock, pin, target.reset_active_low != found[1]
    wanted = f"the reset {target.reset}" if clock else f"the clock {target.clock}"
    raise HarnessError(
        f"target {target.name}: dut: expected a port of {target.dut} that carries {wanted}, which keeps the "
        "alarms, found none; protect a design that has one",
        "dut",
    )


def _root(
    chain: Sequence[tuple[str, Mapping[str, Any]]], pin: str, *, gates: bool
) -> tuple[str, bool] | None:
    """Return the port of the top that drives a pin, and whether inverted; None if none does."""
    inverted = False
    for cell, module in chain:
        bits = module["cells"][cell]["connections"].get(pin, [])
        if len(bits) != 1:
            return None
        found = _port(module, bits[0], gates)
        if found is None:
            return None
        pin, inverts = found
        inverted ^= inverts
    return pin, inverted


def _port(module: Mapping[str, Any], net: int | str, gates: bool) -> tuple[str, bool] | None:
    ports = {
        p["bits"][0]: n
        for n, p in module["ports"].items()
        if p["direction"] == "input" and len(p["bits"]) == 1
    }
    drivers = {
        bit: cell
        for cell in module["cells"].values()
        if cell["type"] in _THROUGH or (gates and cell["type"] in _GATING)
        for bit in cell["connections"]["Y"]
    }
    todo, seen = [(net, False)], set()
    while todo:
        found, inverted = todo.pop()
        if found in ports:
            return ports[found], inverted
        if found in seen or found not in drivers:
            continue
        seen.add(found)
        cell = drivers[found]
        inverts = _THROUGH.get(cell["type"], False)
        todo += [(bit, inverted ^ inverts) for pin in ("A", "B") for bit in cell["connections"].get(pin, [])]
    return None
