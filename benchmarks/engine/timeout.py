# SPDX-License-Identifier: Apache-2.0
"""What a time-out of each operation changes: outcomes, and cycles that are simulated, on one fault list.

Faults are uniform over flip-flops and cycles. Each is injected twice, with the time-out of the inference
alone and with that of each operation besides, and every outcome that is another one is counted.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import asdict, dataclass
from functools import partial

from benchmarks.engine.__main__ import (
    run,
    timed,
    uniform_faults,
    wanted_workloads,
    workload_parser,
)
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.operations import longest_operation
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.timeout import Timeout
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.faults import Injection, Outcome


@dataclass(frozen=True)
class Figures:
    """What was measured on one network.

    Attributes:
        faults: Injected twice.
        golden_cycles: Of the run without a fault.
        operations: That it finishes.
        longest_operation: Cycles of the longest of them.
        outcomes: Injections by the outcome with the time-out of the inference.
        changed: Injections by both outcomes, where they differ: `before -> after`.
        hangs_earlier: Hangs of both that end earlier with the time-out of each operation.
        hang_cycles: Cycles from fault to end of the hangs of both, with the one and with the other.
        simulated: Cycles that the engine simulated, with the one and with the other.
        seconds: Processor time, likewise.
        audited: Answers that were run to the end, likewise.
    """

    faults: int
    golden_cycles: int
    operations: int
    longest_operation: int
    outcomes: dict[str, int]
    changed: dict[str, int]
    hangs_earlier: int
    hang_cycles: tuple[int, int]
    simulated: tuple[int, int]
    seconds: tuple[float, float]
    audited: tuple[int, int]


def measure(workload: Workload, options: argparse.Namespace) -> Figures:
    """Inject the same faults with both definitions."""
    target = load_target(options.accelerator)
    elaboration = elaborate(target, workload.parameters)
    found: list[list[Injection]] = []
    simulated, took, audited = [], [], []
    for timeout in Timeout:
        with VerilatorEngine(
            target, workload, elaboration, sweep=True, timeout=timeout, timeout_factor=options.factor
        ) as engine:
            engine.prepare()
            golden = engine.golden()
            faults = uniform_faults(engine, options.faults, options.seed, ["ff"])
            injections, seconds = timed(partial(run, engine, faults))
            if engine.notes:
                raise SystemExit(f"{workload.name}: {'; '.join(engine.notes)}")
            found.append([injections[fault] for fault in faults])
            simulated.append(engine.simulated)
            took.append(seconds)
            audited.append(engine.audited)
    pairs = list(zip(*found, strict=True))
    both = [pair for pair in pairs if {one.outcome for one in pair} == {Outcome.HANG}]
    changed = Counter(f"{a.outcome} -> {b.outcome}" for a, b in pairs if a.outcome is not b.outcome)
    return Figures(
        faults=len(faults),
        golden_cycles=golden.cycles,
        operations=len(golden.operation_ends),
        longest_operation=longest_operation(golden.moves, golden.end.end_cycle),
        outcomes=dict(Counter(str(a.outcome) for a, _ in pairs)),
        changed=dict(changed),
        hangs_earlier=sum(b.end_cycle < a.end_cycle for a, b in both),
        hang_cycles=(_cycles([a for a, _ in both]), _cycles([b for _, b in both])),
        simulated=(simulated[0], simulated[1]),
        seconds=(took[0], took[1]),
        audited=(audited[0], audited[1]),
    )


def _cycles(injections: list[Injection]) -> int:
    return sum(injection.end_cycle - injection.fault.cycle for injection in injections)


def main(arguments: list[str] | None = None) -> int:
    """Print the figures of each network."""
    parser = workload_parser(__doc__, faults=3000)
    parser.add_argument("--factor", type=float, default=2.0, help="timeout_factor of the campaign")
    options = parser.parse_args(arguments)
    figures: dict[str, dict[str, object]] = {}
    for name, workload in wanted_workloads(options):
        figures[name] = asdict(measure(workload, options))
        if not options.json:
            print(name, *(f"  {key}: {value}" for key, value in figures[name].items()), sep="\n", flush=True)
    if options.json:
        print(json.dumps(figures, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
