# SPDX-License-Identifier: Apache-2.0
"""`resil audit`: stored injections, simulated again by an engine with a driver of its own."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, RunDir, Verbose, Workers
from resil.output import show


class Simulator(StrEnum):
    """What the judge of an audit runs."""

    verilator = "verilator"
    cxxrtl = "cxxrtl"


def audit(
    run_dir: RunDir,
    count: Annotated[int, typer.Option("-n", min=1, help="Injections that are drawn.")] = 1000,
    independent: Annotated[
        bool,
        typer.Option("--independent/--own-engine", help="Who judges: another engine, or the run's own."),
    ] = True,
    simulator: Annotated[
        Simulator, typer.Option("--simulator", help="What the other engine runs; cxxrtl is not Verilator's.")
    ] = Simulator.verilator,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the draw.")] = 1,
    workers: Workers = None,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Simulate stored injections again, each by itself and to its end, and compare.

    The judge is a plain Verilator build of the design with a driver of its own. It shares with the run's
    engine what the faults are, the network, and Verilator itself; the page on audits has the list. With
    --simulator cxxrtl no part of Verilator is in it: Yosys writes the design as C++. If an injection differs,
    the run is marked as failed and the command ends with exit code 4.
    """
    from resil.run.stored_audit import audit_stored, audit_text

    found = audit_stored(
        run_dir, count, independent=independent, simulator=simulator.value, seed=seed, workers=workers
    )
    show(found.plain(), json_, lambda: print(audit_text(found)))
