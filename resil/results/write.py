# SPDX-License-Identifier: Apache-2.0
"""Results into files and onto the screen: the application's side of `reports`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console, Group

from resil.record.protection_state import ProtectionState
from resil.record.summary import Summary
from resil.reports import (
    REPORT,
    render,
    rich_protection,
    rich_report,
    text_protection,
    text_report,
    write_files,
)
from resil.results.detail import detail_of


@dataclass(frozen=True)
class Results:
    """What a finished run says.

    Attributes:
        summary: The results.
        protection: That was chosen, as it stands; None if none was.
    """

    summary: Summary
    protection: ProtectionState | None = None

    def write(self, folder: Path) -> list[Path]:
        """Write the report files of the run, whose injections lie in the folder; return their paths.

        Raises:
            ReportError: a document is damaged, or the folder cannot be written.
        """
        detail = detail_of(folder, self.summary)
        return write_files(render(self.summary, self.protection, detail), folder)

    def show(self, folder: Path) -> None:
        """Print tables, verdict and where the report is to stdout: in colour on a terminal, plain elsewhere.

        Args:
            folder: Where `write` has put the report files.
        """
        summary, protection = self.summary, self.protection
        _print(rich_report(summary, protection), text_report(summary, protection), folder)

    def show_protection(self, folder: Path, details: str) -> None:
        """Print what was chosen to protect, without the tables of the campaign; see `show`.

        Args:
            folder: As of `show`.
            details: Lines that stand above the answer: what was built, say.
        """
        if self.protection is None:
            self.show(folder)
            return
        answer = (self.summary, self.protection, details)
        _print(rich_protection(*answer), text_protection(*answer), folder)


def _print(rich: Group, text: str, folder: Path) -> None:
    if sys.stdout.isatty():
        Console().print(rich, crop=False)
    else:
        print(text, end="")
    print(f"report: {folder / REPORT}")
