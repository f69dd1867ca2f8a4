# SPDX-License-Identifier: Apache-2.0
"""What each step of the fast engine is worth: steps added one after another, and each taken away from all.

Run as `python -m benchmarks.engine.ablation [NETWORK ...] [--models DIR] [--faults N] [--json]` from the
root of the project. One list of faults of flip-flops, uniform over bits and cycles, goes through the engine
with each set of steps. Told are processor time and simulated cycles of a fault, and of which exits and
outcomes the cycles are. Golden run, gates and lane model are made before, and nothing is audited. Injections
have to be the same with each set, all that is recorded of them: the exit code is 4 where they are not. Few
faults take most cycles, so differences of few percent say little: take at least 1,000.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, cast

from benchmarks.engine.__main__ import (
    cycles_by_end,
    run,
    timed,
    uniform_faults,
    wanted_workloads,
    workload_parser,
)
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.engine.fast.processes import EngineOutcome
from resil.rtl_harness.engine.tail import Tail
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.faults import Fault, Injection


@dataclass(frozen=True)
class Steps:
    """Which steps the engine takes.

    Attributes:
        shortcuts: The ways to know an end before it is reached.
        turned: Pointers of empty queues may differ where a run leaves.
        lanes: Runs that are simulated for long go on in the lane model.
    """

    shortcuts: Shortcut = Shortcut.ALL
    turned: bool = True
    lanes: bool = True


_ALONE = Shortcut.SAME_CYCLE | Shortcut.SHIFTED_CYCLE | Shortcut.REPETITION
_GATES = _ALONE | Shortcut.FORESIGHT
ABLATION = {
    "none": Steps(Shortcut.NONE, False, False),
    "+ same cycle": Steps(Shortcut.SAME_CYCLE, False, False),
    "+ shifted cycle": Steps(Shortcut.SAME_CYCLE | Shortcut.SHIFTED_CYCLE, False, False),
    "+ repetition": Steps(_ALONE, False, False),
    "+ along the gates": Steps(_GATES, False, False),
    "+ leaving": Steps(_GATES | Shortcut.LEAVE, False, False),
    "+ queues turned": Steps(_GATES | Shortcut.LEAVE, True, False),
    "+ equal states merged": Steps(Shortcut.ALL, True, False),
    "+ lanes: all": Steps(),
    "all but same and shifted cycle": Steps(Shortcut.ALL & ~(Shortcut.SAME_CYCLE | Shortcut.SHIFTED_CYCLE)),
    "all but repetition": Steps(Shortcut.ALL & ~Shortcut.REPETITION),
    "all but gates": Steps(Shortcut.ALL & ~Shortcut.FORESIGHT),
    "all but leaving": Steps(Shortcut.ALL & ~Shortcut.LEAVE),
    "all but queues turned": Steps(turned=False),
    "all but merging": Steps(Shortcut.ALL & ~Shortcut.SEEN),
}


@dataclass(frozen=True)
class Measured:
    """What comes of the faults with one set of steps.

    Attributes:
        faults: Number of different faults.
        milliseconds: Processor time of a fault.
        cycles: Simulated for a fault, on average.
        most: The most cycles that one fault took.
        early: Faults whose end was known before it was simulated.
        by_end: Cycles by exit and outcome, most first.
    """

    faults: int
    milliseconds: float
    cycles: float
    most: int
    early: int
    by_end: dict[str, int]


class Still:
    """A tail whose queues may not be turned."""

    def __init__(self, tail: Tail) -> None:
        self._tail = tail

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._tail, name)

    def queues(self) -> tuple[()]:
        """Return none."""
        return ()


def measured(
    workload: Workload, steps: Steps, options: argparse.Namespace
) -> tuple[Measured, dict[Fault, Injection]]:
    """Return what comes of the faults of one workload with these steps, and the injections."""
    target = load_target(options.accelerator)
    if not steps.turned and workload.tail is not None:
        workload = replace(workload, tail=cast(Tail, Still(workload.tail)))
    outcomes: list[EngineOutcome] = []
    with VerilatorEngine(
        target,
        workload,
        elaborate(target, workload.parameters),
        sweep=True,
        shortcuts=steps.shortcuts,
        lanes=steps.lanes,
        audit=NOTHING,
    ) as engine:
        engine.prepare()
        faults = uniform_faults(engine, options.faults, options.seed, ["ff"])
        engine.observer = outcomes.append
        injections, seconds = timed(partial(run, engine, faults))
        early = engine.early_stops
    cycles = [outcome.simulated for outcome in outcomes]
    by_end = cycles_by_end(outcomes)
    found = Measured(
        len(faults), 1e3 * seconds / len(faults), sum(cycles) / len(faults), max(cycles), early, by_end
    )
    return found, injections


def compared(workload: Workload, options: argparse.Namespace) -> dict[str, Measured]:
    """Return what comes of each set of steps.

    Raises:
        SystemExit: If injections differ.
    """
    rows: dict[str, Measured] = {}
    expected: dict[Fault, Injection] | None = None
    for name, steps in ABLATION.items():
        rows[name], injections = measured(workload, steps, options)
        if expected is not None and injections != expected:
            wrong = sum(injections.get(fault) != found for fault, found in expected.items())
            print(f"{workload.name}: with {name!r}, {wrong} injections differ", file=sys.stderr)
            raise SystemExit(4)
        expected = injections
        print(f"  {name}: {rows[name].milliseconds:.3f} ms a fault", file=sys.stderr, flush=True)
    return rows


def table(rows: dict[str, Measured]) -> str:
    """Return the rows as tables in Markdown: steps, and the cycles without and with all of them by end."""
    lines = ["| steps | ms a fault | cycles a fault | known early |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {row.milliseconds:.2f} | {row.cycles:,.0f} | {row.early / row.faults:.0%} |"
        for name, row in rows.items()
    ]
    for name in ("none", "+ lanes: all"):
        lines += ["", f"| {name}: exit and outcome | cycles a fault |", "|---|---|"]
        lines += [f"| {end} | {n / rows[name].faults:,.0f} |" for end, n in rows[name].by_end.items()]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables of each workload."""
    options = workload_parser(__doc__, faults=2000).parse_args(arguments)
    found = {name: compared(workload, options) for name, workload in wanted_workloads(options)}
    if options.json:
        figures = {name: {s: asdict(row) for s, row in rows.items()} for name, rows in found.items()}
        print(json.dumps(figures, indent=2))
    else:
        for name, rows in found.items():
            print(name, table(rows), sep="\n\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
