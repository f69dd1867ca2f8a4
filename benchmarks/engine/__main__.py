# SPDX-License-Identifier: Apache-2.0
"""Speed of the fast engine against what a user would run instead, on the same faults, on one core.

Run as `python -m benchmarks.engine [NETWORK ...] [--models DIR] [--faults N] [--kinds ff sram]
[--json]` from the root of the project. It is compared with (the first two are `plain.py`):

- restart: the same compiled model, every fault from the end of reset to the end of the run;
- checkpoint: the nearest of about 1,000 states of the golden run is restored, and every 1,000 cycles the
  whole state is compared with the golden one;
- cocotb: the reference engine, which forks a simulator in the fault's cycle;
- cocotb alone: a simulation under cocotb of its own for each fault, from its start.

Times are processor time, so that other work on the machine disturbs little; wall-clock time are only that of
cocotb, whose simulators are processes of their own, and the ratio of two workers to one. The fast engine's
is all that a campaign of these faults takes: golden run, gates and lane model read from where they are kept,
sweeps, and the audit. The interval of `vs_restart` is a percentile bootstrap over the faults of both runners:
the time of a fault has a heavy tail, so take at least 5,000.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.processes import EngineOutcome as EngineOutcome
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.faults import Fault, Injection, Outcome
from resil.rtl_harness.npu.workload import npu_workload
from testkit.plain_runner import PlainRunner

T = TypeVar("T")

CHECKPOINTS = 1000
COCOTB_ALONE = 3


@dataclass(frozen=True)
class Figures:
    """What is measured for one workload.

    Attributes:
        faults: Number of faults of the fast engine, uniform over the bits of a kind and over cycles.
        golden_cycles: Length of the run.
        outcomes_equal: All runners gave the same injections on the faults that they shared.
        compared: Faults that each slow runner shared.
        faults_per_second: Of the fast engine, audit and what is made once included.
        vs_restart: Its speed over that of restarting for each fault.
        vs_restart_lo: Its 95 % interval.
        vs_restart_hi: Likewise.
        vs_checkpoint: Its speed over that of checkpoints.
        vs_cocotb: Its speed over that of the reference engine; 0 if that was left out.
        vs_cocotb_alone: Its speed over that of a simulation under cocotb for each fault; 0 if left out.
        workers_ratio: Wall-clock speed of two workers over that of one; 0 if that was left out.
        model_time_share: Part of its time that simulating the same cycles in the bare model takes.
        median_masked_us: Time of the median masked fault, in microseconds, with its share of the way through
            the golden run.
        setup_seconds: Golden pass and gates, which are made once.
        early_stops: Faults whose end was known before it was simulated.
        audited: Answers that were tried by a run to the end.
        ends: How many faults ended how.
        cycles: Cycles that were simulated for faults that ended so and came out so, most first.
        registers: Cycles that were simulated for faults of a storage element, the ten with most.
        seconds: Where the time went.
    """

    faults: int
    golden_cycles: int
    outcomes_equal: bool
    compared: dict[str, int]
    faults_per_second: float
    vs_restart: float
    vs_restart_lo: float
    vs_restart_hi: float
    vs_checkpoint: float
    vs_cocotb: float
    vs_cocotb_alone: float
    workers_ratio: float
    model_time_share: float
    median_masked_us: float
    setup_seconds: float
    early_stops: int
    audited: int
    ends: dict[str, int]
    cycles: dict[str, int]
    registers: dict[str, int]
    seconds: dict[str, float]


def measure(workload: Workload, options: argparse.Namespace) -> Figures:
    """Measure one workload; the slow runners get the first faults of a random order."""
    target = load_target(options.accelerator)
    elaboration = elaborate(target, workload.parameters)
    with VerilatorEngine(target, workload, elaboration, sweep=True, lanes=options.lanes) as engine:
        _, setup = timed(engine.prepare)
        faults = uniform_faults(engine, options.faults, options.seed, options.kinds)
        outcomes: list[EngineOutcome] = []
        engine.observer = outcomes.append
        injections, seconds = timed(partial(run, engine, faults))
        seconds += setup
        times, ends, rate = engine.sweep_times, dict(engine.ends), len(faults) / seconds
        early_stops, audited = engine.early_stops, engine.audited
        cycles = engine.simulated + times.golden_cycles
        engine.observer = lambda outcome: None
        masked = [o.nanoseconds for o in outcomes if o.injection.outcome is Outcome.MASKED]
        workers_ratio = two_workers(engine, faults) if options.workers else 0.0
        some = random.Random(options.seed).sample(faults, min(len(faults), options.slow_faults))
        equal, rates = True, dict.fromkeys(("cocotb", "cocotb_alone"), float("inf"))
        compared: dict[str, int] = {}
        took: dict[str, list[float]] = {}
        results: list[Injection]
        for name, checkpoints in (("restart", 0), ("checkpoint", CHECKPOINTS)):
            runner = PlainRunner(engine, checkpoints)
            timings = [timed(partial(runner.inject, fault)) for fault in some]
            runner.close()
            equal &= all(result == injections[result.fault] for result, _ in timings)
            took[name] = [second for _, second in timings]
            rates[name], compared[name] = len(some) / sum(took[name]), len(some)
        low, high = interval(np.array([o.nanoseconds / 1e9 for o in outcomes]), seconds, took["restart"])
        few = some[: options.cocotb_faults]
        if few:
            with CocotbEngine(target, workload, elaboration) as reference:
                reference.golden()
                for name, compare in (
                    ("cocotb", lambda: list(reference.run(few))),
                    ("cocotb_alone", lambda: [reference.replay(fault) for fault in few[:COCOTB_ALONE]]),
                ):
                    begun = time.perf_counter()
                    results = compare()
                    rates[name] = len(results) / (time.perf_counter() - begun)
                    compared[name] = len(results)
                    equal &= all(result == injections[result.fault] for result in results)
        parts = {name: getattr(times, name) / 1e9 for name in ("loading", "following", "simulating")}
        return Figures(
            faults=len(faults),
            golden_cycles=engine.golden().end.end_cycle,
            outcomes_equal=equal,
            compared=compared,
            faults_per_second=rate,
            vs_restart=rate / rates["restart"],
            vs_restart_lo=low,
            vs_restart_hi=high,
            vs_checkpoint=rate / rates["checkpoint"],
            vs_cocotb=rate / rates["cocotb"],
            vs_cocotb_alone=rate / rates["cocotb_alone"],
            workers_ratio=workers_ratio,
            model_time_share=min(1.0, cycles * seconds_a_cycle(engine) / seconds),
            median_masked_us=(statistics.median(masked or [0]) + times.loading / len(faults)) / 1e3,
            setup_seconds=setup,
            early_stops=early_stops,
            audited=audited,
            ends=ends,
            cycles=cycles_by_end(outcomes),
            registers=cycles_by_register(outcomes, elaboration.sites),
            seconds={"all": seconds, **parts},
        )


def cycles_by_end(outcomes: Sequence[EngineOutcome]) -> dict[str, int]:
    """Return the cycles that were simulated, by exit and outcome, most first."""
    found: Counter[str] = Counter()
    for one in outcomes:
        found[f"{one.how}: {one.injection.outcome.value}"] += one.simulated
    return dict(found.most_common())


def cycles_by_register(outcomes: Sequence[EngineOutcome], sites: SiteTable, most: int = 10) -> dict[str, int]:
    """Return the cycles simulated for faults of a storage element, by path, of the elements with most."""
    found: Counter[str] = Counter()
    for one in outcomes:
        found[sites[one.injection.fault.site].element.path] += one.simulated
    return dict(found.most_common(most))


def interval(
    own: npt.NDArray[np.float64], seconds: float, restarts: Sequence[float], seed: int = 0
) -> tuple[float, float]:
    """Return the 95 % interval of the ratio of two mean times a fault, by percentiles of 2,000 resamples.

    Args:
        own: Seconds that each fault took by itself in the fast engine, (faults,).
        seconds: All that these faults took; the rest is shared and counts as it is.
        restarts: Seconds of each restart.
        seed: Of the resampling.
    """
    generator = np.random.default_rng(seed)
    slow, shared = np.array(restarts), max(0.0, seconds - float(own.sum()))
    ratios = [
        generator.choice(slow, len(slow)).mean()
        / ((shared + generator.choice(own, len(own)).sum()) / len(own))
        for _ in range(2000)
    ]
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(high)


def run(engine: VerilatorEngine | CocotbEngine, faults: list[Fault]) -> dict[Fault, Injection]:
    """Return the injections of an engine, by fault."""
    return {injection.fault: injection for injection in engine.run(faults)}


def uniform_faults(
    engine: VerilatorEngine,
    count: int,
    seed: int,
    kinds: Sequence[str],
    cycles: tuple[int, int] | None = None,
) -> list[Fault]:
    """Return faults uniform over the bits of these kinds and over cycles, in order."""
    choose = random.Random(seed)
    table = engine.elaboration.sites
    first, last = cycles or (0, engine.golden().end.end_cycle)
    bits = [range(table.offsets[i], table.offsets[i + 1]) for i in range(len(table.elements))]
    sites = [site for r, e in zip(bits, table.elements, strict=True) if e.kind in kinds for site in r]
    return sorted({Fault(choose.choice(sites), choose.randrange(first, last)) for _ in range(count)})


def two_workers(engine: VerilatorEngine, faults: list[Fault]) -> float:
    """Return the wall-clock time of one worker over that of two."""
    took = []
    for workers in (1, 2):
        start = time.perf_counter()
        for _ in engine.run(faults, workers):
            pass
        took.append(time.perf_counter() - start)
    return took[0] / took[1]


def seconds_a_cycle(engine: VerilatorEngine) -> float:
    """Return the processor time of a cycle in the bare model."""
    best = float("inf")
    for _ in range(3):
        with engine.start() as instance:
            _, seconds = timed(partial(instance.run, 10**9))
            best = min(best, seconds / instance.cycle)
    return best


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return what `work` returns and its processor time, of this process and of those that it waited for."""
    start = _processor_time()
    result = work()
    return result, _processor_time() - start


