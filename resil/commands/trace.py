# SPDX-License-Identifier: Apache-2.0
"""`resil trace`: how one fault spread."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, Verbose
from resil.errors import ResilError
from resil.output import show


def trace(
    path: Annotated[
        Path, typer.Argument(metavar="RUN_DIR|CAMPAIGN.toml", help="Run folder, or a campaign file.")
    ],
    injection: Annotated[
        int | None, typer.Argument(metavar="[INJECTION_ID]", help="Number of the injection, of a run.")
    ] = None,
    site: Annotated[
        str | None, typer.Option("--site", metavar="NAME", help="The bit, of a campaign; see resil sites.")
    ] = None,
    cycle: Annotated[int | None, typer.Option("--cycle", min=0, help="When it is inverted.")] = None,
    bits: Annotated[int, typer.Option("--bits", min=1, help="How many, upwards from it.")] = 1,
    label: Annotated[
        int | None, typer.Option("--input", help="Label of the input; default the first.")
    ] = None,
    waves: Annotated[
        Path | None,
        typer.Option("--waves", help="Write what differed, in both runs, to this .vcd or .fst file."),
    ] = None,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Say how one fault spread, from the struck bit to the first wrong output.

    The fault is simulated beside the run without it, and all storage of both is compared in each cycle. What
    differed, where it crossed from block to block, what became of tensors, which alarm rose, and along the
    gates the shortest causal path. What comes of it must be what the run has stored; else the exit code is 4.
    """
    from resil.trace.fault import trace_fault, trace_injection
    from resil.trace.text import trace_text

    if injection is not None:
        if (site, cycle, label, bits) != (None, None, None, 1):
            raise ResilError(
                "--site, --cycle, --bits, --input: expected none of them beside the number of an injection, "
                "which says what they would; leave them out",
                "INJECTION_ID",
            )
        found = trace_injection(path, injection, waves=waves)
    elif site is None or cycle is None:
        raise ResilError(
            "expected the number of an injection after a run folder, or --site NAME and --cycle N after a "
            "campaign file, found neither",
            "--site" if site is None else "--cycle",
        )
    else:
        found = trace_fault(path, site, cycle, bits=bits, label=label, waves=waves)
    show(found.plain(), json_, lambda: print(trace_text(found)))
