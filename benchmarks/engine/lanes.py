# SPDX-License-Identifier: Apache-2.0
"""What the lane model is worth: the fast engine with and without it, on the same faults, in turn.

Run as `python -m benchmarks.engine.lanes [NETWORK ...] [--models DIR] [--only NAME] [--faults N] [--parts N]
[--range FIRST LAST] [--accelerator NAME] [--path NAME] [--json]` from the root of the project. The faults are
divided into parts, each of which both engines take through a sweep, one after the other, now the one first
and now the other. Times are processor time; the interval is that of the mean of the parts' logarithms
(Student). What is built once is not counted. The exit code is 4 if an injection differs.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from scipy.stats import t as student

from benchmarks.engine.__main__ import run, timed, uniform_faults, workloads
from resil.networks import zoo
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.lanes import build
from resil.rtl_harness.engine.workload import Workload


@dataclass(frozen=True)
class Gain:
    """What came out for one workload.

    Attributes:
        faults: How many were compared.
        different: Injections that differ.
        making_seconds: Wall-clock time until the lane model was there.
        without_ms: Processor time a fault without lanes.
        with_ms: With lanes.
        ratio: Of the two, geometric mean over the parts.
        ratio_95: Its interval.
        simulating_ratio: The same of the time that was simulated alone, of all parts together.
        cycles_per_second: Simulated cycles a second of the time that was simulated, without lanes and with.
        notes: Of the engine with lanes.
    """

    faults: int
    different: int
    making_seconds: float
    without_ms: float
    with_ms: float
    ratio: float
    ratio_95: tuple[float, float]
    simulating_ratio: float
    cycles_per_second: tuple[float, float]
    notes: list[str]


def measure(workload: Workload, options: argparse.Namespace) -> Gain:
    """Measure one workload."""
    target = load_target(options.accelerator)
    elaboration = elaborate(target, workload.parameters)
    engines = [
        VerilatorEngine(target, workload, elaboration, sweep=True, lanes=lanes, audit=NOTHING)
        for lanes in (False, True)
    ]
    engines[0].prepare()
    begun = time.perf_counter()
    engines[1].prepare()
    making = time.perf_counter() - begun
    faults = uniform_faults(engines[0], options.faults, options.seed, options.kinds, options.range)
    took: list[list[float]] = [[], []]
    different = 0
    for part in range(options.parts):
        some = faults[part :: options.parts]
        found = {}
        for which in (0, 1) if part % 2 else (1, 0):
            found[which], seconds = timed(lambda engine=engines[which], some=some: run(engine, some))
            took[which].append(seconds)
        different += sum(found[0][fault] != found[1][fault] for fault in some)
    logs = [math.log(plain / lanes) for plain, lanes in zip(*took, strict=True)]
    mean = statistics.mean(logs)
    half = math.inf
    if len(logs) > 1:
        half = student.ppf(0.975, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    simulating = [engine.sweep_times.simulating for engine in engines]
    rates = [1e9 * e.simulated / e.sweep_times.simulating for e in engines]
    notes = list(engines[1].notes)
    for engine in engines:
        engine.close()
    return Gain(
        faults=len(faults),
        different=different,
        making_seconds=making,
        without_ms=1e3 * sum(took[0]) / len(faults),
        with_ms=1e3 * sum(took[1]) / len(faults),
        ratio=math.exp(mean),
        ratio_95=(math.exp(mean - half), math.exp(mean + half)),
        simulating_ratio=simulating[0] / simulating[1],
        cycles_per_second=(rates[0], rates[1]),
        notes=notes,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what came out for each workload."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("networks", nargs="*", default=zoo.names(), help="of the zoo (default: all)")
    parser.add_argument("--models", type=Path, help="folder of .tflite files to measure as well")
    parser.add_argument("--only", default="", help="of all these, only those with this in their name")
    parser.add_argument("--accelerator", default="ethos-u55-32")
    parser.add_argument("--path", choices=build.paths(), help="way to compute (default: the fastest)")
    parser.add_argument("--faults", type=int, default=10_000)
    parser.add_argument("--parts", type=int, default=4)
    parser.add_argument("--range", type=int, nargs=2, metavar=("FIRST", "LAST"), help="cycles of the faults")
    parser.add_argument("--kinds", nargs="+", default=["ff"], choices=["ff", "sram"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if options.path:
        build.path = lambda: options.path
    gains = {
        name: measure(workload, options)
        for name, workload in workloads(options.networks, options.models, options.accelerator)
        if options.only in name
    }
    if options.json:
        print(json.dumps({name: asdict(gain) for name, gain in gains.items()}, indent=2))
    else:
        for name, gain in gains.items():
            print(name, *(f"  {key}: {value}" for key, value in asdict(gain).items()), sep="\n")
    return 4 if any(gain.different for gain in gains.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
