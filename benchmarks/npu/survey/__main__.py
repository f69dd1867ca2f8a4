# SPDX-License-Identifier: Apache-2.0
"""Survey of operators: small networks, one an operator and variant, against TensorFlow Lite Micro.

    python -m benchmarks.npu.survey [--npu ethos-u55-32 ...] [--rtl] [--inputs 8] [--only WORD] [--json]

Every network that Vela maps to the NPU is run on the functional model in each size, and with `--rtl` on RTL.
Exit code 1 if an output differs or a run stops with an error: what cannot be computed has to be refused when
the network is read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict

from benchmarks.npu.survey.cases import CASES
from benchmarks.npu.survey.judge import SIZES, Outcome, judge


def table_text(outcomes: list[Outcome]) -> str:
    """Return one line for each network: how it ended in each size."""
    lines = []
    for name in dict.fromkeys(outcome.case for outcome in outcomes):
        own = [outcome for outcome in outcomes if outcome.case == name]
        ends = Counter(_end_text(outcome) for outcome in own)
        said = "; ".join(end if count == len(own) else f"{end} ({count})" for end, count in ends.items())
        lines.append(f"{name:52} {said}")
    states = Counter(outcome.state for outcome in outcomes)
    return "\n".join([*lines, ", ".join(f"{state} {count:,}" for state, count in sorted(states.items()))])


def _end_text(outcome: Outcome) -> str:
    if outcome.differing:
        return f"{outcome.differing:,} of {outcome.elements:,} differ, by up to {outcome.largest:,}"
    return f"{outcome.state}: {outcome.reason}" if outcome.reason else outcome.state


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.npu.survey", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--npu", nargs="+", default=list(SIZES), choices=SIZES)
    parser.add_argument("--rtl", action="store_true", help="RTL too")
    parser.add_argument("--inputs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="networks whose name has this word")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    outcomes = []
    for case in CASES:
        if options.only not in case.name:
            continue
        for npu in options.npu:
            outcomes.append(judge(case, npu, "functional", options.inputs, options.seed))
            if options.rtl and outcomes[-1].state not in ("refused", "not judged"):
                outcomes.append(judge(case, npu, "rtl", options.inputs, options.seed))
        print(f"{case.name}: {outcomes[-1].state}", file=sys.stderr)
    if options.json:
        print(json.dumps([asdict(outcome) for outcome in outcomes], indent=1))
    else:
        print(table_text(outcomes))
    return 0 if all(outcome.sound for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
