# SPDX-License-Identifier: Apache-2.0
"""Bridges between nets, from a list of pairs.

A dominant bridge gives one net, the victim, what the other one has. A wired bridge gives both what both are
driven to (AND), or either (OR).
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.design.sites import SiteTable, StorageElement
from resil.rtl_harness.engine.fast.gates.logic import READ
from resil.rtl_harness.engine.logic.library import HeldPins, dominated, wired
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.logic.gated import stored_again
from resil.rtl_harness.logic.netlist import NOWHERE, LogicNetlist
from resil.rtl_harness.logic.sites import CLOSES_LOOP, LOGIC, LogicSites, NoSite, behind
from resil.rtl_harness.plain_file import read_cell, read_listed

_SHOWN = 8
# Different weights that a list may have: each is a stratum of each block.
MOST_WEIGHTS = 32


class Way(IntEnum):
    """How two nets act on one another; the number is the bit in the name of a bridge's site."""

    FIRST = 0
    SECOND = 1
    AND = 2
    OR = 3


# What the column `type` of a list may say.
TYPES = {
    "dominant": (Way.FIRST, Way.SECOND),
    "first": (Way.FIRST,),
    "second": (Way.SECOND,),
    "wired_and": (Way.AND,),
    "wired_or": (Way.OR,),
}


@dataclass(frozen=True)
class NetPair:
    """Two nets that may be bridged.

    Attributes:
        first: Name of a pin on the first, as `LogicNetlist.pin_name` has it.
        second: Likewise.
        ways: Faults of the pair.
        weight: How often it is bridged beside the others; its faults share it.
    """

    first: str
    second: str
    ways: tuple[Way, ...] = TYPES["dominant"]
    weight: float = 1.0


def read_pairs(file: Path) -> list[NetPair]:
    """Read a list of pairs: a CSV file with `first` and `second`, and perhaps `type` and `weight`.

    Raises:
        HarnessError: The file cannot be read, or rows are wrong: the first of them are all named.
    """
    try:
        lines = read_listed(file)
    except (OSError, UnicodeDecodeError) as error:
        raise HarnessError(
            f"{file}: expected a list of pairs of nets, found none ({error}); correct the path",
            "faults.bridges",
        ) from None
    names = [name.strip().lower() for name in lines[0].split(",")] if lines else []
    if not {"first", "second"} <= set(names) <= {"first", "second", "type", "weight"}:
        raise HarnessError(
            f"{file}: expected a head with first and second, and perhaps type and weight, found "
            f"{', '.join(names) or 'nothing'}; correct it",
            "faults.bridges",
        )
    found, wrong = [], []
    for number, row in enumerate(csv.DictReader([",".join(names), *lines[1:]]), 1):
        try:
            found.append(_pair({str(k): read_cell(v.strip()) for k, v in row.items() if isinstance(v, str)}))
        except ValueError as error:
            wrong.append(f"row {number}: {error}")
    known: set[tuple[frozenset[str], str]] = set()
    for number, pair in enumerate(found, 1):
        for way in pair.ways:
            key = frozenset((pair.first, pair.second)), way.name if way > Way.SECOND else _by(pair, way)
            if key in known:
                wrong.append(f"row {number}: {pair.first}, {pair.second}: is there twice")
            known.add(key)
    weights = len({pair.weight / len(pair.ways) for pair in found})
    if weights > MOST_WEIGHTS:
        wrong.append(
            f"weight: expected at most {MOST_WEIGHTS} different ones, each is a class that is sampled by "
            f"itself, found {weights}; round them, as to powers of 2"
        )
    if not found and not wrong:
        wrong.append("expected at least one pair, found none")
    if wrong:
        more = f"\nand {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise HarnessError(
            f"{file}: " + "\n".join(wrong[:_SHOWN]) + more + "\ncorrect the list", "faults.bridges"
        )
    return found


def _by(pair: NetPair, way: Way) -> str:
    return pair.first if way is Way.FIRST else pair.second


def _pair(row: dict[str, str]) -> NetPair:
    first, second = row.get("first", ""), row.get("second", "")
    if not first or not second or first == second:
        raise ValueError(f"expected two nets, found {first!r} and {second!r}")
    kind = row.get("type", "").lower() or "dominant"
    if kind not in TYPES:
        raise ValueError(f"type: expected one of {', '.join(TYPES)}, found {kind!r}")
    text = row.get("weight", "") or "1"
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not (math.isfinite(weight) and weight > 0.0):
        raise ValueError(f"weight: expected a positive number, found {text!r}")
    return NetPair(first, second, TYPES[kind], weight)


@dataclass(frozen=True)
class Bridges:
    """The bridges of a list in a netlist; see `resil.rtl_harness.logic.holders.Holder`.

    Attributes:
        sites: Of the bridges that close no loop; the place of a site is its number in `faults`.
        faults: What each is along the gates.
        names: Of each.
        weights: Of each.
        left_out: Names of the bridges that would close a loop of gates.
    """

    of_pins: ClassVar[bool] = False
    sites: LogicSites
    faults: tuple[HeldPins, ...]
    names: tuple[str, ...]
    weights: tuple[float, ...]
    left_out: tuple[str, ...]

    @property
    def relative(self) -> dict[str, float]:
        """The weight of each class of sites; nothing if all are 1."""
        if set(self.weights) == {1.0}:
            return {}
        return {f"weight {weight!r}": weight for weight in self.weights}

    def holder(self, netlist: LogicNetlist, state: npt.NDArray[np.integer[Any]]) -> Bridges:
        """Return themselves: they are what an engine asks."""
        del netlist, state
        return self

    def held(self, place: int, value: int) -> HeldPins:
        """Return the bridge: none stands for another. HarnessError if it is held at another value than 0."""
        if value:
            raise HarnessError(
                f"{self.names[place]}: expected a bridge, which is there or not, found one held at {value}",
                "fault.held",
            )
        return self.faults[place]

    def along_gates(self, place: int, value: int) -> HeldPins:
        """Return the bridge; errors as of `held`."""
        return self.held(place, value)

    def said(self, place: int, value: int) -> str:
        """Return the fault in words."""
        del value
        return f"bridge {self.names[place]}"


