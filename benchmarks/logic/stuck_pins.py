# SPDX-License-Identifier: Apache-2.0
"""How fast permanent faults of the NPU's logic are simulated: classes of stuck pins, drawn at random.

Called as `python -m benchmarks.logic.stuck_pins [NETWORK] [--models DIR] [--accelerator NAME] [--blocks N]
[--size N]`. Blocks are of adjacent classes of equivalent faults: all classes lie in such
blocks when they are simulated exhaustively, so the mean over drawn blocks is what an exhaustive run takes a
class. With `--size 1` it is one call for as many classes as there are blocks, drawn one by one. Times are of
the processor. The peers are one run of the compiled RTL, from reset to the end, in the same process, which a
restart for each fault takes at least, and the evaluation of all gates that audits.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.engine.__main__ import workloads
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.engine.logic.library import HeldPins
from resil.rtl_harness.logic.sites import pin_sites
from resil.rtl_harness.logic.stuck_engine import JUDGED, StuckEngine
from resil.rtl_harness.logic.synthesis import logic_netlist

LIMIT = 20_000_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw classes, simulate them, print what they took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("network", nargs="?", default="digits", help="of the zoo, or of the folder")
    parser.add_argument("--models", type=Path, help="folder of .tflite files")
    parser.add_argument("--accelerator", default="ethos-u55-32")
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--size", type=int, default=1024, help="adjacent classes in a block")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    target = load_target(options.accelerator)
    names = [] if options.models else [options.network]
    found = dict(workloads(names, options.models, options.accelerator))
    workload = next(own for name, own in found.items() if options.network in name)
    elaboration = with_hardware(target, elaborate(target, workload.parameters))
    netlist = logic_netlist(target, elaboration)
    sites = pin_sites(elaboration.sites, netlist)
    with StuckEngine(target, workload, elaboration, netlist, sites) as engine:
        golden = engine.golden()
        with CompiledModel(target, workload, elaboration).start() as instance:
            restart = _Timed()
            instance.run(LIMIT)
            restart_ms = 1000 * restart.seconds
        proof = _Timed()
        simulator, holder = engine.simulator
        proof_seconds = proof.seconds
        every = Counter(holder.held(pin, value) for pin in sites.pins.tolist() for value in (0, 1))
        classes = sorted(every)
        rng = np.random.default_rng(options.seed)
        count = math.ceil(len(classes) / options.size)
        chosen = sorted(rng.choice(count, min(options.blocks, count), replace=False).tolist())
        blocks = [classes[i * options.size : (i + 1) * options.size] for i in chosen]
        if options.size == 1:
            blocks = [[own for block in blocks for own in block]]
        each, ways = [], Counter[str]()
        for block in blocks:
            timed = _Timed()
            ends = simulator.run(block, 2 * golden.cycles)
            each.append(timed.seconds / len(block))
            ways.update(end.how.name for end in ends)
            print(f"{len(block)} classes: {1000 * each[-1]:.2f} ms each", file=sys.stderr, flush=True)
        judged = _Timed()
        simulator.judge([block[0] for block in blocks][:JUDGED], 2 * golden.cycles)
        print(json.dumps(_told(each, classes, every) | {
            "cycles": golden.cycles,
            "simulated": sum(map(len, blocks)),
            "restart_ms": round(restart_ms, 2),
            "netlist_and_golden_seconds": round(proof_seconds, 1),
            "audit_of_63_seconds": round(judged.seconds, 1),
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            "ends": dict(ways),
        }))  # fmt: skip
    return 0


class _Timed:
    def __init__(self) -> None:
        self._began = time.process_time()

    @property
    def seconds(self) -> float:
        """Processor time since it was made."""
        return time.process_time() - self._began


def _told(each: Sequence[float], classes: Sequence[HeldPins], every: Counter[HeldPins]) -> dict[str, float]:
    mean, number = float(np.mean(each)), len(each)
    spread = 1.96 * float(np.std(each, ddof=1)) / math.sqrt(number) if number > 1 else math.nan
    return {
        "faults": every.total(),
        "classes": len(classes),
        "ms_a_class": round(1000 * mean, 2),
        "plus_minus_ms": round(1000 * spread, 2),
        "exhaustive_minutes_of_two_cores": round(mean * len(classes) / 120, 1),
    }


if __name__ == "__main__":
    raise SystemExit(main())
