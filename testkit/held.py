# SPDX-License-Identifier: Apache-2.0
"""Permanent faults of a netlist beside the netlist as Verilog in an untouched simulator, from reset on."""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.faults import Fault, Injection
from resil.rtl_harness.logic.bridges import NetPair, Way, bridges_of
from resil.rtl_harness.logic.fault_pairs import FaultPairs
from resil.rtl_harness.logic.held_pins import PinHolder
from resil.rtl_harness.logic.holders import HolderOf
from resil.rtl_harness.logic.joined import Joined
from resil.rtl_harness.logic.marked_cells import storing_cells
from resil.rtl_harness.logic.netlist import NOWHERE, TO_FLIP_FLOP, LogicNetlist
from resil.rtl_harness.logic.open_pins import OpenHolder, open_sites
from resil.rtl_harness.logic.sites import LogicSites, pin_sites
from resil.rtl_harness.logic.stuck_engine import BRIDGED_NETS, HELD_PINS, OPEN_INPUTS, StuckEngine
from resil.rtl_harness.logic.verilog import (
    DOMINANT,
    HELD,
    BridgedName,
    HeldName,
    NetlistTarget,
    netlist_target,
)
from testkit.clock_tree import NetlistMaker, as_synthesised


@dataclass(frozen=True)
class ComparedHolds:
    """What the engine and the simulator of the netlist say of permanent faults, in one order.

    Attributes:
        pins: Name of each pin, and the value at which it is held or open; of a bridge its name, and 0.
        found: The engine's answers.
        judged: Those of the simulator, each from a run of its own.
        engine_seconds: Processor time of the engine for all of them, netlist and golden run there; the least
            of some runs of engines of their own where one takes less than a second.
        simulator_seconds: That of the simulator, built and with its golden run.
    """

    pins: list[tuple[str, int]]
    found: list[Injection]
    judged: list[Injection]
    engine_seconds: float
    simulator_seconds: float

    @property
    def different(self) -> list[int]:
        """Places of those with another answer."""
        both = enumerate(zip(self.found, self.judged, strict=True))
        return [place for place, (one, other) in both if one != other]


def _spent() -> float:
    """Return the processor time of this process and of those that it has waited for, in seconds."""
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + others.ru_utime + others.ru_stime


def _usable_pins(netlist: LogicNetlist) -> npt.NDArray[np.int64]:
    """Return the rows of all pins but those of clocks of flip-flops and of asynchronous loads."""
    pins = netlist.pins
    loads = (pins["consumer"] == TO_FLIP_FLOP) & (pins["column"] == 2)
    return np.flatnonzero(((pins["consumer"] != NOWHERE) | netlist.on_clock_cells) & ~loads)


def _namer(netlist: LogicNetlist, design: Joined) -> Callable[[int, int], HeldName]:
    """Return what names a pin, by its row, that is held at a value; cells come in one order in both."""
    cells, pins = [cell.name for cell in design.cells], netlist.pins
    return lambda pin, value: (cells[pins[pin]["cell"]], netlist.pin_names[pins[pin]["name"]], value)


class _PinFaults(NamedTuple):
    """Faults of pins, as `StuckEngine` takes them."""

    sites: Callable[[SiteTable, LogicNetlist], LogicSites]
    holder: HolderOf
    words: tuple[str, str]


_HELD = _PinFaults(pin_sites, PinHolder, HELD_PINS)
_OPEN = _PinFaults(open_sites, OpenHolder, OPEN_INPUTS)


def compared_holds(
    target: Target,
    workload: Workload,
    elaboration: Elaboration,
    number: int,
    seed: int,
    folder: Path,
    of: Callable[[LogicNetlist], npt.NDArray[np.int64]] = _usable_pins,
    made: NetlistMaker = as_synthesised,
) -> ComparedHolds:
    """Return what the engine and the simulator of the netlist say of pins that are held.

    Args:
        target: The design.
        workload: What it runs.
        elaboration: Its storage, of which it is known what becomes hardware.
        number: Faults to draw.
        seed: Of the draw.
        folder: Where the netlist goes.
        of: Pins to draw from, by their rows; by default all but clocks of flip-flops and asynchronous loads.
        made: Makes the netlist.
    """
    return _compared_pins(_HELD, target, workload, elaboration, number, seed, folder, of, made)


