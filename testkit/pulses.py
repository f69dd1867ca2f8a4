# SPDX-License-Identifier: Apache-2.0
"""Pulses in logic against restarts of an untouched Verilator on the netlist: for a test and a benchmark."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.faults import Fault, Injection, Seen
from resil.rtl_harness.logic.pulse_engine import PulseEngine
from resil.rtl_harness.logic.sites import pulse_sites
from resil.rtl_harness.logic.verilog import netlist_target
from testkit.clock_tree import NetlistMaker, as_synthesised


@dataclass(frozen=True)
class ComparedPulses:
    """What engine and truth say of the same pulses.

    Attributes:
        pulses: How many there were.
        different: Pin, cycle, and both answers, of those with another answer.
        outcomes: By outcome.
        unseen: Pulses that left nothing after their cycle.
        clocks: Pulses at clock gates, and at buffers of clocks.
    """

    pulses: int
    different: list[tuple[str, int, Injection, Injection]]
    outcomes: Counter[str]
    unseen: int
    clocks: int


def compared_pulses(
    target: Target,
    workload: Workload,
    number: int,
    seed: int,
    folder: Path,
    workers: int = 2,
    last: int | None = None,
    made: NetlistMaker = as_synthesised,
) -> ComparedPulses:
    """Draw pulses, at different cells as far as there are enough, and compare engine and truth.

    The truth is the design as a netlist in Verilog, where each pulse is an inverted output for one cycle.
    Pulses are in any cycle, or in as many as `last` before the end. Compared are what is seen, the cycle of
    the end, status, output and alarms. The latch of a clock gate is storage of the RTL and none of the
    netlist: in a run that ends in another cycle than without a fault it alone may differ, so there latent and
    masked are one where there are latches.
    """
    elaboration = with_hardware(target, elaborate(target, workload.parameters))
    netlist, design = made(target, elaboration)
    sites = pulse_sites(elaboration.sites, netlist)
    choose = np.random.default_rng(seed)
    all_sites = np.arange(sites.first, sites.table.size)
    chosen = choose.choice(all_sites, size=number, replace=number > len(all_sites)).tolist()
    cells = {site: netlist.names[int(netlist.pins["cell"][sites.pin(site)])] for site in chosen}
    truth = netlist_target(target, elaboration, design, sorted(set(cells.values())), folder)
    with PulseEngine(target, workload, elaboration, netlist, sites, sweep=True) as engine:
        golden = engine.golden()
        first = 0 if last is None else golden.cycles - last
        faults = [Fault(site, int(choose.integers(first, golden.cycles))) for site in chosen]
        found = {injection.fault: injection for injection in engine.run(faults, workers)}
        unseen = engine.unseen
    with PlainEngine(truth.target, workload, truth.elaboration) as plain:
        own = plain.golden()
        assert (own.end.output, own.end.end_cycle) == (golden.end.output, golden.end.end_cycle)
        struck = {Fault(truth.pulse[cells[f.site]], f.cycle): f for f in found}
        judged = {struck[one.fault]: one for one in plain.run(list(struck), workers)}
    assert judged.keys() == found.keys()
    latches = any(elaboration.is_latch(element.path) for element in elaboration.sites.elements)

    def answer(one: Injection) -> tuple[object, ...]:
        seen = one.seen
        if latches and seen is Seen.LATENT and one.end_cycle != golden.end.end_cycle:
            seen = Seen.MASKED
        return seen, one.end_cycle, one.status, one.output_hash, one.detected, one.corrected

    different = [
        (netlist.pin_name(sites.pin(f.site)), f.cycle, found[f], judged[f])
        for f in sorted(found)
        if answer(found[f]) != answer(judged[f])
    ]
    clocks = {netlist.names[cell] for cell in netlist.clock_cells[:, 0].tolist()}
    return ComparedPulses(
        len(found),
        different,
        Counter(one.outcome.value for one in found.values()),
        unseen,
        sum(cells[f.site] in clocks for f in found),
    )
