"""The fast engine: a compiled model in process; injections start and end where the golden run is known."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from rtl_harness.elaboration import Elaboration
from rtl_harness.engines.base import GoldenRun, check_fault, describe_fault
from rtl_harness.engines.verilator_foresight import FaultForesight
from rtl_harness.engines.verilator_gates import UnsupportedError, read_gates
from rtl_harness.engines.verilator_pool import Job, Outcome, run_jobs
from rtl_harness.engines.verilator_state import StateMap, variables_of
from rtl_harness.errors import HarnessError, SimulationError
from rtl_harness.faults import Fault, Injection, RunEnd
from rtl_harness.target import Target
from rtl_harness.verilated.campaign import Campaign, Ending, InjectionResult, Shortcut
from rtl_harness.verilated.library import Instance, Port, Stop
from rtl_harness.verilated.runner import Runner, operation_ends
from rtl_harness.workload import Decision, Workload, classify, top1

GOLDEN_LIMIT_CYCLES = 20_000_000

# Faults times cycles of the golden run from which on the gates of the design are worth their making.
FORESIGHT_FROM = 100_000_000


@dataclass(frozen=True)
class Audit:
    """Early stops that are run to their end after all, to prove that they were right.

    Attributes:
        share: Part of all early stops.
        minimum: Number that is audited in any case, as far as there are early stops.
    """

    share: float = 0.005
    minimum: int = 20


class VerilatorEngine:
    """Simulates one workload on one target in a compiled model.

    Each injection starts from a copy of the golden run's state in the fault's cycle. It ends when the design
    is done or the time-out comes, or earlier, when its whole state shows how it will end: see `Shortcut`.
    Outcomes are those of a run to the end; a random share of early stops is run to the end to audit that.

    Args:
        target: The design.
        workload: What it runs.
        elaboration: Storage of the target, elaborated with the workload's parameters.
        timeout_factor: Time-out of an injection, in multiples of the golden run.
        decide: Reads the decision from an output tensor.
        golden_limit: Cycles after which a golden run counts as not finishing.
        shortcuts: Which early stops are taken. If elaboration left storage unmapped, none is.
        foresight: Start injections when the flipped bit first makes a difference, which is found by
            evaluating the design's gates; None does so once enough faults have been asked for to pay for it.
        audit: How many early stops are audited.
        seed: Chooses which.

    Raises:
        HarnessError: If the workload or the elaboration does not fit the target.
        SimulationError: If the model cannot be built.
        UnmappedSiteError: If a storage element is not in the model.
    """

    name = "verilator"

    def __init__(
        self,
        target: Target,
        workload: Workload,
        elaboration: Elaboration,
        *,
        timeout_factor: float = 2.0,
        decide: Decision = top1,
        golden_limit: int = GOLDEN_LIMIT_CYCLES,
        shortcuts: Shortcut = Shortcut.ALL,
        foresight: bool | None = None,
        audit: Audit | None = None,
        seed: int = 0,
    ) -> None:
        if timeout_factor < 1:
            raise HarnessError(
                f"timeout_factor: expected at least 1, found {timeout_factor}; the golden run needs 1"
            )
        self.target = target
        self.workload = workload
        self.elaboration = elaboration
        self.shortcuts = Shortcut.NONE if elaboration.unmapped else shortcuts
        self.audited = 0
        self.early_stops = 0
        self.notes: list[str] = []
        self.simulated = 0
        self._wants_foresight = False if elaboration.unmapped or not self.shortcuts else foresight
        self._foresight: FaultForesight | None = None
        self._asked = 0
        self._timeout_factor = timeout_factor
        self._decide = decide
        self._golden_limit = golden_limit
        self._audit = audit or Audit()
        self._random = random.Random(seed)
        self._golden: GoldenRun | None = None
        self._check_parameters()
        self._runner = Runner(target, workload.parameters, variables_of(elaboration))
        with self._runner.loaded(workload) as plusargs:
            self._origin = self._runner.library.create(plusargs)
        self._origin.reset(target.reset_cycles)
        self._map = StateMap(target, elaboration, self._origin)
        self._campaign = Campaign(self._origin, self._map.registers, self._map.memories)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free the model's instances; the engine cannot be used afterwards."""
        if self._foresight is not None:
            self._foresight.close()
        self._campaign.close()
        self._origin.close()

    @property
    def timeout_cycles(self) -> int:
        """Cycles after which an injection counts as a hang."""
        return math.ceil(self._timeout_factor * self.golden().end.end_cycle)

    def golden(self) -> GoldenRun:
        """Simulate without a fault, once, and check that the known storage is the whole state.

        Raises:
            SimulationError: If the design does not finish, or has state that elaboration did not find.
        """
        if self._golden is None:
            stop = self._campaign.golden(self._golden_limit)
            instance = self._campaign.cursor
            end = self._end(instance, stop is Stop.DONE, instance.cycle)
            if not end.finished:
                raise SimulationError(
                    f"{self.target.name} running {self.workload.name}: expected {self.target.done} within "
                    f"{self._golden_limit} cycles, status is {end.status:#x}; check the memory images and "
                    "the reset"
                )
            self._check_state_is_whole(end)
            self._golden = GoldenRun(end, operation_ends(instance))
        return self._golden

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """Yield one injection for each fault, as they come in.

        Args:
            faults: In any order, also with repetitions.
            workers: Processes that share the work.

        Raises:
            HarnessError: If a fault lies outside the site table or after the end of the golden run.
            SimulationError: If a flip did not take, the model breaks, or the audit finds an early stop that
                was wrong; it names the fault.
        """
        if workers < 1:
            raise HarnessError(f"workers: expected at least 1, found {workers}")
        golden = self.golden()
        for fault in faults:
            check_fault(fault, self.elaboration.sites, golden.end.end_cycle)
        early: list[Injection] = []
        for done in self._outcomes(faults, workers):
            if done.early:
                early.append(done.injection)
            self.simulated += done.simulated
            yield done.injection
        self.early_stops += len(early)
        self._run_audit(early, workers)

    def replay(self, fault: Fault, waves: Path | None = None) -> Injection:
        """Simulate one fault to its end, without shortcuts.

        Raises:
            HarnessError: If a waveform is asked for, which the compiled model has left out for speed.
            SimulationError: As `run`.
        """
        if waves is not None:
            raise HarnessError(
                f"no waveform {waves}: the {self.name} engine writes none; use the cocotb engine"
            )
        check_fault(fault, self.elaboration.sites, self.golden().end.end_cycle)
        return self._inject(Job(fault, Shortcut.NONE)).injection

    def _outcomes(self, faults: Sequence[Fault], workers: int) -> Iterator[Outcome]:
        """Yield an outcome for each fault; faults that come to the same are simulated once."""
        starts = self._starts(faults)
        same: dict[Job, list[Fault]] = {}
        for fault, start in zip(faults, starts, strict=True):
            if start is None:
                end = self.golden().end
                injection = classify(fault, end, end, self.workload.output, self._decide)
                yield Outcome(injection, True, 0)
            else:
                same.setdefault(Job(replace(fault, cycle=start), self.shortcuts), []).append(fault)
        for done in self._run(list(same), workers):
            at = done.injection.fault
            for fault in same[Job(at, self.shortcuts)]:
                yield Outcome(replace(done.injection, fault=fault), done.early or fault != at, done.simulated)

    def _run(self, jobs: Sequence[Job], workers: int) -> Iterator[Outcome]:
        ordered = sorted(jobs, key=lambda job: (job.fault.cycle, job.fault.site))
        return run_jobs(ordered, self._inject, workers)

    def _starts(self, faults: Sequence[Fault]) -> Sequence[int | None]:
        """Return the cycle from which each fault has to be simulated; None if it leaves nothing behind.

        Foresight knows of lone bits alone; a cluster is simulated from its own cycle.
        """
        self._asked += len(faults)
        foresight = self._foresight or self._new_foresight()
        starts: list[int | None] = [fault.cycle for fault in faults]
        if foresight is not None:
            lone = [i for i, fault in enumerate(faults) if fault.bits == 1]
            try:
                found = foresight.first_cycles([faults[i] for i in lone])
            except SimulationError as error:
                self._give_up_foresight(str(error))
            else:
                for i, start in zip(lone, found, strict=True):
                    starts[i] = start
        return starts

    def _new_foresight(self) -> FaultForesight | None:
        wanted = self._wants_foresight
        if wanted is None:
            wanted = self._asked * self.golden().end.end_cycle >= FORESIGHT_FROM
        if wanted:
            try:
                gates = read_gates(self.target, self.elaboration)
                self._foresight = FaultForesight(self._campaign, self._map, gates)
            except UnsupportedError as error:
                self._give_up_foresight(str(error))
        return self._foresight

    def _give_up_foresight(self, reason: str) -> None:
        self.notes.append(f"simulated every fault from its own cycle: {reason}")
        self._wants_foresight = False
        if self._foresight is not None:
            self._foresight.close()
            self._foresight = None

    def _run_audit(self, early: list[Injection], workers: int) -> None:
        wanted = max(self._audit.minimum, math.ceil(self._audit.share * self.early_stops)) - self.audited
        chosen = self._random.sample(early, max(0, min(wanted, len(early))))
        expected = {injection.fault: injection for injection in chosen}
        for done in self._run([Job(fault, Shortcut.NONE) for fault in expected], workers):
            found = done.injection
            if found != expected[found.fault]:
                raise SimulationError(
                    f"audit of early stops: {self._describe(found.fault)} was taken for "
                    f"{expected[found.fault]}, the run to the end gives {found}; "
                    "the results of this campaign cannot be trusted"
                )
        self.audited += len(expected)

    def _inject(self, job: Job) -> Outcome:
        golden, limit, fault = self.golden(), self.timeout_cycles, job.fault
        try:
            result = self._campaign.inject(self._map.flips(fault), fault.cycle, limit, job.shortcuts)
        except SimulationError as error:
            raise SimulationError(f"{self._describe(fault)}: {error}") from error
        end = self._faulty_end(fault, result, golden)
        injection = classify(fault, golden.end, end, self.workload.output, self._decide)
        shortened = result.stop == Ending.REJOINED or fault.cycle + 1 + result.simulated != result.end_cycle
        return Outcome(injection, shortened, result.simulated)

    def _faulty_end(self, fault: Fault, result: InjectionResult, golden: GoldenRun) -> RunEnd:
        match Ending(result.stop):
            case Ending.REJOINED:
                return replace(golden.end, end_cycle=result.end_cycle)
            case Ending.DONE | Ending.LIMIT as stop:
                return self._end(self._campaign.faulty, stop is Ending.DONE, result.end_cycle)
            case Ending.NOT_APPLIED:
                raise SimulationError(
                    f"{self._describe(fault)}: the bit did not keep the flip until the design had settled"
                )
            case _:
                raise SimulationError(
                    f"{self._describe(fault)}: the design called $finish in cycle {result.end_cycle}"
                )

    def _end(self, instance: Instance, finished: bool, end_cycle: int) -> RunEnd:
        return RunEnd(
            finished=finished,
            end_cycle=end_cycle,
            status=instance.port(Port.STATUS),
            error=bool(instance.port(Port.ERROR)),
            protection=bool(instance.port(Port.PROTECTION)),
            output=self._runner.output(instance, self.workload),
            state_hash=self._map.state_hash(instance),
        )

    def _check_state_is_whole(self, end: RunEnd) -> None:
        """Transplant the known storage alone from the middle of the golden run into a fresh instance."""
        middle = end.end_cycle // 2
        with self._runner.library.create() as source, self._runner.library.create() as other:
            source.copy_from(self._origin)
            source.run_to(middle)
            other.reset(self.target.reset_cycles)
            other.run_to(1)
            for storage in (*self._map.registers, *self._map.memories):
                other.view(storage)[:] = source.view(storage)
            other.settle()
            stop = other.run(end.end_cycle - middle + 1)
            found = self._end(other, stop is Stop.DONE, other.cycle - 1 + middle)
        if found != end:
            raise SimulationError(
                f"{self.target.name} running {self.workload.name}: the storage that elaboration found is not "
                f"all that decides the future; expected {end} after a transplant in cycle {middle}, "
                f"found {found}"
            )

    def _check_parameters(self) -> None:
        wanted = {**self.target.parameters, **self.workload.parameters}
        if dict(self.elaboration.parameters) != wanted:
            raise HarnessError(
                f"workload {self.workload.name} needs the parameters {wanted}, the elaboration was made with "
                f"{dict(self.elaboration.parameters)}; call elaborate(target, workload.parameters)"
            )

    def _describe(self, fault: Fault) -> str:
        return describe_fault(fault, self.elaboration.sites, self.workload.name)
