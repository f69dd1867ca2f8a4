# SPDX-License-Identifier: Apache-2.0
"""What notices an engine that is wrong, the fast one or that of logic: its tests, and its audit alone.

Run as `python -m benchmarks.engine.mutants [NAME ...] [--skip-tests] [--skip-audit] [--share S]
[--results FILE] [--json]` from the root of the project. Each mutant of `catalogue.py` is made in a copy of
the sources that is removed afterwards, with builds that go the same way. Then

- the tests that the catalogue names for it run, which have to fail;
- a campaign of 1,200 faults on a small network runs, or of as many in logic of a small design, with 200
  answers audited as in a large one (a campaign of this size has fewer: `--share 0.005`). How many of its
  answers are wrong is told too: where none is, no audit of answers can notice anything. A mutant of lists or
  safety rows changes no answers, and has no campaign.

Without a mutant, tests and audit have to pass: that is tried first. With a file for results, a line each, a
mutant is not tried again whose line was written for the same sources, tests and options. Exit code 1 if a
mutant passes a test that is named for it or the unchanged sources do not; 2 if an edit does not fit the
sources any more.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.engine.mutants.catalogue import MUTANTS
from benchmarks.engine.mutants.edits import AnchorError, Mutant, MutantCampaign
from benchmarks.engine.mutants.trial import Answers, Options, Row, judged, key_of


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table in Markdown, and how many there are that something noticed."""

    of = {mutant.name: mutant for mutant in MUTANTS}

    def said(row: Row) -> str:
        if of[row.name].campaign is None:
            return "none"
        if row.audit:
            return "yes" if row.audit.startswith("AuditError") else row.audit.split(":")[0]
        return "a note" if row.notes else "-"

    lines = [
        "| mutant | what it does wrong | tests that fail | wrong answers | audit |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        tests = f"{sum(row.tests.values())} of {len(row.tests)}" if row.tests else "left out"
        wrong = sum(row.wrong.values())
        lines.append(f"| `{row.name}` | {row.breaks} | {tests} | {wrong} | {said(row)} |")
    noticed, audits = sum(any(row.tests.values()) for row in rows), sum(bool(row.audit) for row in rows)
    some = sum(bool(row.wrong) for row in rows)
    lines += ["", f"{len(rows)} mutants: {noticed} noticed by tests; {some} with wrong answers"]
    return "\n".join(lines) + f" in the campaign, {audits} noticed by the audit alone"


def kept(file: Path | None) -> dict[str, Row]:
    """Return the rows of a file of results, by their keys."""
    if file is None or not file.exists():
        return {}
    rows = [Row(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]
    return {row.key: row for row in rows}


def tried(wanted: Sequence[Mutant], options: Options, file: Path | None) -> list[Row]:
    """Return what notices each mutant.

    Raises:
        AnchorError: If an edit does not fit.
        SystemExit: If the unchanged sources fail.
    """
    known, right = kept(file), dict[MutantCampaign, Answers]()
    missing = [mutant for mutant in wanted if key_of(mutant, options) not in known]
    for campaign in (*MutantCampaign, None):
        some = [mutant for mutant in missing if mutant.campaign is campaign]
        if not some:
            continue
        tests = tuple(dict.fromkeys(test for mutant in some for test in mutant.tests))
        row, answers = judged(Mutant("none", "nothing", (), tests, campaign), options, {})
        if campaign is not None:
            right[campaign] = answers
        print(f"unchanged: {asdict(row)}", file=sys.stderr, flush=True)
        if row.audit or any(row.tests.values()):
            raise SystemExit("the unchanged sources fail; nothing can be said of mutants")
    for mutant in missing:
        row, _ = judged(mutant, options, right)
        known[row.key] = row
        print(f"{mutant.name}: {asdict(row)}", file=sys.stderr, flush=True)
        if file is not None:
            with file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(asdict(row)) + "\n")
    return [known[key_of(mutant, options)] for mutant in wanted]


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
    parser.add_argument("--results", type=Path, help="file of what is known, which is added to")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    wanted = [mutant for mutant in MUTANTS if not given.names or mutant.name in given.names]
    if unknown := set(given.names) - {mutant.name for mutant in wanted}:
        parser.error(f"no mutants of the names {', '.join(sorted(unknown))}")
    options = Options(given.faults, given.share, not given.skip_tests, not given.skip_audit)
    try:
        rows = tried(wanted, options, given.results)
    except AnchorError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps([asdict(row) for row in rows], indent=2) if given.json else table(rows))
    survived = [row.name for row in rows if row.tests and not all(row.tests.values())]
    if survived:
        print(f"not noticed by a test that is to notice it: {', '.join(survived)}", file=sys.stderr)
    return int(bool(survived))


if __name__ == "__main__":
    raise SystemExit(main())
