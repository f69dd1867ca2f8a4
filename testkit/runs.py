# SPDX-License-Identifier: Apache-2.0
"""Runs of `resil` as processes, and whether two run folders hold the same."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testkit.forked import Forked, Running
from testkit.stored_rows import rows

EXAMPLE = Path(__file__).parents[1] / "examples" / "digits.toml"
# Exit codes of a run that has come to its end.
ENDED = (0, 1, 3)
# What differs between any two runs of one campaign.
_OF_THE_RUN = ("workers", "seconds", "name")


@dataclass(frozen=True)
class Case:
    """What came of one kind of fault of our own.

    Attributes:
        what: Was done.
        times: How often.
        said: How it was answered, in words; messages of resil in quotes.
        same: Whether the run ended with the rows and results of the undisturbed one; None if it was refused.
        ok: Whether that is as it should be.
    """

    what: str
    times: int
    said: str
    same: bool | None
    ok: bool


def campaign(folder: Path, injections: int, table: str = "", seed: int = 20240417) -> Path:
    """Write the example campaign with that many injections and a table [execution.dask]."""
    lines = EXAMPLE.read_text(encoding="utf-8").replace("injections = 2500", f"injections = {injections}")
    lines = lines.replace("seed = 20240417", f"seed = {seed}")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{'farm' if table else 'alone'}.toml"
    file.write_text(f"{lines}\n{table}\n", encoding="utf-8")
    return file


def start(file: Path, out: Path, module: str = "resil") -> Running:
    """Start a run, or go on with it; what it says goes to a file beside its folder."""
    command = [sys.executable, "-m", module, "run", str(file), "--out", str(out), "--resume"]
    out.parent.mkdir(parents=True, exist_ok=True)
    return Forked(command, out.with_suffix(".log"))


def said(out: Path) -> str:
    """Return all that runs of a folder have said."""
    return out.with_suffix(".log").read_text(encoding="utf-8")


def line_with(out: Path, words: str) -> str:
    """Return the last line that a run has said with these words in it; "" if there is none."""
    return next((line for line in reversed(said(out).splitlines()) if words in line), "")


def go(file: Path, out: Path, module: str = "resil") -> int:
    """Run to the end; return the exit code."""
    return start(file, out, module).wait()


def read(out: Path) -> int:
    """Return the exit code of a command that reads a run."""
    command = [sys.executable, "-m", "resil", "report", str(out)]
    with out.with_suffix(".log").open("a", encoding="utf-8") as log:
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=log, check=False).returncode


def same(one: Path, other: Path) -> bool:
    """Whether two folders hold the same rows, each once, and the same results."""
    left, right = rows(one), rows(other)
    numbers = right["injection"].to_pylist()
    if len(set(numbers)) != len(numbers) or not left.equals(right):
        return False
    tables = [(folder / "blocks.csv").read_bytes() for folder in (one, other)]
    return tables[0] == tables[1] and results(one) == results(other)


def results(folder: Path) -> str:
    """Return the text of `summary.json` but for what tells of the run itself."""
    summary: dict[str, Any] = json.loads((folder / "summary.json").read_bytes())
    del summary["provenance"]
    summary["campaign"] = {k: v for k, v in summary["campaign"].items() if k not in _OF_THE_RUN}
    return json.dumps(summary)
