# SPDX-License-Identifier: Apache-2.0
"""Which storage bits of the source code are hardware, found by the synthesis that area is measured with."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from resil.rtl_harness.cache import cached_folder, content_key, write_atomically
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.elaboration.netlist import source_path
from resil.rtl_harness.design.sites import Absent, Hardware, SiteTable
from resil.rtl_harness.design.synthesis import (
    AFTER,
    BEFORE,
    PART,
    design_under_test,
    gates_of_design,
)
from resil.rtl_harness.design.target import Target

Net = tuple[str, int] | str

_RESULT = "hardware.json"
_HERE = Path(__file__).parent
_OWN = [
    *(_HERE / name for name in ("hardware.py", "sites.py")),
    *(_HERE / "elaboration" / name for name in ("model.py", "netlist.py")),
]
_PART = re.compile(rf"_{PART}\d+$")
_LATCH = re.compile(r"(?i)latch|\$sr$|_sr_")

# Registers that a remark names one by one.
_NAMED = 8
# Registers that a line for a target file names.
_KEPT = 24


@dataclass
class _Names:
    """Names of a netlist in the source's words.

    Attributes:
        wires: Nets of each bit, by path: module and number, or the digit of a constant.
        memories: Paths of its memories.
        flip_flops: Nets that flip-flops drive, and the names of their cells.
        latches: Nets that latches drive.
    """

    wires: dict[str, list[Net]] = field(default_factory=dict)
    memories: set[str] = field(default_factory=set)
    flip_flops: dict[Net, str] = field(default_factory=dict)
    latches: dict[Net, str] = field(default_factory=dict)


def with_hardware(target: Target, elaboration: Elaboration) -> Elaboration:
    """Return the elaboration with its sites divided: what becomes hardware, and what does not.

    The design under test is simplified block by block as for its area, its inputs free. A bit whose name is
    constant in the end, or is driven by no flip-flop, has no upset rate; of bits that one flip-flop drives
    the first counts. Where a name cannot be followed the bits count as hardware, and a remark says so. The
    result is cached by content.

    Raises:
        HarnessError: If synthesis fails.
    """
    design = design_under_test(target, elaboration)
    sites = elaboration.sites
    nets = [elaboration.locations[e.path] for e in sites.elements]
    latches = [elaboration.is_latch(e.path) for e in sites.elements]
    described = json.dumps([[(e.path, e.bits) for e in sites.elements], [asdict(n) for n in nets], latches])

    def build(folder: Path) -> None:
        gates = gates_of_design(target, elaboration)
        absent, remarks = _Follower(elaboration, _names(gates / BEFORE), _names(gates / AFTER)).follow()
        found = {"absent": [asdict(run) for run in absent], "remarks": remarks}
        write_atomically(folder / _RESULT, json.dumps(found).encode())

    folder = cached_folder("hardware", content_key(design.gates_key, described, _OWN), build)
    found = json.loads((folder / _RESULT).read_text(encoding="utf-8"))
    absent = [Absent(**{**run, "hardware": Hardware(run["hardware"])}) for run in found["absent"]]
    table = SiteTable.of(sites.elements, absent)
    return replace(elaboration, sites=table, warnings=(*elaboration.warnings, *found["remarks"]))


def macro_cells(elaboration: Elaboration, gates: Path) -> dict[str, list[str]]:
    """Return the cells that are left of flip-flops inside SRAM macros, by module of the netlist `gates`."""
    after = _names(gates / AFTER)
    cells: dict[str, set[str]] = defaultdict(set)
    for element in elaboration.sites.elements:
        if element.kind == "macro":
            place = elaboration.locations[element.path]
            nets = after.wires.get(place.net, [])[place.net_low : place.net_low + element.width]
            driven = after.latches if elaboration.is_latch(element.path) else after.flip_flops
            for net in nets:
                if net in driven:
                    cells[net[0]].add(driven[net])
    return {module: sorted(own) for module, own in sorted(cells.items())}


class _Follower:
    def __init__(self, elaboration: Elaboration, before: _Names, after: _Names) -> None:
        self._elaboration = elaboration
        self._sites = elaboration.sites
        self._before = before
        self._after = after
        self._owners: dict[Net, int] = {}
        self._lost: list[str] = []

    def follow(self) -> tuple[list[Absent], list[str]]:
        """Return the sites that are no hardware, and remarks."""
        found = [run for index in range(len(self._sites.elements)) for run in self._of_element(index)]
        strays = {
            net[0] for net in (self._after.flip_flops | self._after.latches).keys() - self._owners.keys()
        }
        if strays:
            # A flip-flop without a name may be one whose name seems to be unused.
            found = [run for run in found if run.hardware is not Hardware.UNUSED]
        return found, [*self._remarks(found), *self._doubts(len(strays))]

    def _of_element(self, index: int) -> Iterator[Absent]:
        element, first = self._sites.elements[index], self._sites.offsets[index]
        place = self._elaboration.locations[element.path]
        if element.kind == "sram":
            if place.net not in self._before.memories:
                self._lost.append(element.path)
            elif place.net not in self._after.memories:
                yield Absent(first, element.bits, Hardware.UNUSED)
            return
        memory = place.net.rpartition("[")[0]
        if place.net not in self._before.wires and memory not in self._before.memories:
            self._lost.append(element.path)
            return
        nets = self._after.wires.get(place.net, [])
        latch = self._elaboration.is_latch(element.path)
        driven = self._after.latches if latch else self._after.flip_flops
        bits = [self._of_bit(first + bit, nets, place.net_low + bit, driven) for bit in range(element.width)]
        yield from _runs(_as_latch(run) if latch else run for run in bits if run is not None)

    def _of_bit(self, site: int, nets: list[Net], place: int, driven: Collection[Net]) -> Absent | None:
        net = nets[place] if place < len(nets) else None
        if net in {"0", "1"}:
            return Absent(site, 1, Hardware.CONSTANT, value=int(net == "1"))
        if net is None or net not in driven:
            return Absent(site, 1, Hardware.UNUSED)
        owner = self._owners.setdefault(net, site)
        return None if owner == site else Absent(site, 1, Hardware.DUPLICATE, same_as=owner)

    def _remarks(self, found: Iterable[Absent]) -> list[str]:
        bits: dict[Hardware, Counter[str]] = defaultdict(Counter)
        for run in found:
            bits[run.hardware][self._sites[run.first].element.path] += run.bits
        return [
            f"{own.total():,} bits of the source code are no hardware and have no fault rate, {_WHY[what]}: "
            f"{_most(own)}{self._as_redundancy(found) if what is Hardware.DUPLICATE else ''}"
            for what, own in sorted(bits.items())
        ]

    def _as_redundancy(self, found: Iterable[Absent]) -> str:
        """Say what keeps copies apart: those that were merged, with what they were merged into."""
        elements = self._sites.elements
        merged = {
            elements[self._sites.element_index(site)].path
            for run in found
            if run.same_as is not None
            for site in (run.first, run.same_as)
        }
        named = ", ".join(json.dumps(path) for path in sorted(merged)[:_KEPT])
        more = ", ..." if len(merged) > _KEPT else ""
        return f"; copies that are redundancy stay with keep = [{named}{more}] in the target file"

    def _doubts(self, strays: int) -> list[str]:
        doubts = []
        if strays:
            doubts.append(
                f"synthesis leaves {strays} modules with flip-flops that cannot be followed to the source "
                "code: no bit counts as unused"
            )
        if self._lost:
            lost = Counter({e.path: e.bits for e in self._sites.elements if e.path in set(self._lost)})
            doubts.append(
                f"{lost.total():,} bits cannot be found again for synthesis and count as hardware: "
                f"{_most(lost)}"
            )
        return doubts


_WHY = {
    Hardware.CONSTANT: "constant",
    Hardware.UNUSED: "read by nothing that matters",
    Hardware.DUPLICATE: "equal to others, whose flip-flop serves for both",
    Hardware.LATCH: "latches that synthesis does not need (full case, loop variable)",
}


def _most(bits: Counter[str]) -> str:
    named = ", ".join(f"{path} ({count})" for path, count in bits.most_common(_NAMED))
    return named + (f" and {len(bits) - _NAMED} more" if len(bits) > _NAMED else "")


def _as_latch(run: Absent) -> Absent:
    return run if run.hardware is Hardware.DUPLICATE else replace(run, hardware=Hardware.LATCH)


def _runs(found: Iterable[Absent]) -> Iterator[Absent]:
    """Join neighbours of which the same is known."""
    last: Absent | None = None
    for run in found:
        if last is not None and run.first == last.end and _continues(last, run):
            last = replace(last, bits=last.bits + run.bits)
            continue
        if last is not None:
            yield last
        last = run
    if last is not None:
        yield last


def _continues(last: Absent, run: Absent) -> bool:
    expected = None if last.same_as is None else last.same_as + last.bits
    return (last.hardware, last.value, expected) == (run.hardware, run.value, run.same_as)


def _names(file: Path) -> _Names:
    """Read the names of a netlist, each with the path of its module before it."""
    found = _Names()
    modules: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))["modules"]
    for name, module in modules.items():
        place = _PART.sub("", name.partition("$")[2].partition(".")[2])
        prefix = f"{place}." if place else ""
        for cell_name, cell in module["cells"].items():
            if cell["type"] == "$mem_v2":
                found.memories.add(prefix + cell["parameters"]["MEMID"].removeprefix("\\"))
            else:
                driven = found.latches if _LATCH.search(cell["type"]) else found.flip_flops
                driven.update(((name, n), cell_name) for n in cell["connections"]["Q"] if isinstance(n, int))
        for wire, held in module["netnames"].items():
            if not held["hide_name"]:
                path = prefix + source_path(wire, held)
                nets = [net if isinstance(net, str) else (name, net) for net in held["bits"]]
                # Names go through the boundary of a generate block: that beside the flip-flop counts.
                if path not in found.wires or any(n in found.flip_flops or n in found.latches for n in nets):
                    found.wires[path] = nets
    return found
