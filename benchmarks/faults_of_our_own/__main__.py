# SPDX-License-Identifier: Apache-2.0
"""Faults in what simulates, not in what is simulated: processes, disks, files, packages, machines.

A campaign is carried out undisturbed, and again on a farm of two workers under each kind of fault. Each time
it must end with the same rows and results, or be refused by name; anything else ends with exit code 1.

    python -m benchmarks.faults_of_our_own [--injections 50000] [--kills 100] [--pause 5]
                                           [--minutes 60] [--each 3] [--seed 1] [--only CASE ...]
                                           [--without-simulator] [--folder DIR] [--json]

Cases: kills, disk (as root: it mounts a small tmpfs), parts, package, rows.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from benchmarks.faults_of_our_own import cases
from testkit.runs import ENDED, Case, campaign, go

MODULES = ("resil", *(name for name in cases.WORKERS if name != "resil"))
CASES = ("kills", "disk", "parts", "package", "rows")


def carry_out(options: argparse.Namespace, folder: Path) -> Iterator[Case]:
    """Yield what came of each kind of fault."""
    n, calm, module = options.injections, folder / "calm", MODULES[options.without_simulator]
    if not (calm / "summary.json").exists() and go(campaign(folder, n), calm, module) not in ENDED:
        raise SystemExit(f"the undisturbed run did not end; see {calm}.log")
    for name in options.only:
        place = folder / name
        match name:
            case "kills":
                yield cases.kills(
                    place, calm, n, options.kills, options.pause, options.minutes, options.seed, module
                )
            case "disk":
                yield cases.full_disk(place, calm, n)
            case "parts":
                yield from cases.damaged_parts(place, calm, n, options.each, options.seed)
            case "package":
                for version in (True, False):
                    yield cases.other_package(place / str(version), calm, n, version=version)
            case "rows":
                for share, audit in ((0.5, 0.005), (0.02, 0.005), (0.0, 0.005), (0.0, 1.0)):
                    yield cases.wrong_rows(place / f"{share}-{audit}", calm, n, share, audit)


def main() -> int:
    """Print a row a case; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--injections", type=int, default=50_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--pause", type=float, default=5.0, help="mean processor seconds between two kills")
    parser.add_argument("--minutes", type=float, default=60.0, help="after which there are no more kills")
    parser.add_argument("--each", type=int, default=3, help="damages of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=CASES, nargs="+", default=CASES)
    parser.add_argument("--without-simulator", action="store_true", help="outcomes are made up; kills alone")
    parser.add_argument("--folder", type=Path, help="keep the runs here")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.without_simulator and options.only != ["kills"]:
        parser.error("--without-simulator is for --only kills")
    good = True
    with tempfile.TemporaryDirectory() as temporary:
        for case in carry_out(options, options.folder or Path(temporary)):
            good &= case.ok
            result = {True: "the same", False: "OTHER", None: "refused"}[case.same]
            row = f"| {case.what} | {case.times} | {case.said} | {result} |"
            print(json.dumps(asdict(case)) if options.json else row, flush=True)
        if cases.traceback_in(options.folder or Path(temporary)):
            print("a run has said a traceback", file=sys.stderr)
            good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