def _processor_time() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def networks(
    names: Sequence[str], models: Path | None, accelerator: str
) -> Iterator[tuple[str, Callable[..., Workload]]]:
    """Yield what makes workloads of networks of the zoo, on their first held-out input, and of files.

    These run on a fixed random input. What is made takes the further arguments of `npu_workload`.
    """
    for name in names:
        network = zoo.load(name)
        compiled = compile_network(network.path, accelerator)
        yield name, partial(npu_workload, compiled, network.heldout_inputs[0], name)
    for path in sorted(models.glob("*.tflite")) if models else []:
        compiled = compile_network(path, accelerator)
        slot = compiled.inputs[0]
        tensor = np.random.default_rng(0).integers(-128, 128, slot.shape, dtype=np.int8)
        yield path.stem, partial(npu_workload, compiled, tensor, path.stem)


def workloads(names: Sequence[str], models: Path | None, accelerator: str) -> Iterator[tuple[str, Workload]]:
    """Yield networks of the zoo on their first held-out input, and files on a fixed random one."""
    for name, made in networks(names, models, accelerator):
        yield name, made()


def workload_parser(description: str | None, faults: int) -> argparse.ArgumentParser:
    """Return a parser of the options that say what is measured; `faults` is their number by default."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("networks", nargs="*", default=zoo.names(), help="of the zoo (default: all)")
    parser.add_argument("--models", type=Path, help="folder of .tflite files to measure as well")
    parser.add_argument("--only", default="", help="of all these, only those with this in their name")
    parser.add_argument("--accelerator", default="ethos-u55-32")
    parser.add_argument("--faults", type=int, default=faults)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    return parser


def wanted_workloads(options: argparse.Namespace) -> Iterator[tuple[str, Workload]]:
    """Yield the workloads that options of `workload_parser` ask for, and name each on stderr."""
    for name, workload in workloads(options.networks, options.models, options.accelerator):
        if options.only not in name:
            continue
        print(f"{name} ...", file=sys.stderr)
        yield name, workload


def main(arguments: list[str] | None = None) -> int:
    """Print the figures of each workload."""
    parser = workload_parser(__doc__, faults=5000)
    parser.add_argument("--slow-faults", type=int, default=40, help="faults of restart and checkpoint")
    parser.add_argument("--cocotb-faults", type=int, default=10, help="faults of cocotb; 0 leaves it out")
    parser.add_argument("--kinds", nargs="+", default=["ff"], choices=["ff", "sram"])
    parser.add_argument(
        "--lanes", action=argparse.BooleanOptionalAction, help="default: as the engine chooses"
    )
    parser.add_argument("--workers", action="store_true", help="compare two workers with one as well")
    options = parser.parse_args(arguments)
    figures: dict[str, dict[str, object]] = {}
    for name, workload in wanted_workloads(options):
        figures[name] = asdict(measure(workload, options))
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, values in figures.items():
            print(name, *(f"  {key}: {value}" for key, value in values.items()), sep="\n")
    return 0 if all(values.get("outcomes_equal", True) for values in figures.values()) else 4


if __name__ == "__main__":
    raise SystemExit(main())