def compared_opens(
    target: Target,
    workload: Workload,
    elaboration: Elaboration,
    number: int,
    seed: int,
    folder: Path,
    *,
    made: NetlistMaker = as_synthesised,
) -> ComparedHolds:
    """Return what both say of open inputs, drawn from all; arguments as of `compared_holds`."""
    return _compared_pins(_OPEN, target, workload, elaboration, number, seed, folder, None, made)


def _compared_pins(
    faults: _PinFaults,
    target: Target,
    workload: Workload,
    elaboration: Elaboration,
    number: int,
    seed: int,
    folder: Path,
    of: Callable[[LogicNetlist], npt.NDArray[np.int64]] | None,
    made: NetlistMaker,
) -> ComparedHolds:
    """Return what both say of faults of pins, drawn from all sites, or from those that are on some pins."""
    netlist, design = made(target, elaboration)
    sites = faults.sites(elaboration.sites, netlist)
    usable = np.isin(sites.pins, of(netlist)) if of else np.ones(len(sites.pins), bool)
    every = [(place, value) for place in np.flatnonzero(usable).tolist() for value in (0, 1)]
    chosen = random.Random(seed).sample(every, min(number, len(every)))
    # Flip-flops have the names of their registers in the netlist.
    name_of = _namer(netlist, design)
    names = [name_of(int(sites.pins[place]), value) for place, value in chosen]
    held, opened = (names, ()) if faults is _HELD else ((), names)
    truth = netlist_target(target, elaboration, design, (), folder, held, opened)
    parts = target, workload, elaboration, netlist, sites
    bits = truth.held if faults is _HELD else truth.opened
    return _compared(
        lambda: StuckEngine(*parts, holder=faults.holder, names=faults.words),
        workload,
        [Fault(sites.first + place, 0, held=value) for place, value in chosen],
        truth,
        [bits[name] for name in names],
        [(netlist.pin_name(int(sites.pins[place])), value) for place, value in chosen],
    )


