# SPDX-License-Identifier: Apache-2.0
"""Concurrent fault simulation: many faults go through the golden run of the compiled model together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from resil.rtl_harness.engine.fast.concurrent_pass import ConcurrentPass, Paused
from resil.rtl_harness.engine.fast.fault_effect import EffectReader
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.engine.fast.native.sweep import Sweep
from resil.rtl_harness.engine.fast.processes import EngineOutcome
from resil.rtl_harness.engine.fast.state_map import StateMap
from resil.rtl_harness.errors import AuditError
from resil.rtl_harness.faults import Fault

# Outcomes that lanes had part in and that are held back together, until so many more agreed.
HELD = 8192

# Faults that are simulated by themselves rather than in a sweep of their own, a walk through the golden run.
FEW = 3

MODELS_DIFFER = "the lane model was seen to do what the compiled model does not do"
LANES_DIFFER = (
    f"simulated faults one at a time: {MODELS_DIFFER}; all faults that had been in it were simulated again"
)


class ConcurrentSimulator:
    """Takes faults through a sweep.

    Args:
        sweep: Of an injector that had its golden pass.
        state_map: Where storage lies.
        limit: Cycles from reset to the time-out, of two inferences that of the first.
        second: Likewise of the second, in a run whose first ended when the golden run's did.
        reader: Reads what the sweep reports.
        alone: Simulates a fault without a sweep.

    Attributes:
        sweep: As given.
        limit: As given.
    """

    def __init__(
        self,
        sweep: Sweep,
        state_map: StateMap,
        limit: int,
        second: int,
        reader: EffectReader,
        alone: Callable[[Fault], EngineOutcome],
    ) -> None:
        self.sweep = sweep
        self.limit = limit
        self._second = second
        self._flips = state_map.flips
        self._reader = reader
        self._alone = alone

    def outcomes(self, faults: Sequence[Fault], shortcuts: Shortcut) -> Iterator[EngineOutcome]:
        """Yield an outcome for each of these different faults, as they become known.

        Those of faults that were in a lane wait for company: if lane model and compiled model are seen to
        differ before, these faults are simulated again, without lanes.

        Raises:
            AuditError: If the two differ when outcomes of faults that were in a lane have been given already.
        """
        ordered = sorted(faults, key=lambda fault: (fault.cycle, fault.site))
        results = ConcurrentPass(ordered, self._reader)
        given: Fault | None = None
        for done in self._trusted(ordered, results, shortcuts):
            yield done
            if len(results.doubtful) >= HELD and not self.sweep.lanes_differ:
                given = results.doubtful[-1].injection.fault
                yield from results.doubtful
                results.doubtful.clear()
        if not self.sweep.lanes_differ:
            yield from results.doubtful
        elif given is not None:
            raise AuditError(
                f"{MODELS_DIFFER}; others that had been in it were answered before", given, "gates"
            )
        elif again := [*results.discarded, *(done.injection.fault for done in results.doubtful)]:
            for done in self.outcomes(again, shortcuts):
                yield done._replace(note=LANES_DIFFER)

    def _trusted(
        self, faults: Sequence[Fault], results: ConcurrentPass, shortcuts: Shortcut
    ) -> Iterator[EngineOutcome]:
        """Yield the outcomes that no lane had part in; the others stay with the results."""
        if self._reader.exits is None:
            shortcuts &= ~Shortcut.LEAVE
        jobs = ((self._flips(fault), fault.cycle) for fault in faults)
        for result in self.sweep.run(jobs, self.limit, shortcuts):
            yield from results.take(result)
        yield from results.finish()
        yield from map(self._alone, sorted(results.lost, key=lambda fault: fault.cycle))
        if results.paused:
            yield from self._resumed(results.paused, shortcuts)
        if not results.undecided:
            return
        for done in self._in_the_rtl(results.undecided, shortcuts):
            known = results.undecided[done.injection.fault]
            injection = replace(done.injection, corruption=known.corruption)
            how = f"undecided, then {done.how}"
            done = done._replace(injection=injection, how=how, in_lane=known.doubt or done.in_lane)
            if known.doubt:
                results.doubtful.append(done)
            else:
                yield done

    def _in_the_rtl(self, faults: Collection[Fault], shortcuts: Shortcut) -> Iterator[EngineOutcome]:
        """Yield the outcomes of faults that may not leave; a few are no reason for a further walk."""
        if len(faults) <= FEW:
            return map(self._alone, sorted(faults, key=lambda fault: fault.cycle))
        return self.outcomes(list(faults), shortcuts & ~Shortcut.LEAVE)

    def _resumed(self, paused: Mapping[Fault, Paused], shortcuts: Shortcut) -> Iterator[EngineOutcome]:
        """Yield the outcomes of runs whose first inference has ended, from what the second makes of them."""
        faults = list(paused)
        effects = {fault: paused[fault].effect for fault in faults}
        results = ConcurrentPass(faults, self._reader.second(effects))
        runs = [effect.paused for effect in effects.values() if effect.paused is not None]

        def outcomes() -> Iterator[EngineOutcome]:
            for result in self.sweep.resume(runs, self._second, shortcuts):
                yield from results.take(result)
            yield from results.finish()

        for done in outcomes():
            before = paused[done.injection.fault]
            yield done._replace(
                how=f"{before.how}, then {done.how}",
                simulated=before.simulated + done.simulated,
                nanoseconds=before.nanoseconds + done.nanoseconds,
            )
        yield from map(self._alone, sorted(results.lost, key=lambda fault: fault.cycle))
