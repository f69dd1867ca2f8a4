# SPDX-License-Identifier: Apache-2.0
"""Stuck pins of the NPU's logic beside a run of an untouched Verilator for each, on the same faults.

Called as `python -m benchmarks.logic.speed [--faults N] [--seed N]`. The design is the netlist as Verilog, in
which each pin is held by a bit of its own. Prints how many faults had another answer (with pins), the
processor time of each way for a fault, and the ratio. The engine's time holds its audit; neither holds
what is done once, netlist, build and golden run. Ends with 1 if any answer differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.logic.truth import designs
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from testkit.held import compared_holds

_SHOWN = 20


def main() -> int:
    """Compare; return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=20261126, help="of the faults that are drawn")
    parser.add_argument(
        "--faults", type=int, default=512, help="stuck pins, of all that have no part in clocks"
    )
    asked = parser.parse_args()
    name, target, workload = list(designs())[-1]
    elaboration = with_hardware(target, elaborate(target, workload.parameters))
    with tempfile.TemporaryDirectory() as folder:
        both = compared_holds(target, workload, elaboration, asked.faults, asked.seed, Path(folder))
    number = len(both.found)
    outcomes = Counter(own.outcome.value for own in both.found)
    own, other = 1000 * both.engine_seconds / number, 1000 * both.simulator_seconds / number
    print(f"{name}: {number:,} stuck pins, {len(both.different)} different; ", end="")
    print(", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.most_common()))
    print(
        f"{own:.1f} ms a fault here, {other:,.1f} ms by a run of the netlist each: {other / own:,.0f} times"
    )
    for place in both.different[:_SHOWN]:
        pin, value = both.pins[place]
        ours, truth = both.found[place].outcome, both.told[place].outcome
        print(f"  {pin} held at {value}: {ours} here, {truth} on the netlist")
    return int(bool(both.different))


if __name__ == "__main__":
    sys.exit(main())
