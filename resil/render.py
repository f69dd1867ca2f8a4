"""Results into files and text: the application's side of `reports`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reports import parse_protection, parse_summary, render, text_report, write_files


def render_run(
    folder: Path, summary: Mapping[str, Any], protection: Mapping[str, Any] | None = None
) -> list[Path]:
    """Write the report files of a run; the paths written.

    Raises:
        ReportError: a document is damaged, or the folder cannot be written.
    """
    return write_files(render(summary, protection), folder)


def summary_text(summary: Mapping[str, Any], protection: Mapping[str, Any] | None = None) -> str:
    """Return tables and verdict for a person."""
    plan = None if protection is None else parse_protection(protection)
    return text_report(parse_summary(summary), plan).rstrip("\n")
