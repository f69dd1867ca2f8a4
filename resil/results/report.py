# SPDX-License-Identifier: Apache-2.0
"""The reports of a finished run, written again."""

from __future__ import annotations

from pathlib import Path

from resil.folder.finished import finished_results
from resil.folder.kept_plans import accepted_plan
from resil.record.typed import Typed
from resil.reports import render_figures, render_for_papers, write_files
from resil.results.detail import detail_of
from resil.results.write import Results


class WrittenReports(Typed):
    """Reports that were written again."""

    written: tuple[str, ...]
    """Their files."""


def report_run(run_dir: Path) -> tuple[WrittenReports, Results]:
    """Write the report files of a run, or of an estimate, again; return their paths and the results.

    Raises:
        StoreError: the folder holds no finished run or estimate, or is damaged.
        ConsistencyError: the run has failed an audit.
        ReportError: a document is damaged, or the folder cannot be written.
    """
    found = finished_results(run_dir)
    results = Results(found.summary, accepted_plan(run_dir, found.digest))
    return WrittenReports(written=tuple(map(str, results.write(run_dir)))), results


def write_run_figures(run_dir: Path, into: Path, names: frozenset[str] | None = None) -> list[Path]:
    """Write figures of a run, or of an estimate, as SVG files to the folder `into`; return their paths.

    Args:
        run_dir: Folder of the results; refused as by `report_run`.
        into: Folder of the pictures.
        names: File names wanted, such as `overview.svg`; all figures by default.
    """
    found = finished_results(run_dir)
    plan, detail = accepted_plan(run_dir, found.digest), detail_of(run_dir, found.summary)
    return write_files(render_figures(found.summary, plan, names, detail), into)


def write_paper_figures(run_dir: Path, into: Path) -> WrittenReports:
    """Write every figure of a run, or of an estimate, as SVG, PDF and CSV to the folder `into`.

    Raises:
        StoreError, ConsistencyError: as `report_run`.
        ReportError: matplotlib is not installed, or the folder cannot be written.
    """
    found = finished_results(run_dir)
    plan, detail = accepted_plan(run_dir, found.digest), detail_of(run_dir, found.summary)
    files = render_for_papers(found.summary, plan, detail)
    return WrittenReports(written=tuple(map(str, write_files(files, into))))