def bridges_of(storage: SiteTable, netlist: LogicNetlist, pairs: Sequence[NetPair]) -> Bridges:
    """Return the bridges of a list.

    A bridge by which a net depends on itself along gates has no site: whether such a loop stores or
    oscillates is no matter of cycles.

    Args:
        storage: Sites that come before those of bridges.
        netlist: The design.
        pairs: Of the list.

    Raises:
        HarnessError: A net is not there, is a clock or a constant, or is both nets of a pair.
    """
    nets = _nets(netlist, pairs)
    depends = _depending(netlist, nets)
    blocks, kept = _blocks(netlist), stored_again(netlist)
    elements, faults, names, weights, left_out = [], [], [], [], []
    closing: list[NoSite] = []
    for number, (pair, (one, other)) in enumerate(zip(pairs, nets, strict=True)):
        on_other, on_one = bool(depends[one] >> 2 * number & 2), bool(depends[other] >> 2 * number & 1)
        for way in pair.ways:
            path = f"{pair.first}~{pair.second}"
            # The net that is given a value must not be one on which that value depends.
            closes = on_other if way is Way.FIRST else on_one if way is Way.SECOND else on_other or on_one
            victim, by = (other, one) if way is Way.FIRST else (one, other)
            block = blocks.get(victim, "")
            if closes:
                left_out.append(f"{path}[{way.value}]")
                closing.append(NoSite(path, block, CLOSES_LOOP, bit=way.value))
                continue
            dominant = way in (Way.FIRST, Way.SECOND)
            own = dominated(victim, by) if dominant else wired(one, other, way - Way.AND)
            faults.append(
                (
                    *own,
                    *(pin for net in ((victim,) if dominant else (one, other)) for pin in kept.get(net, ())),
                )
            )
            weight = pair.weight / len(pair.ways)
            elements.append(
                StorageElement(
                    path, LOGIC, 1, block=block, lsb=way.value, register_class=f"weight {weight!r}"
                )
            )
            names.append(f"{path}[{way.value}]")
            weights.append(weight)
    table = behind(storage, elements, closing)
    sites = LogicSites(table, storage.size, np.arange(len(faults), dtype=np.int32))
    return Bridges(sites, tuple(faults), tuple(names), tuple(weights), tuple(left_out))


def _nets(netlist: LogicNetlist, pairs: Sequence[NetPair]) -> list[tuple[int, int]]:
    """Return the nets of each pair; what is wrong is an error, all at once."""
    clocks = set(netlist.pins["net"][netlist.pins["consumer"] == NOWHERE].tolist())
    clocks |= set(netlist.clock_cells[:, 1].tolist())
    wrong: list[str] = []
    of: dict[str, int] = {}
    for name in dict.fromkeys(name for pair in pairs for name in (pair.first, pair.second)):
        pin = netlist.pin_named(name)
        if pin is None:
            wrong.append(f"{name}: expected a pin, as CELL/PIN of resil sites CAMPAIGN.toml --csv FILE")
            continue
        of[name] = int(netlist.pins["net"][pin])
        if of[name] < 2 or of[name] in clocks:
            wrong.append(f"{name}: expected a net that gates drive or take, found a clock or a constant")
    if not wrong:
        wrong = [
            f"{pair.first}, {pair.second}: expected two nets, found pins on one"
            for pair in pairs
            if of[pair.first] == of[pair.second]
        ]
    if wrong:
        more = f"\nand {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise HarnessError("bridges: " + "\n".join(wrong[:_SHOWN]) + more, "faults.bridges")
    return [(of[pair.first], of[pair.second]) for pair in pairs]


def _depending(netlist: LogicNetlist, nets: Sequence[tuple[int, int]]) -> list[int]:
    """Return on which nets each net depends along gates: bit 2 i for the first of pair i, then 2 i + 1."""
    found = [0] * netlist.gates.nets
    for number, (one, other) in enumerate(nets):
        found[one] |= 1 << 2 * number
        found[other] |= 2 << 2 * number
    reads = netlist.gates.reads
    for operation, a, b, s, y in netlist.gates.gates.tolist():
        if operation != READ:
            if mask := found[a] | found[b] | found[s]:
                found[y] |= mask
            continue
        mask = 0
        for net in reads[a][1]:
            mask |= found[net]
        for net in reads[a][2] if mask else ():
            found[net] |= mask
    return found


def _blocks(netlist: LogicNetlist) -> dict[int, str]:
    """Return the block of each net: that of the cell that drives it, else of one that takes it."""
    found: dict[int, str] = {}
    pins = netlist.pins
    for outputs in (0, 1):
        for pin in pins[pins["output"] == outputs].tolist():
            found[pin[3]] = netlist.block(pin[0])
    return found
