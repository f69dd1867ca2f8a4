# SPDX-License-Identifier: Apache-2.0
"""A word-level netlist below one instance, as Yosys writes it to JSON, that can be added to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

Net = int | str
Module = dict[str, Any]

_OUTPUTS = {"q_o", "err_o", "Y", "Q", "alert_minor_o", "alert_major_o"}
_OUTPUTS |= {"expired_o", "check_o", "data_o", "single_error_o", "multi_error_o"}


class EditableNetlist:
    """The modules below an instance, one for each.

    Args:
        document: What `write_json` wrote of the modules.
        top: Path of the instance below the design's top.
        module: Name of its module in the document.

    Attributes:
        document: Likewise.
        top: Likewise.
        modules: By the path of the instance.
        parents: Path of the instance around each, and the name of its cell there.
        begins: By the path of an instance, what its flip-flops begin with, by the net at their output.
    """

    def __init__(self, document: dict[str, Any], top: str, module: str) -> None:
        self.document = document
        self.top = top
        self.modules: dict[str, Module] = {}
        self.parents: dict[str, tuple[str, str]] = {}
        self.begins: defaultdict[str, dict[Net, str]] = defaultdict(dict)
        self._next: dict[str, int] = {}
        self._find_instances(top, module)

    def _find_instances(self, path: str, module: str) -> None:
        self.modules[path] = self.document["modules"][module]
        for name, cell in self.modules[path]["cells"].items():
            if cell["type"] in self.document["modules"]:
                below = f"{path}.{name}"
                self.parents[below] = (path, name)
                self._find_instances(below, cell["type"])

    def cell_of(self, path: str) -> Module:
        """Return the cell that the instance is in the module around it."""
        parent, name = self.parents[path]
        cell: Module = self.modules[parent]["cells"][name]
        return cell

    def net(self, path: str) -> int:
        """Return a new net of a module."""
        module = self.modules[path]
        if path not in self._next:
            held = [b for c in module["cells"].values() for bits in c["connections"].values() for b in bits]
            held += [b for wire in module["netnames"].values() for b in wire["bits"]]
            held += [b for port in module["ports"].values() for b in port["bits"]]
            self._next[path] = max((b for b in held if isinstance(b, int)), default=1)
        self._next[path] += 1
        return self._next[path]

    def any_of(self, path: str, nets: Sequence[Net]) -> list[Net]:
        """Return a net that is 1 if one of others is; constant 0 if there are none."""
        return self.gate(path, "$reduce_or", nets) if nets else ["0"]

    def gate(self, path: str, kind: str, nets: Sequence[Net]) -> list[Net]:
        """Add a gate with an output of one bit."""
        result = self.net(path)
        parameters = {"A_SIGNED": "0", "A_WIDTH": binary(len(nets), 32), "Y_WIDTH": binary(1, 32)}
        self.add_cell(path, f"$resil${result}", kind, parameters, {"A": nets, "Y": [result]})
        return [result]

    def add_port(self, path: str, name: str, direction: str, bits: Sequence[Net]) -> None:
        """Add a port to a module, and the wire of its name."""
        module = self.modules[path]
        module["ports"][name] = {"direction": direction, "bits": list(bits)}
        module["netnames"][name] = {"hide_name": 0, "bits": list(bits), "attributes": {}}

    def connect(self, path: str, port: str, direction: str, bits: Sequence[Net]) -> None:
        """Connect a port of an instance in the module around it."""
        cell = self.cell_of(path)
        cell["connections"][port] = list(bits)
        cell.setdefault("port_directions", {})[port] = direction

    def add_cell(
        self,
        path: str,
        name: str,
        kind: str,
        parameters: Mapping[str, str],
        connections: Mapping[str, Sequence[Net]],
    ) -> str:
        """Add a cell to a module and return its name, which is `name` unless that is taken."""
        module = self.modules[path]
        own = free_name(name, {*module["cells"], *module["netnames"]})
        module["cells"][own] = {
            "hide_name": int(own.startswith("$")),
            "type": kind,
            "parameters": dict(parameters),
            "attributes": {},
            "port_directions": {pin: "output" if pin in _OUTPUTS else "input" for pin in connections},
            "connections": {pin: list(bits) for pin, bits in connections.items()},
        }
        return own


def binary(value: int, width: int) -> str:
    """Return a parameter as the format has it."""
    return f"{value:0{width}b}"


def free_name(wanted: str, taken: set[str]) -> str:
    """Return a name that is not taken: the one that is wanted, or it with a number."""
    if wanted not in taken:
        return wanted
    return next(own for i in range(1, 2 + len(taken)) if (own := f"{wanted}_{i}") not in taken)
