# SPDX-License-Identifier: Apache-2.0
"""Permanent faults of logic: pins of cells held at 0 or 1, many machines at once along the netlist."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Unpack

import numpy as np

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.contract import Audited, Engine, check_fault
from resil.rtl_harness.engine.fast.audit_sample import AuditSample, AuditSize, kind_of
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.processes import EngineOutcome, run_chunks
from resil.rtl_harness.engine.logic.build import build_library
from resil.rtl_harness.engine.logic.library import HeldPins, How, LogicEnd, LogicSimulator
from resil.rtl_harness.engine.logic.observed import observed_of
from resil.rtl_harness.engine.run_limits import CheckedLimits, RunLimits
from resil.rtl_harness.engine.timeout import operation_allowance
from resil.rtl_harness.engine.workload import Workload, classify
from resil.rtl_harness.errors import AuditError, HarnessError, SimulationError
from resil.rtl_harness.faults import Fault, Injection, Reported, Seen
from resil.rtl_harness.logic.calls_under_way import CallsUnderWay
from resil.rtl_harness.logic.held_pins import PinHolder
from resil.rtl_harness.logic.holders import Holder, HolderOf
from resil.rtl_harness.logic.netlist import LogicNetlist
from resil.rtl_harness.logic.netlist_engine import NetlistEngine
from resil.rtl_harness.logic.proof import check_first_edge, proven
from resil.rtl_harness.logic.sites import LogicSites
from resil.rtl_harness.logic.untestable import UntestablePins

# Classes of faults that a worker simulates in one call: words of 512 machines share the golden run there.
TOGETHER = 16 * 512
# Likewise where the golden run is simulated anew with each call, which takes no longer than a word: results
# come in calls, and an interrupted one is lost.
TOGETHER_LONG = 5 * 512
# Faults of an audit that a worker evaluates together.
JUDGED = 63
# In words, and what audits call one.
HELD_PINS = ("pins of cells that are held", "held pin")
OPEN_INPUTS = ("open inputs of cells", "open input")
BRIDGED_NETS = ("bridges between nets", "bridge")
# How runs end of which that is known before, and those that finish.
_EARLY = (How.SAME, How.UNEXCITED, How.LOOP)
_FINISHED = (How.DONE, How.SAME, How.UNEXCITED)


class StuckEngine(NetlistEngine):
    """Simulates permanent faults of one target that runs one workload, in its logic and in its storage.

    A pin of a cell is held from the release of reset on. The netlist is compared with the RTL over the whole
    golden run first. Faults that come to the same by the structure of the netlist are simulated once. Some
    answers of each kind in each block are audited: every gate of the machine with that very pin held is
    evaluated in every cycle, by other code. Stuck bits of storage are simulated by the fast engine. Open
    inputs and bridges are simulated likewise, with another `holder`.

    Args:
        target: The design.
        workload: What it runs.
        elaboration: Storage of the target, elaborated with the workload's parameters.
        netlist: Its cells.
        sites: Which pins are sites.
        holder: Makes what says what a fault at a site is; by default it is a pin that is held.
        names: The faults in words, for messages, and what audits call one.
        audit: How many answers are audited.
        limits: As of `VerilatorEngine`.

    Attributes:
        ends: How runs ended, a class of faults counted once.
        audited: Answers that were audited.

    Raises:
        HarnessError: If the workload makes several inferences, or what `VerilatorEngine` refuses.
    """

    def __init__(
        self,
        target: Target,
        workload: Workload,
        elaboration: Elaboration,
        netlist: LogicNetlist,
        sites: LogicSites,
        *,
        holder: HolderOf = PinHolder,
        names: tuple[str, str] = HELD_PINS,
        audit: AuditSize | None = None,
        **limits: Unpack[RunLimits],
    ) -> None:
        self._limits = CheckedLimits.of(target, workload, limits)
        engine = VerilatorEngine(target, workload, elaboration, sweep=False, audit=audit, **limits)
        super().__init__(engine, netlist, sites, *names)
        self._holder_of = holder
        self._made: tuple[LogicSimulator, Holder] | None = None
        self._known: UntestablePins | None = None
        self._audit = audit or AuditSize()
        self._made_sample: AuditSample | None = None
        self._calls: CallsUnderWay | None = None
        self.ends: Counter[str] = Counter()
        self.audited = 0

    def close(self) -> None:
        """Free simulator and model."""
        if self._made is not None:
            self._made[0].close()
            self._made = None
        super().close()

    def expect(self, faults: int, first: Engine | None = None) -> None:
        """Nothing here is worth more if there are more faults."""

    def under_way(self) -> float:
        """Return what has been done by now of faults that are not done, in faults; see `UnderWay`."""
        return 0.0 if self._calls is None else self._calls.total()

    @property
    def audits(self) -> Mapping[str, Audited]:
        """Answers and how many of them were audited, by how runs ended."""
        own = self._made_sample.tally if self._made_sample else {}
        return {**{f"{self._way}, {kind}": found for kind, found in own.items()}, **self._fast.audits}

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """Yield one injection for each fault, as they come in.

        Raises:
            HarnessError: If a fault is no held pin and no held bit, or netlist and RTL differ.
            AuditError: If an answer is found to be wrong.
            SimulationError: If the gates do not say what a machine does.
        """
        stored: list[Fault] = []
        pins: list[Fault] = []
        for fault in faults:
            self._check(fault)
            (pins if self._is_site(fault) else stored).append(fault)
        if stored:
            yield from self._fast.run(stored, workers)
        if pins:
            yield from self._held(pins, workers)

    def _held(self, faults: Sequence[Fault], workers: int) -> Iterator[Injection]:
        simulator, holder = self.simulator
        classes: dict[HeldPins, list[Fault]] = {}
        for fault in faults:
            classes.setdefault(holder.held(self._sites.pin(fault.site), fault.held or 0), []).append(fault)
        pin_of = {members[0]: pin for pin, members in classes.items()}
        ordered = [members[0] for _, members in sorted(classes.items())]
        last = self.golden().end.end_cycle
        most = TOGETHER if simulator.keeps(last) else TOGETHER_LONG
        size = max(1, min(most, math.ceil(len(ordered) / max(1, workers))))
        chunks = [ordered[i : i + size] for i in range(0, len(ordered), size)]
        call_of = {fault: call for call, chunk in enumerate(chunks) for fault in chunk}
        members = [sum(len(classes[pin_of[fault]]) for fault in chunk) for chunk in chunks]
        self._calls = under_way = CallsUnderWay(members, last)

        def work(chunk: Sequence[Fault]) -> Iterator[tuple[Fault, EngineOutcome]]:
            reached = partial(under_way.reached, call_of[chunk[0]])
            ends = self._ends(simulator, [pin_of[fault] for fault in chunk], reached)
            # Many runs end alike: what is said of one is said of all of them.
            known: dict[LogicEnd, EngineOutcome] = {}
            for fault, end in zip(chunk, ends, strict=True):
                like = known.get(end)
                if like is None:
                    early = end.how in _EARLY
                    own = self._injection(fault, end)
                    known[end] = like = EngineOutcome(own, early, end.end_cycle, end.how.name.lower())
                yield fault, like

        sample = self._sample
        for fault, done in run_chunks(chunks, work, workers):
            self.ends[done.how] += 1
            same = classes[pin_of[fault]]
            under_way.answered(call_of[fault])
            kind = kind_of(done, last)
            for member in same:
                own = self._explained(done.injection, member)
                sample.offer_of(kind, own)
                yield own
        answers = {answer.fault: answer for answer in sample.draw()}
        for found in self._judged(sorted(answers), workers):
            self._require(answers[found.fault], found)
            self.audited += 1

    def _alone(self, fault: Fault) -> Injection:
        """Simulate one fault, with that very pin held and not what stands for its class; errors as `run`."""
        self._check(fault)
        if not self._is_site(fault):
            return self._fast.replay(fault)
        simulator, holder = self.simulator
        pins = holder.along_gates(self._sites.pin(fault.site), fault.held or 0)
        return self._explained(self._injection(fault, self._ends(simulator, [pins])[0]), fault)

    def _again(self, faults: Sequence[Fault], workers: int) -> Iterator[Injection]:
        for fault in faults:
            self._check(fault)
        yield from self._judged([fault for fault in faults if self._is_site(fault)], workers)
        yield from map(self._fast.replay, (fault for fault in faults if not self._is_site(fault)))

    def _judged(self, faults: Sequence[Fault], workers: int) -> Iterator[Injection]:
        """Yield what comes of held pins if all gates of each machine are evaluated, by themselves."""
        if not faults:
            return
        simulator, holder = self.simulator
        size = max(1, min(JUDGED, math.ceil(len(faults) / max(1, workers))))
        chunks = [faults[i : i + size] for i in range(0, len(faults), size)]

        def work(chunk: Sequence[Fault]) -> Iterator[EngineOutcome]:
            pins = [holder.along_gates(self._sites.pin(f.site), f.held or 0) for f in chunk]
            for fault, end in zip(chunk, simulator.judge(pins, *self._until()), strict=True):
                yield EngineOutcome(self._injection(fault, end), False, end.end_cycle, end.how.name.lower())

        for done in run_chunks(chunks, work, workers):
            yield self._explained(done.injection, done.injection.fault)

    def _explained(self, injection: Injection, fault: Fault) -> Injection:
        """Return what comes of a fault with the reason why nothing could, if there is one.

        Args:
            injection: Of it, or of a fault that comes to the same.
            fault: It.

        Raises:
            AuditError: Something has come of it.
        """
        simulator, holder = self.simulator
        if self._known is None:
            self._known = UntestablePins(
                self._netlist, simulator.reaches(), simulator.values(), simulator.counted
            )
        place, value = self._sites.pin(fault.site), fault.held or 0
        along_gates = holder.along_gates(place, value)
        why = self._known.why(along_gates, place if holder.of_pins else None, value)
        found = injection.of(fault, why)
        if why is not None and (found.seen, found.reported) != (Seen.MASKED, Reported.NOTHING):
            raise AuditError(
                f"audit of faults in logic: {self._describe(fault)} cannot be tested ({why}), but what came "
                f"of it is {found}; what this engine answered cannot be trusted",
                fault,
                self._way,
            )
        return found

    def _require(self, answer: Injection, found: Injection) -> None:
        if found != answer:
            raise AuditError(
                f"audit of faults in logic: {self._describe(answer.fault)} was taken for {answer}, "
                f"an evaluation of all gates gives {found}; what this engine answered cannot be trusted",
                answer.fault,
                self._way,
            )

    @property
    def _sample(self) -> AuditSample:
        if self._made_sample is None:
            end = self.golden().end.end_cycle
            self._made_sample = AuditSample(self._audit, self._sites.table, end, random.Random(0))
        return self._made_sample

    @property
    def simulator(self) -> tuple[LogicSimulator, Holder]:
        """The netlist's simulator, which has had its golden run; made once.

        Raises:
            HarnessError: If netlist and RTL differ.
        """
        if self._made is None:
            self._made = self._simulated()
        return self._made

    def _simulated(self) -> tuple[LogicSimulator, Holder]:
        golden, model, netlist = self.golden().end, self._fast.model, self._netlist
        circuit, pulses = proven(netlist, model)
        pulses.close()
        check_first_edge(netlist, circuit, model)
        resets = netlist.reset_values.astype(np.int8)
        observed = observed_of(netlist.gates, circuit, model, resets, netlist.done_bits)
        simulator = LogicSimulator(build_library(), circuit, observed)
        found = simulator.golden(golden.end_cycle + 1)
        rises = sum(
            1 << i for i, name in enumerate(model.target.alarms) if name in {r.alarm for r in golden.alarms}
        )
        wanted = (golden.end_cycle, golden.status, golden.output, rises)
        if (found.cycles, found.status, found.output, found.alarms) != wanted:
            simulator.close()
            raise HarnessError(
                f"target {model.target.name} running {model.workload.name}: expected {wanted[:2]} as cycles "
                f"and status of the netlist without a fault, and the same outputs and alarms, found "
                f"{(found.cycles, found.status)}; faults in its logic would be those of another design",
                "faults.kinds",
            )
        flip_flops = circuit.flip_flops
        bytes_of = observed.state[flip_flops["offset"].astype(np.int64)]
        return simulator, self._holder_of(netlist, bytes_of >> flip_flops["bit"].astype(np.uint8) & 1)

    def _ends(
        self,
        simulator: LogicSimulator,
        faults: Sequence[HeldPins],
        reached: Callable[[int], None] | None = None,
    ) -> list[LogicEnd]:
        return simulator.run(faults, *self._until(), reached=reached)

    def _until(self) -> tuple[int, int | None, bool]:
        """Return cycles to the time-out and of one operation, and whether detection ends runs."""
        golden, limits = self.golden(), self._limits
        allowance = operation_allowance(
            self._fast.target, limits.timeout, limits.timeout_factor, golden.moves, golden.end.end_cycle
        )
        return math.ceil(limits.timeout_factor * golden.cycles), allowance, limits.until_detection

    def _injection(self, fault: Fault, end: LogicEnd) -> Injection:
        if end.how is How.UNDEFINED:
            raise SimulationError(
                f"{self._describe(fault)}: what comes of it is not known along the gates, as the bench "
                "selects something beyond the end of a word",
                "faults.kinds",
            )
        golden = self.golden().end
        found = replace(
            golden,
            finished=end.how in _FINISHED,
            end_cycle=end.end_cycle,
            status=end.status,
            output=end.output,
            # Of storage it is known whether it differs.
            state_hash="" if end.differs else golden.state_hash,
            alarms=self._fast.model.alarms.rises(end.detected, end.corrected),
        )
        injection = classify(fault, golden, found, self._fast.model.workload)
        return injection.until_detection() if self._limits.until_detection else injection

    def _describe(self, fault: Fault) -> str:
        if not self._is_site(fault) or fault.held is None:
            return super()._describe(fault)
        _, holder = self.simulator
        said = holder.said(self._sites.pin(fault.site), fault.held)
        return f"{said}, workload {self._fast.workload.name}"

    def _check(self, fault: Fault) -> None:
        if self._is_site(fault) or fault.held is None:
            if fault.held is None or fault.bits != 1 or fault.cycle:
                raise self._unlike(fault)
        else:
            check_fault(fault, self._fast.elaboration, self.golden().cycles)
