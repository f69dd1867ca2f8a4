"""`resil report`: the reports of a finished run, written again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reports import render_figures, write_files
from resil.files import read_json
from resil.folder.store import PROTECTION
from resil.folder.whole import finished_results
from resil.results.render import Results

_PROTECT = "make it again with: resil protect RUN_DIR"


def load_protection(run_dir: Path) -> dict[str, Any] | None:
    """Return the protection of a run, None if none was chosen; StoreError if it is damaged."""
    path = run_dir / PROTECTION
    return read_json(path, _PROTECT) if path.exists() else None


def report_run(run_dir: Path) -> tuple[list[Path], Results]:
    """Write the report files of a run, or of an estimate, again; return their paths and the results.

    Raises:
        StoreError: the folder holds no finished run or estimate, or is damaged.
        ConsistencyError: the run has failed an audit.
        ReportError: a document is damaged, or the folder cannot be written.
    """
    found = finished_results(run_dir)
    results = Results(found.summary, load_protection(run_dir))
    return results.write(run_dir), results


def write_run_figures(run_dir: Path, into: Path, names: frozenset[str] | None = None) -> list[Path]:
    """Write figures of a run, or of an estimate, as SVG files to the folder `into`; return their paths.

    Args:
        run_dir: Folder of the results; refused as by `report_run`.
        into: Folder of the pictures.
        names: File names wanted, such as `overview.svg`; all figures by default.
    """
    found = finished_results(run_dir)
    return write_files(render_figures(found.summary, load_protection(run_dir), names), into)
