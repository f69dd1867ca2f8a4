# SPDX-License-Identifier: Apache-2.0
"""The syntax tree that slang dumps: finding it in a log, and going through its members and arrays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

Node = Mapping[str, Any]

DIMENSION = re.compile(r"\[(-?\d+):(-?\d+)\]")


def read_tree(log: str) -> dict[str, Any]:
    """Return the root of the tree in a log of `read_slang --dump-ast`.

    Raises:
        ValueError: If the log holds no syntax tree.
    """
    start = log.find("\n{")
    if start < 0:
        raise ValueError("the log of read_slang holds no syntax tree")
    root, _ = json.JSONDecoder().raw_decode(log, start + 1)
    assert isinstance(root, dict)
    return root


def members(node: Node) -> Iterator[dict[str, Any]]:
    """Yield the members of a scope, in their order."""
    yield from node.get("members", [])


def tops(root: Node, name: str) -> Iterator[dict[str, Any]]:
    """Yield the instances of that name at the root."""
    return (m for m in members(root) if m["kind"] == "Instance" and m["name"] == name)


def type_aliases(root: Node) -> dict[str, str]:
    """Return what each named type of a tree stands for, by the address that references give."""
    found: dict[str, str] = {}
    _collect_aliases(root, found)
    return found


def instances_of_array(node: Node, path: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the instances of an array of them, of any number of dimensions, with their paths."""
    bounds = DIMENSION.fullmatch(str(node["range"]))
    assert bounds is not None, node["range"]
    left, right = int(bounds[1]), int(bounds[2])
    step = 1 if left <= right else -1
    for position, member in enumerate(members(node)):
        below = f"{path}[{left + step * position}]"
        if member["kind"] == "InstanceArray":
            yield from instances_of_array(member, below)
        else:
            yield member, below


def blocks_of_array(node: Node, path: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the blocks that a generate loop made, with their paths."""
    for member in members(node):
        if member["kind"] == "GenerateBlock":
            genvar = next(m for m in members(member) if m["kind"] == "Parameter")
            yield member, f"{path}[{genvar['value']}]"


def _collect_aliases(node: object, found: dict[str, str]) -> None:
    if isinstance(node, dict):
        if node.get("kind") == "TypeAlias":
            found[str(node["addr"])] = str(node["target"])
        for value in node.values():
            if isinstance(value, dict | list):
                _collect_aliases(value, found)
    elif isinstance(node, list):
        for item in node:
            _collect_aliases(item, found)
