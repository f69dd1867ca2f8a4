# SPDX-License-Identifier: Apache-2.0
"""`resil replay`: one injection again, alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, RunDir, Verbose
from resil.commands.choices import Engine
from resil.errors import ExitCode
from resil.output import show


def replay(
    run_dir: RunDir,
    injection: Annotated[int, typer.Argument(metavar="INJECTION_ID", help="Number of the injection.")],
    engine: Engine = None,
    waves: Annotated[
        Path | None, typer.Option("--waves", help="Write the waveform to this .fst or .vcd file.")
    ] = None,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Simulate one injection again, alone, and compare with what is recorded."""
    from resil.run.replay import replay_injection, replay_text

    result = replay_injection(run_dir, injection, engine=engine, waves=waves)
    show(result.plain(), json_, lambda: print(replay_text(result)))
    raise typer.Exit(ExitCode.MET if result.equal else ExitCode.INTERNAL)
