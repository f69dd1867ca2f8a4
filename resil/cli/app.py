# SPDX-License-Identifier: Apache-2.0
"""The application: every command, in the order of a campaign."""

from __future__ import annotations

from typing import Annotated

import typer

from resil.cli.examples import epilog
from resil.commands.audit import audit
from resil.commands.check import check
from resil.commands.clip import clip
from resil.commands.compare import compare
from resil.commands.doctor import doctor
from resil.commands.estimate import estimate
from resil.commands.explain import explain
from resil.commands.import_results import import_
from resil.commands.infer import infer
from resil.commands.init import init
from resil.commands.learn import learn
from resil.commands.list import list_
from resil.commands.mechanisms import mechanisms
from resil.commands.merge import merge
from resil.commands.patterns import patterns
from resil.commands.protect import protect
from resil.commands.rates import rates
from resil.commands.replay import replay
from resil.commands.report import report
from resil.commands.run import run
from resil.commands.sites import sites
from resil.commands.study import study
from resil.commands.trace import trace
from resil.commands.validate import validate
from resil.commands.view import view
from resil.version import __version__

COMMANDS = (
    init, check, run, study, estimate, learn, sites,
    protect, mechanisms, report, view, compare, merge, replay, trace, explain, patterns, audit,
    import_, infer, clip, rates, list_, doctor, validate,
)  # fmt: skip

app = typer.Typer(
    name="resil",
    help="Soft-error resilience of neural-network accelerators, by fault injection into their RTL.",
    epilog="Exit codes: 0 target met or none asked, 1 missed, 2 usage or input error, 3 inconclusive, "
    "4 internal error or failed audit, 130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in COMMANDS:
    name = command.__name__.rstrip("_")
    app.command(name, epilog=epilog(name))(command)


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    if version:
        print(f"resil {__version__}")
        raise typer.Exit
