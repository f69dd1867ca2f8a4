# SPDX-License-Identifier: Apache-2.0
"""Areas of macros that are described by their ports: as the target states them, else not known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from resil.rtl_harness.design.elaboration import Elaboration, block_of
from resil.rtl_harness.design.snapshot import instances_of_macros
from resil.rtl_harness.design.target import Target

Change = tuple[str, float, float]
"""Block, and what is added to the area of its logic and of its SRAM."""


def stated_areas(
    target: Target, elaboration: Elaboration, unit: str, bit: float
) -> tuple[list[Change], list[str]]:
    """Return how stated areas of macros change those of blocks, and what is to be said of them.

    Args:
        target: With macros by the description of their ports.
        elaboration: Its storage.
        unit: Of the areas: "GE" or "um2".
        bit: Area that a bit of SRAM has by itself, in it.
    """
    changes: list[Change] = []
    unknown: defaultdict[str, list[str]] = defaultdict(list)
    stated: list[str] = []
    key = "area_ge" if unit == "GE" else "area_um2"
    sites = elaboration.sites
    for path, module in sorted(instances_of_macros(target).items()):
        if not path.startswith(f"{target.dut}."):
            continue
        box = target.black_boxes[module]
        area = box.area_ge if unit == "GE" else box.area_um2
        if area is None:
            unknown[module].append(path)
            continue
        stated.append(f"{module} {area:g} {unit} ({path})")
        bits = sum(
            sites.present(index)
            for index, element in enumerate(sites.elements)
            if element.kind == "sram" and element.path.startswith(f"{path}.")
        )
        block = block_of(path, target.blocks)
        changes.append((block, 0.0, area - bits * bit) if box.is_memory else (block, area, 0.0))
    notes = [f"areas of macros as the target file states them: {', '.join(stated)}"] if stated else []
    memories = {module for module in unknown if target.black_boxes[module].is_memory}
    if memories:
        named = _named(unknown, memories)
        notes.append(f"macros whose area is that of their bits, as none is stated ({key}): {named}")
    if others := unknown.keys() - memories:
        named = _named(unknown, others)
        notes.append(f"not assessed: areas of macros of which none is stated ({key}): {named}")
    return changes, notes


def _named(places: dict[str, list[str]], modules: Iterable[str]) -> str:
    return ", ".join(f"{module} ({', '.join(places[module])})" for module in sorted(modules))
