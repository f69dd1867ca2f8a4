# SPDX-License-Identifier: Apache-2.0
"""The effect of a fault as far as a sweep knows it, and the injection that it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import NamedTuple

from resil.rtl_harness.engine.fast.alarms import Alarms, Rises, joined
from resil.rtl_harness.engine.fast.exits import Exits
from resil.rtl_harness.engine.fast.native.injector import Ending
from resil.rtl_harness.engine.fast.native.sweep import PausedRun, SweepResult
from resil.rtl_harness.engine.fast.processes import EngineOutcome
from resil.rtl_harness.engine.workload import OutputSpec
from resil.rtl_harness.faults import Corruption, Fault, Injection, RunEnd


class RunStatus(Enum):
    """What is known of a run's end.

    ENDED: all. PAUSED: how the first of two inferences ended; it has to go on with the second. UNDECIDED:
    what it damaged; it has to go on in the RTL. LOST: nothing, it has to be simulated by itself. DISCARDED:
    nothing, for the lane model was wrong.
    """

    ENDED = auto()
    PAUSED = auto()
    UNDECIDED = auto()
    LOST = auto()
    DISCARDED = auto()


class FaultEffect(NamedTuple):
    """What becomes of a run, and of those that were found to be in the same state.

    Attributes:
        status: How much is known.
        end: Of one that has ended, alarms aside.
        first: Of one that has paused, how its first inference ended, alarms aside.
        paused: Of one that has paused, what is needed to go on.
        shift: Cycles by which it paused later than the golden run.
        corruption: What it damaged first; None if that is not known.
        alarms: That it raised.
        doubt: A lane had part in it.
    """

    status: RunStatus
    end: RunEnd | None = None
    first: RunEnd | None = None
    paused: PausedRun | None = None
    shift: int = 0
    corruption: Corruption | None = None
    alarms: Rises = ()
    doubt: bool = False


@dataclass(frozen=True)
class EffectReader:
    """Reads what a sweep reports of a run.

    Attributes:
        golden: How the golden run ended.
        outputs: The output tensors.
        exits: Where runs leave; None if they do not.
        classify: Makes an injection of a fault and its end.
        read_end: Reads the end of a run that was simulated to its end, alarms aside.
        alarms: The target's.
    """

    golden: RunEnd
    outputs: Sequence[OutputSpec]
    exits: Exits | None
    classify: Callable[[Fault, RunEnd], Injection]
    read_end: Callable[[Fault, Ending, int], RunEnd]
    alarms: Alarms

    def outcome(
        self, fault: Fault, result: SweepResult, effect: FaultEffect, how: str, early: bool
    ) -> tuple[FaultEffect, EngineOutcome | None]:
        """Return a fault's own effect and outcome, None if it has none yet.

        Args:
            fault: The fault.
            result: What the sweep reports of it.
            effect: That of its run from where the sweep has it, or of the one that it was merged with. Until
                then it may have raised other alarms, but of the same kinds.
            how: How it became known.
            early: Whether that was before its end.
        """
        corruption = self._corruption(result, effect.corruption)
        alarms = joined(self.alarms.rises(result.detected, result.corrected), effect.alarms)
        own = effect._replace(corruption=corruption, alarms=alarms)
        if effect.end is None:
            return own, None
        end = effect.end
        if end.first or alarms != end.alarms:
            end = replace(end, alarms=alarms, first=end.first and replace(end.first, alarms=alarms))
        injection = self.classify(fault, end)
        if corruption is not None:
            injection = replace(injection, corruption=corruption)
        return own, EngineOutcome(
            injection, early, result.simulated, how, result.nanoseconds, in_lane=effect.doubt
        )

    def vanished(self, result: SweepResult) -> FaultEffect:
        """Return the effect of a run that is as the golden one again, but for alarms that are still up."""
        first, end = self.golden.first, self.golden
        if first or end.end_cycle != result.end_cycle:
            first = first and replace(first, end_cycle=first.end_cycle + result.shift)
            end = replace(end, end_cycle=result.end_cycle, first=first)
        return FaultEffect(RunStatus.ENDED, replace(end, state_hash="") if result.spent else end)

    def paused(self, fault: Fault, result: SweepResult) -> FaultEffect:
        """Return the effect of a run that stands, in the faulty instance, where its first inference ended."""
        first = self.read_end(fault, result.ending, result.end_cycle)
        return FaultEffect(RunStatus.PAUSED, first=first, paused=result.paused, shift=result.shift)

    def second(self, paused: Mapping[Fault, FaultEffect]) -> EffectReader:
        """Return what reads of these runs that have paused what the sweep of their second inference reports.

        It counts cycles from where the golden run paused, whenever they did.
        """

        def whole(fault: Fault, end: RunEnd) -> Injection:
            own = paused[fault]
            assert own.first is not None
            later = joined(
                own.alarms, tuple(replace(rise, cycle=rise.cycle + own.shift) for rise in end.alarms)
            )
            first = replace(own.first, alarms=own.alarms)
            return self.classify(
                fault, replace(end, end_cycle=end.end_cycle + own.shift, alarms=later, first=first)
            )

        return replace(self, classify=whole)

    def left(self, results: Sequence[SweepResult]) -> Iterator[FaultEffect]:
        """Yield the effects of runs that left: undecided where stale state of the design decides."""
        if not results:
            return
        assert self.exits is not None
        exits = self.exits
        departures = [exits.departure(result.left) for result in results if result.left is not None]
        for result, image in zip(results, exits.tail.finish(departures), strict=True):
            if image is None or image == exits.golden_end:
                yield FaultEffect(RunStatus.UNDECIDED)
                continue
            output = exits.output(image, self.outputs, self.golden.output)
            # The memory is part of the state: which other state there is changes no outcome any more.
            end = replace(self.golden, end_cycle=result.end_cycle, output=output, state_hash="")
            yield FaultEffect(RunStatus.ENDED, end)

    def _corruption(self, result: SweepResult, otherwise: Corruption | None) -> Corruption | None:
        if result.noted is None or self.exits is None:
            return otherwise
        return self.exits.corruption(result.noted)
