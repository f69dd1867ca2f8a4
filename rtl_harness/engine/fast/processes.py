# SPDX-License-Identifier: Apache-2.0
"""Processes that share work: copies of this one, which therefore know the golden run already."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Generic, NamedTuple, TypeVar

from resil.rtl_harness.errors import HarnessError, SimulationError
from resil.rtl_harness.faults import Injection
from resil.rtl_harness.host import end_with

# Outcomes that a worker sends together at most, and seconds that one waits at most while others come.
TOGETHER = 256
WAIT_SECONDS = 0.5


class EngineOutcome(NamedTuple):
    """What came of a fault.

    Attributes:
        injection: The result.
        early: It was known before the end was reached.
        simulated: Cycles that were simulated.
        how: How it became known, for statistics.
        nanoseconds: Time spent on it alone, as far as that is measured.
        note: What the user should know of how it was found.
        in_lane: It was in a lane for a while, or ends as one that was.
    """

    injection: Injection
    early: bool
    simulated: int
    how: str
    nanoseconds: int = 0
    note: str = ""
    in_lane: bool = False


T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[Sequence[T]], Iterator[R]]


def run_chunks(chunks: Sequence[Sequence[T]], work: Work[T, R], workers: int) -> Generator[R, None, None]:
    """Yield what work makes of all chunks, as of faults their outcomes, in the order in which that is ready.

    Workers take a chunk at a time. They are ended when the iterator is closed, and by the system if this
    process dies.

    Raises:
        SimulationError: If a worker dies; whatever HarnessError `work` raises.
    """
    if workers == 1 or len(chunks) <= 1:
        for chunk in chunks:
            yield from work(chunk)
        return
    pool = _Pool(work, min(workers, len(chunks)))
    try:
        yield from pool.run(deque(chunks))
    finally:
        pool.close()


class _Pool(Generic[T, R]):
    def __init__(self, work: Work[T, R], workers: int) -> None:
        context = multiprocessing.get_context("fork")
        self._processes: dict[Connection, BaseProcess] = {}
        for _ in range(workers):
            ours, theirs = context.Pipe()
            others = [ours, *self._processes]
            process = context.Process(target=_serve, args=(work, theirs, others, os.getpid()), daemon=True)
            with _kept_from_collection():
                process.start()
            theirs.close()
            self._processes[ours] = process

    def run(self, chunks: deque[Sequence[T]]) -> Iterator[R]:
        busy: dict[Connection, Sequence[T]] = {}
        for connection in self._processes:
            if chunks:
                connection.send(chunks[0])
                busy[connection] = chunks.popleft()
        while busy:
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)
                answer = self._receive(ready, busy[ready])
                if not answer:
                    del busy[ready]
                    if chunks:
                        ready.send(chunks[0])
                        busy[ready] = chunks.popleft()
                yield from answer

    def close(self) -> None:
        """End all workers.

        They are killed: SIGTERM is lost on one that was forked a moment ago by a process that handles it.
        """
        for connection, process in self._processes.items():
            with suppress(OSError):  # closed before, where both are garbage of one cycle
                connection.close()
            process.kill()
        for process in self._processes.values():
            process.join()

    def _receive(self, connection: Connection, chunk: Sequence[T]) -> list[R]:
        """Return some of what was made of a chunk; nothing when it is done."""
        try:
            answer = connection.recv()
        except (EOFError, OSError) as error:
            process = self._processes[connection]
            process.join(timeout=5)
            raise SimulationError(
                f"a worker ended with exit code {process.exitcode} while it worked on one of "
                f"{len(chunk)}, from {chunk[0]} to {chunk[-1]}; run them with one worker to see which",
                "worker",
            ) from error
        if isinstance(answer, BaseException):
            raise answer
        assert isinstance(answer, list)
        return answer


@contextmanager
def _kept_from_collection() -> Iterator[None]:
    """Let no process that is forked meanwhile clear up what this one has left lying: that is ours to end."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _serve(work: Work[T, R], connection: Connection, others: Sequence[Connection], parent: int) -> None:
    """Answer until the parent has gone; `others` are its own ends, which a fork leaves open here."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in others:
        other.close()
    end_with(parent)
    while os.getppid() == parent:
        try:
            chunk = connection.recv()
        except (EOFError, OSError):
            break
        try:
            _answer(work(chunk), connection)
        except HarnessError as error:
            connection.send(error)
    os._exit(0)


def _answer(outcomes: Iterator[R], connection: Connection) -> None:
    some: list[R] = []
    sent = time.monotonic()
    for outcome in outcomes:
        some.append(outcome)
        if len(some) >= TOGETHER or time.monotonic() - sent > WAIT_SECONDS:
            connection.send(some)
            some, sent = [], time.monotonic()
    if some:
        connection.send(some)
    connection.send([])
