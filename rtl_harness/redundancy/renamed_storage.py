# SPDX-License-Identifier: Apache-2.0
"""What each register and memory of the source has become in netlists with protection."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.storage_names import Became, StorageNames
from resil.rtl_harness.redundancy.codes import Coded
from resil.rtl_harness.redundancy.groups import Mechanism
from resil.rtl_harness.redundancy.lockstep import Lockstep
from resil.rtl_harness.redundancy.names import plain
from resil.rtl_harness.redundancy.netlist import Redundant
from resil.rtl_harness.redundancy.places import MAJOR, MINOR

# Instances in a redundant register, each of which holds a register `q_q`.
COPIES = {
    Mechanism.TRIPLICATION: ("u_copy_a", "u_copy_b", "u_copy_c"),
    Mechanism.DUPLICATION: ("u_copy_a", "u_copy_b"),
    Mechanism.PARITY: ("u_data", "u_parity"),
}
_PART = re.compile(r"_(?P<high>\d+)_(?P<low>\d+)$")


def copies_of(register: Redundant) -> dict[str, str]:
    """Return the paths of a redundant register's copies, by their instances."""
    return {copy: f"{register.path}.{copy}.q_q" for copy in COPIES[register.mechanism]}


def storage_names(
    elaboration: Elaboration,
    netlists: Sequence[str],
    moved: Callable[[str], list[str]],
    registers: Sequence[Redundant],
    memories: Sequence[Coded] = (),
    in_lockstep: Sequence[Lockstep] = (),
) -> StorageNames:
    """Return the new names of all storage in instances that have become netlists.

    Storage whose new name is not certain has become nothing: it is not there for who asks for it.

    Args:
        elaboration: Storage of the source.
        netlists: Paths of these instances.
        moved: Returns what a register has become, by the path of its wire; it may name others too.
        registers: Redundant registers with their new paths.
        memories: With a code, with their new paths: data and check bits are as copies of each other.
        in_lockstep: Blocks with a copy beside them: its storage is looked at where outputs show it.
    """
    copies: dict[str, list[str]] = {}
    for register in registers:
        for path in register.elements:
            copies.setdefault(path, []).extend(copies_of(register).values())
    latched: dict[str, tuple[str, ...]] = {}
    for memory in memories:
        copies[memory.element] = [memory.path]
        latched |= {old: (new,) for old, new in zip(memory.latches, memory.storage[1:], strict=True)}
    coded = {path for memory in memories for path in memory.storage}
    became = {}
    inside = tuple(f"{top}." for top in netlists)
    for element in elaboration.sites.elements:
        place = elaboration.locations[element.path]
        if place.net.startswith(inside):
            last = place.net_low + element.width - 1
            own = _certain(place.net, moved(place.net), place.net_low, last)
            own = tuple(path for path in own if path not in coded)
            redundant = copies.get(element.path, latched.get(place.net, ()))
            became[element.path] = Became(element.bits, own, tuple(redundant))
    used = set(coded)
    for block in in_lockstep:
        for element in elaboration.sites.elements:
            if element.path.startswith(f"{block.path}."):
                copy = block.copied(element.path)
                became[element.path] = Became(element.bits, (element.path,), (copy,))
                used.add(copy)
    return StorageNames(became, (MINOR, MAJOR), tuple(sorted(used)))


def _certain(net: str, moved: Sequence[str], first: int, last: int) -> tuple[str, ...]:
    """Return those of the paths that hold bits of a register and no others, as far as names show it.

    Args:
        net: Path that its wire had.
        moved: Paths of the same name, or of that name and a range of bits.
        first: Position of its lowest bit in the wire.
        last: Of the highest.
    """
    names = {path: path.rpartition(".")[2] for path in moved}
    if whole := [path for path, name in names.items() if plain(net).endswith(name)]:
        return tuple(whole)
    found = []
    for path, name in names.items():
        part = _PART.search(name)
        if part is None:
            return ()
        low, high = int(part["low"]), int(part["high"])
        if first <= low and high <= last:
            found.append(path)
        elif low <= last and high >= first:
            return ()
    return tuple(found)
