# SPDX-License-Identifier: Apache-2.0
"""`resil protect`: the protection of least area that keeps finished runs within their budget."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, Verbose
from resil.output import show
from resil.protection.units import Granularity


def protect(
    run_dirs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN_DIR|MODEL...",
            help="Run folders, of networks on one target, and sensitivity models that help to choose.",
        ),
    ],
    budget_fit: Annotated[
        float | None, typer.Option("--budget-fit", help="Budget in FIT in place of the campaign's.")
    ] = None,
    spfm_target: Annotated[
        float | None,
        typer.Option(
            "--spfm-target",
            help="Require an SPFM of at least this, as 0.99, beside the campaign's budget.",
        ),
    ] = None,
    granularity: Annotated[
        Granularity | None,
        typer.Option(
            "--granularity",
            help="Choose for each block, register, or group of 8 bits. Default: for each block of one run; "
            "for several runs, a model, --fit-share or --due-budget: for each group.",
        ),
    ] = None,
    fit_share: Annotated[
        float | None,
        typer.Option("--fit-share", help="Leave at most this share of each network's FIT, as 0.1."),
    ] = None,
    due_budget: Annotated[
        float | None, typer.Option("--due-budget", help="Most detected failures, in FIT.")
    ] = None,
    waive: Annotated[
        list[str] | None,
        typer.Option(
            "--waive",
            metavar="LIMIT",
            help="Leave out a limit of the campaign: budget, spfm or due. It is said, and kept in the plan; "
            "may be repeated.",
        ),
    ] = None,
    options: Annotated[
        Path | None, typer.Option("--options", help="TOML file of protection options of your own.")
    ] = None,
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
        typer.Option(
            "--verify-network",
            metavar="NAME_OR_PATH",
            help="Zoo network, or campaign file whose network or workload is taken, in place of two of the "
            "zoo; may be repeated.",
        ),
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
    from resil.protection.wanted import Wanted

    if build is None and (verify or verify_network or verify_seed is not None):
        raise typer.BadParameter("expected --build DIR too: what is built is confirmed")
    wanted = Wanted(
        Targets(budget_fit, spfm_target, fit_share, due_budget, tuple(waive or ())),
        granularity,
        options,
        name,
        "" if options is None else options.stem,
        verify,
        tuple(verify_network or ()),
        verify_seed,
    )
    found = run_protection(run_dirs, wanted, None if build is None else lambda _: build)

    show(found.as_json(), json_, lambda: found.results.show_protection(found.run_dir, found.details()))
    raise typer.Exit(found.code)
