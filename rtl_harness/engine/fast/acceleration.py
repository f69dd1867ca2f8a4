# SPDX-License-Identifier: Apache-2.0
"""Which accelerations pay: gates for sweeps, a lane model; and what follows where gates prove wrong.

Each is made once enough has been asked for: for a few faults its making takes longer than it saves.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from random import Random

from resil.rtl_harness.engine.fast.audit_sample import light
from resil.rtl_harness.engine.fast.concurrent_simulator import HELD, ConcurrentSimulator
from resil.rtl_harness.engine.fast.confirmed_answers import confirmed
from resil.rtl_harness.engine.fast.exit_trial import close_wrong_exits
from resil.rtl_harness.engine.fast.exits import Exits
from resil.rtl_harness.engine.fast.fault_effect import EffectReader
from resil.rtl_harness.engine.fast.gates.circuit import circuit_of
from resil.rtl_harness.engine.fast.gates.moments import UnsupportedError
from resil.rtl_harness.engine.fast.gates.operation_bits import operation_bits
from resil.rtl_harness.engine.fast.golden import GoldenPass
from resil.rtl_harness.engine.fast.held_simulator import HeldSimulator
from resil.rtl_harness.engine.fast.lane_library import lanes_of
from resil.rtl_harness.engine.fast.lanes.build import is_made, lane_model, pays
from resil.rtl_harness.engine.fast.lanes.words import (
    UnsupportedLanesError as UnsupportedLanesError,
)
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.engine.fast.native.circuit import Circuit
from resil.rtl_harness.engine.fast.native.held_lanes import HeldLanes
from resil.rtl_harness.engine.fast.native.injector import AlarmBit, Shortcut
from resil.rtl_harness.engine.fast.native.sweep import GatesError, LaneLibrary, Sweep, SweepTimes
from resil.rtl_harness.engine.fast.processes import EngineOutcome, run_chunks
from resil.rtl_harness.engine.fast.shared import Shared
from resil.rtl_harness.engine.fast.single import Singles
from resil.rtl_harness.engine.fast.watched_gates import watched_gates
from resil.rtl_harness.engine.timeout import Timeout
from resil.rtl_harness.errors import AuditError
from resil.rtl_harness.faults import Fault, Injection

# Faults times cycles of the golden run from which on the gates of the design are worth their making.
SWEEP_FROM = 100_000_000

# Faults from which on sweeps pay where the gates are there already, in all, and for each input. On `digits`
# and `mnist_lenet`, 32 MACs, a sweep costs what 60 faults by themselves cost; dead storage, found once for
# all inputs, what 300 to 400 do.
SWEEP_READY_FROM = 400
SWEEP_READY_EACH = 60

# Faults times cycles, of each input, from which on a lane model is used if it is there: 250 faults of
# `digits` at 32 MACs went 1.08 times as fast, 1,000 of them 1.32 times.
LANES_FROM = 2_000_000
# Likewise of all inputs from which on it is worth its making, 31 s of the processor at 32 MACs and 83 s at
# 256. That much is saved by 10^9 of `digits` at 32 MACs, 3 * 10^9 at 128, and 10^10 at 256.
LANES_MADE_FROM = 2_000_000_000

# Likewise for stuck bits, most of which are simulated for most of the golden run.
HELD_LANES_FROM = 10_000_000
HELD_LANES_MADE_FROM = 200_000_000

IN_SWEEPS = Shortcut.FORESIGHT | Shortcut.LEAVE | Shortcut.SEEN
"""Shortcuts that need the design's gates."""

Alone = Callable[[Iterable[Fault], int], Generator[EngineOutcome, None, None]]
"""Yields outcomes of faults, simulated one by one, by so many workers."""


@dataclass
class AccelerationWanted:
    """What is wanted.

    Attributes:
        sweep: Whether there are to be any; None: when they pay.
        lanes: Likewise with a lane model.
        faults: How many have been asked for.
    """

    sweep: bool | None
    lanes: bool | None
    faults: int = 0


