# SPDX-License-Identifier: Apache-2.0
"""Stuck bits that are simulated together, in lanes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from resil.rtl_harness.engine.fast.concurrent_simulator import LANES_DIFFER, MODELS_DIFFER
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.engine.fast.native.held_lanes import HeldLanes
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.engine.fast.processes import EngineOutcome
from resil.rtl_harness.engine.fast.single import Singles
from resil.rtl_harness.errors import AuditError
from resil.rtl_harness.faults import Fault


class HeldSimulator:
    """Simulates stuck bits of a model in lanes.

    Args:
        lanes: Beside the model's injector.
        model: The compiled design.
        singles: Simulates faults one by one, and says what came of one.
    """

    def __init__(self, lanes: HeldLanes, model: CompiledModel, singles: Singles) -> None:
        self.lanes = lanes
        self._model = model
        self._singles = singles
        self._given: Fault | None = None

    def outcomes(self, faults: Sequence[Fault], shortcuts: Shortcut) -> Iterator[EngineOutcome]:
        """Yield an outcome for each of these stuck bits, which are given in the order of first effects.

        Those that were in a lane wait for all: if lane model and compiled model are seen to differ before,
        they are simulated again, one by one.

        Raises:
            AuditError: If the two differ when others that were in a lane have been answered already.
            SimulationError: If a bit cannot be held, or the design stops itself; it names the fault.
        """
        flips = self._model.map.flips
        jobs = ((flips(fault), fault.held or 0) for fault in faults)
        doubtful: list[EngineOutcome] = []
        for job, in_lane, result in self.lanes.run(jobs, self._singles.timeout_cycles, shortcuts):
            done = self._singles.held_outcome(faults[job], result)
            if in_lane:
                doubtful.append(done._replace(in_lane=True))
            else:
                yield done
        if not self.lanes.differ:
            yield from doubtful
            self._given = doubtful[-1].injection.fault if doubtful else self._given
        elif self._given is not None:
            text = f"{MODELS_DIFFER}; others that had been in it were answered before"
            raise AuditError(text, self._given, "gates")
        else:
            for one in doubtful:
                again = self._singles.inject(one.injection.fault, shortcuts)
                yield again._replace(note=LANES_DIFFER)
