# SPDX-License-Identifier: Apache-2.0
"""Commands `python -m MODULE ...` as processes forked from one that has imported what they need.

They are processes like any other, but start in a moment, so that many of them can be killed and begun again.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import signal
import sys
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
        __name__,
    ]
)


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
    """A command that runs in a forked process.

    Args:
        command: Python, "-m", name of a module and its arguments.
        log: File that what it says is appended to.
        environment: Variables that it has besides those of this process; None for no others.
    """

    def __init__(
        self, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        _python, _m, module, *words = command
        given = (module, words, str(log), dict(environment or {}), os.getcwd())
        self._process = _CONTEXT.Process(target=_run, args=given)
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        return self._process.exitcode

    def wait(self) -> int:
        """Return the exit code when it has ended."""
        self._process.join()
        assert self._process.exitcode is not None
        return self._process.exitcode

    def kill(self) -> None:
        """Send SIGKILL."""
        self._process.kill()

    def send_signal(self, sig: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, sig)


def _run(module: str, words: list[str], log: str, environment: dict[str, str], folder: str) -> None:
    os.chdir(folder)
    os.environ.update(environment)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (1, 2):
        os.dup2(file, stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = [module, *words]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
