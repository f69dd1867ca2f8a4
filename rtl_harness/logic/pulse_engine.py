# SPDX-License-Identifier: Apache-2.0
"""Single-event transients: pulses at outputs of cells, along the netlist for a cycle, then as differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Unpack

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.contract import Audited, Engine, check_fault
from resil.rtl_harness.engine.fast.audit_sample import AuditSize
from resil.rtl_harness.engine.fast.native.library import OutputPort
from resil.rtl_harness.engine.run_limits import RunLimits
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.errors import AuditError, SimulationError
from resil.rtl_harness.faults import Fault, Injection, Reported, Rise
from resil.rtl_harness.logic.differences import DifferenceEngine
from resil.rtl_harness.logic.evaluation import Evaluation
from resil.rtl_harness.logic.netlist import LogicNetlist
from resil.rtl_harness.logic.netlist_engine import AUDITED, NetlistEngine
from resil.rtl_harness.logic.proof import proven
from resil.rtl_harness.logic.pulses import DONE, STATE, UNDEFINED, NetPulses, PulseEffects
from resil.rtl_harness.logic.sites import LogicSites

# Pulses that are worked out together, and at least one of so many of them is evaluated once more.
TOGETHER = 65536
AUDIT_EVERY = 1000


class PulseEngine(NetlistEngine):
    """Simulates pulses in the logic of one target that runs one workload.

    A pulse of a fault's cycle inverts the output of a cell from when the design has settled after the active
    edge of that cycle until just after the next one. What registers and memories take then is worked out
    along the netlist, exactly; alarms and `done` count that rise in that cycle. What differs goes on as a
    difference of the state, in the fast engine with all its exits. The netlist is compared with the RTL over
    the whole golden run first.

    Args:
        target: The design.
        workload: What it runs.
        elaboration: Storage of the target, elaborated with the workload's parameters.
        netlist: Its cells.
        sites: Which outputs are sites.
        audit: How many answers about differences are tried again.
        limits: As of `VerilatorEngine`; `sweep` and `lanes` too.

    Attributes:
        unseen: Pulses of which nothing was left after their cycle.

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
        sweep: bool | None = None,
        lanes: bool | None = None,
        audit: AuditSize | None = None,
        **limits: Unpack[RunLimits],
    ) -> None:
        self._engine = DifferenceEngine(
            target, workload, elaboration, sites.table, sweep=sweep, lanes=lanes, audit=audit, **limits
        )
        super().__init__(self._engine, netlist, sites, "pulses in logic", "pulse")
        self._made: NetPulses | None = None
        self._until_detection = bool(limits.get("until_detection", False))
        self._tried: Counter[str] = Counter()
        self._answered: Counter[str] = Counter()
        self.unseen = 0

    def close(self) -> None:
        """Free the model's instances."""
        if self._made is not None:
            self._made.close()
            self._made = None
        super().close()

    @property
    def engine(self) -> DifferenceEngine:
        """Simulates what is left of pulses."""
        return self._engine

    def expect(self, faults: int, first: Engine | None = None) -> None:
        """Take it that so many pulses will be asked for: few of them leave anything."""
        own = first._engine if isinstance(first, PulseEngine) else None
        self._engine.expect(faults // 8, own)

    @property
    def pulses(self) -> NetPulses:
        """Works out pulses; made once, when the netlist is compared with the whole golden run.

        Raises:
            HarnessError: If netlist and RTL differ.
        """
        if self._made is None:
            self.golden()
            _, self._made = proven(self._netlist, self._engine.model)
        return self._made

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """Yield one injection for each fault, as they come in.

        Raises:
            HarnessError: If a fault is no pulse at a site in logic within the golden run, or netlist and RTL
                differ.
            AuditError: If an answer is found to be wrong.
            SimulationError: If gates do not say what comes of a pulse, or the model breaks.
        """
        for fault in faults:
            self._check(fault)
        times = Counter(faults)
        ordered = sorted(times, key=lambda fault: (fault.cycle, fault.site))
        for first in range(0, len(ordered), TOGETHER):
            chunk = ordered[first : first + TOGETHER]
            for injection in self._chunk(chunk, workers):
                yield from [injection] * times[injection.fault]

    def _alone(self, fault: Fault) -> Injection:
        """Evaluate a pulse gate by gate, and simulate what it leaves to the end; errors as `run`."""
        self._check(fault)
        effects = self._effects([fault])
        self._evaluate_again([fault], effects, [0])
        early = self._ended(fault, effects, 0)
        if early is not None:
            return early
        left = Fault(fault.site, fault.cycle + 1)
        self._engine.differences.let(left, effects.difference(0))
        return self._with_alarms(fault, self._engine.replay(left), effects, 0)

    @property
    def audits(self) -> Mapping[str, Audited]:
        """Answers that were audited, by the way in which they came about."""
        own = {way: Audited(self._answered[way], self._tried[way]) for way in sorted(self._answered)}
        return {**own, **self._engine.audits}

    def _again(self, faults: Sequence[Fault], workers: int) -> Iterator[Injection]:
        return map(self._alone, faults)

    def _check(self, fault: Fault) -> None:
        check_fault(fault, self._engine.elaboration, self.golden().cycles)
        if fault.held is not None or fault.bits != 1 or not self._is_site(fault):
            raise self._unlike(fault)

    def _effects(self, faults: Sequence[Fault]) -> PulseEffects:
        pins = self._sites.pins[[fault.site - self._sites.first for fault in faults]]
        nets = self._netlist.pins["net"][pins].tolist()
        return self.pulses.effects(nets, [fault.cycle for fault in faults])

    def _chunk(self, faults: Sequence[Fault], workers: int) -> Iterator[Injection]:
        effects = self._effects(faults)
        chosen = range(0, len(faults), max(1, min(AUDIT_EVERY, len(faults) // AUDITED)))
        self._evaluate_again(faults, effects, chosen)
        left: dict[Fault, list[int]] = {}
        same: dict[tuple[int, bytes], Fault] = {}
        self._engine.differences.forget()
        for index, fault in enumerate(faults):
            early = self._ended(fault, effects, index)
            if early is not None:
                yield early
                continue
            # Pulses of a cycle that leave the same are one run.
            difference = effects.difference(index)
            own = same.setdefault((fault.cycle, difference.tobytes()), Fault(fault.site, fault.cycle + 1))
            if own not in left:
                self._engine.differences.let(own, difference)
            left.setdefault(own, []).append(index)
        for injection in self._engine.run(list(left), workers):
            for index in left[injection.fault]:
                yield self._with_alarms(faults[index], injection, effects, index)

    def _ended(self, fault: Fault, effects: PulseEffects, index: int) -> Injection | None:
        """Return the injection of a pulse that needs no simulation; None of one that does."""
        effect = effects.found[index]
        if effect["flags"] & UNDEFINED:
            raise SimulationError(
                f"{self._describe(fault)}: what comes of it is not known along the gates, as the bench "
                "selects something beyond the end of a word or an asynchronous load has no constant value",
                "faults.kinds",
            )
        golden = self.golden()
        last = fault.cycle + 1 == golden.end.end_cycle
        if effect["flags"] & DONE:
            return self._done(fault, effects, index, last)
        if len(effects.difference(index)) and not last:
            return None
        self.unseen += 1
        end = self._engine.usual_end(self._rises(fault, int(effect["alarms"])))
        if last:
            # The run ends while the pulse is there: what it shows then counts, what edges take does not.
            differs = effect["flags"] & STATE
            status = end.status ^ int(effect["status"])
            end = replace(end, status=status, state_hash="" if differs else end.state_hash)
        return self._engine.classified(fault, end)

    def _done(self, fault: Fault, effects: PulseEffects, index: int, last: bool) -> Injection:
        """Return the injection of a pulse that makes a run look done, or the last cycle not."""
        engine, effect = self._engine, effects.found[index]
        alarms = self._rises(fault, int(effect["alarms"]))
        with engine.start() as instance:
            instance.run_to(fault.cycle + 1)
            if not last:
                end = engine.model.end(instance, True, fault.cycle + 1, engine.model.rises(instance))
                status = end.status ^ int(effect["status"])
                return engine.classified(fault, replace(end, status=status, alarms=(*end.alarms, *alarms)))
            struck = Fault(fault.site, fault.cycle + 1)
            engine.differences.let(struck, effects.difference(index))
            instance.run_to(fault.cycle + 2)
            engine.strike(instance, struck)
            instance.run(engine.timeout_cycles)
            finished = bool(instance.port(OutputPort.DONE))
            end = engine.model.end(instance, finished, instance.cycle, engine.model.rises(instance))
            return engine.classified(fault, replace(end, alarms=(*alarms, *end.alarms)))

    def _with_alarms(self, fault: Fault, later: Injection, effects: PulseEffects, index: int) -> Injection:
        """Return the injection of a pulse whose difference came to this, with the alarms of its own cycle."""
        found = replace(later, fault=fault)
        for rise in self._rises(fault, int(effects.found["alarms"][index])):
            if rise.kind is Reported.DETECTED:
                found = replace(found, detected=rise)
            else:
                found = replace(found, corrected=rise)
        return found.until_detection() if self._until_detection else found

    def _rises(self, fault: Fault, up: int) -> tuple[Rise, ...]:
        """Return the first alarm of each kind that is up with a pulse and never in the golden run."""
        usual = {rise.alarm for rise in self.golden().end.alarms}
        alarms = self._engine.model.alarms
        places = [place for place in range(up.bit_length()) if up >> place & 1]
        own = alarms.rises(*((place, fault.cycle) for place in places))
        first = {rise.kind: rise for rise in reversed([rise for rise in own if rise.alarm not in usual])}
        return tuple(first.values())

    def _evaluate_again(self, faults: Sequence[Fault], effects: PulseEffects, chosen: Iterable[int]) -> None:
        """Evaluate some pulses once more, over the whole netlist and by other code.

        Raises:
            AuditError: If something else comes of one.
        """
        evaluation = Evaluation(self._netlist, self._engine.model)
        for index in range(len(faults)):
            way = "pulse, unseen" if not len(effects.difference(index)) else "pulse, taken"
            self._answered[way] += 1
        for index in chosen:
            fault = faults[index]
            net = int(self._netlist.pins["net"][self._sites.pin(fault.site)])
            found = evaluation.difference(net, fault.cycle)
            expected = {int(b["offset"]): int(b["mask"]) for b in effects.difference(index)}
            if found is not None and found != expected:
                raise AuditError(
                    f"{self._describe(fault)}: along the gates {len(expected)} bytes of the state differ "
                    f"after it, in an evaluation of all gates {len(found)}",
                    fault,
                    "pulse",
                )
            if found is not None:
                self._tried["pulse, unseen" if not expected else "pulse, taken"] += 1
