# SPDX-License-Identifier: Apache-2.0
"""Cycles per second of the verilated bench, on one thread, in the four sizes.

Run as `python -m benchmarks.engine.simulation_speed [--models DIR] [--accelerators NAME ..] [--json]` from
the root of the project. All networks of a size share one build, whose memories hold the largest. A run is one
inference from the end of reset to the interrupt; loading is not counted. The time is that of the processor,
so that other work on the machine matters little; wall-clock time is given beside it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.networks.vela import ACCELERATORS
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.native.library import OutputPort, Stop
from resil.rtl_harness.engine.fast.native.runner import Runner
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.npu.workload import npu_workload

LIMIT = 100_000_000
ENOUGH_SECONDS = 2.0


@dataclass(frozen=True)
class Speed:
    """What one network ran at.

    Attributes:
        accelerator: The size.
        network: Name of the network.
        cycles: Of one inference.
        runs: How often it was run.
        cycles_per_second: Of processor time.
        wall_cycles_per_second: Of the clock on the wall.
    """

    accelerator: str
    network: str
    cycles: int
    runs: int
    cycles_per_second: float
    wall_cycles_per_second: float


def workloads(accelerator: str, files: Sequence[Path]) -> list[Workload]:
    """Return one inference of each network, on a random input."""
    found = []
    for file in files:
        compiled = compile_network(file, accelerator)
        slot = compiled.inputs[0]
        tensor = np.random.default_rng(0).integers(-128, 128, slot.shape).astype(slot.dtype)
        found.append(npu_workload(compiled, tensor))
    return found


def measure(accelerator: str, files: Sequence[Path]) -> list[Speed]:
    """Return the speed of each network.

    Raises:
        RuntimeError: If an inference does not end without an error.
    """
    jobs = workloads(accelerator, files)
    target = load_target(accelerator)
    return [_speed(Runner(target, job.parameters), accelerator, job) for job in jobs]


def _speed(runner: Runner, accelerator: str, job: Workload) -> Speed:
    with runner.started(job) as start, runner.library.create() as instance:
        runs, processor, wall = 0, 0.0, 0.0
        while processor < ENOUGH_SECONDS:
            instance.copy_from(start)
            before = time.process_time(), time.perf_counter()
            stop = instance.run(LIMIT)
            processor += time.process_time() - before[0]
            wall += time.perf_counter() - before[1]
            runs += 1
            if stop is not Stop.DONE or instance.alarms_up:
                status = instance.port(OutputPort.STATUS)
                raise RuntimeError(
                    f"{job.name} on {accelerator} ended with {stop.name}, STATUS {status:#010x}"
                )
        cycles = instance.cycle
    return Speed(accelerator, job.name, cycles, runs, runs * cycles / processor, runs * cycles / wall)


def table_text(speeds: Sequence[Speed]) -> str:
    """Return the speeds as a table."""
    lines = [f"{'size':14} {'network':24} {'cycles':>10} {'runs':>5} {'kcycles/s':>10} {'by the wall':>12}"]
    for s in speeds:
        lines.append(
            f"{s.accelerator:14} {s.network:24} {s.cycles:10} {s.runs:5} "
            f"{s.cycles_per_second / 1000:10.0f} {s.wall_cycles_per_second / 1000:12.0f}"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", type=Path, help="folder of .tflite files to measure as well")
    parser.add_argument("--accelerators", nargs="+", default=list(ACCELERATORS), choices=list(ACCELERATORS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    files = [zoo.load(name).path for name in zoo.names()]
    files += sorted(options.models.glob("*.tflite")) if options.models else []
    speeds = [speed for name in options.accelerators for speed in measure(name, files)]
    print(json.dumps([asdict(s) for s in speeds], indent=1) if options.json else table_text(speeds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