class Acceleration:
    """Concurrent simulation of faults, made once it pays and given up if the gates are wrong.

    Args:
        model: The compiled design.
        golden: Its golden run.
        singles: Simulates faults one by one.
        shortcuts: Which are taken.
        timeout: What has one.
        wanted: What is wanted, which may still change.
        generator: Of the noise that trials use.
        notes: What a user should know is added.
        shared: With the engines of other inputs.
    """

    def __init__(
        self,
        model: CompiledModel,
        golden: GoldenPass,
        singles: Singles,
        shortcuts: Shortcut,
        timeout: Timeout,
        wanted: AccelerationWanted,
        generator: Random,
        notes: list[str],
        shared: Shared,
    ) -> None:
        self._model = model
        self._shared = shared
        self._golden = golden
        self._singles = singles
        self._shortcuts = shortcuts
        self._timeout = timeout
        self._wanted = wanted
        self._random = generator
        self._notes = notes
        self._simulator: ConcurrentSimulator | None = None
        self._has_lanes = False
        self._held: HeldSimulator | None = None
        # What gates say of this very golden run, however often sweeps are made.
        self._run_known = False

    def close(self) -> None:
        """Free what was made."""
        if self._simulator is not None:
            self._simulator.sweep.close()
            self._simulator = None
            self._has_lanes = False
        if self._held is not None:
            self._held.lanes.close()
            self._held = None

    @property
    def are_made(self) -> bool:
        """Whether faults go through sweeps."""
        return self._simulator is not None

    @property
    def times(self) -> SweepTimes:
        """Where the time went; all zero without sweeps."""
        return self._simulator.sweep.times if self._simulator is not None else SweepTimes()

    def made(self) -> ConcurrentSimulator | None:
        """Return what takes faults through sweeps, as is wanted by now; None if nothing does."""
        if self._simulator is None and self._sweeps_pay():
            self._simulator = self._made_simulator()
        if self._simulator is not None:
            self._add_lanes(self._simulator.sweep)
        return self._simulator

    def held(self, faults: int) -> HeldSimulator | None:
        """Return what simulates so many stuck bits together; None where one by one is faster."""
        work = faults * self._golden.run.end.end_cycle
        if self._held is None and self._lanes_pay(work, HELD_LANES_FROM, HELD_LANES_MADE_FROM):
            if (lanes := self._lane_library()) is None:
                self._wanted.lanes = False
            else:
                self._held = HeldSimulator(HeldLanes(self._model.injector, lanes), self._model, self._singles)
        return self._held

    def outcomes(
        self, chunks: Sequence[Sequence[Fault]], workers: int, alone: Alone
    ) -> Iterator[EngineOutcome]:
        """Yield outcomes of these faults; not of all if the gates are seen to be wrong on the way.

        Then sweeps are given up, and what was answered is simulated again one by one.

        Raises:
            AuditError: If one of these answers is wrong, or they are too many.
        """
        simulator = self.made()
        if simulator is None:
            return

        def work(chunk: Sequence[Fault]) -> Iterator[EngineOutcome]:
            yield from simulator.outcomes(chunk, self._shortcuts)
            self._model.check_unused()

        given: list[Injection] = []  # as many as can be tried again
        try:
            for done in run_chunks(chunks, work, workers):
                if len(given) <= HELD:
                    given.append(light(done.injection))
                yield done
        except GatesError as error:
            self._give_up(str(error))
            self._try_again(given, str(error), workers, alone)

    def _try_again(self, given: Sequence[Injection], reason: str, workers: int, alone: Alone) -> None:
        if len(given) > HELD:
            raise AuditError(
                f"{reason}; more than {HELD:,} faults were answered by these gates before, which cannot be "
                "trusted",
                given[-1].fault,
                "gates",
            )
        way = f"{reason}; the run without gates"
        with closing(alone({one.fault for one in given}, workers)) as again:
            found = (done.injection for done in again)
            for _ in confirmed(given, found, way, self._model, self._golden):
                pass

    def _give_up(self, reason: str) -> None:
        self._notes.append(f"simulated every fault by itself: {reason}")
        # What keeps alarms up was found along these gates.
        self._model.injector.spend([])
        self._wanted.sweep = False
        self.close()

    def _made_simulator(self) -> ConcurrentSimulator | None:
        model, golden, singles = self._model, self._golden, self._singles
        try:
            circuit = self._shared.circuit(
                model,
                lambda: circuit_of(
                    watched_gates(model.target, model.workload, model.elaboration),
                    model.origin,
                    model.memory_words,
                ),
            )
            if self._timeout is Timeout.OPERATION:
                model.injector.count_operations(operation_bits(model.target, circuit))
            if not self._run_known:
                stay = [] if model.injector.pause else self._alarm_storage(circuit)
                if golden.exits is not None:
                    golden.exits.find_dead(circuit, model.alarms if stay else None)
                    self._try_exits(golden.exits)
                model.injector.spend(stay)
                self._run_known = True
        except (UnsupportedError, GatesError) as error:
            self._give_up(str(error))
            return None
        sweep = Sweep(model.injector, circuit, golden.exits.boundaries if golden.exits else None)
        reader = EffectReader(
            golden.run.end,
            model.workload.outputs,
            golden.exits,
            singles.classified,
            singles.faulty_end,
            model.alarms,
        )
        return ConcurrentSimulator(
            sweep,
            model.map,
            singles.timeout_cycles,
            model.injector.pause + singles.second_cycles,
            reader,
            lambda fault: singles.inject(fault, self._shortcuts & ~IN_SWEEPS),
        )

    def _try_exits(self, exits: Exits) -> None:
        """Close the exits at which what is dead matters after all.

        Of inputs with which operations end in the same cycles the same is dead: some are tried for all.

        Raises:
            AuditError: If it matters, and inputs have been answered for which that was not tried.
        """
        run = self._golden.run
        said = "exits", run.operation_ends, run.end.end_cycle
        untried = self._shared.untried(said)
        if not self._shared.tries(said):
            return
        wrong = close_wrong_exits(self._model, run.end, exits, self._random)
        if wrong and untried:
            raise AuditError(f"{wrong[0]}; {untried} inputs before were not tried", None, "exits")
        self._notes += wrong

    def _alarm_storage(self, circuit: Circuit) -> list[AlarmBit]:
        """Return the bits of the design's own storage that do nothing but keep alarms up.

        A design that has none with one input is not asked again with the others.
        """
        if self._shared.no_alarm_stays:
            return []
        sweep = Sweep(self._model.injector, circuit)
        try:
            found = self._model.map.counted(sweep.alarm_storage())
        finally:
            sweep.close()
        self._shared.no_alarm_stays = not found
        return found

    def _sweeps_pay(self) -> bool:
        if self._wanted.sweep is not None:
            return self._wanted.sweep
        if self._work() >= SWEEP_FROM:
            return True
        least = max(SWEEP_READY_FROM, SWEEP_READY_EACH * self._shared.engines)
        return self._wanted.faults >= least and self._shared.gates_are_made(self._model)

    def _add_lanes(self, sweep: Sweep) -> None:
        """Let faults that are simulated for long go on in a lane model, if it is wanted and not there yet."""
        least = LANES_FROM * self._shared.engines
        if self._has_lanes or not self._lanes_pay(self._work(), least, LANES_MADE_FROM):
            return
        self._has_lanes = True
        if (lanes := self._lane_library()) is not None:
            sweep.add_lanes(lanes)

    def _lane_library(self) -> LaneLibrary | None:
        """Return the lane model of the design; None if it has none, of which a note gives the reason."""
        model = self._model
        try:
            return lanes_of(lane_model(model.target, model.elaboration.parameters), model)
        except UnsupportedLanesError as error:
            self._notes.append(f"simulated faults one at a time: {error}")
            return None

    def _lanes_pay(self, work: int, least: int, least_made: int) -> bool:
        """Say whether a lane model is used: `least` is where one pays that is there, else `least_made`."""
        if self._wanted.lanes is not None:
            return self._wanted.lanes
        if work < least or not pays():
            return False
        return work >= least_made or is_made(self._model.target, self._model.elaboration.parameters)

    def _work(self) -> int:
        return self._wanted.faults * self._golden.run.end.end_cycle
