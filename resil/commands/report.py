"""`resil report`: the reports of a finished run, written again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from resil.files import read_json
from resil.folder.store import PROTECTION, SUMMARY
from resil.results.render import Results

_FINISH = "finish the run with: resil run CAMPAIGN.toml --out RUN_DIR --resume"
_PROTECT = "make it again with: resil protect RUN_DIR"


def load_summary(run_dir: Path) -> dict[str, Any]:
    """Return the summary of a finished run.

    Raises:
        StoreError: the folder holds no finished run, or is damaged.
    """
    return read_json(run_dir / SUMMARY, _FINISH)


def load_protection(run_dir: Path) -> dict[str, Any] | None:
    """Return the protection of a run, None if none was chosen; StoreError if it is damaged."""
    path = run_dir / PROTECTION
    return read_json(path, _PROTECT) if path.exists() else None


def report_run(run_dir: Path) -> tuple[list[Path], Results]:
    """Write the report files of a run again; return their paths and the results.

    Raises:
        StoreError: the folder holds no finished run, or is damaged.
        ReportError: a document is damaged, or the folder cannot be written.
    """
    results = Results(load_summary(run_dir), load_protection(run_dir))
    return results.write(run_dir), results
