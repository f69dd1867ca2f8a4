# SPDX-License-Identifier: Apache-2.0
"""A farm in simulated time: workers that take as long as they are said to, for the scheduler that ships.

`resil.farm.executor` decides here as it does with dask: it is given a clock, a queue of answers and a farm
that go by events instead of by seconds. What a worker answers is what `resil.farm.worker` answers, or what
stands in for it; how long it took is made up.
"""

from __future__ import annotations

import heapq
import itertools
import queue
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar, cast

import numpy as np
import pyarrow as pa

from resil.campaign.campaign import Campaign
from resil.campaign.farm_settings import FarmSettings
from resil.farm.cluster import Farm
from resil.farm.executor import FarmExecutor
from resil.farm.order import Order, Reply, Result
from resil.farm.worker import simulate
from resil.faults.plan import FaultPlan, IntArray
from resil.folder.audits import Audits
from resil.folder.provenance import begin
from resil.folder.store import RunFolder, open_run
from resil.progress import Progress
from resil.sensitivity.guided_population import campaign_population
from testkit.campaigns import TEXT, campaign
from testkit.fake import fake_bench

T = TypeVar("T")


class SimulatedTime:
    """Seconds since the beginning, and what is to happen when."""

    def __init__(self) -> None:
        self.now = 0.0
        self._order = itertools.count()
        self._events: list[tuple[float, int, Callable[[], None]]] = []

    def __call__(self) -> float:
        """Return the time, as `time.monotonic` does."""
        return self.now

    def at(self, time: float, event: Callable[[], None]) -> None:
        """Have something happen at a time that is not over."""
        heapq.heappush(self._events, (max(time, self.now), next(self._order), event))

    def step(self, until: float) -> bool:
        """Go on to the next event, if it comes by then, else to then; return whether there was one."""
        if not self._events or self._events[0][0] > until:
            self.now = max(self.now, until)
            return False
        self.now, _, event = heapq.heappop(self._events)
        event()
        return True

    def pass_by(self, seconds: float) -> None:
        """Let time go by, for a process that is busy and sees what has happened when it is not."""
        until = self.now + seconds
        while self.step(until):
            pass


class SimulatedQueue(Generic[T]):
    """As `queue.SimpleQueue`: who waits for something has the time go on."""

    def __init__(self, time: SimulatedTime) -> None:
        self._time = time
        self._items: deque[T] = deque()

    def put(self, item: T) -> None:
        self._items.append(item)

    def get(self, *, timeout: float) -> T:
        until = self._time.now + timeout
        while not self._items:
            if not self._time.step(until):
                raise queue.Empty
        return self._items.popleft()


@dataclass(eq=False)
class SimulatedFuture:
    """Of a call that a simulated worker makes; see `resil.farm.cluster.Future`."""

    call: Callable[..., object]
    arguments: tuple[object, ...]
    status: str = "pending"
    answer: object = None
    calls: list[Callable[[object], None]] = field(default_factory=list)

    def result(self, timeout: float) -> object:
        return self.answer

    def exception(self, timeout: float) -> BaseException:
        return RuntimeError("lost")

    def cancel(self, *, force: bool = False) -> None:
        self.status = "cancelled"

    def add_done_callback(self, call: Callable[[object], None]) -> None:
        self.calls.append(call)

    def end(self, answer: object) -> None:
        self.status, self.answer = "finished", answer
        for call in self.calls:
            call(self)


@dataclass(frozen=True)
class WorkerPlan:
    """A worker that is to be there.

    Attributes:
        comes: Second in which it comes.
        goes: Second in which it is lost; never by default.
        preparing: Seconds before its first injection.
        first: Seconds that its first portion takes besides.
        slowness: By what the time of a portion is multiplied, for each portion of it, one after another.
    """

    comes: float = 0.0
    goes: float = float("inf")
    preparing: float = 0.0
    first: float = 0.0
    slowness: Callable[[], float] = lambda: 1.0


@dataclass(frozen=True)
class Begun:
    """An order that a worker has begun.

    Attributes:
        at: Second.
        worker: Its place among the plans.
        injections: Of the order.
        preparing: Seconds of the worker before the first of them.
        seconds: Of the worker with them, which a worker that is lost does not come to the end of.
    """

    at: float
    worker: int
    injections: int
    preparing: float
    seconds: float


@dataclass
class _Worker:
    plan: WorkerPlan
    waiting: deque[SimulatedFuture] = field(default_factory=deque)
    busy: bool = False
    prepared: bool = False


