# SPDX-License-Identifier: Apache-2.0
"""A run with a fault beside the golden run, compared in all storage after every edge of the clock."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple, Self

from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.library import ModelInstance, OutputPort, Stop
from resil.rtl_harness.errors import SimulationError
from resil.rtl_harness.faults import Fault, Injection

_CHECKPOINTS = 16
_INTERVAL = 1024

Observer = Callable[[ModelInstance, ModelInstance, int], object]


class PairCheckpoint(NamedTuple):
    """Copies of both runs in a cycle, from which they go on as they did."""

    cycle: int
    golden: ModelInstance
    faulty: ModelInstance


class PairRun:
    """Both runs of a fault, from its cycle to where either ends. Use it in a `with` statement.

    Args:
        engine: What simulates them.
        fault: An upset.

    Attributes:
        fault: The same.
        golden, faulty: Instances of both runs, where they have got to.
        end: The cycle after the last in which both are to be compared; known after `go`.
        checkpoints: Where they can be taken up again; likewise.
        injection: What came of the run with the fault; likewise.
    """

    def __init__(self, engine: VerilatorEngine, fault: Fault) -> None:
        self._engine = engine
        self.fault = fault
        self._golden_end = engine.golden().end.end_cycle
        self.end = fault.cycle
        self.checkpoints: list[PairCheckpoint] = []
        self.injection: Injection | None = None
        self.golden = engine.start()
        self.faulty = engine.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for checkpoint in self.checkpoints:
            checkpoint.golden.close()
            checkpoint.faulty.close()
        self.golden.close()
        self.faulty.close()

    def go(self, limit: int, observe: Observer) -> None:
        """Simulate both; `observe` is called in each cycle that both have, from that of the fault on.

        Args:
            limit: Cycles at which the run with the fault ends if it has not before.
            observe: Takes golden run, run with the fault, and the cycle. It may only look.

        Raises:
            SimulationError: If the design stops itself.
        """
        golden, faulty, fault = self.golden, self.faulty, self.fault
        golden.run_to(fault.cycle + 1)
        faulty.run_to(fault.cycle + 1)
        self._engine.strike(faulty, fault)
        interval = _INTERVAL
        cycle, done = fault.cycle, bool(faulty.port(OutputPort.DONE))
        while True:
            if cycle >= self._next_checkpoint(interval):
                interval = self._keep(cycle, interval)
            observe(golden, faulty, cycle)
            self.end = cycle + 1
            if done or self.end >= min(self._golden_end, limit):
                break
            golden.run_to(self.end + 1)
            done = self._stepped(faulty, self.end + 1)
            cycle += 1
        if not done and faulty.cycle < limit:
            done = self._stepped(faulty, limit)
        self.injection = self._engine.judge(fault, faulty, done)

    def again(self, first: PairCheckpoint, end: int, observe: Observer) -> None:
        """Simulate both once more from a checkpoint, and observe all cycles from it to before `end`."""
        with self._engine.start() as golden, self._engine.start() as faulty:
            golden.copy_from(first.golden)
            faulty.copy_from(first.faulty)
            observe(golden, faulty, first.cycle)
            for cycle in range(first.cycle + 1, end):
                golden.run_to(cycle + 1)
                faulty.run_to(cycle + 1)
                observe(golden, faulty, cycle)

    def _stepped(self, instance: ModelInstance, limit: int) -> bool:
        stop = instance.run(limit)
        if stop is Stop.FINISH:
            raise SimulationError(
                f"{self.fault}: expected a run that goes on, the design called $finish in cycle "
                f"{instance.cycle}",
                "$finish",
            )
        return stop is Stop.DONE

    def _next_checkpoint(self, interval: int) -> int:
        return self.checkpoints[-1].cycle + interval if self.checkpoints else self.fault.cycle

    def _keep(self, cycle: int, interval: int) -> int:
        """Keep copies of both; where there are too many, drop every other and keep fewer from then on."""
        copies = self._engine.start(), self._engine.start()
        copies[0].copy_from(self.golden)
        copies[1].copy_from(self.faulty)
        self.checkpoints.append(PairCheckpoint(cycle, *copies))
        if len(self.checkpoints) < _CHECKPOINTS:
            return interval
        for dropped in self.checkpoints[1::2]:
            dropped.golden.close()
            dropped.faulty.close()
        self.checkpoints = self.checkpoints[::2]
        return 2 * interval
