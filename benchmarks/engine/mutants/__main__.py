"""What notices a fast engine that is wrong: its tests, and its audit alone.

Run as `python -m benchmarks.engine.mutants [NAME ...] [--skip-tests] [--skip-audit] [--share S] [--json]`
from the root of the project. Each mutant of `catalogue.py` is made in a copy of the sources that is removed
afterwards, with builds that go the same way. Then

- the tests that the catalogue names for it run, which have to fail;
- a campaign of 1,200 faults on a small network runs, with 200 answers audited as in a large one (a campaign
  of this size has fewer: `--share 0.005`).

Without a mutant, tests and audit have to pass: that is tried first. Exit code 1 if a mutant passes its tests
or the unchanged sources do not; 2 if an edit does not fit the sources any more.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.engine.mutants.catalogue import LANES, MUTANTS, AnchorError, Mutant
from rtl_harness.cache import cache_root

ROOT = Path(__file__).parents[3]
COPIED = ("benchmarks", "examples", "networks", "resil", "reports", "rtl_harness", "stats", "tests")
# What no mutant changes, or is kept under the hash of each source: taken from the user's cache. What has the
# driver in it is made anew.
SHARED_CACHE = ("design", "driver-part", "elaboration", "gates", "hardware", "objects", "synthesis")
SHARED_CACHE += ("vela", "verilated-runtime", "lanes")
SECONDS = 1800


@dataclass(frozen=True)
class Row:
    """What noticed a mutant.

    Attributes:
        name: Of the mutant.
        breaks: What it does wrong.
        tests: Whether its tests failed, each by its name; empty if they were left out.
        audit: What the audit said; empty if nothing.
        notes: What the engine said on its own account.
        tried: Answers that were tried without a difference.
        seconds: What all that took.
    """

    name: str
    breaks: str
    tests: dict[str, bool]
    audit: str
    notes: list[str]
    tried: int
    seconds: float


def judged(mutant: Mutant, options: argparse.Namespace) -> Row:
    """Return what notices a mutant."""
    began = time.monotonic()
    with copied(mutant) as folder:
        tests = {} if options.skip_tests else {test: fails(test, folder) for test in mutant.tests}
        found = {} if options.skip_audit else audited(folder, options, LANES in mutant.tests)
    return Row(
        mutant.name,
        mutant.breaks,
        tests,
        str(found.get("noticed", "")),
        list(found.get("notes", [])),
        int(found.get("tried", 0)),
        round(time.monotonic() - began, 1),
    )


@contextmanager
def copied(mutant: Mutant) -> Iterator[Path]:
    """Make a copy of the sources with a mutant's edits, and a cache for its builds, for a while.

    Raises:
        AnchorError: If an edit does not fit.
    """
    changed: dict[str, str] = {}
    for edit in mutant.edits:
        text = changed.get(edit.file) or (ROOT / edit.file).read_text(encoding="utf-8")
        changed[edit.file] = edit.applied(text)
    with tempfile.TemporaryDirectory(prefix="resil-mutant-") as made:
        folder = Path(made)
        for name in COPIED:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        for file, text in changed.items():
            (folder / file).write_text(text, encoding="utf-8")
        for name in SHARED_CACHE:
            (cache_root() / name).mkdir(parents=True, exist_ok=True)
            (folder / "cache").mkdir(exist_ok=True)
            (folder / "cache" / name).symlink_to(cache_root() / name)
        yield folder


def fails(test: str, folder: Path) -> bool:
    """Return whether a test fails in a copy of the sources."""
    command = [
        "-m",
        "pytest",
        "-q",
        "-x",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "-m",
        "slow or not slow",
        test,
    ]
    done = _python(folder, *command)
    if done is not None and done.returncode not in (0, 1):
        raise SystemExit(f"{test}: could not be run:\n{done.stdout[-3000:]}")
    return done is None or done.returncode == 1


def audited(folder: Path, options: argparse.Namespace, lanes: bool) -> dict[str, Any]:
    """Return what a campaign in a copy of the sources notices."""
    command = ["-m", "benchmarks.engine.mutants.campaign"]
    command += ["--faults", str(options.faults), "--share", str(options.share)]
    done = _python(folder, *command, *(["--lanes"] if lanes else []))
    if done is None:
        return {"noticed": f"no end within {SECONDS} s"}
    if done.returncode:
        return {"noticed": f"broke down: {done.stderr[-300:]}"}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str] | None:
    environment = os.environ | {"PYTHONPATH": str(folder), "RESIL_CACHE": str(folder / "cache")}
    try:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table in Markdown, and how many there are that something noticed."""

    def said(text: str) -> str:
        return "-" if not text else "yes" if text.startswith("AuditError") else text.split(":")[0]

    lines = ["| mutant | what it does wrong | tests | audit |", "|---|---|---|---|"]
    for row in rows:
        tests = f"{sum(row.tests.values())} of {len(row.tests)}" if row.tests else "left out"
        audit = "a note" if row.notes and not row.audit else said(row.audit)
        lines.append(f"| `{row.name}` | {row.breaks} | {tests} | {audit} |")
    noticed, audits = sum(any(row.tests.values()) for row in rows), sum(bool(row.audit) for row in rows)
    return "\n".join([*lines, "", f"{len(rows)} mutants: {noticed} noticed by tests, {audits} by the audit"])


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="mutants (default: all)")
    parser.add_argument("--faults", type=int, default=1200, help="faults of the audited campaign")
    parser.add_argument("--share", type=float, default=1.0, help="of the answers that is audited, up to 200")
    parser.add_argument("--skip-tests", action="store_true")
    parser.add_argument("--skip-audit", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    wanted = [mutant for mutant in MUTANTS if not options.names or mutant.name in options.names]
    if unknown := set(options.names) - {mutant.name for mutant in wanted}:
        parser.error(f"no mutants of the names {', '.join(sorted(unknown))}")
    tests = tuple(dict.fromkeys(test for mutant in wanted for test in mutant.tests))
    right = judged(Mutant("none", "nothing", (), tests), options)
    print(f"unchanged: {asdict(right)}", file=sys.stderr)
    if right.audit or any(right.tests.values()):
        print("the unchanged sources fail; nothing can be said of mutants", file=sys.stderr)
        return 1
    rows = []
    for mutant in wanted:
        try:
            rows.append(judged(mutant, options))
        except AnchorError as error:
            print(f"{mutant.name}: {error}", file=sys.stderr)
            return 2
        print(f"{mutant.name}: {asdict(rows[-1])}", file=sys.stderr, flush=True)
    print(json.dumps([asdict(row) for row in rows], indent=2) if options.json else table(rows))
    survived = [row.name for row in rows if row.tests and not all(row.tests.values())]
    if survived:
        print(f"not noticed by a test that is to notice it: {', '.join(survived)}", file=sys.stderr)
    return int(bool(survived))


if __name__ == "__main__":
    raise SystemExit(main())
