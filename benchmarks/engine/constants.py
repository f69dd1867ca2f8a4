"""What the constants of the fast engine are worth: each at a quarter of its value and at four times that.

Run as `python -m benchmarks.engine.constants [NAME ...] [--network NAME] [--faults N] [--repeats N]
[--results FILE] [--json]` from the root of the project. For each value a copy of the sources is made, in
which a fixed list of faults of flip-flops goes through a sweep with lanes, several times by a new engine.
Told are the least processor time of these, beside that of the sources as they are, and the simulated cycles.
Outcomes have to be the same: the exit code is 4 where they are not. With a file for results, a line each,
what stands there is not measured again. Constants of Python decide only when something is built or how much
waits: they are not varied here.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.engine.mutants.catalogue import Edit, Mutant
from benchmarks.engine.mutants.trial import ROOT, copied, run_python
from networks import zoo
from networks.compile import compile_network
from rtl_harness.elaboration import elaborate
from rtl_harness.engines.verilator.audit import NOTHING
from rtl_harness.engines.verilator.engine import VerilatorEngine
from rtl_harness.faults import Fault, digest
from rtl_harness.npu.workload import npu_workload
from rtl_harness.target import load_target

CPP = "rtl_harness/verilated"
CONSTANTS = {
    "kAlone": "sweep_simulate.cpp",
    "kTogether": "sweep_lanes.cpp",
    "kMostGates": "ripple.cpp",
    "kEffort": "sweep_follow.cpp",
    "kEffortPerCycle": "sweep_follow.cpp",
    "kChange": "sweep_follow.cpp",
    "kGatesPerCycle": "sweep_follow.cpp",
    "kCheckEvery": "window.cpp",
    "kShortStint": "job.h",
    "kLongStint": "job.h",
    "kFewRegisters": "sweep_state.h",
    "kFewBytes": "sweep_state.h",
    "kComparison": "campaign_state.h",
    "kLongestPause": "campaign_state.h",
    "kLaneComparison": "seats.h",
    "kCompareEvery": "seats.h",
    "kRecent": "repetition.h",
}
# What is no choice between costs: sizes of what other parts rely on, blocks of bytes that are compared at
# once, multipliers of hashes, and values that stand for none.
FIXED = frozenset(
    {
        "kLaneCount",
        "kMostAlarms",
        "kRowMargin",
        "kWords",
        "kLanes",
        "kBlock",
        "kMostBytes",
        "kNever",
        "kEver",
        "kNone",
    }
    | {"kA", "kB", "kC", "kD", "kRead", "kMaxDimensions"}
)
FACTORS = (0.25, 1.0, 4.0)


@dataclass(frozen=True)
class Row:
    """What came out for one value.

    Attributes:
        name: Of the constant; empty for the sources as they are.
        value: Its value.
        factor: Over what it is in the sources.
        seconds: Processor time of the sweep.
        cycles: Simulated cycles.
        outcomes: Digest of what is told of the faults, what they damaged first aside.
    """

    name: str
    value: int
    factor: float
    seconds: float
    cycles: int
    outcomes: str


def value_of(name: str) -> int:
    """Return the value that a constant has in the sources."""
    return int(_declared(name)[1])


def changed(name: str, value: int) -> Mutant:
    """Return the sources with another value of a constant."""
    found = _declared(name)
    edit = Edit(f"{CPP}/{CONSTANTS[name]}", found[0], f"{found[0].rpartition(' ')[0]} {value};")
    return Mutant(name, "", (edit,), ())


def _declared(name: str) -> re.Match[str]:
    text = (ROOT / CPP / CONSTANTS[name]).read_text(encoding="utf-8")
    found = re.search(rf"constexpr \w+ {name} = (\d+);", text)
    if found is None:
        raise SystemExit(f"{CONSTANTS[name]}: expected a constant {name}, found none")
    return found


def measured(mutant: Mutant, factor: float, value: int, options: argparse.Namespace) -> Row:
    """Return what comes of a copy of the sources."""
    with copied(mutant) as folder:
        wanted = ["--trial", "--network", options.network, "--faults", str(options.faults)]
        wanted += ["--repeats", str(options.repeats)]
        done = run_python(folder, "-m", "benchmarks.engine.constants", *wanted)
    if done is None or done.returncode:
        raise SystemExit(f"{mutant.name} = {value}: {done.stderr[-500:] if done else 'no end'}")
    seconds, cycles, outcomes = json.loads(done.stdout.splitlines()[-1])
    return Row(mutant.name, value, factor, seconds, cycles, outcomes)


def trial(options: argparse.Namespace) -> tuple[float, int, str]:
    """Return processor time, simulated cycles and a digest of the outcomes of the sources that run this."""
    network, target = zoo.load(options.network), load_target("ethos-u55-32")
    workload = npu_workload(compile_network(network.path, target.name), network.heldout_inputs[0])
    parts = target, workload, elaborate(target, workload.parameters)
    times, cycles, told = [], 0, ""
    for _ in range(options.repeats):
        with VerilatorEngine(*parts, sweep=True, lanes=True, audit=NOTHING) as engine:
            engine.prepare()
            table, choose = engine.elaboration.sites, random.Random(1)
            kept = [i for i, element in enumerate(table.elements) if element.kind == "ff"]
            sites = [site for i in kept for site in range(table.offsets[i], table.offsets[i + 1])]
            end = engine.golden().cycles
            faults = sorted(
                {Fault(choose.choice(sites), choose.randrange(end)) for _ in range(options.faults)}
            )
            begun = time.process_time()
            found = sorted(engine.run(faults), key=lambda injection: injection.fault)
            times.append(time.process_time() - begun)
            answers = [replace(injection, corruption=None) for injection in found]
            cycles, told = engine.simulated, digest(repr(answers).encode())
    return min(times), cycles, told


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table in Markdown, one line a constant."""
    base = next(row for row in rows if not row.name)
    lines = ["| constant | value | time at 1/4 | time at 4 | cycles at 1/4 | cycles at 4 |"]
    lines.append("|---|---|---|---|---|---|")
    for name in dict.fromkeys(row.name for row in rows if row.name):
        by = {row.factor: row for row in rows if row.name == name}
        cells = [f"{by[f].seconds / base.seconds:.2f}" if f in by else "-" for f in (FACTORS[0], FACTORS[2])]
        cells += [f"{by[f].cycles / base.cycles:.2f}" if f in by else "-" for f in (FACTORS[0], FACTORS[2])]
        lines.append(f"| `{name}` | {value_of(name)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="of constants (default: all)")
    parser.add_argument("--network", default="digits")
    parser.add_argument("--faults", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--results", type=Path, help="file of what is known, which is added to")
    parser.add_argument("--trial", action="store_true", help="measure the sources that run this, once")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if options.trial:
        print(json.dumps(trial(options)))
        return 0
    if unknown := set(options.names) - set(CONSTANTS):
        parser.error(f"no constants of the names {', '.join(sorted(unknown))}")
    rows: list[Row] = []
    if options.results and options.results.exists():
        lines = options.results.read_text(encoding="utf-8").splitlines()
        rows = [Row(**json.loads(line)) for line in lines]
    wanted = [("", 1.0, 0)]
    for name in options.names or CONSTANTS:
        value = value_of(name)
        wanted += [(name, f, max(1, round(f * value))) for f in FACTORS if f != 1.0]
    for name, factor, value in wanted:
        if any((row.name, row.value) == (name, value) for row in rows):
            continue
        mutant = changed(name, value) if name else Mutant("", "", (), ())
        rows.append(measured(mutant, factor, value, options))
        print(rows[-1], file=sys.stderr, flush=True)
        if options.results:
            with options.results.open("a", encoding="utf-8") as out:
                out.write(json.dumps(asdict(rows[-1])) + "\n")
    print(json.dumps([asdict(row) for row in rows], indent=2) if options.json else table(rows))
    return 4 if len({row.outcomes for row in rows}) > 1 else 0


if __name__ == "__main__":
    raise SystemExit(main())