def drawn_pairs(netlist: LogicNetlist, number: int, seed: int) -> list[NetPair]:
    """Return pairs of outputs of cells, drawn at random: dominant both ways, wired AND, or wired OR."""
    rng = random.Random(seed)
    pins = netlist.pins
    outputs = np.flatnonzero((pins["output"] == 1) & ~netlist.on_clock_cells).tolist()
    name = netlist.pin_name
    found: dict[frozenset[str], NetPair] = {}
    # Of all pairs at most half: what is drawn anew is mostly new.
    most = min(number, len(outputs) * (len(outputs) - 1) // 4)
    while len(found) < most:
        one, other = rng.sample(outputs, 2)
        way = rng.choice([(Way.FIRST, Way.SECOND), (Way.AND,), (Way.OR,)])
        found.setdefault(frozenset((name(one), name(other))), NetPair(name(one), name(other), way))
    return [*found.values()]


def compared_bridges(
    target: Target,
    workload: Workload,
    elaboration: Elaboration,
    number: int,
    seed: int,
    folder: Path,
    *,
    made: NetlistMaker = as_synthesised,
) -> ComparedHolds:
    """Return what both say of bridges between drawn outputs of cells; arguments as of `compared_holds`."""
    netlist, design = made(target, elaboration)
    pairs = drawn_pairs(netlist, number, seed)
    bridges = bridges_of(elaboration.sites, netlist, pairs)
    chosen = random.Random(seed).sample(range(len(bridges.faults)), min(number, len(bridges.faults)))
    cells = [cell.name for cell in design.cells]

    def output(name: str) -> tuple[str, str]:
        row = netlist.pins[netlist.pin_named(name)]
        return cells[int(row["cell"])], netlist.pin_names[int(row["name"])]

    def named(name: str) -> BridgedName:
        pair, _, way = name.removesuffix("]").rpartition("[")
        first, second = map(output, pair.split("~"))
        victims = (second, first) if Way(int(way)) is Way.FIRST else (first, second)
        return (*victims, (DOMINANT, DOMINANT, "and", "or")[int(way)])

    names = [named(bridges.names[place]) for place in chosen]
    truth = netlist_target(target, elaboration, design, (), folder, bridged=names)
    faults = [Fault(bridges.sites.first + place, 0, held=0) for place in chosen]
    parts = target, workload, elaboration, netlist, bridges.sites

    def engine() -> StuckEngine:
        return StuckEngine(*parts, holder=bridges.holder, names=BRIDGED_NETS)

    said = [(bridges.names[place], 0) for place in chosen]
    return _compared(engine, workload, faults, truth, [truth.bridged[name] for name in names], said)


def _compared(
    made: Callable[[], StuckEngine],
    workload: Workload,
    faults: Sequence[Fault],
    truth: NetlistTarget,
    bits: Sequence[int],
    said: list[tuple[str, int]],
) -> ComparedHolds:
    """Run faults in both; of each it is known which bit of the netlist in Verilog brings it about."""
    times: list[float] = []
    # What others do on the machine is as much as a short run takes.
    while not times or (times[0] < 1.0 and len(times) < 5):
        with made() as engine:
            assert engine.simulator
            began = _spent()
            found = {injection.fault: injection for injection in engine.run(faults)}
            times.append(_spent() - began)
    of = {Fault(bit, 0, held=1): fault for bit, fault in zip(bits, faults, strict=True)}
    with PlainEngine(truth.target, workload, truth.elaboration) as plain:
        plain.golden()
        began = _spent()
        judged = {
            of[injection.fault]: replace(injection, fault=of[injection.fault])
            for injection in plain.run(list(of))
        }
        simulator_seconds = _spent() - began
    return ComparedHolds(
        said,
        [found[fault] for fault in faults],
        [judged[fault] for fault in faults],
        min(times),
        simulator_seconds,
    )


def compared_pairs(
    target: Target,
    workload: Workload,
    elaboration: Elaboration,
    firsts: Sequence[tuple[int, int]],
    number: int,
    seed: int,
    folder: Path,
) -> list[tuple[Injection, Injection]]:
    """Return what the engine and the simulator of the netlist say of second faults in machines with a first.

    The netlist is built anew for each first fault, which is a constant in it; so that machine is the one that
    the simulator takes for the one without a fault.

    Args:
        target: The design.
        workload: What it runs.
        elaboration: Its storage, of which it is known what becomes hardware.
        firsts: Row of a pin, and the value at which it is held; the machine has to end.
        number: Second faults of each: half of them pins, half of them upsets.
        seed: Of the draw.
        folder: Where netlists go.
    """
    netlist, design = as_synthesised(target, elaboration)
    sites = pin_sites(elaboration.sites, netlist)
    usable = _usable_pins(netlist)
    rng = random.Random(seed)
    named = _namer(netlist, design)
    found = []
    with FaultPairs(target, workload, elaboration, netlist, sites) as engine:
        cycles = engine.golden().cycles
        for place, (pin, value) in enumerate(firsts):
            seconds = [
                (p, v)
                for p in rng.sample(usable.tolist(), number // 2)
                for v in (rng.randrange(2),)
                if p != pin
            ]
            upsets = [
                (cell, rng.randrange(cycles))
                for cell in rng.choices(storing_cells(netlist), k=number - number // 2)
            ]
            first = engine.held(Fault(sites.first + pin, 0, held=value))
            machines = [
                (Fault(sites.first + p, 0, held=v), (*first, *engine.held(Fault(sites.first + p, 0, held=v))))
                for p, v in seconds
            ]
            machines += [
                (Fault(0, cycle), (*first, engine.upset_of_cell(cell, cycle))) for cell, cycle in upsets
            ]
            own = folder / str(place)
            own.mkdir()
            names = [named(pin, value), *(named(p, v) for p, v in seconds)]
            truth = netlist_target(target, elaboration, design, (), own, names)
            file = own / "netlist.sv"
            text = file.read_text(encoding="utf-8")
            assert text.count(f"({HELD}[0] ?") == 1
            file.write_text(text.replace(f"({HELD}[0] ?", "(1'b1 ?"), encoding="utf-8")
            faults = [Fault(truth.held[name], 0, held=1) for name in names[1:]]
            faults += [Fault(truth.flip_flops[design.cells[cell].name], cycle) for cell, cycle in upsets]
            with PlainEngine(truth.target, workload, truth.elaboration) as plain:
                judged = {injection.fault: injection for injection in plain.run(list(dict.fromkeys(faults)))}
            for ours, fault in zip(engine.together(machines), faults, strict=True):
                found.append((ours, replace(judged[fault], fault=ours.fault)))
    return found
