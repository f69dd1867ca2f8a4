# SPDX-License-Identifier: Apache-2.0
"""Faults in logic of random designs against runs of an untouched Verilator on the netlists.

Called as `python -m benchmarks.logic.random_designs [--designs N] [--seed N] [--most N] [--models NAME ...]`.
Each design has registers with and without resets and enables, of both edges, clock gates, resets of its own,
memories and an alarm. Prints a line for each design and model: faults, how many had another answer, and the
outcomes; then the sums. A design of which no netlist can be made is named with the reason. Ends with 1 if any
answer differs, or if no design was compared.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.errors import HarnessError
from testkit.closed_cores import core_target
from testkit.held import compared_bridges, compared_holds, compared_opens
from testkit.pulses import compared_pulses
from testkit.random_core import RandomCore

Compared = Callable[[Target, Workload, int, int, Path], tuple[list[str], Counter[str]]]


def _permanent(compare: Callable[..., object]) -> Compared:
    def compared(
        target: Target, work: Workload, most: int, seed: int, folder: Path
    ) -> tuple[list[str], Counter[str]]:
        both = compare(target, work, with_hardware(target, elaborate(target)), most, seed, folder)
        said = [
            f"{both.pins[at]}: {both.found[at].outcome} here, {both.judged[at].outcome} on the netlist"
            for at in both.different
        ]
        return said, Counter(own.outcome.value for own in both.found)

    return compared


def _pulses(
    target: Target, work: Workload, most: int, seed: int, folder: Path
) -> tuple[list[str], Counter[str]]:
    both = compared_pulses(target, work, most, seed, folder)
    said = [
        f"{pin}, cycle {cycle}: {ours.outcome} here, {truth.outcome} on the netlist"
        for pin, cycle, ours, truth in both.different
    ]
    return said, both.outcomes


MODELS: dict[str, Compared] = {
    "stuck_at": _permanent(compared_holds),
    "open": _permanent(compared_opens),
    "bridge": _permanent(compared_bridges),
    "set": _pulses,
}


def main() -> int:
    """Compare; return 1 if anything differs or nothing was compared."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--designs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="of designs, inputs and draws")
    parser.add_argument("--most", type=int, default=600, help="faults of a design and model")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=[*MODELS])
    asked = parser.parse_args()
    sums: dict[str, Counter[str]] = {model: Counter() for model in asked.models}
    wrong = refused = 0
    for number in range(asked.seed, asked.seed + asked.designs):
        with tempfile.TemporaryDirectory() as name:
            source = Path(name) / f"random_{number}.sv"
            source.write_text(RandomCore(source.stem, number).text, encoding="utf-8")
            target = core_target(source)
            data = np.random.default_rng(number).integers(0, 256, 16, dtype=np.uint8).tobytes()
            work = Workload("random", {"input": data}, OutputSpec("output", 0, (16,)), decide=exact)
            for model in asked.models:
                own = Path(name) / model
                own.mkdir()
                try:
                    different, outcomes = MODELS[model](target, work, asked.most, number, own)
                except HarnessError as error:
                    refused += 1
                    print(f"{source.stem}, {model}: refused: {str(error)[:400]}", flush=True)
                    continue
                sums[model] += outcomes
                wrong += len(different)
                print(f"{source.stem}, {model}: {outcomes.total()}, {len(different)} different", flush=True)
                for said in different[:5]:
                    print(f"  {said}", flush=True)
    for model, outcomes in sums.items():
        each = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.most_common())
        print(f"{model}: {outcomes.total():,} faults; {each}")
    print(f"{wrong} different; {refused} refused")
    return int(wrong > 0 or not any(own.total() for own in sums.values()))


if __name__ == "__main__":
    sys.exit(main())
