# SPDX-License-Identifier: Apache-2.0
"""Feeds damaged command streams, data and buses to the RTL of the NPU, and checks that it takes them well.

    python -m benchmarks.npu.fuzz [--runs 10000] [--seed 1] [--json]

Every run must end with the interrupt within a bound that follows from its command stream (`bound.py`),
write nothing outside its region, and agree with the functional model: in STATUS always, in memory if there is
no error. A stream may ask for more work than a run usually takes; such a run counts as long, must be seen to
make headway, and is given up after 3 million cycles. Exit code 1 if a run breaks a rule.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from testkit.npu.fuzz.damage import DAMAGES
from testkit.npu.fuzz.judge import COLUMNS, SIZES, fuzz, table_text


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--accelerators", nargs="+", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    runs = range(options.first, options.first + options.runs)
    summary = fuzz(options.accelerators, runs, options.seed, progress=True)
    if options.json:
        record = {
            "seed": options.seed, "runs": dict(summary.runs), "accelerators": dict(summary.accelerators),
            "outcomes": {kind: {c: summary.table[kind, c] for c in COLUMNS} for kind in DAMAGES},
            "compared": dict(summary.compared), "cycles": summary.cycles, "share_of_bound": summary.longest,
            "findings": [asdict(finding) for finding in summary.findings],
        }  # fmt: skip
        print(json.dumps(record, indent=1))
    else:
        print(table_text(summary))
    return 1 if summary.findings else 0


if __name__ == "__main__":
    sys.exit(main())
