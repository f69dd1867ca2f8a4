# SPDX-License-Identifier: Apache-2.0
"""Which cells of a module lie in its generate blocks, read from a netlist that is not yet simplified.

A front end dissolves generate blocks: only the names of what is declared in them keep their place. Cells that
are joined by nets without a name come from one statement or process of the source. It belongs to the block
whose nets it drives; where it drives only what lies around the blocks, to the one block that it reads.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class _Statement:
    """Parts whose nets some cells drive and read; "" for what lies around them."""

    drives: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)

    @property
    def part(self) -> str:
        """The part that it belongs to; "" where no single one is meant."""
        found = self.drives - {""} or self.reads - {""}
        return found.pop() if len(found) == 1 else ""


def parts_of_cells(module: Mapping[str, Any], scopes: Mapping[str, str]) -> dict[str, str]:
    """Return the part that each cell lies in, of those that lie in one.

    Args:
        module: As Yosys writes it to JSON, with nets and cells as the front end made them.
        scopes: Name of each part by the path of its generate block inside the module; `g` stands for
            all of `g[0]`, `g[1]`. The longest path that holds a name decides.
    """
    part = _Part(scopes)
    named: dict[int, set[str]] = defaultdict(set)
    for name, held in module["netnames"].items():
        if not held["hide_name"]:
            for bit in _nets(held["bits"]):
                named[bit].add(part.of(name))
    cells = module["cells"]
    found = {name: part.of(_own_name(name, cell)) for name, cell in cells.items() if _is_named(cell)}
    for name, own in found.items():
        for _, bit in _pins(cells[name]):
            named.setdefault(bit, {own})
    groups = _Groups()
    for name, cell in cells.items():
        if name not in found:
            for _, bit in _pins(cell):
                groups.join(name, name if bit in named else bit)
    statements: dict[str | int, _Statement] = defaultdict(_Statement)
    for name, cell in cells.items():
        if name not in found:
            statement = statements[groups.of(name)]
            for drives, bit in _pins(cell):
                (statement.drives if drives else statement.reads).update(named.get(bit, ()))
    others = {name: statements[groups.of(name)].part for name in cells if name not in found}
    return {name: own for name, own in {**found, **others}.items() if own}


class _Part:
    def __init__(self, scopes: Mapping[str, str]) -> None:
        self._scopes = sorted(scopes.items(), key=lambda entry: -len(entry[0]))

    def of(self, name: str) -> str:
        inside = (own for path, own in self._scopes if f"{name}.".startswith((f"{path}.", f"{path}[")))
        return next(inside, "")


class _Groups:
    """Cells joined by nets, as a union of sets."""

    def __init__(self) -> None:
        self._above: dict[str | int, str | int] = {}

    def of(self, member: str | int) -> str | int:
        above = self._above.setdefault(member, member)
        while above != self._above[above]:
            self._above[member] = self._above[above]
            member, above = above, self._above[above]
        return above

    def join(self, one: str | int, other: str | int) -> None:
        self._above[self.of(one)] = self.of(other)


def _is_named(cell: Mapping[str, Any]) -> bool:
    """Whether a cell has a name in the source: a memory, or an instance of a module."""
    kind: str = cell["type"]
    return kind == "$mem_v2" or not kind.startswith("$")


def _own_name(name: str, cell: Mapping[str, Any]) -> str:
    memory: str = cell["parameters"].get("MEMID", name) if cell["type"] == "$mem_v2" else name
    return memory.removeprefix("\\")


def _nets(bits: list[Any]) -> Iterator[int]:
    return (bit for bit in bits if isinstance(bit, int))


def _pins(cell: Mapping[str, Any]) -> Iterator[tuple[bool, int]]:
    """Yield each net at a cell, and whether the cell drives it."""
    for pin, bits in cell["connections"].items():
        drives = cell["port_directions"].get(pin) == "output"
        yield from ((drives, bit) for bit in _nets(bits))
