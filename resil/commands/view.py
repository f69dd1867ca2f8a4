# SPDX-License-Identifier: Apache-2.0
"""`resil view`: a page that follows a run while it injects."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from resil.commands.arguments import Quiet, RunDir, Verbose

Address = Annotated[
    str,
    typer.Option("--address", help="A loopback address; another is refused: results are for this machine."),
]
Port = Annotated[
    int, typer.Option("--port", help="Port to listen on; 0 takes any that is free.", min=0, max=65535)
]


def view(
    run_dir: RunDir,
    address: Address = "127.0.0.1",
    port: Port = 0,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Serve a page of a run that is under way, to this machine alone, until Ctrl-C.

    It shows how far the run is, its rate, the time left, and between which limits the figures at the end will
    lie, whatever the injections that are still out do. It reads the run folder and writes nothing.
    """
    from resil.watch.interim import require_run
    from resil.watch.server import RunServer

    require_run(run_dir)
    with RunServer(run_dir, address, port) as server:
        print(server.url, flush=True)
        print("resil: reads alone; stop with Ctrl-C", file=sys.stderr, flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return
