# SPDX-License-Identifier: Apache-2.0
"""One pass of many faults through the golden run: the effect of each, and of those in the same state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from resil.rtl_harness.engine.fast.fault_effect import EffectReader, FaultEffect, RunStatus
from resil.rtl_harness.engine.fast.native.injector import Ending
from resil.rtl_harness.engine.fast.native.sweep import SweepEnd, SweepResult
from resil.rtl_harness.engine.fast.processes import EngineOutcome
from resil.rtl_harness.faults import Corruption, Fault

# Runs that left the RTL and are finished together.
TOGETHER = 256


@dataclass(frozen=True)
class Undecided:
    """What is known of a fault that has to go on in the RTL.

    Attributes:
        corruption: What it damaged first.
        doubt: A lane had part in it.
    """

    corruption: Corruption | None
    doubt: bool


@dataclass(frozen=True)
class Paused:
    """What is known of a fault that has to go on with its second inference.

    Attributes:
        effect: Of the first.
        how: It came to its end.
        simulated: Cycles that were simulated until then.
        nanoseconds: Time that was spent on it.
    """

    effect: FaultEffect
    how: str
    simulated: int
    nanoseconds: int


class _Report(NamedTuple):
    """What a sweep reports of a run, the effect that follows, and how it became known."""

    result: SweepResult
    effect: FaultEffect
    how: str
    early: bool


class ConcurrentPass:
    """The results of one pass become outcomes.

    Args:
        faults: In the order of their numbers in the sweep.
        reader: Reads results.

    Attributes:
        doubtful: Outcomes that a lane had part in.
        discarded: Faults of which nothing is known, for the lane model was wrong.
        lost: Faults that have to be simulated by themselves.
        undecided: Faults that have to go on in the RTL, and not leave it.
        paused: Faults whose first inference of two has ended, and what is known of them.
    """

    def __init__(self, faults: Sequence[Fault], reader: EffectReader) -> None:
        self.doubtful: list[EngineOutcome] = []
        self.discarded: list[Fault] = []
        self.lost: list[Fault] = []
        self.undecided: dict[Fault, Undecided] = {}
        self.paused: dict[Fault, Paused] = {}
        self._faults = faults
        self._reader = reader
        self._left: list[SweepResult] = []
        # Those that others were merged with: who waits for them, and the effects of those that others may
        # still be merged with, as long as the sweep is where they were seen.
        self._followers: dict[int, list[SweepResult]] = {}
        self._recent: dict[int, FaultEffect] = {}
        self._windows = 0

    def take(self, result: SweepResult) -> Iterator[EngineOutcome]:
        """Yield the outcomes that a result decides and that no lane had part in."""
        if result.windows != self._windows:
            self._windows = result.windows
            self._recent.clear()
        match result.end:
            case SweepEnd.MERGED:
                if result.other in self._recent:
                    yield from self._settle(_Report(result, self._recent[result.other], "merged", True))
                else:
                    self._followers.setdefault(result.other, []).append(result)
            case SweepEnd.LEFT:
                self._left.append(result)
                if len(self._left) >= TOGETHER:
                    yield from self.finish()
            case SweepEnd.VANISHED:
                yield from self._settle(_Report(result, self._reader.vanished(result), "vanished", True))
            case SweepEnd.DISCARDED:
                yield from self._settle(_Report(result, FaultEffect(RunStatus.DISCARDED), "", True))
            case SweepEnd.STOPPED:
                yield from self._settle(self._stopped(result))

    def finish(self) -> Iterator[EngineOutcome]:
        """Settle those that have left; to be called when there are no more results."""
        left, self._left = self._left, []
        for result, effect in zip(left, self._reader.left(left), strict=True):
            yield from self._settle(_Report(result, effect, "left", True))

    def _stopped(self, result: SweepResult) -> _Report:
        if result.ending is Ending.NOT_APPLIED:
            # A sweep enters a cycle from another one. If the design holds storage in reset there by a
            # register of its own, the model takes that for an edge, which in the run itself came before
            # the fault, and resets what was flipped.
            return _Report(result, FaultEffect(RunStatus.LOST), "", True)
        fault = self._faults[result.job]
        if result.ending is Ending.PAUSED:
            return _Report(result, self._reader.paused(fault, result), "paused", True)
        end = self._reader.read_end(fault, result.ending, result.end_cycle)
        whole = fault.cycle + 1 + result.simulated == result.end_cycle
        cut = result.ending is Ending.DETECTED
        how = "detected" if cut else "stopped"
        return _Report(result, FaultEffect(RunStatus.ENDED, end), how, cut or not whole)

    def _settle(self, first: _Report) -> Iterator[EngineOutcome]:
        """Yield the outcome of a run, and of all that were merged with it."""
        waiting = [first]
        while waiting:
            result, effect, how, early = waiting.pop()
            fault = self._faults[result.job]
            effect = effect._replace(doubt=effect.doubt or result.in_lane)
            effect, done = self._reader.outcome(fault, result, effect, how, early)
            if effect.status is RunStatus.PAUSED:
                self.paused[fault] = Paused(effect, how, result.simulated, result.nanoseconds)
            elif done is None:
                self._put_off(fault, effect)
            elif effect.doubt:
                self.doubtful.append(done)
            else:
                yield done
            if result.known and result.windows == self._windows:
                self._recent[result.job] = effect
            followers = self._followers.pop(result.job, [])
            waiting += [_Report(follower, effect, "merged", True) for follower in followers]

    def _put_off(self, fault: Fault, effect: FaultEffect) -> None:
        if effect.status is RunStatus.UNDECIDED:
            self.undecided[fault] = Undecided(effect.corruption, effect.doubt)
        elif effect.status is RunStatus.LOST:
            self.lost.append(fault)
        else:
            self.discarded.append(fault)
