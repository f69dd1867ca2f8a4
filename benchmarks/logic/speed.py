# SPDX-License-Identifier: Apache-2.0
"""Permanent faults of logic beside a run of an untouched Verilator for each, on the same faults of designs.

Called as `python -m benchmarks.logic.speed [--model MODEL] [--faults AWKWARD OWN NPU] [--seed N]`. The model
is `stuck_at`, `open` or `bridge`. The design is the netlist as Verilog, in which a bit of its own brings each
fault about. Prints for each design how many faults had another answer (with pins), the processor time of each
way for a fault, and the ratio. The engine's time holds its audit, and is the least of five where it is
less than a second; neither holds what is done once, netlist, build and golden run. Ends with 1 if any answer
differs.
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
from testkit.held import ComparedHolds, compared_bridges, compared_holds, compared_opens

_SHOWN = 20
_COMPARED = {
    "stuck_at": (compared_holds, "stuck pins"),
    "open": (compared_opens, "open inputs"),
    "bridge": (compared_bridges, "bridges"),
}


def main() -> int:
    """Compare; return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=20261126, help="of the faults that are drawn")
    parser.add_argument(
        "--faults", type=int, nargs=3, default=[512, 512, 512], help="of each design; 0 leaves it out"
    )
    parser.add_argument("--model", choices=_COMPARED, default="stuck_at", help="of the faults")
    asked = parser.parse_args()
    compared, what = _COMPARED[asked.model]
    wrong = 0
    for number, (name, target, workload) in zip(asked.faults, designs(), strict=True):
        if not number:
            continue
        elaboration = with_hardware(target, elaborate(target, workload.parameters))
        with tempfile.TemporaryDirectory() as folder:
            both = compared(target, workload, elaboration, number, asked.seed, Path(folder))
        print(f"{name}: {_said(both, what)}", flush=True)
        wrong += len(both.different)
        for place in both.different[:_SHOWN]:
            pin, value = both.pins[place]
            ours, truth = both.found[place].outcome, both.judged[place].outcome
            print(f"  {pin} at {value}: {ours} here, {truth} on the netlist")
    return int(wrong > 0)


def _said(both: ComparedHolds, what: str) -> str:
    number = len(both.found)
    outcomes = Counter(own.outcome.value for own in both.found)
    own, other = 1000 * both.engine_seconds / number, 1000 * both.simulator_seconds / number
    return (
        f"{number:,} {what}, {len(both.different)} different; {own:.3f} ms a fault here, {other:,.1f} ms "
        f"by a run of the netlist: {other / own:,.0f} times; "
        + ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.most_common())
    )


if __name__ == "__main__":
    sys.exit(main())
