# SPDX-License-Identifier: Apache-2.0
"""Injection as it is done without an engine: from a state of the golden run, to the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.library import ModelInstance, OutputPort, Stop
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault, Injection

COMPARE_EVERY = 1000


class PlainRunner:
    """Injects without any of the engine's shortcuts, in the engine's own compiled model.

    Raises:
        HarnessError: If runs are to be compared at checkpoints and operations have a time-out: one that is as
            the golden run again may still be too late within the operation.
    """

    def __init__(self, engine: VerilatorEngine, checkpoints: int) -> None:
        self._engine = engine
        self._allowed = engine.operation_cycles
        if self._allowed is not None and checkpoints:
            raise HarnessError("checkpoints: expected 0 with a time-out of each operation")
        length = engine.golden().end.end_cycle
        self._step = max(1, -(-length // checkpoints)) if checkpoints else 0
        self._faulty = engine.start()
        self._states = {0: _whole(engine.start())}
        if self._step:
            wanted = sorted({*range(0, length, self._step), *range(COMPARE_EVERY, length, COMPARE_EVERY)})
            last = self._states[0]
            for cycle in wanted[1:]:
                state = last.library.create()
                state.copy_from(last)
                state.run_to(cycle)
                self._states[cycle] = last = state

    def close(self) -> None:
        """Free all instances."""
        self._faulty.close()
        for state in self._states.values():
            state.close()

    def inject(self, fault: Fault) -> Injection:
        """Simulate one fault."""
        start = (fault.cycle + 1) // self._step * self._step if self._step else 0
        self._faulty.copy_from(self._states[start])
        self._faulty.run_to(fault.cycle + 1)
        self._engine.strike(self._faulty, fault)
        limit = self._engine.timeout_cycles
        if self._allowed is not None:
            return self._engine.judge(fault, self._faulty, self._watched(fault.cycle, limit, self._allowed))
        if not self._step:
            return self._engine.judge(fault, self._faulty, self._faulty.run(limit) is Stop.DONE)
        return self._compared(fault, self._faulty, limit)

    def _watched(self, cycle: int, limit: int, allowed: int) -> bool:
        """Run on with a watchdog beside the model; return whether the run ends by itself."""
        faulty = self._faulty
        moved, value = max(move for move in self._engine.golden().moves if move[0] <= cycle)
        while True:
            if (now := faulty.port(OutputPort.OPERATION)) != value:
                moved, value = faulty.cycle, now
            if faulty.port(OutputPort.DONE):
                return True
            if faulty.cycle >= min(limit, moved + allowed):
                return False
            faulty.run(faulty.cycle + 1)

    def _compared(self, fault: Fault, faulty: ModelInstance, limit: int) -> Injection:
        while True:
            stop = faulty.run(min(limit, faulty.cycle // COMPARE_EVERY * COMPARE_EVERY + COMPARE_EVERY))
            if stop is Stop.DONE or faulty.cycle >= limit:
                return self._engine.judge(fault, faulty, stop is Stop.DONE)
            known = self._states.get(faulty.cycle)
            if known is not None and self._engine.same_state(faulty, known):
                return self._engine.masked(fault)


def restarted(engine: VerilatorEngine, faults: Iterable[Fault]) -> Iterator[Injection]:
    """Yield the injections of faults, by cycle, each run from its cycle to the end without shortcuts.

    One run without a fault comes to all of them, so that nothing is simulated twice before a fault.
    """
    with engine.start() as plain:
        for fault in sorted(faults, key=lambda one: one.cycle):
            plain.run_to(fault.cycle + 1)
            with engine.start() as instance:
                instance.copy_from(plain)
                engine.strike(instance, fault)
                stop = instance.run(engine.timeout_cycles)
                yield engine.judge(fault, instance, stop is Stop.DONE)


def _whole(instance: ModelInstance) -> ModelInstance:
    """Return an instance that is copied with all that it holds, words that are in no use among them."""
    instance.keep([])
    return instance
