# SPDX-License-Identifier: Apache-2.0
"""Whether the fast engine gives what restarting gives: each fault is simulated from reset to its end as well.

Run as `python -m benchmarks.engine.equality [NETWORK ...] [--models DIR] [--only NAME] [--accelerator NAME]
[--faults N] [--seed S] [--no-lanes] [--json]` from the root of the project. Faults are of one to four
neighbouring bits, as many of each block and kind of storage (flip-flops, SRAM) as of any other, in uniformly
random cycles. The engine takes them in sweeps, with the lane model, and audits nothing: here all answers are
tried. A restart has none of the engine's shortcuts (`plain.py`) but its compiled model. All that an injection
records is compared: effect, end cycle, status, digest of the output, first alarms. Times are processor time;
the engine's hold golden run, gates and reading the lane model. The exit code is 4 if an answer differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from benchmarks.engine.__main__ import run, timed, workloads
from benchmarks.engine.mutants.campaign import faults_of
from resil.networks import zoo
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.audit_sample import NOTHING, kind_of
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.processes import EngineOutcome
from resil.rtl_harness.engine.workload import Workload
from testkit.plain_runner import PlainRunner

BITS = (1, 1, 2, 3, 4)


@dataclass(frozen=True)
class Equality:
    """What came out for one workload.

    Attributes:
        golden_cycles: Length of the run.
        compared: Faults.
        of: Faults by kind of storage and number of bits.
        outcomes: Faults by what was seen.
        exits: Faults by the way in which the engine found the answer.
        different: Those whose answers differ, with both answers.
        notes: Of the engine.
        engine_ms: Processor time of the engine a fault.
        restart_ms: Of restarting.
    """

    golden_cycles: int
    compared: int
    of: dict[str, int]
    outcomes: dict[str, int]
    exits: dict[str, int]
    different: list[str]
    notes: list[str]
    engine_ms: float
    restart_ms: float


def compared(workload: Workload, options: argparse.Namespace) -> Equality:
    """Compare all answers on one workload."""
    target = load_target(options.accelerator)
    elaboration = elaborate(target, workload.parameters)
    ways: Counter[str] = Counter()
    with VerilatorEngine(
        target, workload, elaboration, sweep=True, lanes=options.lanes, audit=NOTHING
    ) as engine:
        _, setup = timed(engine.prepare)
        end, sites = engine.golden().end.end_cycle, elaboration.sites

        def count(done: EngineOutcome) -> None:
            ways[kind_of(done, end)] += 1

        engine.observer = count
        faults = faults_of(engine, options.faults, options.seed, BITS)
        answers, seconds = timed(partial(run, engine, faults))
        runner = PlainRunner(engine, 0)
        restarts, slow = timed(lambda: {fault: runner.inject(fault) for fault in faults})
        runner.close()
        notes = list(engine.notes)
    return Equality(
        golden_cycles=end,
        compared=len(restarts),
        of=_ordered(Counter(f"{sites[f.site].element.kind}, {f.bits} bits" for f in faults)),
        outcomes=_ordered(Counter(injection.seen.value for injection in restarts.values())),
        exits=_ordered(ways),
        different=[
            f"{answers.get(f)}, not {found}" for f, found in restarts.items() if answers.get(f) != found
        ],
        notes=notes,
        engine_ms=1e3 * (setup + seconds) / len(faults),
        restart_ms=1e3 * slow / len(faults),
    )


def _ordered(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was compared, and what differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("networks", nargs="*", default=zoo.names(), help="of the zoo (default: all)")
    parser.add_argument("--models", type=Path, help="folder of .tflite files to take as well")
    parser.add_argument("--only", default="", help="of all these, only those with this in their name")
    parser.add_argument("--accelerator", default="ethos-u55-32")
    parser.add_argument("--faults", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lanes", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    found: dict[str, Equality] = {}
    for name, workload in workloads(options.networks, options.models, options.accelerator):
        if options.only not in name:
            continue
        print(f"{name} ...", file=sys.stderr)
        found[name] = compared(workload, options)
        if not options.json:
            print(
                name,
                *(f"  {key}: {value}" for key, value in asdict(found[name]).items()),
                sep="\n",
                flush=True,
            )
    if options.json:
        print(json.dumps({name: asdict(values) for name, values in found.items()}, indent=2))
    return 4 if any(values.different for values in found.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