class SimulatedFarm:
    """As `resil.farm.cluster.Farm`.

    Args:
        time: In which all happens.
        plans: The workers.
        seconds: That a portion of so many injections takes.
        answer: What a worker answers to an order.
        latency: Seconds in which a call reaches a worker, or its answer whoever asked.
        audit: As of `FarmSettings`.

    Attributes:
        begun: Every order that a worker has begun, audits among them, in order.
    """

    there = True

    def __init__(
        self,
        time: SimulatedTime,
        plans: Sequence[WorkerPlan],
        seconds: Callable[[int], float],
        *,
        answer: Callable[[Order], Reply] = simulate,
        latency: float = 1e-3,
        audit: float = 0.005,
    ) -> None:
        self.settings = FarmSettings(scheduler="tcp://127.0.0.1:1", audit=audit)
        self.begun: list[Begun] = []
        self._time, self._seconds, self._answer, self._latency = time, seconds, answer, latency
        self._workers = {f"tcp://worker:{place:05d}": _Worker(plan) for place, plan in enumerate(plans)}

    def workers(self) -> set[str]:
        """Return the addresses of the workers that are there."""
        now = self._time.now
        return {name for name, own in self._workers.items() if own.plan.comes <= now < own.plan.goes}

    def submit(self, address: str, call: Callable[..., object], *arguments: object) -> SimulatedFuture:
        """Have a worker make a call when it has made those before."""
        future = SimulatedFuture(call, arguments)
        worker = self._workers[address]

        def arrive() -> None:
            worker.waiting.append(future)
            self._go_on(worker)

        self._time.at(self._time.now + self._latency, arrive)
        return future

    def renew(self) -> None:
        """The scheduler never goes."""

    def close(self) -> None:
        """Nothing was started."""

    def _go_on(self, worker: _Worker) -> None:
        if worker.busy or not worker.waiting or self._time.now >= worker.plan.goes:
            return
        future = worker.waiting.popleft()
        if future.status == "cancelled":
            return self._go_on(worker)
        worker.busy = True
        if future.call is not simulate:
            return self._answered(worker, future, future.call(), 0.0)
        (order,) = future.arguments
        assert isinstance(order, Order)
        preparing, first = (0.0, 0.0) if worker.prepared else (worker.plan.preparing, worker.plan.first)
        worker.prepared = True
        seconds = (first + self._seconds(len(order.injections))) * worker.plan.slowness()
        place = list(self._workers.values()).index(worker)
        self.begun.append(Begun(self._time.now, place, len(order.injections), preparing, seconds))
        reply = replace(self._answer(order), seconds=seconds, processor=seconds, preparing=preparing)
        return self._answered(worker, future, reply, preparing + seconds)

    def _answered(self, worker: _Worker, future: SimulatedFuture, answer: object, seconds: float) -> None:
        end = self._time.now + seconds

        def finish() -> None:
            if end >= worker.plan.goes:
                return
            worker.busy = False
            self._time.at(end + self._latency, lambda: future.end(answer))
            self._go_on(worker)

        self._time.at(end, finish)


class Coordinator(FarmExecutor):
    """The coordinator, in simulated time; what it does with rows only takes its time.

    Args:
        asked: Whose injections; its bench is the fake one.
        run: Its folder.
        farm: Who simulates.
        time: In which all happens.
        row: Seconds of a row.
        call: Seconds of a call with its answer.
        seconds: Of a portion that it simulates itself.

    Attributes:
        busy: Seconds that rows, calls and portions of its own have taken.
        kept: Rows that came.
    """

    def __init__(
        self,
        asked: Campaign,
        run: RunFolder,
        farm: SimulatedFarm,
        time: SimulatedTime,
        *,
        row: float = 0.0,
        call: float = 0.0,
        seconds: Callable[[int], float] = lambda _: 0.0,
    ) -> None:
        bench = fake_bench(asked)
        engines = [bench.engine(place) for place in range(len(bench.inputs))]
        population = campaign_population(asked, bench, [engine.golden() for engine in engines])
        # A simulated farm is as good as one of dask here.
        super().__init__(
            asked, bench, population, engines, run, cast(Farm, farm), Audits(run, engines), Progress(), time,
            SimulatedQueue(time),
        )  # fmt: skip
        self._time, self._row, self._call, self._seconds = time, row, call, seconds
        self.busy, self.kept = 0.0, 0

    def make(self, injections: int) -> None:
        """Have so many injections made, of one input."""
        none = np.broadcast_to(np.int64(0), injections)
        numbers = np.arange(injections)
        self.run(FaultPlan((), numbers, none, none, none, none, none, none), numbers)

    def _rows(self, reply: Reply, numbers: IntArray) -> pa.Table:
        self._spend(self._call + self._row * len(numbers))
        return pa.table({"injection": numbers, "corruption": pa.nulls(len(numbers))})

    def _keep(self, rows: pa.Table) -> None:
        self.kept += rows.num_rows

    def _audit_here(self) -> None:
        while audits := self._book.take(lambda _producer: True, self._book.waiting, all_=True):
            count = sum(own.rows.num_rows for own in audits)
            self._spend(self._seconds(count))
            self._book.compared += count

    def _spend(self, seconds: float) -> None:
        self.busy += seconds
        self._time.pass_by(seconds)


@contextmanager
def simulated_farm(
    folder: Path,
    plans: Sequence[WorkerPlan],
    seconds: Callable[[int], float],
    *,
    row: float = 0.0,
    call: float = 0.0,
) -> Iterator[tuple[SimulatedTime, SimulatedFarm, Coordinator]]:
    """Yield a farm whose workers answer without rows, and its coordinator, at second 0."""
    time = SimulatedTime()
    farm = SimulatedFarm(time, plans, seconds, answer=lambda _order: Reply(Result.ROWS))
    asked = campaign(TEXT.replace("inputs = [0, 3]", "inputs = [0]"))
    bench = fake_bench(asked)
    with open_run(folder, bench.identity, begin(asked, bench)) as run:
        yield time, farm, Coordinator(asked, run, farm, time, row=row, call=call, seconds=seconds)
