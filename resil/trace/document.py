# SPDX-License-Identifier: Apache-2.0
"""The document of one trace, from what the engine found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from resil.bench.site_list import block_name
from resil.record.trace import (
    BENCH,
    Trace,
    TraceAlarm,
    TraceCrossing,
    TracePath,
    TracePhase,
    TraceRegister,
    TraceStep,
    TraceTensor,
)
from resil.rtl_harness.design.sites import Site, SiteTable
from resil.rtl_harness.engine.contract import GoldenRun
from resil.rtl_harness.engine.trace.fault_trace import BlockCrossing, FaultTrace, SeenPath, TouchedStorage
from resil.rtl_harness.faults import Rise, Seen

_LATE = (
    "the run with the fault ended {cycles} cycles later: what differs in a cycle may be the same, done later"
)
_NOT_WHOLE = (
    "so much differed that cycles after {cycle} were not compared: what is said of storage ends there, and "
    "no path leads to what was seen later"
)
MOST_PHASES = 200
"""Changes of the difference that are listed; what was there to be said of it was mostly said before."""


@dataclass(frozen=True)
class Traced:
    """What a trace is about.

    Attributes:
        target: Its name.
        workload: What ran, for people.
        label: Label of the input.
        number: Of the injection; None of a fault of no run.
        stored: What the run has of it; None likewise.
    """

    target: str
    workload: str
    label: int
    number: int | None = None
    stored: Mapping[str, int | str] | None = None


def trace_document(
    found: FaultTrace,
    sites: SiteTable,
    golden: GoldenRun,
    about: Traced,
    outcome: Mapping[str, int | str],
    tensors: Sequence[TraceTensor],
    notes: Iterable[str],
) -> Trace:
    """Return what a trace says, as a document."""
    fault, site = found.fault, sites[found.fault.site]
    phases = phases_of(found.spans)
    no_ways = (f"no causal path: {found.no_ways}",) if found.no_ways else ()
    not_whole = () if found.is_whole else (_NOT_WHOLE.format(cycle=found.end - 1),)
    apart = found.injection.end_cycle - golden.cycles
    late = (_LATE.format(cycles=apart),) if apart > 0 and found.injection.seen is not Seen.HANG else ()
    return Trace(
        schema=Trace.SCHEMA,
        injection=about.number,
        target=about.target,
        workload=about.workload,
        input=about.label,
        name=site.name,
        site=fault.site,
        bits=fault.bits,
        block=block_name(site.element.block),
        register_class=site.element.register_class,
        cycle=fault.cycle,
        golden_end=golden.cycles,
        end=found.injection.end_cycle,
        compared_to=found.end - 1,
        outcome=outcome,
        stored=about.stored,
        vanished=found.vanished,
        registers=tuple(map(_register, found.touched)),
        phases=phases[:MOST_PHASES],
        phases_left_out=max(len(phases) - MOST_PHASES, 0),
        crossings=tuple(map(_crossing, found.crossings)),
        alarms=tuple(_alarm(rise, fault.cycle) for rise in found.alarms),
        tensors=tuple(tensors),
        paths=tuple(map(_path, found.ways)),
        notes=(*notes, *no_ways, *not_whole, *late),
    )


def phases_of(spans: Iterable[tuple[int, int, int, int]]) -> tuple[TracePhase, ...]:
    """Return what became of a difference, from its first and last cycles, bits and words.

    Examples:
        >>> phases = phases_of([(5, 9, 1, 1), (10, 10, 1, 1), (11, 11, 1, 1), (12, 20, 3, 2), (21, 21, 0, 0)])
        >>> [(p.first_cycle, p.last_cycle, p.change, p.held) for p in phases]
        [(5, 9, 'struck', 4), (10, 11, 'moved', 0), (12, 20, 'grew', 8), (21, 21, 'gone', 0)]
    """
    phases: list[TracePhase] = []
    before: int | None = None
    for first, last, bits, words in spans:
        change = _change(before, bits)
        before = bits
        begun, held = first, last - first
        if phases and phases[-1].change == change:
            begun, held = phases[-1].first_cycle, phases[-1].held + held
            phases.pop()
        phases.append(
            TracePhase(first_cycle=begun, last_cycle=last, change=change, held=held, bits=bits, words=words)
        )
    return tuple(phases)


def _change(before: int | None, bits: int) -> str:
    if before is None:
        return "struck"
    if bits == 0:
        return "gone"
    if before == 0:
        return "returned"
    return "moved" if bits == before else "grew" if bits > before else "shrank"


def _register(one: TouchedStorage) -> TraceRegister:
    element = one.element
    digits = (element.width + 3) // 4
    return TraceRegister(
        name=element.path,
        block=_block(element.block, one.of_bench),
        kind=element.kind,
        register_class=element.register_class,
        first_cycle=one.first,
        last_cycle=one.last,
        cycles=one.cycles,
        bits=one.most_bits,
        words=one.words,
        word=one.word + element.first_word if element.kind == "sram" else 0,
        golden=f"{one.golden:0{digits}x}",
        faulty=f"{one.faulty:0{digits}x}",
    )


def _crossing(one: BlockCrossing) -> TraceCrossing:
    pairs = zip(one.sources, one.of_bench_sources, strict=True)
    blocks = (_block(site.element.block, of_bench) for site, of_bench in pairs)
    return TraceCrossing(
        cycle=one.cycle,
        block=_block(one.block, one.of_bench),
        name=one.site.name,
        came_from=tuple(site.name for site in one.sources),
        from_blocks=tuple(dict.fromkeys(blocks)),
    )


def _path(way: SeenPath) -> TracePath:
    return TracePath(
        to=way.to,
        cycle=way.cycle,
        moves=max(len(way.steps) - 1, 0),
        shortest=way.shortest and bool(way.steps),
        steps=tuple(_step(step.site, step.of_bench, step.first, step.last) for step in way.steps),
        problem=way.problem,
    )


def _step(site: Site, of_bench: bool, first: int, last: int) -> TraceStep:
    return TraceStep(
        first_cycle=first,
        last_cycle=last,
        name=site.name,
        block=_block(site.element.block, of_bench),
        register_class=site.element.register_class,
    )


def _alarm(rise: Rise, struck: int) -> TraceAlarm:
    return TraceAlarm(name=rise.alarm, reports=rise.kind.value, cycle=rise.cycle, latency=rise.cycle - struck)


def _block(block: str, of_bench: bool) -> str:
    return BENCH if of_bench else block_name(block)
