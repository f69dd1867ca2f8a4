# SPDX-License-Identifier: Apache-2.0
"""Faults into a sweep of the compiled model, and what comes out of it into injections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from resil.rtl_harness.engine.fast.alarms import Alarms, joined
from resil.rtl_harness.engine.fast.exits import Exits
from resil.rtl_harness.engine.fast.native.injector import Ending, Shortcut
from resil.rtl_harness.engine.fast.native.sweep import Sweep, SweepResult
from resil.rtl_harness.engine.fast.processes import Outcome
from resil.rtl_harness.engine.fast.state_map import StateMap
from resil.rtl_harness.engine.fast.walk import Fate, Walk
from resil.rtl_harness.engine.workload import OutputSpec
from resil.rtl_harness.errors import AuditError
from resil.rtl_harness.faults import Corruption, Fault, Injection, RunEnd

# Outcomes that lanes had part in and that are held back together, until so many more agreed.
HELD = 8192

_DIFFER = "the lane model was seen to do what the compiled model does not do"
LANES_DIFFER = (
    f"simulated faults one at a time: {_DIFFER}; all faults that had been in it were simulated again"
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
        walk = Walk(self, faults, shortcuts)
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
        self, fault: Fault, result: SweepResult, fate: Fate, how: str, early: bool
    ) -> tuple[Fate, Outcome | None]:
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
