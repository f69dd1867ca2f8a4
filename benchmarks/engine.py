"""Speed of the fast engine against what a user would run instead, on the same faults, on one core.

Run as `python -m benchmarks.engine [--models DIR] [--faults N] [--json]` from the root of the
project. The runners that it is compared with are part of this file:

- restart: the same compiled model, every fault from the end of reset to the end of the run;
- checkpoint: the nearest of about 1,000 states of the golden run is restored, and every 1,000 cycles the
  whole state is compared with the golden one;
- cocotb: the reference engine.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from networks import zoo
from networks.compile import compile_network
from rtl_harness.elaboration import elaborate
from rtl_harness.engines.cocotb import CocotbEngine
from rtl_harness.engines.verilator import VerilatorEngine
from rtl_harness.engines.verilator_pool import Job
from rtl_harness.faults import Fault, Injection, Outcome, RunEnd
from rtl_harness.npu.workload import npu_workload
from rtl_harness.target import load_target
from rtl_harness.verilated.library import Instance, Stop
from rtl_harness.workload import Workload, classify

T = TypeVar("T")

CHECKPOINTS = 1000
COMPARE_EVERY = 1000


@dataclass(frozen=True)
class Figures:
    """What is measured for one workload.

    Attributes:
        faults: Number of common faults, uniform over flip-flops and cycles.
        golden_cycles: Length of the run.
        outcomes_equal: All runners gave the same injections on the faults that they shared.
        faults_per_second: Of the fast engine.
        vs_restart: Its speed over that of restarting for each fault.
        vs_checkpoint: Its speed over that of checkpoints.
        vs_cocotb: Its speed over that of cocotb.
        model_time_share: Part of its time that simulating the same cycles in the bare model takes.
        median_masked_us: Time of the median masked fault, in microseconds.
        setup_seconds: Golden pass and gates, which are made once.
        early_stops: Faults whose end was known before it was simulated.
        audited: How many of these were run to the end after all.
    """

    faults: int
    golden_cycles: int
    outcomes_equal: bool
    faults_per_second: float
    vs_restart: float
    vs_checkpoint: float
    vs_cocotb: float
    model_time_share: float
    median_masked_us: float
    setup_seconds: float
    early_stops: int
    audited: int


class PlainRunner:
    """Injects without any of the engine's shortcuts, in the engine's own compiled model."""

    def __init__(self, engine: VerilatorEngine, checkpoints: int) -> None:
        self._engine = engine
        self._golden = engine.golden()
        length = self._golden.end.end_cycle
        self._step = max(1, -(-length // checkpoints)) if checkpoints else 0
        self._faulty = engine._origin.library.create()
        self._states = {0: engine._origin}
        if self._step:
            wanted = sorted({*range(0, length, self._step), *range(COMPARE_EVERY, length, COMPARE_EVERY)})
            last = engine._origin
            for cycle in wanted[1:]:
                state = last.library.create()
                state.copy_from(last)
                state.run_to(cycle)
                self._states[cycle] = last = state

    def close(self) -> None:
        """Free all instances."""
        self._faulty.close()
        for cycle, state in self._states.items():
            if cycle:
                state.close()

    def inject(self, fault: Fault) -> Injection:
        """Simulate one fault."""
        engine, faulty = self._engine, self._faulty
        start = (fault.cycle + 1) // self._step * self._step if self._step else 0
        faulty.copy_from(self._states[start])
        faulty.run_to(fault.cycle + 1)
        flip = engine._map.flip(fault.site)
        faulty.flip(flip.storage, flip.bit, flip.word)
        faulty.settle()
        end = self._finish(faulty)
        return classify(fault, self._golden.end, end, engine.workload.output)

    def _finish(self, faulty: Instance) -> RunEnd:
        limit = self._engine.timeout_cycles
        if not self._step:
            return self._engine._end(faulty, faulty.run(limit) is Stop.DONE, faulty.cycle)
        while True:
            stop = faulty.run(min(limit, faulty.cycle // COMPARE_EVERY * COMPARE_EVERY + COMPARE_EVERY))
            if stop is Stop.DONE or faulty.cycle >= limit:
                return self._engine._end(faulty, stop is Stop.DONE, faulty.cycle)
            known = self._states.get(faulty.cycle)
            if known is not None and self._same(faulty, known):
                return self._golden.end

    def _same(self, one: Instance, other: Instance) -> bool:
        storage = (*self._engine._map.registers, *self._engine._map.memories)
        return all((one.view(s) == other.view(s)).all() for s in storage)


def measure(workload: Workload, accelerator: str, count: int, slow_share: float, seed: int) -> Figures:
    """Measure one workload; the slow runners get the first `slow_share` of the faults."""
    target = load_target(accelerator)
    elaboration = elaborate(target, workload.parameters)
    with VerilatorEngine(target, workload, elaboration, foresight=True) as engine:
        golden, setup = _timed(lambda: (engine.golden(), engine._starts([Fault(0, 0)]))[0])
        faults = _faults(engine, count, seed)
        injections, seconds = _timed(lambda: {i.fault: i for i in engine.run(faults)})
        rate = len(faults) / seconds
        costs, simulated = _costs(engine, faults)
        plain_seconds_a_cycle = _seconds_a_cycle(engine)
        some = random.Random(seed).sample(faults, max(20, int(count * slow_share)))
        equal, rates = True, []
        for checkpoints in (0, CHECKPOINTS):
            runner = PlainRunner(engine, checkpoints)
            results, took = _timed(lambda runner=runner: [runner.inject(fault) for fault in some])
            runner.close()
            equal &= all(result == injections[result.fault] for result in results)
            rates.append(len(some) / took)
        with CocotbEngine(target, workload, elaboration) as reference:
            reference.golden()
            few = some[: max(10, len(some) // 4)]
            results, took = _timed(lambda: list(reference.run(few)))
            equal &= all(result == injections[result.fault] for result in results)
            rates.append(len(few) / took)
    return Figures(
        faults=len(faults),
        golden_cycles=golden.end.end_cycle,
        outcomes_equal=equal,
        faults_per_second=rate,
        vs_restart=rate / rates[0],
        vs_checkpoint=rate / rates[1],
        vs_cocotb=rate / rates[2],
        model_time_share=min(1.0, simulated * plain_seconds_a_cycle / sum(costs.values())),
        median_masked_us=1e6
        * statistics.median(costs[f] for f in faults if injections[f].outcome is Outcome.MASKED),
        setup_seconds=setup,
        early_stops=engine.early_stops,
        audited=engine.audited,
    )


def _faults(engine: VerilatorEngine, count: int, seed: int) -> list[Fault]:
    choose = random.Random(seed)
    table, cycles = engine.elaboration.sites, engine.golden().end.end_cycle
    ranges = [
        range(table.offsets[i], table.offsets[i + 1]) for i, e in enumerate(table.elements) if e.kind == "ff"
    ]
    sites = [site for r in ranges for site in r]
    return sorted({Fault(choose.choice(sites), choose.randrange(cycles)) for _ in range(count)})


def _costs(engine: VerilatorEngine, faults: list[Fault]) -> tuple[dict[Fault, float], int]:
    """Return the time of each fault, foresight shared out evenly, and the cycles simulated for all."""
    starts, seconds = _timed(lambda: engine._starts(faults))
    share = seconds / len(faults)
    costs, simulated = {}, 0
    for fault, start in sorted(zip(faults, starts, strict=True), key=lambda pair: pair[1] or 0):
        costs[fault] = share
        if start is not None:
            job = Job(Fault(fault.site, start), engine.shortcuts)
            outcome, took = _timed(lambda job=job: engine._inject(job))
            costs[fault] += took
            simulated += outcome.simulated
    return costs, simulated


def _seconds_a_cycle(engine: VerilatorEngine) -> float:
    with engine._origin.library.create() as instance:
        best = float("inf")
        for _ in range(5):
            instance.copy_from(engine._origin)
            _, seconds = _timed(lambda: instance.run(10**9))
            best = min(best, seconds / instance.cycle)
    return best


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def workloads(models: Path | None, accelerator: str) -> Iterator[tuple[str, Workload]]:
    """Yield `digits` and every network in the folder, on its first input or on a fixed random one."""
    digits = zoo.load("digits")
    compiled = compile_network(digits.path, accelerator)
    yield "digits", npu_workload(compiled, digits.heldout_inputs[0], "digits")
    for path in sorted(models.glob("*.tflite")) if models else []:
        compiled = compile_network(path, accelerator)
        slot = compiled.inputs[0]
        tensor = np.random.default_rng(0).integers(-128, 128, slot.shape, dtype=np.int8)
        yield path.stem, npu_workload(compiled, tensor, path.stem)


def main(arguments: list[str] | None = None) -> int:
    """Print the figures of each workload."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=Path, help="folder of .tflite files to measure as well")
    parser.add_argument("--accelerator", default="ethos-u55-32")
    parser.add_argument("--faults", type=int, default=2000)
    parser.add_argument(
        "--slow-share", type=float, default=0.1, help="part of the faults for the slow runners"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    figures = {}
    for name, workload in workloads(options.models, options.accelerator):
        print(f"{name} ...", file=sys.stderr)
        figures[name] = asdict(
            measure(workload, options.accelerator, options.faults, options.slow_share, options.seed)
        )
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, values in figures.items():
            print(name, *(f"  {key}: {value}" for key, value in values.items()), sep="\n")
    return 0 if all(values["outcomes_equal"] for values in figures.values()) else 4


if __name__ == "__main__":
    raise SystemExit(main())
