# SPDX-License-Identifier: Apache-2.0
"""Commands `python -m MODULE ...` as processes forked from one that has imported what they need.

They are processes like any other, but start in a moment, so that many of them can be killed and begun again.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import runpy
import signal
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "resil.cli",
        "resil.farm.worker",
        "distributed.cli.dask_worker",
        "distributed.cli.dask_scheduler",
        "resil.protection.verify",
        "resil.run.campaign",
        "resil.run.dry_run",
        "resil.run.replay",
        __name__,
    ]
)


# multiprocessing waits for its processes at the end: what a failed test has left must not hold it up.
_STARTED: weakref.WeakSet[Forked] = weakref.WeakSet()
atexit.register(lambda: [left.kill() for left in _STARTED])


class Running(Protocol):
    """A process, as `subprocess.Popen` has it."""

    @property
    def pid(self) -> int:
        """Number of the process."""
        ...

    def poll(self) -> int | None:
        """Return the exit code; None while it runs."""
        ...

    def wait(self) -> int:
        """Return the exit code when it has ended."""
        ...

    def kill(self) -> None:
        """Send SIGKILL."""
        ...

    def send_signal(self, sig: int) -> None:
        """Send a signal."""
        ...


class Forked:
    """A command that runs in a forked process, with the variables and in the folder of this one.

    Args:
        command: Python, "-m", name of a module and its arguments.
        log: File that what it says is appended to.
        environment: Variables that it has besides those of this process; None for no others.

    Attributes:
        pid: Number of the process.
        log: The file.
    """

    def __init__(
        self, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        _python, _m, module, *words = command
        self.log, self._read = log, log.stat().st_size if log.exists() else 0
        given = (module, words, str(log), {**os.environ, **(environment or {})}, os.getcwd())
        self._process = _CONTEXT.Process(target=_run, args=given)
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid
        _STARTED.add(self)

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        return self._process.exitcode

    def wait(self, seconds: float | None = None) -> int:
        """Return the exit code when it has ended.

        Raises:
            TimeoutError: It has not after so many seconds.
        """
        self._process.join(seconds)
        if self._process.exitcode is None:
            raise TimeoutError(f"no end after {seconds:g} s; it said:\n{self.said()}")
        return self._process.exitcode

    def said(self) -> str:
        """Return what its log holds, of commands before it too."""
        return self.log.read_text(encoding="utf-8") if self.log.exists() else ""

    def says(self, words: str, seconds: float = 120.0) -> bool:
        """Wait until it has said something, looked for behind what was found last; False if it ends before.

        Raises:
            TimeoutError: It has not after so many seconds, and runs on.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            over = self.poll() is not None
            text = self.log.read_bytes() if self.log.exists() else b""
            found = text.find(words.encode(), self._read)
            if found >= 0:
                self._read = found + len(words.encode())
                return True
            if over:
                return False
            time.sleep(0.02)
        raise TimeoutError(f"{words!r} not said after {seconds:g} s, but:\n{self.said()}")

    def kill(self) -> None:
        """Send SIGKILL."""
        self._process.kill()

    def send_signal(self, sig: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, sig)


def has_part_files(run: Path, process: Running | None = None, seconds: float = 120.0) -> bool:
    """Wait until a run folder holds injections; False if the process ends before, or no time is left."""
    deadline = time.monotonic() + seconds
    while not list(run.glob("injections/part-*.parquet")):
        if time.monotonic() > deadline or (process is not None and process.poll() is not None):
            return False
        time.sleep(0.05)
    return True


def _run(module: str, words: list[str], log: str, environment: dict[str, str], folder: str) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (1, 2):
        os.dup2(file, stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = [module, *words]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
