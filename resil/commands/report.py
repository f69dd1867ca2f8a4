# SPDX-License-Identifier: Apache-2.0
"""`resil report`: the reports of a finished run, written again."""

from __future__ import annotations

from resil.commands.arguments import Json, Quiet, RunDir, Verbose
from resil.output import show


def report(run_dir: RunDir, json_: Json = False, quiet: Quiet = False, verbose: Verbose = False) -> None:
    """Write the reports of a finished run again."""
    from resil.results.report import report_run

    written, results = report_run(run_dir)
    show(written.plain(), json_, lambda: results.show(run_dir))
