# SPDX-License-Identifier: Apache-2.0
"""When things happen in simulated time, in steps of the simulator's precision.

Rising edge of cycle c at `edge(c)`; the flip comes FLIP steps later, its check at CHECK, and outputs and
state are sampled at SAMPLE, before the clock falls at half the period. A bit that is held is set again at
FLIP and checked at CHECK, and likewise after the falling edge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cocotb.clock import Clock
from cocotb.simulator import get_sim_time
from cocotb.triggers import First, RisingEdge, Timer, ValueChange

from resil.rtl_harness.engine.reference.side.bench import BenchHandles

PERIOD = 10
FLIP = 2
CHECK = 3
SAMPLE = 4
_RELEASE = 7


@dataclass
class OperationWatchdog:
    """A watchdog that each move of the counter of operations restarts.

    Attributes:
        allowed: Cycles for which the counter may stand still.
        moved: Cycles run when it moved last.
        value: What it was when it was looked at last.
    """

    allowed: int
    moved: int
    value: int

    def look(self, cycles: int, value: int) -> None:
        """Take note of the counter's value after so many cycles."""
        if value != self.value:
            self.moved, self.value = cycles, value

    def deadline(self, limit: int) -> int:
        """Return the cycles after which a run that goes on like this is at its end, at most `limit`."""
        return min(limit, self.moved + self.allowed)


class ClockTimeline:
    """Drives clock and reset and moves through the cycles of a run.

    Args:
        bench: The design.
        clock: Name of the clock input.
        reset: Name of the reset input.
        active_low: Polarity of the reset.
        reset_cycles: Rising edges for which the reset is held.
    """

    def __init__(
        self, bench: BenchHandles, clock: str, reset: str, active_low: bool, reset_cycles: int
    ) -> None:
        self.bench = bench
        self._clock = bench.top[clock]
        self._reset = bench.top[reset]
        self._active = 0 if active_low else 1
        self._reset_cycles = reset_cycles

    def edge(self, cycle: int) -> int:
        """Return the time of the rising edge of `cycle`."""
        return PERIOD // 2 + PERIOD * (self._reset_cycles + cycle)

    async def reset(self) -> None:
        """Hold the reset, release it, and return before the rising edge of cycle 0.

        It begins with an edge, for flip-flops that have an asynchronous reset and whose clock is gated off.
        """
        self._reset.value = 1 - self._active
        Clock(self._clock, PERIOD, unit="step", impl="gpi").start(start_high=False)
        await self.until(1)
        self._reset.value = self._active
        await self.until(self.edge(-1) + _RELEASE)
        self._reset.value = 1 - self._active
        await self.until(self.edge(-1) + _RELEASE + 1)

    async def until(self, time: int) -> None:
        """Let the simulation run up to `time`."""
        wait = time - now()
        if wait > 0:
            await Timer(wait, unit="step")

    async def finish(
        self,
        limit: int,
        *,
        inferences: int = 0,
        risen: Mapping[str, int] | None = None,
        watchdog: OperationWatchdog | None = None,
    ) -> tuple[bool, int, dict[str, int]]:
        """Run until `done`, at most `limit` cycles.

        Args:
            limit: Cycles from reset to the time-out.
            watchdog: Ends the run, too, if it expires.
            inferences: Come back before `done` when so many have finished; 0 for only when it is done.
            risen: Alarms that have risen already, with the cycles.

        Returns:
            Whether it finished, the cycles run, and the cycle in which each alarm first rose, by name: the
            first in which it is up where outputs are sampled, from the present cycle on.
        """
        done = self.bench.ports["done"]
        rises = dict(risen or {})
        while True:
            cycle = self._sampled()
            await self.until(self.edge(cycle) + SAMPLE)
            for name in self.bench.alarms_up():
                rises.setdefault(name, cycle)
            last = self._deadline(watchdog, limit, cycle + 1)
            if self.bench.value("done") or (inferences and self.bench.value("inferences") >= inferences):
                return True, cycle + 1, rises
            if cycle + 1 >= last:
                return False, last, rises
            rest = self.edge(last - 1) + SAMPLE - now()
            # One that is down now has not risen before its value changes.
            waiting = [ValueChange(h) for name, h in self.bench.alarms.items() if name not in rises]
            if inferences:
                waiting.append(ValueChange(self.bench.ports["inferences"]))
            if watchdog is not None:
                waiting.append(ValueChange(self.bench.ports["operation"]))
            await First(RisingEdge(done), *waiting, Timer(rest, unit="step"))

    async def finish_held(
        self,
        limit: int,
        hold: Callable[[], None],
        check: Callable[[], None],
        watchdog: OperationWatchdog | None = None,
    ) -> tuple[bool, int, dict[str, int]]:
        """As `finish`, from before the first cycle, with bits that `hold` sets again after every edge.

        What the counter of operations is before the first cycle, it is with these bits held.
        """
        rises: dict[str, int] = {}
        hold()
        if watchdog is not None:
            await self.until(self.edge(0) - 1)
            watchdog.value = self.bench.value("operation")
        for cycle in range(limit):
            for after in (self.edge(cycle), self.edge(cycle) + PERIOD // 2):
                await self.until(after + FLIP)
                hold()
                await self.until(after + CHECK)
                check()
                if after == self.edge(cycle):
                    await self.until(after + SAMPLE)
                    for name in self.bench.alarms_up():
                        rises.setdefault(name, cycle)
                    last = self._deadline(watchdog, limit, cycle + 1)
                    if self.bench.value("done"):
                        return True, cycle + 1, rises
                    if cycle + 1 == last:
                        return False, last, rises
        raise AssertionError("a run has a limit of at least one cycle")

    async def watch_operations(self, moves: list[tuple[int, int]]) -> None:
        """Append the cycles run so far and the count of finished operations, now and when it has moved."""
        operation = self.bench.ports["operation"]
        moves.append((0, self.bench.value("operation")))
        while True:
            await ValueChange(operation)
            cycle = self._sampled()
            await self.until(self.edge(cycle) + SAMPLE)
            if (value := self.bench.value("operation")) != moves[-1][1]:
                moves.append((cycle + 1, value))

    def _deadline(self, watchdog: OperationWatchdog | None, limit: int, cycles: int) -> int:
        if watchdog is None:
            return limit
        watchdog.look(cycles, self.bench.value("operation"))
        return watchdog.deadline(limit)

    def _sampled(self) -> int:
        """Return the cycle in which outputs are sampled next, or now."""
        return max((now() - self.edge(0) - SAMPLE + PERIOD - 1) // PERIOD, 0)


def now() -> int:
    """Return the simulated time in steps."""
    high, low = get_sim_time()
    time: Any = (high << 32) | low
    return int(time)
