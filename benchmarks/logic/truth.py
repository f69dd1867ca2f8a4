# SPDX-License-Identifier: Apache-2.0
"""Pulses in logic against restarts of an untouched Verilator on the netlist, on three designs.

Called as `python -m benchmarks.logic.truth [--seed N] [--pulses AWKWARD OWN NPU]`. Prints for each design how
many pulses there were, how many had another answer (with pin and cycle), and the outcomes. Ends with 1 if any
differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from resil.campaign.campaign import load_campaign
from resil.prepare.targets import target_of
from resil.progress import Progress
from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.work.network import network_work
from testkit.closed_cores import core_target
from testkit.pulses import compared_pulses

ROOT = Path(__file__).parents[2]
_SHOWN = 20


def designs() -> Iterator[tuple[str, Target, Workload]]:
    """Yield name, target and workload of each design."""
    source = np.random.default_rng(17).integers(0, 256, 256, dtype=np.uint8)
    awkward = load_target(ROOT / "examples" / "awkward" / "target.toml")
    yield "awkward", awkward, Workload("random", {"source": source.tobytes()}, OutputSpec("sink", 0, (512,)))
    own = core_target(ROOT / "tests" / "rtl_harness" / "logic" / "pulsed.sv")
    data = {"input": bytes(53 * i % 251 for i in range(16))}
    yield "pulsed", own, Workload("sum", data, OutputSpec("output", 0, (16,)), decide=exact)
    campaign = load_campaign(ROOT / "examples" / "digits.toml")
    npu = target_of(campaign)
    work = network_work(campaign, campaign.work, npu, Progress())
    yield "ethos-u55-32 on digits", npu, work.workloads[0][0]


def main() -> int:
    """Compare; return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=20261126, help="of the pulses that are drawn")
    parser.add_argument(
        "--pulses", type=int, nargs=3, default=[700, 600, 700], help="of each design; 0 leaves it out"
    )
    asked = parser.parse_args()
    wrong = 0
    for number, (name, target, workload) in zip(asked.pulses, designs(), strict=True):
        if not number:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            found = compared_pulses(target, workload, number, asked.seed, Path(folder))
        wrong += len(found.different)
        outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in found.outcomes.most_common())
        print(
            f"{name}: {found.pulses:,} pulses, {len(found.different)} different; {found.unseen:,} left "
            f"nothing after their cycle; {found.clocks} at clocks; {outcomes}; "
            f"{time.monotonic() - began:.0f} s",
            flush=True,
        )
        for pin, cycle, ours, truth in found.different[:_SHOWN]:
            print(f"  {pin}, cycle {cycle}: {ours.outcome} here, {truth.outcome} on the netlist")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
