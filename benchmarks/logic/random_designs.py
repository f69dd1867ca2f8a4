# SPDX-License-Identifier: Apache-2.0
"""Faults in logic of random designs against runs of an untouched Verilator on the netlists.

Called as `python -m benchmarks.logic.random_designs [--designs N] [--seed N] [--most N] [--models NAME ...]
[--trees]`.
Each design has registers with and without resets and enables, of both edges, clock gates, resets of its own,
memories and an alarm; with `--trees` clocks and resets go through buffers and inverters. Prints a line for
each design and model: faults, how many had another answer, and the outcomes; then the sums. A design of which
no netlist can be made is named with the reason. Ends with 1 if any answer differs, or if no design was
compared.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.errors import HarnessError
from testkit.clock_tree import as_synthesised, with_trees
from testkit.closed_cores import core_target
from testkit.fault_models import MODELS, compared_faults
from testkit.random_core import RandomCore

WORK = Workload("nothing", {}, OutputSpec("output", 0, (16,)), decide=exact)


def main() -> int:
    """Compare; return 1 if anything differs or nothing was compared."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--designs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="of designs and draws")
    parser.add_argument("--most", type=int, default=600, help="faults of a design and model")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=[*MODELS])
    parser.add_argument("--trees", action="store_true", help="of buffers, for clocks and resets")
    asked = parser.parse_args()
    sums: dict[str, Counter[str]] = {model: Counter() for model in asked.models}
    wrong = refused = 0
    for number in range(asked.seed, asked.seed + asked.designs):
        with tempfile.TemporaryDirectory() as name:
            source = Path(name) / f"random_{number}.sv"
            source.write_text(RandomCore(source.stem, number).text, encoding="utf-8")
            target = core_target(source)
            maker = with_trees(number) if asked.trees else as_synthesised
            for model in asked.models:
                own = Path(name) / model
                own.mkdir()
                try:
                    found = compared_faults(model, target, WORK, asked.most, number, own, maker)
                except HarnessError as error:
                    refused += 1
                    print(f"{source.stem}, {model}: refused: {str(error)[:400]}", flush=True)
                    continue
                sums[model] += found.outcomes
                wrong += len(found.different)
                compared = f"{found.outcomes.total()}, {len(found.different)} different"
                print(f"{source.stem}, {model}: {compared}", flush=True)
                for said in found.different[:5]:
                    print(f"  {said}", flush=True)
    for model, outcomes in sums.items():
        each = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.most_common())
        print(f"{model}: {outcomes.total():,} faults; {each}")
    print(f"{wrong} different; {refused} refused")
    return int(wrong > 0 or not any(own.total() for own in sums.values()))


if __name__ == "__main__":
    sys.exit(main())
