# SPDX-License-Identifier: Apache-2.0
"""The page of a run beside the command that makes it, in a process of its own.

Engines fork their workers. A thread of the same process that answers requests may hold locks at that
moment, which nobody would ever release in the worker. So the server is another program. It reads its stdin,
which the command holds open: the end of that is the end of the command, however it ended.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resil.errors import ResilError
from resil.watch.server import RunServer

_PATIENCE = 30.0
"""Seconds in which the server has to be there."""
_AFTERWARDS = 12.0
"""Seconds after the command in which the end of the run can still be asked for: the page asks every five."""

_servers: list[subprocess.Popen[str]] = []
"""Those begun here: they outlast the block, and whoever forgets one is warned of it."""


@contextmanager
def page_beside(folder: Path, port: int = 0) -> Iterator[str]:
    """Serve the page of a run on the loopback address while the block lasts; yields its address.

    The folder need not be there yet. After the block the server answers until it has shown the end once,
    for some seconds at most.

    Args:
        folder: The run folder.
        port: 0 for any that is free.

    Raises:
        ResilError: the port is taken.
    """
    command = [sys.executable, "-m", __name__, str(folder), str(port)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,  # Ctrl-C is the command's alone
    )
    _servers.append(process)
    assert process.stdin is not None
    try:
        yield _first_line(process)
    finally:
        with contextlib.suppress(OSError):
            process.stdin.close()


def _first_line(process: subprocess.Popen[str]) -> str:
    """Return the address that the server prints, or raise what it says instead."""
    assert process.stdout is not None
    late = threading.Timer(_PATIENCE, process.kill)
    late.start()
    with process.stdout as stdout:
        line = stdout.readline().strip()
    late.cancel()
    if not line.startswith("http:"):
        raise ResilError(
            line or f"--serve: expected a page within {_PATIENCE:g} seconds, found none", "--serve"
        )
    return line


def main(folder: str, port: str) -> int:
    """Serve until stdin ends, and a little longer."""
    try:
        server = RunServer(Path(folder), port=int(port), at_work=True)
    except ResilError as error:
        print(error, flush=True)
        return 2
    with server:
        print(server.url, flush=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        sys.stdin.read()
        server.watch.at_work = False
        server.shown_end.wait(_AFTERWARDS)
        server.shutdown()
        thread.join()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
