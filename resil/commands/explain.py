# SPDX-License-Identifier: Apache-2.0
"""`resil explain`: what faults that did the same have in common."""

from __future__ import annotations

from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, RunDir, Verbose
from resil.output import show


def explain(
    run_dir: RunDir,
    outcome: Annotated[
        list[str] | None,
        typer.Option("--outcome", help="Injections of this outcome; default those that are hazardous."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Trace at most so many.")] = 60,
    seconds: Annotated[float, typer.Option("--seconds", min=0.0, help="Begin no trace after.")] = 600.0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the draw of those traced.")] = 1,
    mechanisms: Annotated[
        bool,
        typer.Option("--mechanisms", help="Say what each alarm caught and what none did; nothing is traced."),
    ] = False,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Group the injections of an outcome by the way that their faults took.

    Each is traced; faults that struck the same kind of register and went through the same blocks to the same
    end are one group, with its FIT. With --mechanisms nothing is traced: what each alarm caught of which
    storage, how late, and hazardous faults that none did. The answer is kept in the run folder.
    """
    if mechanisms:
        from resil.trace.mechanisms import audit_mechanisms
        from resil.trace.mechanisms_text import mechanisms_text

        audit = audit_mechanisms(run_dir)
        show(audit.plain(), json_, lambda: print(mechanisms_text(audit)))
        return
    from resil.trace.explain import explain_run
    from resil.trace.explain_text import explanation_text

    found = explain_run(run_dir, outcome or (), limit=limit, seconds=seconds, seed=seed)
    show(found.plain(), json_, lambda: print(explanation_text(found)))
