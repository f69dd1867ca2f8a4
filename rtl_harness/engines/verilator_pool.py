"""Processes that share injections: copies of this one, which therefore know the golden run already."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple

from rtl_harness.errors import HarnessError, SimulationError
from rtl_harness.faults import Fault, Injection
from rtl_harness.verilated.campaign import Shortcut

# Long enough that messages cost little, short enough that all workers end together and progress is smooth.
CHUNK = 32

_PR_SET_PDEATHSIG = 1


class Job(NamedTuple):
    """A fault to simulate.

    Attributes:
        fault: What to inject.
        shortcuts: Early stops that may be taken.
    """

    fault: Fault
    shortcuts: Shortcut


class Outcome(NamedTuple):
    """What came of a job.

    Attributes:
        injection: The result.
        early: It was known before the end was reached.
        simulated: Cycles that were simulated.
    """

    injection: Injection
    early: bool
    simulated: int


Work = Callable[[Job], Outcome]


def run_jobs(jobs: Sequence[Job], work: Work, workers: int) -> Iterator[Outcome]:
    """Yield the outcome of each job, in the order in which they are ready.

    Workers take short runs of neighbouring jobs, so that each goes through the cycles once. They are ended
    when the iterator is closed, and by the system if this process dies.

    Raises:
        SimulationError: If a worker dies; whatever HarnessError `work` raises.
    """
    if workers == 1 or len(jobs) <= CHUNK:
        yield from map(work, jobs)
        return
    chunks = deque(jobs[i : i + CHUNK] for i in range(0, len(jobs), CHUNK))
    pool = _Pool(work, min(workers, len(chunks)))
    try:
        yield from pool.run(chunks)
    finally:
        pool.close()


class _Pool:
    def __init__(self, work: Work, workers: int) -> None:
        context = multiprocessing.get_context("fork")
        self._processes: dict[Connection, BaseProcess] = {}
        for _ in range(workers):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(work, theirs, os.getpid()), daemon=True)
            process.start()
            theirs.close()
            self._processes[ours] = process

    def run(self, chunks: deque[Sequence[Job]]) -> Iterator[Outcome]:
        busy = {}
        for connection in self._processes:
            if chunks:
                connection.send(chunks[0])
                busy[connection] = chunks.popleft()
        while busy:
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)
                chunk = busy.pop(ready)
                answer = self._receive(ready, chunk)
                if chunks:
                    ready.send(chunks[0])
                    busy[ready] = chunks.popleft()
                yield from answer

    def close(self) -> None:
        """End all workers."""
        for connection, process in self._processes.items():
            connection.close()
            process.terminate()
        for process in self._processes.values():
            process.join()

    def _receive(self, connection: Connection, chunk: Sequence[Job]) -> list[Outcome]:
        try:
            answer = connection.recv()
        except (EOFError, OSError) as error:
            process = self._processes[connection]
            process.join(timeout=5)
            raise SimulationError(
                f"a worker ended with exit code {process.exitcode} while it simulated one of the "
                f"{len(chunk)} faults from {chunk[0].fault} to {chunk[-1].fault}; "
                "run them with one worker to see which"
            ) from error
        if isinstance(answer, BaseException):
            raise answer
        assert isinstance(answer, list)
        return answer


def _serve(work: Work, connection: Connection, parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    while os.getppid() == parent:
        try:
            chunk = connection.recv()
        except (EOFError, OSError):
            break
        answer: list[Outcome] | HarnessError
        try:
            answer = [work(job) for job in chunk]
        except HarnessError as error:
            answer = error
        connection.send(answer)
    os._exit(0)
