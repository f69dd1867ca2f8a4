# SPDX-License-Identifier: Apache-2.0
"""`resil protect`: the protection of least area that keeps finished runs within their budget."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, Verbose
from resil.errors import ExitCode
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
            help="Require an SPFM of at least this, as 0.99. For several runs, or with --granularity, in "
            "place of the campaign's budget unless --budget-fit is given too.",
        ),
    ] = None,
    granularity: Annotated[
        Granularity | None,
        typer.Option(
            "--granularity",
            help="Choose for each block, register, or group of 8 bits by half of the injections, judge by "
            "the other. Default: for each block by all of them; for several runs, a model, --fit-share or "
            "--due-budget: for each group.",
        ),
    ] = None,
    fit_share: Annotated[
        float | None,
        typer.Option("--fit-share", help="Leave at most this share of each network's FIT, as 0.1."),
    ] = None,
    due_budget: Annotated[
        float | None, typer.Option("--due-budget", help="Most detected failures, in FIT.")
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
    from resil.protection.block_flow import protect_run, protection_code, with_plan
    from resil.protection.build_rtl import build_plan, build_text, built_before
    from resil.protection.flow import protect_units, units_text
    from resil.protection.judge import Targets
    from resil.protection.verify import confirmation_text, longest_operations, verify_build

    if build is None and (verify or verify_network or verify_seed is not None):
        raise typer.BadParameter("expected --build DIR too: what is built is confirmed")
    runs_or_models, run_dirs = run_dirs, [path for path in run_dirs if not path.is_file()]
    if verify and len(run_dirs) < len(runs_or_models):
        raise typer.BadParameter(
            "expected --verify without a model: the networks that it was learnt from took part in choosing, "
            "and which they are is not told from those that confirm"
        )
    run_dir = next(iter(run_dirs), runs_or_models[0])
    given = (granularity, fit_share, due_budget)
    by_units = len(runs_or_models) > 1 or not run_dirs or any(asked is not None for asked in given)
    if by_units:
        asked = verify_network or ()
        results = protect_units(
            runs_or_models,
            granularity=granularity or Granularity.GROUP,
            targets=Targets(budget_fit, spfm_target, fit_share, due_budget),
            options=options,
            name=name,
            buildable=build is not None,
            also_longest=longest_operations(run_dirs, asked, options) if verify else (),
        )
    else:
        results = protect_run(
            run_dir, budget_fit=budget_fit, spfm_target=spfm_target, options=options, name=name
        )
    plan = dict(results.protection or {})
    if build is not None:
        before = built_before(build, plan) if verify else None
        plan["build"] = before or build_plan(run_dir, plan, build, options=options)
    if build is not None and verify:
        plan["confirmation"] = verify_build(
            run_dirs, plan, build, options=options, networks=verify_network or (), seed=verify_seed
        )
    if build is not None:
        results = with_plan(run_dir, results)

    def text() -> None:
        results.show_protection(run_dir)
        if by_units:
            print(units_text(plan))
        if build is not None:
            print(build_text(plan["build"]))
        if verify:
            print(confirmation_text(plan["confirmation"]))

    show(plan, json_, text)
    code = protection_code(plan)
    raise typer.Exit(ExitCode.MISSED if verify and not plan["confirmation"]["confirmed"] else code)
