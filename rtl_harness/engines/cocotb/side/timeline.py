"""When things happen in simulated time, in steps of the simulator's precision.

Rising edge of cycle c at `edge(c)`; the flip comes FLIP steps later, its check at CHECK, and outputs and
state are sampled at SAMPLE, before the clock falls at half the period. A bit that is held is set again at
FLIP and checked at CHECK, and likewise after the falling edge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cocotb.clock import Clock
from cocotb.simulator import get_sim_time
from cocotb.triggers import First, RisingEdge, Timer, ValueChange

from rtl_harness.engines.cocotb.side.bench import Bench

PERIOD = 10
FLIP = 2
CHECK = 3
SAMPLE = 4
_RELEASE = 7


class Timeline:
    """Drives clock and reset and moves through the cycles of a run.

    Args:
        bench: The design.
        clock: Name of the clock input.
        reset: Name of the reset input.
        active_low: Polarity of the reset.
        reset_cycles: Rising edges for which the reset is held.
    """

    def __init__(self, bench: Bench, clock: str, reset: str, active_low: bool, reset_cycles: int) -> None:
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
        self, limit: int, *, inferences: int = 0, told: Mapping[str, int] | None = None
    ) -> tuple[bool, int, dict[str, int]]:
        """Run until `done`, at most `limit` cycles.

        Args:
            limit: Cycles from reset to the time-out.
            inferences: Come back before `done` when so many have finished; 0 for only when it is done.
            told: Alarms that have risen already, with the cycles.

        Returns:
            Whether it finished, the cycles run, and the cycle in which each alarm first rose, by name: the
            first in which it is up where outputs are sampled, from the present cycle on.
        """
        done = self.bench.ports["done"]
        rises = dict(told or {})
        while True:
            cycle = max((now() - self.edge(0) - SAMPLE + PERIOD - 1) // PERIOD, 0)
            await self.until(self.edge(cycle) + SAMPLE)
            for name in self.bench.alarms_up():
                rises.setdefault(name, cycle)
            if self.bench.value("done") or (inferences and self.bench.value("inferences") >= inferences):
                return True, cycle + 1, rises
            if cycle + 1 >= limit:
                return False, limit, rises
            rest = self.edge(limit - 1) + SAMPLE - now()
            # One that is down now has not risen before its value changes.
            waiting = [ValueChange(h) for name, h in self.bench.alarms.items() if name not in rises]
            if inferences:
                waiting.append(ValueChange(self.bench.ports["inferences"]))
            await First(RisingEdge(done), *waiting, Timer(rest, unit="step"))

    async def finish_held(
        self, limit: int, hold: Callable[[], None], check: Callable[[], None]
    ) -> tuple[bool, int, dict[str, int]]:
        """As `finish`, from before the first cycle, with bits that `hold` sets again after every edge."""
        rises: dict[str, int] = {}
        hold()
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
                    if self.bench.value("done"):
                        return True, cycle + 1, rises
                    if cycle + 1 == limit:
                        return False, limit, rises
        raise AssertionError("a run has a limit of at least one cycle")

    async def watch_operations(self, ends: list[int]) -> None:
        """Append the number of cycles run so far each time the count of finished operations grows."""
        operation = self.bench.ports["operation"]
        while True:
            await ValueChange(operation)
            cycles = (now() - self.edge(0)) // PERIOD + 1
            ends.extend([cycles] * (self.bench.value("operation") - len(ends)))


def now() -> int:
    """Return the simulated time in steps."""
    high, low = get_sim_time()
    time: Any = (high << 32) | low
    return int(time)
