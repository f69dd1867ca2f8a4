# SPDX-License-Identifier: Apache-2.0
"""`resil report`: the reports of a finished run, written again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from resil.commands.arguments import Json, Quiet, RunDir, Verbose
from resil.errors import ExitCode
from resil.output import show

Assessor = Annotated[
    Path | None,
    typer.Option(
        "--assessor", help="Write the kit for an assessor into this folder, in place of the run's reports."
    ),
]
Evidence = Annotated[
    Path | None,
    typer.Option(
        "--validation", help="Folder of validation.json for the kit; default: the user's data folder."
    ),
]


Figures = Annotated[
    Path | None,
    typer.Option(
        "--figures",
        metavar="DIR",
        help="Write every figure as SVG and PDF, its data as CSV, to this folder, in place of the reports.",
    ),
]


FaultList = Annotated[
    Path | None,
    typer.Option(
        "--fault-list",
        metavar="FILE",
        help="Write each fault with its status (.csv, .parquet, else one a line), in place of the reports.",
    ),
]


def report(
    run_dir: RunDir,
    assessor: Assessor = None,
    validation: Evidence = None,
    figures: Figures = None,
    fault_list: FaultList = None,
    json_: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Write the reports of a finished run again.

    With --assessor, a kit of plain pages: reservations first, then safety manual, confidence in the tool,
    validation evidence, dependent failures and change history. Of a folder whose results may not be used it
    says that and nothing else, and the command ends with exit code 4.
    """
    if assessor is not None:
        from resil.assessor.kit import kit_text, make_kit, write_kit

        kit = make_kit(run_dir, assessor, validation)
        write_kit(kit, assessor)
        show(kit.plain(), json_, lambda: print(kit_text(kit, assessor)))
        raise typer.Exit(ExitCode.MET if kit.usable else ExitCode.INTERNAL)
    if fault_list is not None:
        from resil.lists.of_run import write_run_faults

        listed = write_run_faults(run_dir, fault_list)
        said = ", ".join(f"{number:,} {status}" for status, number in listed.statuses.items())
        show(listed.plain(), json_, lambda: print(f"{listed.written}: {said}"))
        return
    from resil.results.report import report_run, write_paper_figures

    if figures is not None:
        made = write_paper_figures(run_dir, figures)
        show(made.plain(), json_, lambda: print("\n".join(made.written)))
        return
    written, results = report_run(run_dir)
    show(written.plain(), json_, lambda: results.show(run_dir))
