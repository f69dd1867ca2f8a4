# SPDX-License-Identifier: Apache-2.0
"""Whether a protected instance computes what the source's did, alarms left aside: by induction in Yosys."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from resil.rtl_harness.design.elaboration.yosys import read_commands, run_yosys
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.redundancy.names import plain
from resil.rtl_harness.redundancy.places import MAJOR, MINOR

_FLAT = (
    *("setattr -mod -unset keep_hierarchy *", "flatten", "setattr -unset keep */w:* */c:*"),
    *("delete */t:$print", "chformal -remove", "memory_map", "write_json clocked.json"),
    *("dffunmap", "opt_expr", "opt_clean"),
    *("setundef -zero -undriven", "async2sync", "opt_expr", "opt_clean"),
)
_PROVEN = "Equivalence successfully proven!"


def equal_without_faults(
    before: Target, after: Target, parameters: Mapping[str, int], path: str, modules: tuple[str, str]
) -> bool:
    """Return whether two instances are proven to have the same outputs for all inputs, alarms left aside.

    Registers of one name are taken for equal, and each is shown to stay so from any state in which all are;
    what the source's has no name for, copies above all, may hold anything at first. The induction takes all
    clocks for one, so it is looked at besides that each register, and all copies that its value is made of,
    are on the clock and the edge that it was on; by name, and clocks that the instance makes have to be equal
    like all else that has a name. False says that the proof does not close, not that the two differ: latches,
    multipliers and large memories may keep it open.

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
        clocked = []
        for own, target, module in zip(("gold", "gate"), (before, after), modules, strict=True):
            (folder := work / own).mkdir()
            read = read_commands(target, parameters, ["--best-effort-hierarchy"], folder)
            top = f"{module}${target.top}.{path}"
            script = [*read, "memory_collect", f"hierarchy -top {top}", *_FLAT, "write_json flat.json"]
            run_yosys(script, folder, f"reading {path} of {target.name}")
            clocked.append(_Clocking(_read(folder / "clocked.json", top)))
            found = {"modules": {own: _read(folder / "flat.json", top)}}
            (work / f"{own}.json").write_text(json.dumps(found), encoding="utf-8")
        if not _same_clocks(*clocked):
            return False
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


def _read(file: Path, top: str) -> dict[str, Any]:
    """Return a module whose wires have the names that a netlist gives them, without the ports of alarms."""
    module = json.loads(file.read_text(encoding="utf-8"))["modules"][top]
    wires: dict[str, Any] = {}
    for name, wire in module["netnames"].items():
        wires.setdefault(name if wire["hide_name"] else plain(name), wire)
    ports = {name: port for name, port in module["ports"].items() if name not in (MINOR, MAJOR)}
    return {**module, "netnames": wires, "ports": ports}


class _Clocking:
    """Which registers each named bit of a flat module is made of, through gates alone, and on which clocks.

    Attributes:
        named: Bits of the module by name and place, as far as the source has a name for them.
        whole: Every cell is one of which it is known what it does.
    """

    def __init__(self, module: Mapping[str, Any]) -> None:
        self.named = {
            (name, place): bit
            for name, wire in module["netnames"].items()
            for place, bit in enumerate(wire["bits"])
            if isinstance(bit, int) and not wire["hide_name"]
        }
        self._names: dict[int, set[tuple[str, int]]] = {}
        for key, bit in self.named.items():
            self._names.setdefault(bit, set()).add(key)
        self._clock: dict[int, tuple[int, str]] = {}
        self._inputs: dict[int, list[int]] = {}
        self.whole = True
        for cell in module["cells"].values():
            ports, ways = cell["connections"], cell.get("port_directions", {})
            polarity = cell["parameters"].get("CLK_POLARITY")
            if set(ports) - set(ways) or (("CLK" in ports) and polarity is None):
                self.whole = False
                continue
            outputs = [bit for port, bits in ports.items() if ways[port] == "output" for bit in bits]
            if "CLK" in ports:
                edge = (ports["CLK"][0], polarity)
                self._clock.update(dict.fromkeys(outputs, edge))
            else:
                inputs = [bit for port, bits in ports.items() if ways[port] == "input" for bit in bits]
                own = [bit for bit in inputs if isinstance(bit, int)]
                self._inputs.update(dict.fromkeys(outputs, own))

    def registered(self) -> Iterator[tuple[str, int]]:
        """Yield the named bits that are registers."""
        return (key for key, bit in self.named.items() if bit in self._clock)

    def of(self, bit: int) -> set[tuple[frozenset[tuple[str, int]], str]]:
        """Return the clocks, by their names, and edges of all registers that a bit is made of."""
        found, seen, ahead = set(), {bit}, [bit]
        while ahead:
            at = ahead.pop()
            if at in self._clock:
                clock, edge = self._clock[at]
                found.add((frozenset(self._names.get(clock, ())), edge))
                continue
            ahead += [own for own in self._inputs.get(at, ()) if own not in seen]
            seen.update(self._inputs.get(at, ()))
        return found


def _same_clocks(source: _Clocking, protected: _Clocking) -> bool:
    """Whether what is a register in the source is made of registers of the same clock and edge."""
    if not source.whole or not protected.whole:
        return False
    for key in source.registered():
        ((names, edge),) = source.of(source.named[key])
        if (bit := protected.named.get(key)) is None:
            continue  # of a register that is protected in part, which the induction has to match by itself
        own = protected.of(bit)
        if not own or any(not names & found or edge != other for found, other in own):
            return False
    return True
