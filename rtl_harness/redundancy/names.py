# SPDX-License-Identifier: Apache-2.0
"""Names of a netlist: registers keep those of the source, and none needs an escape."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from resil.rtl_harness.design.elaboration.netlist import runs
from resil.rtl_harness.design.synthesis import KEEP
from resil.rtl_harness.redundancy.editable import (
    EditableNetlist,
    Module,
    Net,
    binary,
    free_name,
)

_LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Attributes that synthesis is to see.
_KEPT = {*KEEP, "keep_hierarchy"}


def plain(name: str) -> str:
    """Return a name of letters, digits and "_" for one of the source, indices and scopes included."""
    own = re.sub(r"\W+", "_", name.replace("]", "").replace("-", "m")).strip("_")
    return own if _LEGAL.fullmatch(own) else f"n_{own}"


def keep_names(
    netlist: EditableNetlist, cut: Collection[tuple[str, str]], registers: Collection[str]
) -> None:
    """Let flip-flops drive a wire of their own name where they drive a port, or only a part is left.

    Likewise where the source has another name for the register or for a part of it, as its sign bit. Else
    what writes the netlist calls the register by the other name, or by none.

    Args:
        netlist: That is changed.
        cut: Flip-flop cells of which a part was taken out: path of the instance, and name.
        registers: Paths of the registers of the source.
    """
    for path, module in netlist.modules.items():
        flip_flops = {
            name: cell["connections"]["Q"]
            for name, cell in module["cells"].items()
            if re.fullmatch(r"\$\w*(dff|latch)\w*", cell["type"])
        }
        ports = {bit for port in module["ports"].values() for bit in port["bits"]}
        own = [w["bits"] for w in module["netnames"].values() if not w.get("hide_name")]
        redundant = {bit for c in module["cells"].values() for bit in c["connections"].get("q_o", [])}
        mixed = {bit for wire in own if redundant.intersection(wire) for bit in wire}
        apart = ports | mixed
        found = {n for n, nets in flip_flops.items() if (path, n) in cut or apart.intersection(nets)}
        owner = {net: name for name, nets in flip_flops.items() for net in nets}
        others = _other_names(path, module, owner, registers)
        found |= {owner[bit] for bits in others.values() for bit in bits}
        renewed: dict[Net, int] = {}
        for name in sorted(_with_neighbours(found, flip_flops, own)):
            cell = module["cells"][name]
            old, new = cell["connections"]["Q"], [netlist.net(path) for _ in flip_flops[name]]
            cell["connections"]["Q"] = new
            parameters = {"WIDTH": binary(len(old), 32)}
            netlist.add_cell(path, f"$resil${new[0]}", "$buf", parameters, {"A": new, "Y": old})
            renewed |= dict(zip(old, new, strict=True))
        begins = netlist.begins[path]
        begins |= {new: begins.pop(old) for old, new in renewed.items() if old in begins}
        _name(module, renewed, others)


def _other_names(
    path: str, module: Module, nets: Collection[Net], registers: Collection[str]
) -> dict[str, list[Net]]:
    """Return the bits of wires that name again what registers of the source hold, or a part of it."""
    own = {
        name: wire["bits"]
        for name, wire in module["netnames"].items()
        if not wire.get("hide_name") and name not in module["ports"]
    }
    held = {b for name, bits in own.items() if f"{path}.{name}" in registers for b in bits} & set(nets)
    return {
        name: bits
        for name, bits in own.items()
        if f"{path}.{name}" not in registers and held.issuperset(bits)
    }


def _with_neighbours(
    found: set[str], flip_flops: Mapping[str, Sequence[Net]], wires: Sequence[Sequence[Net]]
) -> set[str]:
    """Return flip-flop cells with those that hold other bits of the same registers."""
    owner = {net: name for name, nets in flip_flops.items() for net in nets}
    sharing = [{owner[net] for net in wire if net in owner} for wire in wires]
    while more := {n for names in sharing if names & found for n in names - found}:
        found |= more
    return found


def _name(module: Module, renewed: Mapping[Net, Net], others: Collection[str]) -> None:
    """Give new nets, which stand before old ones, the names of the registers that the old ones are.

    Other names of registers, or of parts of them, stay with the old ones.
    """
    names = module["netnames"]
    kept = {*module["ports"], *others}
    own = {n: w for n, w in names.items() if n not in kept and not w.get("hide_name")}
    whole = [wire for wire in own.values() if all(bit in renewed for bit in wire["bits"])]
    named = {bit for wire in whole for bit in wire["bits"]}
    for name, wire in own.items():
        places = [i for i, bit in enumerate(wire["bits"]) if bit in renewed and bit not in named]
        for first, bits in runs(places):
            part = [renewed[bit] for bit in wire["bits"][first : first + bits]]
            free = free_name(f"{name}_{first + bits - 1}_{first}", {*names, *module["cells"]})
            names[free] = {"hide_name": 0, "bits": part, "attributes": {}}
    for wire in whole:
        wire["bits"] = [renewed[bit] for bit in wire["bits"]]


@dataclass(frozen=True)
class Renamed:
    """What a netlist's names have become.

    Attributes:
        modules: Name of the module of each instance, by its old path.
        paths: New path of each instance, by the old one.
        own: New names of wires and cells of each instance by the old ones.
    """

    modules: Mapping[str, str]
    paths: Mapping[str, str]
    own: Mapping[str, Mapping[str, str]]

    def cell(self, path: str) -> str:
        """Return the new path of a cell."""
        holder = self._holder(path)
        return f"{self.paths[holder]}.{self.own[holder][path.removeprefix(f'{holder}.')]}"

    def _holder(self, path: str) -> str:
        return max((p for p in self.paths if path.startswith(f"{p}.")), key=len)

    def of(self, path: str, stored: Mapping[str, Collection[str]]) -> list[str]:
        """Return the new paths of an instance, a generate block or a register.

        A generate block is none any more: it has become the registers and instances that were in it.

        Args:
            path: The old one.
            stored: Names of registers and instances in each module.
        """
        if path in self.paths:
            return [self.paths[path]]
        holder = self._holder(path)
        inner = path.removeprefix(f"{holder}.")
        found = {
            new
            for old, new in self.own[holder].items()
            if old.startswith((f"{inner}.", f"{inner}["))
            or re.fullmatch(rf"{re.escape(inner)}(_\d+_\d+(_\d+)?)?", old)
        }
        return [f"{self.paths[holder]}.{new}" for new in sorted(found & set(stored[self.modules[holder]]))]


def rename(netlist: EditableNetlist, typed: Collection[str], module_name: Callable[[str], str]) -> Renamed:
    """Give everything names that need no escape.

    Args:
        netlist: That is changed.
        typed: Ports of the top that are of types of packages: their bits get names of their own.
        module_name: Makes a module's name from the path of its instance.
    """
    names = {path: module_name(path) for path in netlist.modules}
    for below in netlist.parents:
        netlist.cell_of(below)["type"] = names[below]
    own = {path: _make_plain(module) for path, module in netlist.modules.items()}
    paths = {netlist.top: netlist.top}
    for path in sorted(netlist.parents, key=len):
        parent, cell = netlist.parents[path]
        paths[path] = f"{paths[parent]}.{own[parent][cell]}"
    top = netlist.modules[netlist.top]
    for port in typed:
        bits = f"{port}_bits"
        top["ports"] = {bits if p == port else p: held for p, held in top["ports"].items()}
        top["netnames"][bits] = top["netnames"].pop(port)
    netlist.document["modules"] = {names[path]: module for path, module in netlist.modules.items()}
    return Renamed(names, paths, own)


def _make_plain(module: Module) -> dict[str, str]:
    """Rename what needs an escape; return new names by old ones."""
    names: dict[str, str] = {}
    taken = {n for kind in ("netnames", "cells") for n in module[kind] if _LEGAL.fullmatch(n)}
    for kind in ("netnames", "cells"):
        renamed = {}
        for name, held in module[kind].items():
            own = name
            if not name.startswith("$") and not _LEGAL.fullmatch(name):
                own = free_name(plain(name), taken)
                taken.add(own)
            held["attributes"] = {k: v for k, v in held["attributes"].items() if k in _KEPT}
            if held.get("type") == "$mem_v2":
                held["parameters"]["MEMID"] = f"\\{own}"
            renamed[own] = held
            if not name.startswith("$"):
                names[name] = own
        module[kind] = renamed
    module["attributes"] = {k: v for k, v in module["attributes"].items() if k in _KEPT}
    return names
