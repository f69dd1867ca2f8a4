"""Faults into a sweep of the compiled model, and what comes out of it into injections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from rtl_harness.engines.verilator.alarms import Alarms, Rises, joined
from rtl_harness.engines.verilator.pool import Outcome
from rtl_harness.engines.verilator.state import StateMap
from rtl_harness.engines.verilator.tail import Exits
from rtl_harness.faults import Corruption, Fault, Injection, RunEnd
from rtl_harness.verilated.campaign import Ending, Shortcut
from rtl_harness.verilated.sweep import Sweep, SweepEnd, SweepResult
from rtl_harness.workload import OutputSpec

# Runs that left the RTL and are finished together.
TOGETHER = 256

LANES_DIFFER = (
    "simulated faults one at a time: the lane model was seen to do what the compiled model does not do; "
    "all faults that had been in it were simulated again"
)


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
        self._state_map = state_map
        self._golden = golden
        self._outputs = outputs
        self._limit = limit
        self._exits = exits
        self._judge = judge
        self._stopped = stopped
        self._alone = alone
        self._alarms = alarms

    def outcomes(self, faults: Sequence[Fault], shortcuts: Shortcut) -> Iterator[Outcome]:
        """Yield an outcome for each of these different faults, as they become known.

        Those of faults that were in a lane come last: if lane model and compiled model are seen to differ
        before, these faults are simulated again, without lanes.
        """
        doubtful: list[Outcome] = []
        spoilt: list[Fault] = []
        yield from self._swept(faults, shortcuts, doubtful, spoilt)
        if not self.sweep.lanes_differ:
            yield from doubtful
        elif again := [*spoilt, *(done.injection.fault for done in doubtful)]:
            for done in self.outcomes(again, shortcuts):
                yield done._replace(note=LANES_DIFFER)

    def _swept(
        self, faults: Sequence[Fault], shortcuts: Shortcut, doubtful: list[Outcome], spoilt: list[Fault]
    ) -> Iterator[Outcome]:
        """Yield outcomes that no lane had part in; add others, or faults that have none, to the lists."""
        if self._exits is None:
            shortcuts &= ~Shortcut.LEAVE
        ordered = sorted(faults, key=lambda fault: (fault.cycle, fault.site))
        jobs = [(self._state_map.flips(fault), fault.cycle) for fault in ordered]
        followers: dict[int, list[SweepResult]] = {}
        left: list[SweepResult] = []
        undecided: dict[Fault, Corruption | None] = {}
        in_lanes: set[Fault] = set()
        lost: list[Fault] = []

        def given(done: Outcome, doubt: bool) -> Iterator[Outcome]:
            if doubt:
                doubtful.append(done)
            else:
                yield done

        def answer(result: SweepResult, end: RunEnd, how: str, early: bool) -> Iterator[Outcome]:
            injection, alarms = self._injection(ordered[result.job], result, end, None, ())
            doubt = result.in_lane
            spent = result.nanoseconds
            yield from given(Outcome(injection, early, result.simulated, how, spent, in_lane=doubt), doubt)
            waiting = [(one, injection.corruption, alarms, doubt) for one in followers.pop(result.job, [])]
            while waiting:
                one, corruption, later, doubt = waiting.pop()
                doubt |= one.in_lane
                injection, alarms = self._injection(ordered[one.job], one, end, corruption, later)
                spent = one.nanoseconds
                merged = Outcome(injection, True, one.simulated, "merged", spent, in_lane=doubt)
                yield from given(merged, doubt)
                waiting += [(nxt, injection.corruption, alarms, doubt) for nxt in followers.pop(one.job, [])]

        def finish() -> Iterator[Outcome]:
            for result, end in zip(left, self._finished(left), strict=True):
                if end is None:
                    alike = list(self._all(result, followers))
                    for one in alike:
                        undecided[ordered[one.job]] = self._corruption(one, self._corruption(result, None))
                    if any(one.in_lane for one in alike):
                        in_lanes.update(ordered[one.job] for one in alike)
                else:
                    yield from answer(result, end, "left", True)
            left.clear()

        for result in self.sweep.run(jobs, self._limit, shortcuts):
            match result.end:
                case SweepEnd.MERGED:
                    followers.setdefault(result.other, []).append(result)
                case SweepEnd.LEFT:
                    left.append(result)
                    if len(left) >= TOGETHER:
                        yield from finish()
                case SweepEnd.VANISHED:
                    end = replace(self._golden, end_cycle=result.end_cycle)
                    yield from answer(result, end, "vanished", True)
                case SweepEnd.SPOILT:
                    spoilt += [ordered[one.job] for one in self._all(result, followers)]
                case SweepEnd.STOPPED if result.ending is Ending.NOT_APPLIED:
                    # A sweep enters a cycle from another one. If the design holds storage in reset there by a
                    # register of its own, the model takes that for an edge, which in the run itself came
                    # before the fault, and resets what was flipped.
                    lost += [ordered[one.job] for one in self._all(result, followers)]
                case SweepEnd.STOPPED:
                    fault = ordered[result.job]
                    end = self._stopped(fault, result.ending, result.end_cycle)
                    whole = fault.cycle + 1 + result.simulated == result.end_cycle
                    yield from answer(result, end, "stopped", not whole)
        yield from finish()
        yield from (self._alone(fault) for fault in sorted(lost, key=lambda fault: fault.cycle))
        if undecided:
            for done in self.outcomes(list(undecided), shortcuts & ~Shortcut.LEAVE):
                fault = done.injection.fault
                injection = replace(done.injection, corruption=undecided[fault])
                doubt, how = fault in in_lanes, f"undecided, then {done.how}"
                done = done._replace(injection=injection, how=how, in_lane=doubt or done.in_lane)
                yield from given(done, doubt)

    def _injection(
        self, fault: Fault, result: SweepResult, end: RunEnd, corruption: Corruption | None, later: Rises
    ) -> tuple[Injection, Rises]:
        """Return what came of a fault, and the alarms that its run raised.

        Args:
            fault: The fault.
            result: What the sweep says of it.
            end: How it, or the one that it was merged with, ended.
            corruption: Of the one that it was merged with.
            later: Alarms of that one. Until they were merged it may have raised others, of the same kinds.
        """
        alarms = joined(self._alarms.rises(result.detected, result.corrected), later)
        injection = self._judge(fault, replace(end, alarms=alarms))
        return replace(injection, corruption=self._corruption(result, corruption)), alarms

    def _corruption(self, result: SweepResult, otherwise: Corruption | None) -> Corruption | None:
        if result.noted is None or self._exits is None:
            return otherwise
        return self._exits.corruption(result.noted)

    def _finished(self, left: Sequence[SweepResult]) -> Iterator[RunEnd | None]:
        """Yield the ends of runs that left; None where stale state of the design decides."""
        if not left:
            return
        assert self._exits is not None
        exits = self._exits
        departures = [exits.departure(result.left) for result in left if result.left is not None]
        for result, image in zip(left, exits.tail.finish(departures), strict=True):
            if image is None or image == exits.golden_end:
                yield None
                continue
            output = exits.output(image, self._outputs, self._golden.output)
            # The memory is part of the state: which other state there is changes no outcome any more.
            yield replace(self._golden, end_cycle=result.end_cycle, output=output, state_hash="")

    @staticmethod
    def _all(result: SweepResult, followers: dict[int, list[SweepResult]]) -> Iterator[SweepResult]:
        waiting = [result]
        while waiting:
            one = waiting.pop()
            yield one
            waiting += followers.pop(one.job, [])
