# SPDX-License-Identifier: Apache-2.0
"""A scheduler and workers as processes of their own, which are started again when they have ended."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from testkit.forked import Forked, Running

SCHEDULER = (sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard", "--no-show")
WORKER = (sys.executable, "-m", "distributed.cli.dask_worker")


@dataclass
class Processes:
    """A scheduler and workers of one simulator each.

    Attributes:
        folder: For what they say, and for their scratch files.
        worker: Command of a worker; it gets the address of the scheduler and options.
        workers: How many there are.
        environment: Of workers; None for this process's own.
        port: Of the scheduler.
        cwd: Where processes are started; None for here.
        forked: They are forked, see `forked`; in the folder of this process.
        running: By name: "scheduler", "worker 0" and so on.
    """

    folder: Path
    worker: Sequence[str] = WORKER
    workers: int = 2
    environment: Mapping[str, str] | None = None
    port: int = 0
    cwd: Path | None = None
    forked: bool = False
    running: dict[str, Running] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.port:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]

    @property
    def address(self) -> str:
        """Of the scheduler."""
        return f"tcp://127.0.0.1:{self.port}"

    @property
    def names(self) -> list[str]:
        """Of all processes that there should be."""
        return ["scheduler", *(f"worker {i}" for i in range(self.workers))]

    def tend(self) -> int:
        """Start what is not running; return how many processes that were."""
        ended = [name for name in self.names if name not in self.running or self._over(name)]
        for name in ended:
            scheduler = name == "scheduler"
            command = [*SCHEDULER, "--host", "127.0.0.1", "--port", str(self.port)]
            if not scheduler:
                command = [*self.worker, self.address, "--no-nanny", "--nthreads", "1", "--no-dashboard"]
                command += ["--memory-limit", "0", "--death-timeout", "60", "--host", "127.0.0.1"]
                command += ["--local-directory", str(self.folder)]
            log, environment = self.folder / f"{name.replace(' ', '-')}.log", self.environment
            self.running[name] = self._start(command, log, None if scheduler else environment)
        return len(ended)

    def _start(self, command: Sequence[str], log: Path, environment: Mapping[str, str] | None) -> Running:
        if self.forked:
            return Forked(command, log, environment)
        with log.open("ab") as file:
            return subprocess.Popen(command, stdout=file, stderr=file, env=environment, cwd=self.cwd)

    def kill(self, name: str) -> bool:
        """End a process by SIGKILL; False if it has ended already."""
        if self._over(name):
            return False
        self.running[name].kill()
        self.running[name].wait()
        return True

    def processor_seconds(self, *others: Running) -> float:
        """Return the processor time that the processes which run now, and these others, have used."""
        pids = [process.pid for process in (*self.running.values(), *others) if process.poll() is None]
        return sum(map(processor_seconds, pids))

    def _over(self, name: str) -> bool:
        return self.running[name].poll() is not None


def processor_seconds(pid: int) -> float:
    """Return user and system time of a process; 0 if it has gone."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    user, system = told.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@contextmanager
def processes(given: Processes) -> Iterator[Processes]:
    """Start processes, and end them."""
    given.folder.mkdir(parents=True, exist_ok=True)
    given.tend()
    try:
        yield given
    finally:
        for process in reversed(given.running.values()):
            process.kill()
        for process in given.running.values():
            process.wait()
