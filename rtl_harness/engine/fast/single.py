# SPDX-License-Identifier: Apache-2.0
"""Injections one by one: simulated from where the fault begins, and judged against the golden run."""

from __future__ import annotations

import math
from dataclasses import replace

from resil.rtl_harness.engine.fast.alarms import Rises
from resil.rtl_harness.engine.fast.golden import GoldenPass
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.engine.fast.native.injector import (
    Ending,
    Flip,
    InjectionResult,
    Shortcut,
    first_rise,
)
from resil.rtl_harness.engine.fast.native.library import ModelInstance
from resil.rtl_harness.engine.fast.processes import EngineOutcome
from resil.rtl_harness.engine.state_hash import bit_place
from resil.rtl_harness.engine.workload import classify
from resil.rtl_harness.errors import HarnessError, SimulationError
from resil.rtl_harness.faults import Fault, Injection, RunEnd

# How a run is said to have ended, where it was not simulated to its end.
_HOW = {Ending.REJOINED: "vanished", Ending.DETECTED: "detected"}


class Singles:
    """Simulates faults of a model one after another.

    Args:
        model: The compiled design.
        golden: Its golden run.
        timeout_factor: Time-out of an inference, in multiples of the golden run's.
        until_detection: Runs end where an alarm reports a detected fault.
    """

    def __init__(
        self, model: CompiledModel, golden: GoldenPass, timeout_factor: float, until_detection: bool = False
    ) -> None:
        self._model = model
        self._golden = golden.run
        self._contents = golden.contents
        self._timeout_factor = timeout_factor
        self._until_detection = until_detection
        self._watched = False

    @property
    def timeout_cycles(self) -> int:
        """Cycles after which an injection counts as a hang: of two inferences, in the first."""
        return math.ceil(self._timeout_factor * self._golden.cycles)

    @property
    def second_cycles(self) -> int:
        """Cycles from the end of the first of two inferences after which an injection counts as a hang."""
        first = self._golden.end.first
        begin = first.end_cycle if first is not None else 0
        return math.ceil(self._timeout_factor * (self._golden.end.end_cycle - begin))

    def watch(self) -> None:
        """Go through the golden run once more, for what shortcuts of stuck bits must know of it."""
        if not self._watched:
            self._model.injector.watch(self._model.map.watched)
            self._watched = True

    def begins(self, fault: Fault, shortcuts: Shortcut) -> int:
        """Return the cycle from which on a fault has to be simulated."""
        if fault.held is None or not shortcuts:
            return fault.cycle
        return self._model.injector.first_effect(self._model.map.flips(fault), fault.held)

    def inject(self, fault: Fault, shortcuts: Shortcut) -> EngineOutcome:
        """Simulate a fault to its end, or to where shortcuts know it.

        Raises:
            HarnessError: If a stuck bit is to be in two inferences.
            SimulationError: If a flip did not take, or the model breaks; it names the fault.
        """
        if fault.held is None:
            return self._upset(fault, shortcuts)
        if self._model.workload.inferences > 1:
            raise HarnessError(
                f"{self._model.describe(fault)}: a stuck bit is in both inferences; run one", "fault.held"
            )
        return self._hold(fault, fault.held, shortcuts)

    def classified(self, fault: Fault, end: RunEnd) -> Injection:
        """Return the injection of a fault that ended so."""
        injection = classify(fault, self._golden.end, end, self._model.workload)
        return injection.until_detection() if self._until_detection else injection

    def masked(self, fault: Fault) -> Injection:
        """Return the injection of a fault of which nothing is left before the end."""
        return self.classified(fault, self._golden.end)

    def judge(self, fault: Fault, instance: ModelInstance, finished: bool) -> Injection:
        """Return the injection that an instance at the end of its run stands for."""
        alarms = self._model.rises(instance)
        return self.classified(fault, self._end(fault, instance, finished, instance.cycle, alarms))

    def faulty_end(
        self, fault: Fault, ending: Ending, end_cycle: int, instance: ModelInstance | None = None
    ) -> RunEnd:
        """Return how a run ended that an instance made, the injector's faulty one by default, alarms aside.

        Raises:
            SimulationError: If the flip did not take, or the design stopped itself.
        """
        match ending:
            case Ending.REJOINED:
                return replace(self._golden.end, end_cycle=end_cycle, alarms=(), first=None)
            case Ending.DETECTED:
                # Of what is known to be detected no more is asked; without that alarm it is a hang.
                return replace(self._golden.end, finished=False, end_cycle=end_cycle, alarms=(), first=None)
            case Ending.DONE | Ending.LIMIT | Ending.PAUSED:
                made = instance or self._model.injector.faulty
                return self._end(fault, made, ending is not Ending.LIMIT, end_cycle, ())
            case Ending.NOT_APPLIED:
                kept = "the flip" if fault.held is None else "its value"
                raise SimulationError(
                    f"{self._model.describe(fault)}: the bit did not keep {kept} until the design had "
                    "settled",
                    "fault.held",
                )
            case _:
                raise SimulationError(
                    f"{self._model.describe(fault)}: the design called $finish in cycle {end_cycle}",
                    "$finish",
                )

    def _upset(self, fault: Fault, shortcuts: Shortcut) -> EngineOutcome:
        injector, limit = self._model.injector, self.timeout_cycles
        flips = self._model.map.flips(fault)
        try:
            result = injector.inject(flips, fault.cycle, limit, shortcuts)
            path = self._model.sites[fault.site].element.path
            if result.stop == Ending.NOT_APPLIED and self._model.elaboration.is_latch(path):
                flips = [flip for flip in flips if self._is_closed(flip, fault.cycle)]
                if not flips:
                    return EngineOutcome(self.masked(fault), False, 0, "vanished")
                result = injector.inject(flips, fault.cycle, limit, shortcuts)
        except SimulationError as error:
            raise SimulationError(f"{self._model.describe(fault)}: {error}", error.field) from error
        first = self._first_end(result, shortcuts)
        end = replace(self._reported_end(fault, result), first=first)
        shortened = result.stop in _HOW or fault.cycle + 1 + result.simulated != result.end_cycle
        return EngineOutcome(self.classified(fault, end), shortened, result.simulated, _how(result))

    def _hold(self, fault: Fault, value: int, shortcuts: Shortcut) -> EngineOutcome:
        bits = self._model.map.flips(fault)
        try:
            result = self._model.injector.hold(bits, value, self.timeout_cycles, shortcuts)
        except SimulationError as error:
            raise SimulationError(f"{self._model.describe(fault)}: {error}", error.field) from error
        return self.held_outcome(fault, result)

    def held_outcome(self, fault: Fault, result: InjectionResult) -> EngineOutcome:
        """Return what came of a stuck bit, while the injector's faulty instance stands where it ended.

        Raises:
            SimulationError: If the bit could not be held, or the design stopped itself; it names the fault.
        """
        injection = self.classified(fault, self._reported_end(fault, result))
        shortened = result.stop in _HOW or result.simulated != result.end_cycle
        return EngineOutcome(injection, shortened, result.simulated, _how(result))

    def _is_closed(self, latch: Flip, cycle: int) -> bool:
        """Whether a latch is closed in a cycle: an open one follows its input and loses a flip at once."""
        tried = self._model.injector.inject([latch], cycle, cycle + 1, Shortcut.NONE)
        return tried.stop != Ending.NOT_APPLIED

    def _first_end(self, result: InjectionResult, shortcuts: Shortcut) -> RunEnd | None:
        """Return how the first of two inferences ended, and let a run that has paused there go on.

        Afterwards `result` is that of the whole run. The second inference has a time-out of its own.
        """
        whole, injector = self._golden.end, self._model.injector
        if whole.first is None:
            return None
        if result.stop == Ending.PAUSED:
            end = self._model.end(injector.faulty, True, result.end_cycle, self._alarms_of(result))
            injector.resume(result, result.end_cycle + self.second_cycles, shortcuts)
            return end
        if result.stop == Ending.REJOINED:
            shifted = whole.first.end_cycle + result.shift
            return replace(whole.first, end_cycle=shifted, alarms=self._alarms_of(result))
        return None

    def _reported_end(self, fault: Fault, result: InjectionResult) -> RunEnd:
        end = self.faulty_end(fault, Ending(result.stop), result.end_cycle)
        if result.spent:
            # Alarms that are up are state: which other state there is changes no outcome any more.
            end = replace(end, state_hash="")
        return replace(end, alarms=self._alarms_of(result))

    def _alarms_of(self, result: InjectionResult) -> Rises:
        return self._model.alarms.rises(
            first_rise(result.reported.detected), first_rise(result.reported.corrected)
        )

    def _end(
        self, fault: Fault, instance: ModelInstance, finished: bool, end_cycle: int, alarms: Rises
    ) -> RunEnd:
        if fault.held is None:
            return self._model.end(instance, finished, end_cycle, alarms)
        byte, bit = bit_place(self._model.elaboration.sites, fault.site)
        final = self._contents[byte] >> bit & 1
        return self._model.end(instance, finished, end_cycle, alarms, self._model.map.flip(fault.site), final)


def _how(result: InjectionResult) -> str:
    return _HOW.get(Ending(result.stop), "stopped")
