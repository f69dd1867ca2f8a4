"""Whether a protected instance computes what the source's did, alarms left aside: by induction in Yosys."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rtl_harness.elaboration.yosys import read_commands, run_yosys
from rtl_harness.redundancy.names import plain
from rtl_harness.redundancy.places import MAJOR, MINOR
from rtl_harness.target import Target

_FLAT = (
    *("setattr -mod -unset keep_hierarchy *", "flatten", "setattr -unset keep */w:* */c:*"),
    *("delete */t:$print", "chformal -remove", "dffunmap", "memory_map", "opt_expr", "opt_clean"),
    *("setundef -zero -undriven", "async2sync", "opt_expr", "opt_clean"),
)
_PROVEN = "Equivalence successfully proven!"


def equal_without_faults(
    before: Target, after: Target, parameters: Mapping[str, int], path: str, modules: tuple[str, str]
) -> bool:
    """Return whether two instances are proven to have the same outputs for all inputs, alarms left aside.

    Registers of one name are taken for equal, and each is shown to stay so from any state in which all are;
    what the source's has no name for, copies above all, may hold anything at first. Clocks are taken for one:
    that they are the same is what a run shows. False says that the proof does not close, not that the two
    differ: latches, multipliers and large memories may keep it open.

    Args:
        before: The target of the source.
        after: The protected one.
        parameters: Of the top.
        path: Of the instance.
        modules: Name of its module in either.

    Raises:
        HarnessError: If one cannot be read.
    """
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for own, target, module in zip(("gold", "gate"), (before, after), modules, strict=True):
            (folder := work / own).mkdir()
            read = read_commands(target, parameters, ["--best-effort-hierarchy"], folder)
            top = f"{module}${target.top}.{path}"
            script = [*read, "memory_collect", f"hierarchy -top {top}", *_FLAT, "write_json flat.json"]
            run_yosys(script, folder, f"reading {path} of {target.name}")
            document = json.loads((folder / "flat.json").read_text(encoding="utf-8"))
            found = {"modules": {own: _plain(document["modules"][top])}}
            (work / f"{own}.json").write_text(json.dumps(found), encoding="utf-8")
        script = ["read_json gold.json", "read_json gate.json", "equiv_make gold gate equiv"]
        script += [
            "hierarchy -top equiv",
            "opt_clean",
            "equiv_struct",
            "equiv_simple",
            "equiv_induct",
            "equiv_status",
        ]
        return _PROVEN in run_yosys(script, work, f"equivalence of {path}")


def _plain(module: dict[str, Any]) -> dict[str, Any]:
    """Give wires the names that a netlist gives them, and leave the alarms out of the ports."""
    wires: dict[str, Any] = {}
    for name, wire in module["netnames"].items():
        wires.setdefault(name if wire["hide_name"] else plain(name), wire)
    ports = {name: port for name, port in module["ports"].items() if name not in (MINOR, MAJOR)}
    return {**module, "netnames": wires, "ports": ports}
