# SPDX-License-Identifier: Apache-2.0
"""The fast engine: a compiled model in process; injections start and end where the golden run is known."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.contract import (
    Audited,
    Engine,
    GoldenRun,
    check_fault,
)
from resil.rtl_harness.engine.fast.acceleration import IN_SWEEPS, Acceleration, AccelerationWanted
from resil.rtl_harness.engine.fast.audit_sample import AuditSample, AuditSize
from resil.rtl_harness.engine.fast.audit_trials import AuditTrials
from resil.rtl_harness.engine.fast.confirmed_answers import confirmed
from resil.rtl_harness.engine.fast.golden import GoldenPass, once
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.engine.fast.native.library import ModelInstance
from resil.rtl_harness.engine.fast.native.sweep import SweepTimes
from resil.rtl_harness.engine.fast.processes import EngineOutcome, run_chunks
from resil.rtl_harness.engine.fast.shared import Shared
from resil.rtl_harness.engine.fast.single import Singles
from resil.rtl_harness.engine.run_limits import CheckedLimits, RunLimits
from resil.rtl_harness.engine.timeout import Timeout, operation_allowance
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault, Injection

# Neighbouring faults that are simulated one after another by one worker when there is no sweep.
CHUNK = 32

# Stuck bits that go through the golden run together at most.
HELD_TOGETHER = 1024

# Faults from which on a sweep is divided between two workers.
FEWEST_IN_SWEEP = 100


class VerilatorEngine:
    """Simulates one workload on one target in a compiled model.

    Each injection starts from a copy of the golden run's state in the fault's cycle. It ends when the design
    is done or the time-out comes, or earlier, when its whole state shows how it will end: see `Shortcut`.
    Outcomes are those of a run to the end; that is audited: some of every kind of exit in every block are run
    to the end.

    Args:
        target: The design.
        workload: What it runs.
        elaboration: Storage of the target, elaborated with the workload's parameters.
        shortcuts: Which early stops are taken. If elaboration left storage unmapped, none is.
        sweep: Take the shortcuts that need the design's gates, in sweeps of all faults through the golden
            run; None does so once enough faults have been asked for to pay for the gates.
        lanes: In sweeps, simulate faults that live long 32 at a time in a lane model, which is compiled
            first; None does so where that is faster, once enough faults have been asked for to pay for it.
            The outcomes are the same.
        audit: How many answers are tried again.
        seed: Chooses which.
        limits: When a run ends: see `CheckedLimits`.

    Attributes:
        early_stops: Answers that were known before the end was reached.
        audited: Answers that were tried again.
        ends: How many ended how.
        simulated: Cycles that were simulated, the audit's aside.

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
        shortcuts: Shortcut = Shortcut.ALL,
        sweep: bool | None = None,
        lanes: bool | None = None,
        audit: AuditSize | None = None,
        seed: int = 0,
        **limits: Unpack[RunLimits],
    ) -> None:
        self._limits = CheckedLimits.of(target, workload, limits)
        self.target = target
        self.workload = workload
        self.elaboration = elaboration
        self.shortcuts = Shortcut.NONE if elaboration.unmapped else shortcuts
        self.audited = 0
        self.early_stops = 0
        self.notes: list[str] = []
        self.ends: Counter[str] = Counter()
        self.simulated = 0
        self.observer: Callable[[EngineOutcome], object] = lambda outcome: None
        # Neither lanes nor the counter of operations along the gates know where a first inference ends.
        one = workload.inferences == 1
        followed = one or self._limits.timeout is not Timeout.OPERATION
        self._wanted = AccelerationWanted(
            sweep if self.shortcuts & IN_SWEEPS and followed else False, lanes if one else False
        )
        self._made_acceleration: Acceleration | None = None
        self._audit = audit or AuditSize()
        self._made_sample: AuditSample | None = None
        self._shared = Shared()
        self._random = random.Random(seed)
        self._passed: GoldenPass | None = None
        self._made_singles: Singles | None = None
        self._model = CompiledModel(target, workload, elaboration)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free the model's instances; the engine cannot be used afterwards."""
        if self._made_acceleration is not None:
            self._made_acceleration.close()
        self._model.close()

    @property
    def model(self) -> CompiledModel:
        """The compiled design with the workload in its memories."""
        return self._model

    @property
    def timeout_cycles(self) -> int:
        """Cycles after which an injection counts as a hang: of two inferences, in the first."""
        return self._singles.timeout_cycles

    @property
    def operation_cycles(self) -> int | None:
        """Cycles without an operation's end after which an injection counts as a hang; None if none are."""
        return self._allowed(self.golden())

    def golden(self) -> GoldenRun:
        """Simulate without a fault, once, and check that the known storage is the whole state.

        Raises:
            HarnessError: If storage that is no hardware decides the result, or no operation ends though each
                has a time-out.
            SimulationError: If the design does not finish, or has state that elaboration did not find.
        """
        return self._golden.run

    def golden_once(self) -> GoldenRun:
        """Simulate without a fault, and keep nothing of it; see `OnceEngine`."""
        if self._passed is not None or self.workload.inferences > 1:
            return self.golden()
        return once(self._model, self._limits.golden_limit)

    @property
    def _sample(self) -> AuditSample:
        if self._made_sample is None:
            end = self.golden().end.end_cycle
            sites = self.elaboration.sites
            self._made_sample = AuditSample(self._audit, sites, end, self._random, self._shared.audit)
        return self._made_sample

    @property
    def _golden(self) -> GoldenPass:
        if self._passed is None:
            leave = bool(self.shortcuts & Shortcut.LEAVE)
            tried = self._shared.tries("state")
            passed = GoldenPass(self._model, self._limits.golden_limit, leave, tried)
            if (allowed := self._allowed(passed.run)) is not None:
                self._model.injector.allow(allowed)
            if self._limits.until_detection:
                self._model.injector.end_at_detection()
            self.notes += passed.notes
            self._passed = passed
        return self._passed

    def _allowed(self, golden: GoldenRun) -> int | None:
        end = golden.end.end_cycle
        return operation_allowance(
            self.target, self._limits.timeout, self._limits.timeout_factor, golden.moves, end
        )

    @property
    def _singles(self) -> Singles:
        if self._made_singles is None:
            self._made_singles = Singles(
                self._model, self._golden, self._limits.timeout_factor, self._limits.until_detection
            )
        return self._made_singles

    @property
    def _acceleration(self) -> Acceleration:
        if self._made_acceleration is None:
            self._made_acceleration = Acceleration(
                self._model,
                self._golden,
                self._singles,
                self.shortcuts,
                self._limits.timeout,
                self._wanted,
                self._random,
                self.notes,
                self._shared,
            )
        return self._made_acceleration

    def expect(self, faults: int, first: Engine | None = None) -> None:
        """Take it that so many faults will be asked for: sweeps and lanes that pay for them begin at once.

        Args:
            faults: Of this engine and of those for other inputs together, which share what is made.
            first: One of these, if audits and trials are shared with it; before the first answer, and the
                golden run if its trials are to be shared.
        """
        self._wanted.faults = max(self._wanted.faults, faults)
        fresh = self._made_sample is None and self._made_acceleration is None
        if isinstance(first, VerilatorEngine) and fresh and first.elaboration is self.elaboration:
            self._shared = first._shared
            self._shared.engines += first is not self

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """Yield one injection for each fault, as they come in.

        Args:
            faults: In any order, also with repetitions.
            workers: Processes that share the work.

        Raises:
            HarnessError: If a fault lies outside the site table or after the end of the golden run.
            AuditError: If the audit finds an early stop that was wrong.
            SimulationError: If a flip did not take, or the model breaks; it names the fault.
        """
        if workers < 1:
            raise HarnessError(f"workers: expected at least 1, found {workers}", "workers")
        golden = self.golden()
        for fault in faults:
            check_fault(fault, self.elaboration, golden.cycles)
        for done in self._outcomes(faults, workers):
            self.early_stops += done.early
            # Alone, a fault that is not stopped early has been simulated as the audit would.
            if done.early or done.in_lane or self._acceleration.are_made:
                self._sample.offer(done)
            self.ends[done.how] += 1
            self.simulated += done.simulated
            if done.note and done.note not in self.notes:
                self.notes.append(done.note)
            self.observer(done)
            yield done.injection
        self._run_audit(workers)
        if self._shared.many:
            self._acceleration.close()

    def audit_kept(self, injections: Iterable[Injection], workers: int = 1) -> None:
        """Try a sample of what another session, of which nothing else is known, has answered.

        Raises:
            HarnessError: If a fault lies outside the site table or after the end of the golden run.
            AuditError: If a run to the end gives something else.
        """
        for injection in injections:
            check_fault(injection.fault, self.elaboration, self.golden().cycles)
            self._sample.offer_kept(injection)
        self._run_audit(workers)

    @property
    def audits(self) -> dict[str, Audited]:
        """Answers that are not by themselves runs to the end, and how many of them were, by kind of exit."""
        return self._sample.tally if self._made_sample else {}

    def prepare(self) -> None:
        """Do now what is done once: the golden run, and what sweeps need if there are to be any."""
        self._acceleration.made()

    @property
    def sweep_times(self) -> SweepTimes:
        """Where the time of sweeps in this process went; all zero without sweeps."""
        return self._made_acceleration.times if self._made_acceleration is not None else SweepTimes()

    def start(self) -> ModelInstance:
        """Return a new instance of the model, just out of reset, for runs that the engine has no part in."""
        return self._model.start()

    def strike(self, instance: ModelInstance, fault: Fault) -> None:
        """Invert the bits of a fault in an instance that stands in its cycle."""
        self._model.strike(instance, fault)

    def same_state(self, one: ModelInstance, other: ModelInstance) -> bool:
        """Compare all storage of two instances."""
        return self._model.same_state(one, other)

    def judge(self, fault: Fault, instance: ModelInstance, finished: bool) -> Injection:
        """Return the injection that an instance at the end of its run stands for."""
        return self._singles.judge(fault, instance, finished)

    def masked(self, fault: Fault) -> Injection:
        """Return the injection of a fault of which nothing is left before the end."""
        return self._singles.masked(fault)

    def replay(self, fault: Fault, waves: Path | None = None) -> Injection:
        """Simulate one fault to its end, without shortcuts.

        Raises:
            HarnessError: If a waveform is asked for, which the compiled model has left out for speed.
            SimulationError: As `run`.
        """
        if waves is not None:
            raise HarnessError(
                f"no waveform {waves}: the {self.name} engine writes none; use the cocotb engine", "waves"
            )
        check_fault(fault, self.elaboration, self.golden().cycles)
        return self._singles.inject(fault, Shortcut.NONE).injection

    def _outcomes(self, faults: Sequence[Fault], workers: int) -> Iterator[EngineOutcome]:
        """Yield an outcome for each fault; repeated ones are simulated once."""
        stuck = Counter(fault for fault in faults if fault.held is not None)
        for done in self._held(stuck, workers):
            yield from [done] * stuck[done.injection.fault]
        times = Counter(fault for fault in faults if fault.held is None)
        if not times:
            return
        self._wanted.faults += times.total()
        unanswered = set(times)
        # Each sweep goes through the whole golden run: for few faults a further one costs more than it saves.
        sweeps = min(workers, 1 + len(times) // FEWEST_IN_SWEEP)
        for done in self._acceleration.outcomes(_spread(times, sweeps), workers, self._alone):
            unanswered.discard(done.injection.fault)
            yield from [done] * times[done.injection.fault]
        for done in self._alone(unanswered, workers):
            yield from [done] * times[done.injection.fault]

    def _alone(self, faults: Iterable[Fault], workers: int) -> Generator[EngineOutcome, None, None]:
        return self._simulated(faults, self.shortcuts & ~IN_SWEEPS, workers)

    def _simulated(
        self, faults: Iterable[Fault], shortcuts: Shortcut, workers: int
    ) -> Generator[EngineOutcome, None, None]:
        """Yield outcomes without a sweep."""
        singles = self._singles
        ordered = sorted(faults, key=lambda fault: (singles.begins(fault, shortcuts), fault.site))
        chunks = [ordered[i : i + CHUNK] for i in range(0, len(ordered), CHUNK)]
        return run_chunks(
            chunks, lambda chunk: self._checked(singles.inject(f, shortcuts) for f in chunk), workers
        )

    def _checked(self, outcomes: Iterable[EngineOutcome]) -> Iterator[EngineOutcome]:
        yield from outcomes
        self._model.check_unused()

    def _held(self, faults: Collection[Fault], workers: int) -> Iterator[EngineOutcome]:
        """Yield outcomes of stuck bits, each simulated from where it has its first effect."""
        shortcuts = self.shortcuts & ~IN_SWEEPS
        if faults and shortcuts:
            self._singles.watch()
            if (together := self._acceleration.held(len(faults))) is not None:
                ordered = sorted(faults, key=lambda f: (self._singles.begins(f, shortcuts), f.site))
                size = min(HELD_TOGETHER, -(-len(ordered) // workers))
                chunks = [ordered[i : i + size] for i in range(0, len(ordered), size)]
                return run_chunks(
                    chunks, lambda chunk: self._checked(together.outcomes(chunk, shortcuts)), workers
                )
        return self._simulated(faults, shortcuts, workers)

    def _run_audit(self, workers: int) -> None:
        """Run answers to where nothing can change any more, without shortcuts, and compare."""
        answers = sorted(self._sample.draw(), key=lambda answer: answer.fault.cycle)
        allowance = self.operation_cycles
        trials = AuditTrials(self._model, self._golden, self._singles, allowance, self._limits.timeout_factor)
        chunks = [[answer.fault for answer in answers[i::workers]] for i in range(workers)]
        with closing(run_chunks([chunk for chunk in chunks if chunk], trials.outcomes, workers)) as done:
            found = (one.injection for one in done)
            for _ in confirmed(answers, found, "the run to the end", self._model, self._golden):
                self.audited += 1


def _spread(faults: Iterable[Fault], workers: int) -> list[list[Fault]]:
    """Divide faults among sweeps, one a worker.

    Those in the same bits stay together, for they come to the same states; neighbouring bits do not.
    """
    sweep_of: dict[int, int] = {}
    sweeps: list[list[Fault]] = [[] for _ in range(workers)]
    for fault in sorted(faults, key=lambda fault: fault.site):
        sweeps[sweep_of.setdefault(fault.site, len(sweep_of) % workers)].append(fault)
    return [sweep for sweep in sweeps if sweep]
