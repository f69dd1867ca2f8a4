# SPDX-License-Identifier: Apache-2.0
"""What must be known of each instance of a design to put a netlist in its place, from slang's syntax tree."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from resil.rtl_harness.design.elaboration.syntax_tree import (
    blocks_of_array,
    instances_of_array,
    members,
    read_tree,
    tops,
    type_aliases,
)

_VALUE = re.compile(r"-?\d+|\d+'s?[bodh][0-9a-fA-F]+")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that an instance may be given: its value, or "" for a type."""

    name: str
    value: str


@dataclass
class ModuleInstance:
    """An instance.

    Attributes:
        path: Below the top.
        module: That it is of.
        parameters: In their order.
        types: Ports that are of a type of a package, with the type as the source would write it.
        directions: Of its ports, as the syntax tree says them: "In", "Out".
        obstacles: What keeps a netlist from taking its place, in words.
    """

    path: str
    module: str
    parameters: list[Parameter] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    obstacles: list[str] = field(default_factory=list)
    directions: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its own name, without scopes."""
        return self.path.rpartition(".")[2]


def read_instances(log: str, top: str) -> dict[str, ModuleInstance]:
    """Return all instances below `top` by path, the top itself as "", from a log of `read_slang --dump-ast`.

    Raises:
        ValueError: If the log holds no syntax tree.
    """
    root = read_tree(log)
    reader = _ModuleReader(type_aliases(root))
    for instance in tops(root, top):
        reader.instance(instance, "")
    return reader.found


class _ModuleReader:
    def __init__(self, aliases: Mapping[str, str]) -> None:
        self.found: dict[str, ModuleInstance] = {}
        self._aliases = aliases
        self._type_parameters: dict[str, str] = {}  # of the instance that is read, by name

    def instance(self, node: Mapping[str, Any], path: str) -> None:
        body = node["body"]
        module = str(body.get("definition", "")).split(" ")[-1] or str(body["name"])
        instance = self.found[path] = ModuleInstance(path, module)
        self._type_parameters = {}
        for member in members(body):
            self._interface(member, instance)
        self._scope(body, path, instance)

    def _interface(self, member: Mapping[str, Any], instance: ModuleInstance) -> None:
        """Take in a port or a parameter."""
        kind, name = member["kind"], str(member["name"])
        if kind == "TypeParameter" and member.get("isPort"):
            self._type_parameters[name] = str(member["type"])
            instance.parameters.append(Parameter(name, ""))
        elif kind == "Parameter" and not member.get("isLocal"):
            value = str(member.get("value", ""))
            instance.parameters.append(Parameter(name, value))
            if not _VALUE.fullmatch(value):
                instance.obstacles.append(f"its parameter {name} is no number")
        elif kind == "Port":
            instance.directions[name] = str(member.get("direction"))
            self._port(member, name, instance)
        elif kind in {"InterfacePort", "MultiPort"}:
            instance.obstacles.append(f"its port {name} is an interface or a part of others")

    def _port(self, member: Mapping[str, Any], name: str, instance: ModuleInstance) -> None:
        kind = str(member["type"])
        resolved = self._resolved(kind)
        if "$" in kind or "$[" in resolved or resolved.startswith(("struct{", "union{")):
            instance.obstacles.append(f"its port {name} is an unpacked array or structure")
        elif member.get("direction") not in {"In", "Out"}:
            instance.obstacles.append(f"its port {name} is neither input nor output")
        elif alias := re.fullmatch(r"\d+ (\w+::\w+)((?:\[-?\d+:-?\d+\])*)", kind):
            instance.types[name] = " ".join(part for part in alias.groups() if part)
        elif re.fullmatch(r"enum\{.*|\d+ [^\[]+", resolved) and member["direction"] == "Out":
            instance.obstacles.append(f"its output {name} is of an enumerated type of no package")

    def _resolved(self, kind: str) -> str:
        """Follow names of types; what still begins with a number is an enumerated type."""
        seen = 0
        if (own := re.fullmatch(r"\d+ \S*\.(\w+)", kind)) and own[1] in self._type_parameters:
            kind = self._type_parameters[own[1]]
        while (alias := re.fullmatch(r"(\d+) ([^\[$]+)", kind)) and alias[1] in self._aliases and seen < 32:
            kind, seen = self._aliases[alias[1]], seen + 1
        return kind

    def _scope(self, node: Mapping[str, Any], path: str, owner: ModuleInstance) -> None:
        for member in members(node):
            kind, name = str(member["kind"]), str(member["name"])
            below = f"{path}.{name}" if path and name else path or name
            if kind == "Instance":
                self.instance(member, below)
            elif kind == "InstanceArray":
                for instance, own in instances_of_array(member, below):
                    self.instance(instance, own)
            elif kind == "GenerateBlockArray":
                for block, own in blocks_of_array(member, below):
                    self._scope(block, own, owner)
            elif kind == "GenerateBlock" and not member.get("isUninstantiated", False):
                self._scope(member, below, owner)


def instance_of(path: str, instances: Mapping[str, ModuleInstance]) -> str:
    """Return the path of the innermost instance that what is named `path` lies in."""
    while path:
        path = path.rpartition(".")[0]
        if path in instances:
            return path
    return ""
