# SPDX-License-Identifier: Apache-2.0
"""`resil protect`: the protection of least area that keeps finished runs within their budget."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, Verbose
from resil.commands.choices import option
from resil.output import show
from resil.protection.asked import (
    BUDGET_FIT,
    DUE_BUDGET,
    FIT_SHARE,
    GRANULARITY,
    OPTIONS,
    PERMANENT_FIT,
    PERMANENT_SPFM,
    SPFM_TARGET,
    VERIFY_NETWORKS,
    WAIVE,
)
from resil.protection.units import Granularity


def protect(
    run_dirs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN_DIR|MODEL...",
            help="Run folders, of networks on one target, and sensitivity models that help to choose.",
        ),
    ],
    budget_fit: Annotated[float | None, option(BUDGET_FIT)] = None,
    spfm_target: Annotated[float | None, option(SPFM_TARGET)] = None,
    granularity: Annotated[
        Granularity | None,
        option(
            GRANULARITY,
            "Default: block for one run; group for several runs, a model, --fit-share or --due-budget.",
        ),
    ] = None,
    fit_share: Annotated[float | None, option(FIT_SHARE)] = None,
    due_budget: Annotated[float | None, option(DUE_BUDGET)] = None,
    permanent_fit: Annotated[float | None, option(PERMANENT_FIT)] = None,
    permanent_spfm: Annotated[float | None, option(PERMANENT_SPFM)] = None,
    waive: Annotated[list[str] | None, option(WAIVE, metavar="LIMIT")] = None,
    options: Annotated[Path | None, option(OPTIONS)] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", help="Keep the plan as protection/NAME.json; default: its target."),
    ] = None,
    build: Annotated[
        Path | None,
        typer.Option(
            "--build",
            metavar="DIR",
            help="Write the RTL with this protection to a new folder, prove it and measure its area.",
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Inject into what --build wrote, with a new seed and on other networks; exit code 0 only if "
            "that confirms the plan.",
        ),
    ] = False,
    verify_network: Annotated[
        list[str] | None,
        option(VERIFY_NETWORKS, "Default: two of the zoo.", metavar="NAME_OR_PATH"),
    ] = None,
    verify_seed: Annotated[
        int | None, typer.Option("--verify-seed", help="Seed of the new injections; default: an unused one.")
    ] = None,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Choose the protection of least area that keeps finished runs within their budget."""
    from resil.protection.flow import protect as run_protection
    from resil.protection.targets import Targets
    from resil.protection.wanted import ProtectionRequest

    if build is None and (verify or verify_network or verify_seed is not None):
        raise typer.BadParameter("expected --build DIR too: what is built is confirmed")
    wanted = ProtectionRequest(
        Targets(
            *(budget_fit, spfm_target, fit_share, due_budget, permanent_fit, permanent_spfm),
            waive=tuple(waive or ()),
        ),
        granularity,
        options,
        name,
        "" if options is None else options.stem,
        verify,
        tuple(verify_network or ()),
        verify_seed,
    )
    found = run_protection(run_dirs, wanted, None if build is None else lambda _: build)

    show(found.answer.plain(), json_, lambda: found.results.show_protection(found.run_dir, found.details()))
    raise typer.Exit(found.code)
