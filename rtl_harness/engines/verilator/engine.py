"""The fast engine: a compiled model in process; injections start and end where the golden run is known."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from rtl_harness.elaboration import Elaboration
from rtl_harness.engines.base import (
    GoldenRun,
    check_fault,
    check_inferences,
    check_second,
    describe_fault,
)
from rtl_harness.engines.verilator.absent import AbsentStorage
from rtl_harness.engines.verilator.alarms import Alarms, Rises
from rtl_harness.engines.verilator.circuit import circuit_of
from rtl_harness.engines.verilator.gates import UnsupportedError, read_gates
from rtl_harness.engines.verilator.pool import Outcome, run_chunks
from rtl_harness.engines.verilator.state import StateMap, variables_of
from rtl_harness.engines.verilator.sweep import Sweeper
from rtl_harness.engines.verilator.tail import Exits
from rtl_harness.errors import AuditError, HarnessError, SimulationError
from rtl_harness.faults import Fault, Injection, RunEnd, digest
from rtl_harness.state_hash import bit_place
from rtl_harness.target import Target
from rtl_harness.verilated.campaign import Campaign, Ending, Flip, InjectionResult, Shortcut, first_rise
from rtl_harness.verilated.library import Instance, Port, Stop
from rtl_harness.verilated.runner import Runner, operation_ends
from rtl_harness.verilated.sweep import GatesError, Sweep, SweepTimes
from rtl_harness.workload import Workload, classify

GOLDEN_LIMIT_CYCLES = 20_000_000

# A derived clock whose level comes with the transplant makes an edge; what that changes is put right again.
_TRANSPLANTS = 3

# Faults times cycles of the golden run from which on the gates of the design are worth their making.
SWEEP_FROM = 100_000_000

# Faults that are taken through a sweep together: so many that going through the golden run costs each little.
SWEEP_FAULTS = 50_000

# Neighbouring faults that are simulated one after another by one worker when there is no sweep.
CHUNK = 32

_IN_SWEEPS = Shortcut.FORESIGHT | Shortcut.LEAVE | Shortcut.SEEN


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
        golden_limit: Cycles after which a golden run counts as not finishing.
        shortcuts: Which early stops are taken. If elaboration left storage unmapped, none is.
        sweep: Take the shortcuts that need the design's gates, in sweeps of all faults through the golden
            run; None does so once enough faults have been asked for to pay for the gates.
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
        golden_limit: int = GOLDEN_LIMIT_CYCLES,
        shortcuts: Shortcut = Shortcut.ALL,
        sweep: bool | None = None,
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
        self.ends: Counter[str] = Counter()
        self.simulated = 0
        self.observer: Callable[[Outcome], object] = lambda outcome: None
        self._wants_sweep = sweep if self.shortcuts & _IN_SWEEPS and workload.inferences == 1 else False
        self._sweeper: Sweeper | None = None
        self._exits: Exits | None = None
        self._asked = 0
        self._timeout_factor = timeout_factor
        self._golden_limit = golden_limit
        self._audit = audit or Audit()
        self._random = random.Random(seed)
        self._golden: GoldenRun | None = None
        self._golden_contents = b""
        self._watched = False
        self._check_parameters()
        check_inferences(target, workload)
        self._runner = Runner(target, workload.parameters, variables_of(elaboration))
        with self._runner.loaded(workload) as plusargs:
            self._origin = self._runner.library.create(plusargs)
        self._origin.reset(target.reset_cycles)
        self._map = StateMap(target, elaboration, self._origin)
        self._alarms = Alarms(target)
        self._campaign = Campaign(
            self._origin,
            self._map.registers,
            self._map.memories,
            self._alarms.detects,
            self._alarms.corrects,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free the model's instances; the engine cannot be used afterwards."""
        if self._sweeper is not None:
            self._sweeper.sweep.close()
        self._campaign.close()
        self._origin.close()

    @property
    def timeout_cycles(self) -> int:
        """Cycles after which an injection counts as a hang: of two inferences, in the first."""
        return math.ceil(self._timeout_factor * self.golden().cycles)

    def golden(self) -> GoldenRun:
        """Simulate without a fault, once, and check that the known storage is the whole state.

        Raises:
            HarnessError: If storage that is no hardware decides the result.
            SimulationError: If the design does not finish, or has state that elaboration did not find.
        """
        if self._golden is None:
            stop = self._campaign.golden(self._golden_limit, several=self.workload.inferences > 1)
            instance = self._campaign.cursor
            usual = self._alarms.rises(*instance.rises())
            end = self._end(instance, stop is Stop.DONE, instance.cycle, usual)
            if not end.finished:
                raise SimulationError(
                    f"{self.target.name} running {self.workload.name}: expected {self.target.done} within "
                    f"{self._golden_limit} cycles, status is {end.status:#x}; check the memory images and "
                    "the reset"
                )
            ends = operation_ends(instance)
            self._golden_contents = self._map.contents(instance)
            self._exits = self._made_exits(end)
            self._check_state_is_whole(end)
            AbsentStorage(
                self.elaboration.sites,
                self._map,
                self.start,
                lambda instance, stop: self._end(
                    instance, stop is Stop.DONE, instance.cycle, self._alarms.rises(*instance.rises())
                ),
                end,
            ).check(f"{self.target.name} running {self.workload.name}")
            if pause := self._campaign.pause:
                early = tuple(rise for rise in end.alarms if rise.cycle < pause)
                end = replace(end, first=self._end(self._campaign.seek(pause), True, pause, early))
            check_second(self.target, self.workload, end)
            self._golden = GoldenRun(end, ends)
        return self._golden

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
            raise HarnessError(f"workers: expected at least 1, found {workers}")
        golden = self.golden()
        for fault in faults:
            check_fault(fault, self.elaboration, golden.cycles)
        early: list[Injection] = []
        for done in self._outcomes(faults, workers):
            if done.early:
                early.append(done.injection)
            self.ends[done.how] += 1
            self.simulated += done.simulated
            self.observer(done)
            yield done.injection
        self.early_stops += len(early)
        self._run_audit(early, workers)

    def prepare(self) -> None:
        """Do now what is done once: the golden run, and what sweeps need if there are to be any."""
        self.golden()
        if self._sweeper is None:
            self._new_sweeper()

    @property
    def sweep_times(self) -> SweepTimes:
        """Where the time of sweeps in this process went; all zero without sweeps."""
        return self._sweeper.sweep.times if self._sweeper is not None else SweepTimes()

    def start(self) -> Instance:
        """Return a new instance of the model, just out of reset, for runs that the engine has no part in."""
        made = self._runner.library.create()
        made.copy_from(self._origin)
        return made

    def strike(self, instance: Instance, fault: Fault) -> None:
        """Invert the bits of a fault in an instance that stands in its cycle."""
        for flip in self._map.flips(fault):
            instance.flip(flip.storage, flip.bit, flip.word)
        instance.settle()

    def same_state(self, one: Instance, other: Instance) -> bool:
        """Compare all storage of two instances."""
        storage = (*self._map.registers, *self._map.memories)
        return all(np.array_equal(one.view(s), other.view(s)) for s in storage)

    def judge(self, fault: Fault, instance: Instance, finished: bool) -> Injection:
        """Return the injection that an instance at the end of its run stands for."""
        alarms = self._alarms.rises(*instance.rises())
        end = self._end(instance, finished, instance.cycle, alarms, fault)
        return classify(fault, self.golden().end, end, self.workload)

    def masked(self, fault: Fault) -> Injection:
        """Return the injection of a fault of which nothing is left before the end."""
        end = self.golden().end
        return classify(fault, end, end, self.workload)

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
        check_fault(fault, self.elaboration, self.golden().cycles)
        return self._inject(fault, Shortcut.NONE).injection

    def _outcomes(self, faults: Sequence[Fault], workers: int) -> Iterator[Outcome]:
        """Yield an outcome for each fault; repeated ones are simulated once."""
        stuck = Counter(fault for fault in faults if fault.held is not None)
        for done in self._held(stuck, workers):
            yield from [done] * stuck[done.injection.fault]
        times = Counter(fault for fault in faults if fault.held is None)
        if not times:
            return
        self._asked += times.total()
        unanswered = set(times)
        if sweeper := self._sweeper or self._new_sweeper():
            try:
                for done in run_chunks(
                    _spread(sorted(times), workers),
                    lambda chunk: sweeper.outcomes(chunk, self.shortcuts),
                    workers,
                ):
                    unanswered.discard(done.injection.fault)
                    yield from [done] * times[done.injection.fault]
            except GatesError as error:
                self._give_up_sweeps(str(error))
        for done in self._simulated(unanswered, self.shortcuts & ~_IN_SWEEPS, workers):
            yield from [done] * times[done.injection.fault]

    def _simulated(self, faults: Iterable[Fault], shortcuts: Shortcut, workers: int) -> Iterator[Outcome]:
        """Yield outcomes without a sweep."""
        ordered = sorted(faults, key=lambda fault: (self._begins(fault, shortcuts), fault.site))
        chunks = [ordered[i : i + CHUNK] for i in range(0, len(ordered), CHUNK)]
        return run_chunks(chunks, lambda chunk: (self._inject(f, shortcuts) for f in chunk), workers)

    def _held(self, faults: Collection[Fault], workers: int) -> Iterator[Outcome]:
        """Yield outcomes of stuck bits, each simulated by itself from where it has its first effect."""
        shortcuts = self.shortcuts & ~_IN_SWEEPS
        if faults and shortcuts and not self._watched:
            self._campaign.watch(self._map.watched)
            self._watched = True
        return self._simulated(faults, shortcuts, workers)

    def _begins(self, fault: Fault, shortcuts: Shortcut) -> int:
        """Return the cycle from which on a fault has to be simulated."""
        if fault.held is None or not shortcuts:
            return fault.cycle
        return self._campaign.first_effect(self._map.flips(fault), fault.held)

    def _new_sweeper(self) -> Sweeper | None:
        golden = self.golden()
        wanted = self._wants_sweep
        if wanted is None:
            wanted = self._asked * golden.end.end_cycle >= SWEEP_FROM
        if wanted:
            try:
                circuit = circuit_of(read_gates(self.target, self.elaboration), self._origin)
            except UnsupportedError as error:
                self._give_up_sweeps(str(error))
                return None
            self._sweeper = Sweeper(
                Sweep(self._campaign, circuit, self._exits.boundaries if self._exits else None),
                self._map,
                golden.end,
                self.workload.outputs,
                self.timeout_cycles,
                self._exits,
                lambda fault, end: classify(fault, golden.end, end, self.workload),
                lambda fault, ending, cycle: self._faulty_end(fault, ending, cycle, golden),
                lambda fault: self._inject(fault, self.shortcuts & ~_IN_SWEEPS),
                self._alarms,
            )
        return self._sweeper

    def _give_up_sweeps(self, reason: str) -> None:
        self.notes.append(f"simulated every fault by itself: {reason}")
        self._wants_sweep = False
        if self._sweeper is not None:
            self._sweeper.sweep.close()
            self._sweeper = None

    def _run_audit(self, early: list[Injection], workers: int) -> None:
        wanted = max(self._audit.minimum, math.ceil(self._audit.share * self.early_stops)) - self.audited
        chosen = self._random.sample(early, max(0, min(wanted, len(early))))
        expected = {injection.fault: injection for injection in chosen}
        for done in self._simulated(expected, Shortcut.NONE, workers):
            found = done.injection
            if found != expected[found.fault]:
                raise AuditError(
                    f"audit of early stops: {self._describe(found.fault)} was taken for "
                    f"{expected[found.fault]}, the run to the end gives {found}; "
                    "what this engine answered cannot be trusted",
                    found.fault,
                )
        self.audited += len(expected)

    def _inject(self, fault: Fault, shortcuts: Shortcut) -> Outcome:
        golden, limit = self.golden(), self.timeout_cycles
        if fault.held is not None:
            if self.workload.inferences > 1:
                raise HarnessError(f"{self._describe(fault)}: a stuck bit is in both inferences; run one")
            return self._hold(fault, fault.held, shortcuts)
        flips = self._map.flips(fault)
        try:
            result = self._campaign.inject(flips, fault.cycle, limit, shortcuts)
            path = self.elaboration.sites[fault.site].element.path
            if result.stop == Ending.NOT_APPLIED and self.elaboration.is_latch(path):
                flips = [flip for flip in flips if self._holds(flip, fault.cycle)]
                if not flips:
                    return Outcome(self.masked(fault), False, 0, "vanished")
                result = self._campaign.inject(flips, fault.cycle, limit, shortcuts)
        except SimulationError as error:
            raise SimulationError(f"{self._describe(fault)}: {error}") from error
        first = self._first_end(result, golden, shortcuts)
        end = replace(self._told_end(fault, result, golden), first=first)
        injection = classify(fault, golden.end, end, self.workload)
        shortened = result.stop == Ending.REJOINED or fault.cycle + 1 + result.simulated != result.end_cycle
        how = "vanished" if result.stop == Ending.REJOINED else "stopped"
        return Outcome(injection, shortened, result.simulated, how)

    def _first_end(self, result: InjectionResult, golden: GoldenRun, shortcuts: Shortcut) -> RunEnd | None:
        """Return how the first of two inferences ended, and let a run that has paused there go on.

        Afterwards `result` is that of the whole run. The second inference has a time-out of its own.
        """
        whole = golden.end
        if whole.first is None:
            return None
        if result.stop == Ending.PAUSED:
            end = self._end(self._campaign.faulty, True, result.end_cycle, self._alarms_of(result))
            second = math.ceil(self._timeout_factor * (whole.end_cycle - whole.first.end_cycle))
            self._campaign.resume(result, result.end_cycle + second, shortcuts)
            return end
        if result.stop == Ending.REJOINED:
            shifted = whole.first.end_cycle + result.shift
            return replace(whole.first, end_cycle=shifted, alarms=self._alarms_of(result))
        return None

    def _alarms_of(self, result: InjectionResult) -> Rises:
        return self._alarms.rises(first_rise(result.told.detected), first_rise(result.told.corrected))

    def _hold(self, fault: Fault, value: int, shortcuts: Shortcut) -> Outcome:
        golden = self.golden()
        bits = self._map.flips(fault)
        try:
            result = self._campaign.hold(bits, value, self.timeout_cycles, shortcuts)
        except SimulationError as error:
            raise SimulationError(f"{self._describe(fault)}: {error}") from error
        end = self._told_end(fault, result, golden)
        how = "vanished" if result.stop == Ending.REJOINED else "stopped"
        early = result.simulated != result.end_cycle
        return Outcome(classify(fault, golden.end, end, self.workload), early, result.simulated, how)

    def _holds(self, flip: Flip, cycle: int) -> bool:
        """Whether a latch is closed in a cycle: an open one follows its input and loses a flip at once."""
        return self._campaign.inject([flip], cycle, cycle + 1, Shortcut.NONE).stop != Ending.NOT_APPLIED

    def _told_end(self, fault: Fault, result: InjectionResult, golden: GoldenRun) -> RunEnd:
        """Return how a run ended that the campaign's faulty instance made."""
        end = self._faulty_end(fault, Ending(result.stop), result.end_cycle, golden)
        return replace(end, alarms=self._alarms_of(result))

    def _faulty_end(self, fault: Fault, ending: Ending, end_cycle: int, golden: GoldenRun) -> RunEnd:
        """Return how a run ended, alarms aside."""
        match ending:
            case Ending.REJOINED:
                return replace(golden.end, end_cycle=end_cycle, alarms=(), first=None)
            case Ending.DONE | Ending.LIMIT:
                return self._end(self._campaign.faulty, ending is Ending.DONE, end_cycle, (), fault)
            case Ending.NOT_APPLIED:
                kept = "the flip" if fault.held is None else "its value"
                raise SimulationError(
                    f"{self._describe(fault)}: the bit did not keep {kept} until the design had settled"
                )
            case _:
                raise SimulationError(
                    f"{self._describe(fault)}: the design called $finish in cycle {end_cycle}"
                )

    def _end(
        self,
        instance: Instance,
        finished: bool,
        end_cycle: int,
        alarms: Rises,
        fault: Fault | None = None,
    ) -> RunEnd:
        if fault is None or fault.held is None:
            state_hash = self._map.state_hash(instance)
        else:
            byte, bit = bit_place(self.elaboration.sites, fault.site)
            final = self._golden_contents[byte] >> bit & 1
            state_hash = self._map.state_hash(instance, self._map.flip(fault.site), final)
        return RunEnd(
            finished=finished,
            end_cycle=end_cycle,
            status=instance.port(Port.STATUS),
            output=self._runner.output(instance, self.workload),
            state_hash=state_hash,
            alarms=alarms,
        )

    def _made_exits(self, end: RunEnd) -> Exits | None:
        """Return where runs may leave the RTL; None if no tail answers for all that they could do."""
        tail = self.workload.tail
        if tail is None or not self.shortcuts & Shortcut.LEAVE:
            return None
        if loud := self._alarms.loud(tail.quiet, end.alarms):
            self.notes.append(
                f"workload {self.workload.name}: its tail cannot tell whether {', '.join(loud)} would rise "
                "in a run that it finishes, so no run leaves the RTL; injections take longer"
            )
            return None
        exits = Exits(self.target, tail, self._map, self._campaign)
        self._close_wrong_exits(end, exits)
        return exits

    def _close_wrong_exits(self, end: RunEnd, exits: Exits) -> None:
        """Scramble what the tail says to be dead at the exits; where anything comes of it, none may leave."""
        observed = [name for name, memory in self.target.memories.items() if memory.observed]

        def seen(instance: Instance, stop: Stop) -> RunEnd:
            found = self._end(instance, stop is Stop.DONE, instance.cycle, ())
            contents = digest(b"".join(self._runner.memory(instance, name) for name in observed))
            return replace(found, state_hash=contents)

        expected = seen(self._campaign.cursor, Stop.DONE)
        noise = self._random.getrandbits(64)

        def harmless(places: Collection[int]) -> bool:
            with self._runner.library.create() as other:
                other.copy_from(self._origin)
                exits.scramble(other, noise, places)
                same = seen(other, other.run(2 * end.end_cycle)) == expected
                known = {rise.alarm for rise in end.alarms}
                return same and all(rise.alarm in known for rise in self._alarms.rises(*other.rises()))

        known = exits.open
        if harmless(known.values()):
            return
        wrong = {value: place for value, place in known.items() if not harmless([place])} or known
        exits.close(wrong.values())
        self.notes.append(
            f"workload {self.workload.name}: its tail says what no longer matters when an operation has "
            f"ended; scrambling that changed the run after {', '.join(map(str, wrong))} operations, so it "
            "does matter: no run leaves there. Injections take longer, outcomes are right; please report it"
        )

    def _check_state_is_whole(self, end: RunEnd) -> None:
        """Transplant the known storage alone from the middle of the golden run into a fresh instance."""
        middle = end.end_cycle // 2
        with self._runner.library.create() as source, self._runner.library.create() as other:
            source.copy_from(self._origin)
            source.run_to(middle)
            other.reset(self.target.reset_cycles)
            other.run_to(1)
            for _ in range(_TRANSPLANTS):
                for storage in (*self._map.registers, *self._map.memories):
                    other.view(storage)[:] = source.view(storage)
                other.settle()
            stop = other.run(end.end_cycle - middle + 1)
            found = self._end(other, stop is Stop.DONE, other.cycle - 1 + middle, end.alarms)
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


def _spread(faults: Sequence[Fault], workers: int) -> list[Sequence[Fault]]:
    """Divide faults among sweeps, each of which has some from everywhere."""
    sweeps = workers * max(1, -(-len(faults) // (SWEEP_FAULTS * workers)))
    return [chunk for i in range(sweeps) if (chunk := faults[i::sweeps])]
