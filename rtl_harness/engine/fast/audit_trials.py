# SPDX-License-Identifier: Apache-2.0
"""Faults run to where nothing can change any more, without the engine's shortcuts: for the audit of these."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from resil.rtl_harness.engine.fast.alarms import Rises
from resil.rtl_harness.engine.fast.golden import GoldenPass
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.engine.fast.native.audit import AuditLimits, AuditRun, AuditRuns, BrokenRunError
from resil.rtl_harness.engine.fast.native.injector import Ending, Shortcut
from resil.rtl_harness.engine.fast.native.library import ModelInstance
from resil.rtl_harness.engine.fast.processes import EngineOutcome
from resil.rtl_harness.engine.fast.single import Singles
from resil.rtl_harness.errors import SimulationError
from resil.rtl_harness.faults import Fault, RunEnd

# Runs at once at the most, and bytes that these and what is kept of them may take.
INSTANCES = 32
INSTANCE_BYTES = 1 << 29


class AuditTrials:
    """Tries faults in instances of their own, beside a run without a fault.

    Args:
        model: The compiled design.
        golden: Its golden run.
        singles: Judges runs, and simulates what is no upset: that is run to its end.
        allowance: Cycles for which the counter of operations may stand still; None if it may for ever.
        timeout_factor: Time-out of an inference, in multiples of the golden run's.
    """

    def __init__(
        self,
        model: CompiledModel,
        golden: GoldenPass,
        singles: Singles,
        allowance: int | None,
        timeout_factor: float,
    ) -> None:
        self._model = model
        self._golden = golden.run.end
        self._singles = singles
        pause = self._golden.first.end_cycle if self._golden.first is not None else 0
        self._limits = AuditLimits(singles.timeout_cycles, allowance, self._golden.end_cycle, pause)
        self._second = math.ceil(timeout_factor * (self._golden.end_cycle - pause))
        self._usual = {rise.alarm for rise in self._golden.alarms}

    def outcomes(self, faults: Iterable[Fault]) -> Iterator[EngineOutcome]:
        """Yield an outcome for each of these different faults.

        Raises:
            HarnessError: If a stuck bit is to be in two inferences.
            SimulationError: If a flip did not take, or the model breaks; it names the fault.
        """
        ordered = sorted(faults, key=lambda fault: (fault.cycle, fault.site))
        for fault in ordered:
            if fault.held is not None:
                yield self._whole(fault)
        if upsets := [fault for fault in ordered if fault.held is None]:
            yield from self._upsets(upsets)

    def _upsets(self, faults: list[Fault]) -> Iterator[EngineOutcome]:
        model = self._model
        instances = max(1, min(INSTANCES, len(faults), INSTANCE_BYTES // (2 * model.origin.state.size)))
        audit = AuditRuns(model.origin, self._limits, instances)
        try:
            yield from self._tried(audit, faults)
            model.check_unused(audit.instances)
        except BrokenRunError as error:
            raise SimulationError(f"{model.describe(faults[error.job])}: {error}", error.field) from error
        finally:
            audit.close()

    def _tried(self, audit: AuditRuns, faults: list[Fault]) -> Iterator[EngineOutcome]:
        firsts: dict[int, RunEnd] = {}
        for trial in audit.run((self._model.map.flips(fault), fault.cycle) for fault in faults):
            fault = faults[trial.job]
            if trial.ending is Ending.NOT_APPLIED:
                yield self._whole(fault)
            elif trial.ending is Ending.PAUSED:
                alarms = self._rises(trial.instance)
                firsts[trial.job] = self._model.end(trial.instance, True, trial.end_cycle, alarms)
                audit.resume(trial.end_cycle + self._second)
            else:
                end = self._end(fault, trial, firsts.pop(trial.job, None))
                early = trial.ending is Ending.REJOINED or fault.cycle + 1 + trial.simulated < trial.end_cycle
                yield EngineOutcome(self._singles.classified(fault, end), early, trial.simulated, "tried")

    def _whole(self, fault: Fault) -> EngineOutcome:
        with self._model.injector.whole_runs():
            return self._singles.inject(fault, Shortcut.NONE)

    def _end(self, fault: Fault, trial: AuditRun, first: RunEnd | None) -> RunEnd:
        alarms = self._rises(trial.instance)
        golden = self._golden.first
        if trial.ending is Ending.REJOINED and first is None and golden is not None:
            first = replace(golden, end_cycle=golden.end_cycle + trial.shift, alarms=alarms)
        end = self._singles.faulty_end(fault, trial.ending, trial.end_cycle, trial.instance)
        return replace(end, alarms=alarms, first=first)

    def _rises(self, instance: ModelInstance) -> Rises:
        """Return the first alarm of each kind among those that the golden run does not raise."""
        own = [rise for rise in self._model.rises(instance) if rise.alarm not in self._usual]
        return tuple({rise.kind: rise for rise in reversed(own)}.values())
