# SPDX-License-Identifier: Apache-2.0
"""Traces faults of one workload: simulates each beside the golden run, and follows what differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from resil.rtl_harness.design.operations import operation_ends
from resil.rtl_harness.engine.contract import check_fault
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.gates.circuit import circuit_of
from resil.rtl_harness.engine.fast.gates.gates import read_gates
from resil.rtl_harness.engine.fast.gates.moments import UnsupportedError
from resil.rtl_harness.engine.fast.native.library import ModelInstance
from resil.rtl_harness.engine.trace.causal_path import CausalPath, PathGoal, causal_paths
from resil.rtl_harness.engine.trace.fault_trace import (
    BlockCrossing,
    FaultTrace,
    MemorySnapshot,
    PathStep,
    SeenPath,
    TouchedStorage,
)
from resil.rtl_harness.engine.trace.history import DifferenceHistory
from resil.rtl_harness.engine.trace.pair_run import PairRun
from resil.rtl_harness.engine.trace.storage_bits import StorageBits, StorageWord
from resil.rtl_harness.engine.trace.waves import write_waves
from resil.rtl_harness.engine.trace.window import GateNetlist
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault, Injection, Reported, Rise, Seen


@dataclass
class _Values:
    """Takes what words hold when they first differ."""

    bits: StorageBits
    history: DifferenceHistory
    first: dict[int, tuple[int, int, int]] = field(default_factory=dict)  # word, golden, faulty

    def __call__(self, golden: ModelInstance, faulty: ModelInstance, cycle: int) -> None:
        if self.history.full:
            return
        found = self.bits.differing(golden, faulty)
        if not self.history.add(found) or not len(found):
            return
        elements, words = self.bits.words(found)
        known = np.array(sorted(self.first), np.int64)
        for element in np.unique(elements[~np.isin(elements, known)]).tolist():
            word = int(words[elements == element].min())
            where = StorageWord(element, word)
            values = [self.bits.value(one, where) for one in (golden, faulty)]
            self.first[element] = (word, values[0], values[1])


class Tracer:
    """Traces faults of one workload.

    Args:
        engine: Of the workload; it must outlive this.
    """

    def __init__(self, engine: VerilatorEngine) -> None:
        self._engine = engine
        self.bits = StorageBits(engine.elaboration, engine.model.map)
        self._refusal = ""

    def trace(
        self,
        fault: Fault,
        *,
        memory: str | None = None,
        waves: Path | None = None,
        ways: bool = True,
    ) -> FaultTrace:
        """Simulate a fault beside the golden run and return how it spread.

        Args:
            fault: An upset.
            memory: Memory of the target that is looked at when operations end; None for none.
            waves: Where to write what differed, in both runs; None for nowhere.
            ways: Look for causal paths, and for where crossings came from.

        Raises:
            HarnessError: The fault is a stuck bit, or the workload makes two inferences.
            SimulationError: The design stops itself, or the trace contradicts itself.
        """
        engine, bits = self._engine, self.bits
        check_traceable(engine, fault)
        history = DifferenceHistory(fault.cycle)
        values = _Values(bits, history)
        with PairRun(engine, fault) as run:
            run.go(engine.replay(fault).end_cycle, values)
            injection = run.injection
            assert injection is not None
            output = engine.model.runner.output(run.faulty, engine.workload)
            expected = engine.golden().end.output
            wrong = [i for i, (a, b) in enumerate(zip(expected, output, strict=True)) if a != b]
            risen = _risen(engine, run.faulty)
            touched = _touched(bits, history, values)
            crossed = list(_crossed(bits, history, touched))
            goals = _goals(engine, bits, history, injection, risen, wrong)
            found = self._followed(run, history, goals if ways else [], crossed if ways else [])
            seen_paths = (*found[0], *_later(injection, history, goals)) if ways else ()
            snapshots = () if memory is None else tuple(self._snapshots(run, memory))
            if waves is not None:
                write_waves(waves, run, bits, touched, history.end)
        sources = found[1] or [()] * len(crossed)
        return FaultTrace(
            fault=fault,
            injection=injection,
            end=history.end,
            touched=touched,
            spans=tuple(_spans(bits, history)),
            vanished=history.vanished,
            crossings=tuple(
                _crossing(bits, block, cycle, bit, came_from)
                for (block, cycle, bit), came_from in zip(crossed, sources, strict=True)
            ),
            alarms=risen,
            wrong_bytes=tuple(wrong),
            output=output,
            snapshots=snapshots,
            ways=seen_paths,
            no_ways=self._refusal,
            is_whole=not history.full,
        )

    @cached_property
    def _netlist(self) -> tuple[GateNetlist, tuple[tuple[int, ...], ...]] | None:
        """The gates, and the nets of alarms; None if there are none, and why is kept."""
        model = self._engine.model
        try:
            gates = read_gates(self._engine.target, self._engine.elaboration)
            circuit = circuit_of(gates, model.origin, model.memory_words)
        except UnsupportedError as error:
            self._refusal = f"the design could not be made into gates: {error}"
            return None
        return GateNetlist(circuit, self.bits), gates.alarms

    def _followed(
        self,
        run: PairRun,
        history: DifferenceHistory,
        goals: Sequence[_Seen],
        crossed: Sequence[tuple[str, int, int]],
    ) -> tuple[tuple[SeenPath, ...], list[tuple[int, ...]]]:
        """Return the ways to what was seen, and where each crossing came from."""
        if not (goals or crossed) or self._netlist is None:
            return (), []
        netlist, alarms = self._netlist
        done = (int(netlist.circuit.ports[0]),)

        def goal(seen: _Seen) -> PathGoal:
            nets = () if seen.bit is not None else done if seen.alarm is None else alarms[seen.alarm]
            return PathGoal(seen.cycle, seen.bit, nets)

        struck = _struck(self._engine, self.bits, run.fault)
        arrivals = [(bit, cycle) for _, cycle, bit in crossed]
        targets = [goal(seen) for seen in goals]
        paths, came_from = causal_paths(run, netlist, self.bits, history, struck, targets, arrivals)
        pairs = zip(goals, paths, strict=True)
        return tuple(_way(self.bits, seen, path) for seen, path in pairs), came_from

    def _snapshots(self, run: PairRun, name: str) -> Iterator[MemorySnapshot]:
        """Yield a memory at the ends of operations that both runs have, after the fault."""
        model, workload = self._engine.model, self._engine.workload
        ends = self._engine.golden().operation_ends, operation_ends(run.faulty.operations())
        pairs = [
            (k, *cycles) for k, cycles in enumerate(zip(*ends, strict=False)) if min(cycles) > run.fault.cycle
        ]
        if not pairs:
            return
        with self._engine.start() as golden, self._engine.start() as faulty:
            golden.copy_from(run.checkpoints[0].golden)
            faulty.copy_from(run.checkpoints[0].faulty)
            for k, golden_end, faulty_end in pairs:
                golden.run_to(golden_end)
                faulty.run_to(faulty_end)
                contents = (model.runner.memory(one, name, workload) for one in (golden, faulty))
                yield MemorySnapshot(k, golden_end, faulty_end, *contents)


def check_traceable(engine: VerilatorEngine, fault: Fault) -> None:
    """Raise HarnessError if a fault on this engine cannot be traced; `field` says why."""
    name = f"{engine.target.name} running {engine.workload.name}"
    if fault.held is not None:
        raise HarnessError(
            f"{name}: expected an upset, found a stuck bit, which is there in all cycles; a trace follows "
            "what is inverted once: choose an upset",
            "fault.held",
        )
    if engine.workload.inferences > 1:
        raise HarnessError(
            f"{name}: expected one inference, found {engine.workload.inferences}; trace a campaign of one",
            "inferences",
        )
    check_fault(fault, engine.elaboration, engine.golden().cycles)


def _risen(engine: VerilatorEngine, faulty: ModelInstance) -> tuple[Rise, ...]:
    """Return the alarms that rose and do not in the golden run."""
    alarms = list(engine.target.alarms.items())
    usual = {rise.alarm for rise in engine.golden().end.alarms}
    rises = (Rise(alarms[i][0], Reported(alarms[i][1].reports), cycle) for i, cycle in faulty.rises())
    return tuple(rise for rise in rises if rise.alarm not in usual)


def _struck(engine: VerilatorEngine, bits: StorageBits, fault: Fault) -> list[int]:
    sites = engine.elaboration.sites
    found = (sites[site] for site in sites.flipped(fault.site, fault.bits))
    return [bits.site_number(site.element.path, site.word, site.bit) for site in found]


@dataclass(frozen=True)
class _Seen:
    """Where a difference was seen, with a word for it."""

    to: str
    cycle: int
    bit: int | None = None
    alarm: int | None = None


def _goals(
    engine: VerilatorEngine,
    bits: StorageBits,
    history: DifferenceHistory,
    injection: Injection,
    risen: Sequence[Rise],
    wrong: Sequence[int],
) -> list[_Seen]:
    """Return where the difference was seen: alarms, the first wrong bit of the output, `done`, the state."""
    names = list(engine.target.alarms)
    goals = [
        _Seen(f"alarm {rise.alarm}", rise.cycle, alarm=names.index(rise.alarm))
        for rise in risen
        if rise.cycle < history.end
    ]
    if history.full:
        return goals
    first = None if injection.seen is Seen.DUE else _first_wrong_bit(engine, bits, history, wrong)
    if first is not None:
        goals.append(_Seen("output", first[0], first[1]))
    if injection.seen is Seen.HANG and history.end == engine.golden().end.end_cycle:
        goals.append(_Seen("done", history.end - 1))
    left = history.at(history.end - 1)
    if injection.seen is Seen.LATENT and len(left):
        goals.append(_Seen("state", history.end - 1, int(left[0])))
    return goals


def _later(injection: Injection, history: DifferenceHistory, goals: Sequence[_Seen]) -> Iterator[SeenPath]:
    """Yield what was seen after the last cycle that both runs have, to which no path leads."""
    wanted = {Seen.SDC_CRITICAL: "output", Seen.SDC_TOLERABLE: "output", Seen.HANG: "done"}
    to = wanted.get(injection.seen)
    if to is not None and to not in {goal.to for goal in goals}:
        problem = "it was seen after the last cycle in which both runs were compared"
        yield SeenPath(to, history.end - 1, (), False, problem)


def _first_wrong_bit(
    engine: VerilatorEngine, bits: StorageBits, history: DifferenceHistory, wrong: Sequence[int]
) -> tuple[int, int] | None:
    """Return the bit of a wrong output byte that was the first to differ for good, after the cycle when."""
    at_fault = set(wrong)
    found: list[tuple[int, int]] = []
    start = 0
    for spec in engine.workload.outputs:
        own = range(start, start + spec.size)
        if spec.written and not at_fault.isdisjoint(own):
            memory = engine.target.memories[spec.memory]
            numbers = bits.memory_bits(memory.path, spec.offset, spec.size, memory.word_bytes)
            asked = [bit for byte in at_fault.intersection(own) for bit in numbers[byte - start]]
            found += [(cycle, bit) for bit, cycle in history.since_of(asked).items()]
        start += spec.size
    return min(found, default=None)


def _crossed(
    bits: StorageBits, history: DifferenceHistory, touched: Sequence[TouchedStorage]
) -> Iterator[tuple[str, int, int]]:
    """Yield each block that the difference reached but did not begin in, when, and its first bit."""
    known: set[tuple[str, bool]] = set()
    for one in touched:
        place = one.element.block, one.of_bench
        if place in known:
            continue
        known.add(place)
        if len(known) > 1:
            found = history.at(one.first)
            elements, _ = bits.words(found)
            inside = [number for number in found[np.isin(elements, _elements_of(bits, *place))].tolist()]
            yield place[0], one.first, min(inside)


def _elements_of(bits: StorageBits, block: str, of_bench: bool) -> list[int]:
    return [
        i
        for i, element in enumerate(bits.elements)
        if element.block == block and bits.of_bench(i) == of_bench
    ]


def _crossing(bits: StorageBits, block: str, cycle: int, bit: int, sources: Sequence[int]) -> BlockCrossing:
    return BlockCrossing(
        block,
        cycle,
        bits.site(bit),
        _is_of_bench(bits, bit),
        tuple(bits.site(source) for source in sources),
        tuple(_is_of_bench(bits, source) for source in sources),
    )


def _is_of_bench(bits: StorageBits, bit: int) -> bool:
    return bits.of_bench(bits.numbers[bits.site(bit).element.path])


def _way(bits: StorageBits, seen: _Seen, path: CausalPath) -> SeenPath:
    steps = (PathStep(bits.site(s.bit), _is_of_bench(bits, s.bit), s.first, s.last) for s in path.stays)
    return SeenPath(seen.to, seen.cycle, tuple(steps), path.shortest, path.problem)


def _touched(bits: StorageBits, history: DifferenceHistory, values: _Values) -> tuple[TouchedStorage, ...]:
    count = len(bits.elements)
    first, last, cycles, most = (
        np.full(count, -1),
        np.full(count, -1),
        np.zeros(count, int),
        np.zeros(count, int),
    )
    ever = np.zeros(bits.word_count, np.bool_)
    for begin, end, found in history.spans():
        elements, words = bits.words(found)
        own = np.bincount(elements, minlength=count)
        differs = own > 0
        first[differs & (first < 0)] = begin
        last[differs] = end
        cycles[differs] += end - begin + 1
        most = np.maximum(most, own)
        ever[bits.word_numbers(elements, words)] = True
    seen = np.flatnonzero(first >= 0).tolist()

    def touched(element: int) -> TouchedStorage:
        word, golden, faulty = values.first[element]
        begin = int(bits.word_numbers(np.array([element]), np.array([0]))[0])
        return TouchedStorage(
            bits.elements[element],
            bits.of_bench(element),
            int(first[element]),
            int(last[element]),
            int(cycles[element]),
            int(most[element]),
            int(ever[begin : begin + bits.elements[element].depth].sum()),
            word,
            golden,
            faulty,
        )

    return tuple(
        touched(element) for element in sorted(seen, key=lambda e: (first[e], bits.elements[e].path))
    )


def _spans(bits: StorageBits, history: DifferenceHistory) -> Iterator[tuple[int, int, int, int]]:
    for first, last, found in history.spans():
        elements, words = bits.words(found)
        differs = np.zeros(bits.word_count, np.bool_)
        differs[bits.word_numbers(elements, words)] = True
        yield first, last, len(found), int(differs.sum())
