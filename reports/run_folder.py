"""Reading a run folder, and figures of a run for other documents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from reports.errors import ReportError
from reports.figures import figure_files
from reports.protection import Protection, parse_protection
from reports.summary import Summary
from reports.summary_json import parse_summary
from reports.writer import write_files


def load_run(folder: Path) -> tuple[Summary, Protection | None]:
    """Return what a run folder holds: the summary, and the protection if there is one.

    Raises:
        ReportError: A file is missing (the summary), unreadable or wrong.
    """
    summary_path, protection_path = folder / "summary.json", folder / "protection.json"
    if not summary_path.is_file():
        raise ReportError(
            f"{summary_path}: there is no such file; expected a finished run folder,"
            " finish the run with 'resil run CAMPAIGN.toml --resume'"
        )
    summary = parse_summary(_decoded(summary_path))
    protection = parse_protection(_decoded(protection_path)) if protection_path.is_file() else None
    return summary, protection


def _decoded(path: Path) -> Mapping[str, object]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ReportError(
            f"{path}: expected a JSON document, found one that cannot be read: {error}"
        ) from error
    if not isinstance(document, dict):
        raise ReportError(f"{path}: expected a JSON object, found {type(document).__name__}")
    return document


def write_figures(run_folder: Path, into: Path, names: frozenset[str] | None = None) -> list[Path]:
    """Write figures of a run as SVG files, such as those that the README shows.

    Args:
        run_folder: A finished run.
        into: Folder of the pictures.
        names: File names wanted, such as `overview.svg`; all figures by default.

    Raises:
        ReportError: The run folder is not complete, or the run has no figure of such a name.
    """
    made = figure_files(*load_run(run_folder))
    unknown = sorted((names or frozenset()) - made.keys())
    if unknown:
        raise ReportError(
            f"{run_folder}: expected figures among {', '.join(sorted(made))}, found {', '.join(unknown)}"
        )
    return write_files({name: text for name, text in made.items() if names is None or name in names}, into)
