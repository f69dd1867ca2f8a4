# SPDX-License-Identifier: Apache-2.0
"""Fault sites in logic: pins of cells, numbered behind the storage of the design."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from resil.rtl_harness.design.sites import Kind, Site, SiteTable, StorageElement
from resil.rtl_harness.logic.expand import BUFFER, NOT
from resil.rtl_harness.logic.netlist import NO_CELL, TO_GATE, Ints, LeftOut, LogicNetlist

LOGIC = cast(Kind, "logic")
"""Kind of an element that is a cell; storage has those of `design.sites.KINDS`."""

ALL_PINS, CLOSES_LOOP = "*", "closes_loop"
"""Of `NoSite`: the pins of what is no cell, and why a bridge has no site."""

CLOCK, RESET = "clock", "reset"
"""Classes of cells one pulse of which strikes many registers; the class of any other cell is its type.

Clock gates, and buffers and inverters of a clock's tree, are of the first. What drives an asynchronous load,
by itself or through buffers and inverters, is of the second, and these are.
"""


@dataclass(frozen=True, slots=True)
class PinSite(Site):
    """A pin of a cell.

    Attributes:
        pin: Its name in the cell.
    """

    pin: str

    @property
    def name(self) -> str:
        """Cell and pin, as the netlist has them."""
        return f"{self.element.path}/{self.pin}"


@dataclass(frozen=True, slots=True)
class NoSite:
    """What faults of a campaign's model could strike, and no engine here follows.

    Attributes:
        path: Of the cell; of a bridge both of its nets.
        block: Of the cell.
        reason: One of `netlist.LEFT_OUT`, or `CLOSES_LOOP`.
        pin: Its name in the cell, `ALL_PINS` where they are not known; "" of a bridge.
        bit: Of a bridge in which way its nets act on one another.
    """

    path: str
    block: str
    reason: str
    pin: str = ""
    bit: int = 0

    @property
    def name(self) -> str:
        """As that of a site."""
        return f"{self.path}/{self.pin}" if self.pin else f"{self.path}[{self.bit}]"


@dataclass(frozen=True)
class PinTable(SiteTable):
    """Storage, and behind it pins of cells.

    Attributes:
        pin_names: Of each pin, in the order of its site; empty of bridges.
        no_sites: What is left out.
    """

    pin_names: tuple[str, ...] = field(default=(), kw_only=True, repr=False)
    no_sites: tuple[NoSite, ...] = field(default=(), kw_only=True, repr=False)

    def __getitem__(self, site: int) -> Site:
        own, place = super().__getitem__(site), site - self.size + len(self.pin_names)
        return own if place < 0 else PinSite(own.element, own.word, own.bit, self.pin_names[place])


@dataclass(frozen=True)
class LogicSites:
    """Which pins of a netlist are fault sites.

    Attributes:
        table: Storage, then an element of kind `LOGIC` for each cell that has sites, its pins as its bits; of
            bridges one for each.
        first: The first site in logic, which is the number of storage sites.
        pins: Row of `LogicNetlist.pins` of each site from there on, (sites,); of bridges their numbers.
    """

    table: SiteTable
    first: int
    pins: Ints

    def pin(self, site: int) -> int:
        """Return the pin that a site is; IndexError if it is none in logic."""
        if site < self.first:
            raise IndexError(f"site {site} is storage, the first in logic is {self.first}")
        return int(self.pins[site - self.first])


def pulse_sites(storage: SiteTable, netlist: LogicNetlist) -> LogicSites:
    """Return the sites of pulses: the outputs of gates and of clock trees, not those of flip-flops."""
    return sites_of_pins(
        storage, netlist, struck_outputs(netlist), lambda own: () if own.stores else own.outputs
    )


def struck_outputs(netlist: LogicNetlist) -> Ints:
    """Return the rows of the pins at which pulses strike."""
    pins = netlist.pins
    chosen = (pins["output"] == 1) & (pins["consumer"] == TO_GATE) & ~netlist.stores[pins["cell"]]
    return np.flatnonzero(chosen).astype(np.int32)


def pin_sites(storage: SiteTable, netlist: LogicNetlist) -> LogicSites:
    """Return the sites of permanent faults: all pins of all cells that are not left out."""
    return sites_of_pins(
        storage,
        netlist,
        np.arange(len(netlist.pins), dtype=np.int32),
        lambda own: (*own.outputs, *own.data, *own.controls),
    )


def sites_of_pins(
    storage: SiteTable, netlist: LogicNetlist, chosen: Ints, of_left_out: Callable[[LeftOut], tuple[str, ...]]
) -> LogicSites:
    """Return the sites of some pins.

    Args:
        storage: Sites that come before them.
        netlist: The design.
        chosen: Rows of the pins, ascending.
        of_left_out: Returns the pins of a cell without sites that would be among them.
    """
    cells = netlist.pins["cell"][chosen]
    owners, widths = np.unique(cells, return_counts=True)
    resets = _reset_nets(netlist)
    clocks = set(netlist.clock_cells[:, 0].tolist())
    outputs = netlist.pins["net"][netlist.first_pin[:-1][owners]] if len(owners) else np.zeros(0, np.int32)
    elements = [
        StorageElement(
            netlist.names[cell],
            LOGIC,
            width,
            block=netlist.block(cell),
            register_class=CLOCK if cell in clocks else RESET if net in resets else netlist.cell_type(cell),
        )
        for cell, width, net in zip(owners.tolist(), widths.tolist(), outputs.tolist(), strict=True)
    ]
    names = tuple(netlist.pin_names[name] for name in netlist.pins["name"][chosen].tolist())
    left_out = tuple(
        NoSite(name.partition(", a ")[0], own.block, own.reason, pin)
        for name, own in sorted(netlist.left_out.items())
        for pin in (of_left_out(own) if own.reason != NO_CELL else (ALL_PINS,))
    )
    table = PinTable((*storage.elements, *elements), storage.absent, pin_names=names, no_sites=left_out)
    return LogicSites(table, storage.size, chosen)


def behind(
    storage: SiteTable, elements: Sequence[StorageElement], no_sites: Sequence[NoSite] = ()
) -> SiteTable:
    """Return storage with further elements behind it, and what is left out of these."""
    return PinTable((*storage.elements, *elements), storage.absent, no_sites=tuple(no_sites))


def _reset_nets(netlist: LogicNetlist) -> set[int]:
    """Return nets that asynchronous loads are, and those from which buffers and inverters lead to them."""
    found = set(netlist.gates.flip_flops[:, 2].tolist())
    gates = netlist.gates.gates
    for _, a, *_, y in reversed(gates[np.isin(gates[:, 0], (BUFFER, NOT))].tolist()):
        if y in found:
            found.add(a)
    return found - {0, 1}


def types_text(netlist: LogicNetlist, blocks: Iterable[str] = ()) -> str:
    """Say how many cells there are of each type, the commonest first; of some blocks if any are named."""
    wanted = set(blocks)
    counts: dict[str, int] = {}
    for cell in range(netlist.cells):
        if not wanted or netlist.block(cell) in wanted:
            counts[netlist.cell_type(cell)] = counts.get(netlist.cell_type(cell), 0) + 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} {name}" for name, count in ordered)
