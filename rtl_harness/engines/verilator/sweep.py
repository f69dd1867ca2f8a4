"""Faults into a sweep of the compiled model, and what comes out of it into injections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import Enum, auto
from typing import NamedTuple

from rtl_harness.engines.verilator.alarms import Alarms, Rises, joined
from rtl_harness.engines.verilator.pool import Outcome
from rtl_harness.engines.verilator.state import StateMap
from rtl_harness.engines.verilator.tail import Exits
from rtl_harness.errors import AuditError
from rtl_harness.faults import Corruption, Fault, Injection, RunEnd
from rtl_harness.verilated.campaign import Ending, Shortcut
from rtl_harness.verilated.sweep import Sweep, SweepEnd, SweepResult
from rtl_harness.workload import OutputSpec

# Runs that left the RTL and are finished together.
TOGETHER = 256

# Outcomes that lanes had part in and that are held back together, until so many more agreed.
HELD = 8192

_DIFFER = "the lane model was seen to do what the compiled model does not do"
LANES_DIFFER = (
    f"simulated faults one at a time: {_DIFFER}; all faults that had been in it were simulated again"
)


class _Known(Enum):
    """What is known of a run's end.

    ENDED: all. UNDECIDED: what it damaged; it has to go on in the RTL. LOST: nothing, it has to be simulated
    by itself. SPOILT: nothing, for the lane model was wrong.
    """

    ENDED = auto()
    UNDECIDED = auto()
    LOST = auto()
    SPOILT = auto()


class _Fate(NamedTuple):
    """What becomes of a run, and of those that were found to be in the same state.

    Attributes:
        known: How much is known.
        end: Of one that has ended, alarms aside.
        corruption: What it damaged first; None if that is not known.
        alarms: That it raised.
        doubt: A lane had part in it.
    """

    known: _Known
    end: RunEnd | None = None
    corruption: Corruption | None = None
    alarms: Rises = ()
    doubt: bool = False


class Sweeper:
    """Takes faults through a sweep.

    Args:
        sweep: Of a campaign that had its golden pass.
        state_map: Where storage lies.
        golden: How the golden run ended.
        outputs: The output tensors.
        limit: Cycles from reset to the time-out.
        exits: Where runs leave; None if they do not.
        judge: Makes an injection of a fault and its end.
        stopped: Reads the end of a run that was simulated to its end, alarms aside.
        alone: Simulates a fault without a sweep.
        alarms: The target's.
    """

    def __init__(
        self,
        sweep: Sweep,
        state_map: StateMap,
        golden: RunEnd,
        outputs: Sequence[OutputSpec],
        limit: int,
        exits: Exits | None,
        judge: Callable[[Fault, RunEnd], Injection],
        stopped: Callable[[Fault, Ending, int], RunEnd],
        alone: Callable[[Fault], Outcome],
        alarms: Alarms,
    ) -> None:
        self.sweep = sweep
        self.flips = state_map.flips
        self.golden = golden
        self._outputs = outputs
        self.limit = limit
        self.exits = exits
        self._judge = judge
        self.stopped = stopped
        self.alone = alone
        self._alarms = alarms

    def outcomes(self, faults: Sequence[Fault], shortcuts: Shortcut) -> Iterator[Outcome]:
        """Yield an outcome for each of these different faults, as they become known.

        Those of faults that were in a lane wait for company: if lane model and compiled model are seen to
        differ before, these faults are simulated again, without lanes.

        Raises:
            AuditError: If the two differ when outcomes of faults that were in a lane have been given already.
        """
        walk = _Walk(self, faults, shortcuts)
        given: Fault | None = None
        for done in walk.outcomes():
            yield done
            if len(walk.doubtful) >= HELD and not self.sweep.lanes_differ:
                given = walk.doubtful[-1].injection.fault
                yield from walk.doubtful
                walk.doubtful.clear()
        if not self.sweep.lanes_differ:
            yield from walk.doubtful
        elif given is not None:
            raise AuditError(f"{_DIFFER}; others that had been in it were answered before", given)
        elif again := [*walk.spoilt, *(done.injection.fault for done in walk.doubtful)]:
            for done in self.outcomes(again, shortcuts):
                yield done._replace(note=LANES_DIFFER)

    def told(
        self, fault: Fault, result: SweepResult, fate: _Fate, how: str, early: bool
    ) -> tuple[_Fate, Outcome | None]:
        """Return a fault's own fate and outcome, None if it has none yet.

        Args:
            fault: The fault.
            result: What the sweep says of it.
            fate: That of its run from where the sweep has it, or of the one that it was merged with. Until
                then it may have raised other alarms, but of the same kinds.
            how: How it became known.
            early: Whether that was before its end.
        """
        corruption = self._corruption(result, fate.corruption)
        if fate.end is None:
            return fate._replace(corruption=corruption), None
        alarms = joined(self._alarms.rises(result.detected, result.corrected), fate.alarms)
        injection = replace(self._judge(fault, replace(fate.end, alarms=alarms)), corruption=corruption)
        own = fate._replace(corruption=corruption, alarms=alarms)
        return own, Outcome(injection, early, result.simulated, how, result.nanoseconds, in_lane=fate.doubt)

    def _corruption(self, result: SweepResult, otherwise: Corruption | None) -> Corruption | None:
        if result.noted is None or self.exits is None:
            return otherwise
        return self.exits.corruption(result.noted)

    def finished(self, left: Sequence[SweepResult]) -> Iterator[RunEnd | None]:
        """Yield the ends of runs that left; None where stale state of the design decides."""
        if not left:
            return
        assert self.exits is not None
        exits = self.exits
        departures = [exits.departure(result.left) for result in left if result.left is not None]
        for result, image in zip(left, exits.tail.finish(departures), strict=True):
            if image is None or image == exits.golden_end:
                yield None
                continue
            output = exits.output(image, self._outputs, self.golden.output)
            # The memory is part of the state: which other state there is changes no outcome any more.
            yield replace(self.golden, end_cycle=result.end_cycle, output=output, state_hash="")


class _Walk:
    """One walk of faults through a sweep.

    Attributes:
        doubtful: Outcomes that a lane had part in.
        spoilt: Faults of which nothing is known, for the lane model was wrong.
    """

    def __init__(self, sweeper: Sweeper, faults: Sequence[Fault], shortcuts: Shortcut) -> None:
        self.doubtful: list[Outcome] = []
        self.spoilt: list[Fault] = []
        self._sweeper = sweeper
        self._faults = sorted(faults, key=lambda fault: (fault.cycle, fault.site))
        self._shortcuts = shortcuts if sweeper.exits is not None else shortcuts & ~Shortcut.LEAVE
        self._left: list[SweepResult] = []
        self._lost: list[Fault] = []
        self._undecided: dict[Fault, Corruption | None] = {}
        self._in_lanes: set[Fault] = set()
        # Those that others were merged with: who waits for them, and what became of those that others may
        # still be merged with, as long as the sweep is where they were seen.
        self._followers: dict[int, list[SweepResult]] = {}
        self._recent: dict[int, _Fate] = {}
        self._windows = 0

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the outcomes that no lane had part in."""
        sweeper = self._sweeper
        jobs = ((sweeper.flips(fault), fault.cycle) for fault in self._faults)
        for result in sweeper.sweep.run(jobs, sweeper.limit, self._shortcuts):
            if result.windows != self._windows:
                self._windows = result.windows
                self._recent.clear()
            yield from self._take(result)
        yield from self._finish()
        yield from map(sweeper.alone, sorted(self._lost, key=lambda fault: fault.cycle))
        if not self._undecided:
            return
        for done in sweeper.outcomes(list(self._undecided), self._shortcuts & ~Shortcut.LEAVE):
            fault = done.injection.fault
            injection = replace(done.injection, corruption=self._undecided[fault])
            doubt, how = fault in self._in_lanes, f"undecided, then {done.how}"
            done = done._replace(injection=injection, how=how, in_lane=doubt or done.in_lane)
            if doubt:
                self.doubtful.append(done)
            else:
                yield done

    def _take(self, result: SweepResult) -> Iterator[Outcome]:
        match result.end:
            case SweepEnd.MERGED:
                if result.other in self._recent:
                    yield from self._settle(result, self._recent[result.other], "merged", True)
                else:
                    self._followers.setdefault(result.other, []).append(result)
            case SweepEnd.LEFT:
                self._left.append(result)
                if len(self._left) >= TOGETHER:
                    yield from self._finish()
            case SweepEnd.VANISHED:
                end = replace(self._sweeper.golden, end_cycle=result.end_cycle)
                yield from self._settle(result, _Fate(_Known.ENDED, end), "vanished", True)
            case SweepEnd.SPOILT:
                yield from self._settle(result, _Fate(_Known.SPOILT), "", True)
            case SweepEnd.STOPPED if result.ending is Ending.NOT_APPLIED:
                # A sweep enters a cycle from another one. If the design holds storage in reset there by a
                # register of its own, the model takes that for an edge, which in the run itself came before
                # the fault, and resets what was flipped.
                yield from self._settle(result, _Fate(_Known.LOST), "", True)
            case SweepEnd.STOPPED:
                fault = self._faults[result.job]
                end = self._sweeper.stopped(fault, result.ending, result.end_cycle)
                whole = fault.cycle + 1 + result.simulated == result.end_cycle
                yield from self._settle(result, _Fate(_Known.ENDED, end), "stopped", not whole)

    def _finish(self) -> Iterator[Outcome]:
        """Settle those that have left."""
        left, self._left = self._left, []
        for result, end in zip(left, self._sweeper.finished(left), strict=True):
            fate = _Fate(_Known.UNDECIDED if end is None else _Known.ENDED, end)
            yield from self._settle(result, fate, "left", True)

    def _settle(self, result: SweepResult, fate: _Fate, how: str, early: bool) -> Iterator[Outcome]:
        """Say what became of a run, and of all that were merged with it."""
        waiting = [(result, fate, how, early)]
        while waiting:
            one, fate, how, early = waiting.pop()
            fate = fate._replace(doubt=fate.doubt or one.in_lane)
            fate, done = self._sweeper.told(self._faults[one.job], one, fate, how, early)
            if done is not None and fate.doubt:
                self.doubtful.append(done)
            elif done is not None:
                yield done
            else:
                self._put_off(self._faults[one.job], fate)
            if one.known and one.windows == self._windows:
                self._recent[one.job] = fate
            followers = self._followers.pop(one.job, [])
            waiting += [(follower, fate, "merged", True) for follower in followers]

    def _put_off(self, fault: Fault, fate: _Fate) -> None:
        if fate.known is _Known.UNDECIDED:
            self._undecided[fault] = fate.corruption
            if fate.doubt:
                self._in_lanes.add(fault)
        elif fate.known is _Known.LOST:
            self._lost.append(fault)
        else:
            self.spoilt.append(fault)
