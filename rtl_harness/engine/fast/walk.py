# SPDX-License-Identifier: Apache-2.0
"""One walk of faults through a sweep: what becomes of each, and of those that were in the same state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from resil.rtl_harness.engine.fast.alarms import Rises
from resil.rtl_harness.engine.fast.native.injector import Ending, Shortcut
from resil.rtl_harness.engine.fast.native.sweep import SweepEnd, SweepResult
from resil.rtl_harness.engine.fast.processes import Outcome
from resil.rtl_harness.faults import Corruption, Fault, RunEnd

if TYPE_CHECKING:
    from resil.rtl_harness.engine.fast.sweep_outcomes import Sweeper

# Runs that left the RTL and are finished together.
TOGETHER = 256


class Known(Enum):
    """What is known of a run's end.

    ENDED: all. UNDECIDED: what it damaged; it has to go on in the RTL. LOST: nothing, it has to be simulated
    by itself. SPOILT: nothing, for the lane model was wrong.
    """

    ENDED = auto()
    UNDECIDED = auto()
    LOST = auto()
    SPOILT = auto()


class Fate(NamedTuple):
    """What becomes of a run, and of those that were found to be in the same state.

    Attributes:
        known: How much is known.
        end: Of one that has ended, alarms aside.
        corruption: What it damaged first; None if that is not known.
        alarms: That it raised.
        doubt: A lane had part in it.
    """

    known: Known
    end: RunEnd | None = None
    corruption: Corruption | None = None
    alarms: Rises = ()
    doubt: bool = False


class Walk:
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
        self._recent: dict[int, Fate] = {}
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
                yield from self._settle(result, Fate(Known.ENDED, end), "vanished", True)
            case SweepEnd.SPOILT:
                yield from self._settle(result, Fate(Known.SPOILT), "", True)
            case SweepEnd.STOPPED if result.ending is Ending.NOT_APPLIED:
                # A sweep enters a cycle from another one. If the design holds storage in reset there by a
                # register of its own, the model takes that for an edge, which in the run itself came before
                # the fault, and resets what was flipped.
                yield from self._settle(result, Fate(Known.LOST), "", True)
            case SweepEnd.STOPPED:
                fault = self._faults[result.job]
                end = self._sweeper.stopped(fault, result.ending, result.end_cycle)
                whole = fault.cycle + 1 + result.simulated == result.end_cycle
                cut = result.ending is Ending.DETECTED
                how = "detected" if cut else "stopped"
                yield from self._settle(result, Fate(Known.ENDED, end), how, cut or not whole)

    def _finish(self) -> Iterator[Outcome]:
        """Settle those that have left."""
        left, self._left = self._left, []
        for result, end in zip(left, self._sweeper.finished(left), strict=True):
            fate = Fate(Known.UNDECIDED if end is None else Known.ENDED, end)
            yield from self._settle(result, fate, "left", True)

    def _settle(self, result: SweepResult, fate: Fate, how: str, early: bool) -> Iterator[Outcome]:
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

    def _put_off(self, fault: Fault, fate: Fate) -> None:
        if fate.known is Known.UNDECIDED:
            self._undecided[fault] = fate.corruption
            if fate.doubt:
                self._in_lanes.add(fault)
        elif fate.known is Known.LOST:
            self._lost.append(fault)
        else:
            self.spoilt.append(fault)
