# SPDX-License-Identifier: Apache-2.0
"""What the constants of the fast engine are worth: each at a quarter of its value and at four times that.

Run as `python -m benchmarks.engine.constants [NAME ...] [--network NAME] [--faults N] [--repeats N]
[--results FILE] [--json]` from the root of the project. A copy of the sources is made in which the
constants of the C++ are variables, and one process that runs it sets them, and those of Python, one after
another. With each value a fixed list of faults of flip-flops goes through a sweep with lanes, several times,
and before each time with all values as they are. Told are the median of these ratios of processor time, and
the simulated cycles. The row without a name is the sources as they are: how far its ratio is from 1 is noise.
Outcomes have to be the same: the exit code is 4 where they are not. With a file for results, a line each,
what stands there is not measured again.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import random
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.engine.mutants.edits import Edit, Mutant
from benchmarks.engine.mutants.trial import ROOT, copied, run_python
from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.faults import Fault, digest
from resil.rtl_harness.npu.workload import npu_workload

CPP = "rtl_harness/engine/fast/native"
CONSTANTS = {
    "kAlone": "model_simulator.cpp",
    "kLanesTogether": "lane_slots.h",
    "kMostGates": "ripple.cpp",
    "kMostOfAll": "ripple.cpp",
    "kEffort": "gate_follower.cpp",
    "kEffortPerCycle": "gate_follower.cpp",
    "kCheckEvery": "window.cpp",
    "kStint": "job.h",
    "kFewRegisters": "sweep_context.h",
    "kFewBytes": "sweep_context.h",
    "kComparison": "comparison.h",
    "kLaneComparison": "lane_slots.h",
    "kCompareEvery": "lane_slots.h",
    "kRecent": "repetition.h",
}
# Of Python, by module: how much is done together.
PYTHON = {
    "concurrent_pass.TOGETHER": "resil.rtl_harness.engine.fast.concurrent_pass",
    "concurrent_simulator.HELD": "resil.rtl_harness.engine.fast.concurrent_simulator",
    "tail._BATCH": "resil.rtl_harness.npu.tail",
}
# What is no choice between costs: sizes of what other parts rely on, blocks of bytes that are compared at
# once (`kBlockBytes`, `kPart`), hashes that lie together (`kChunk`), what follows large memories (`kQuiet`,
# `kMostOpen`, `kStretch`), which this
# network hardly has, multipliers of hashes, values that stand for none;
# what only the audit uses, which is left out here;
# and how far the search for dead storage, which is no part of a sweep, looks for ways on which a flip-flop
# keeps its value: with 64, 1,000 and 4,000 gates it visits 440, 315 and 284 thousand gates in a window of
# mnist_lenet.
FIXED = frozenset(
    {
        "kLaneCount",
        "kMostAlarms",
        "kRowMargin",
        "kChunk",
        "kSetWords",
        "kWindowCycles",
        "kByItself",
        "kBlock",
        "kBlockBytes",
        "kPart",
        "kQuiet",
        "kMostOpen",
        "kStretch",
        "kMostBytes",
        "kDeep",
        "kNever",
        "kEver",
        "kNone",
        "kNothing",
        "kMostSteps",
    }
    | {"kA", "kB", "kC", "kD", "kRead", "kMaxDimensions"}
    | {"kStrides", "kShortest", "kLongest", "kFirstKept"}
)
FACTORS = (0.25, 4.0)

_VARIABLE = """
#include <map>
#include <string>

template <typename T>
std::map<std::string, T>& tunables() {
  static std::map<std::string, T> all;
  return all;
}
template <typename T>
T& tunable(const char* name, T value) {
  return tunables<T>().emplace(name, value).first->second;
}
"""
_SETTER = """
void resil_tune(const char* name, uint64_t value) {
  auto& words = tunables<uint64_t>();
  auto& numbers = tunables<int>();
  if (const auto at = words.find(name); at != words.end()) at->second = value;
  if (const auto at = numbers.find(name); at != numbers.end()) at->second = static_cast<int>(value);
}
"""
_DECLARED = re.compile(r"(?P<how>static |inline |)constexpr (?P<type>\w+) (?P<name>k\w+) = (?P<value>\d+);")
_HOW = {"static ": "static inline ", "inline ": "inline ", "": "static "}


@dataclass(frozen=True)
class Row:
    """What came out for one value.

    Attributes:
        network: The network.
        faults: Number of faults asked for.
        name: Of the constant; empty for the sources as they are.
        value: Its value.
        factor: Over what it is in the sources.
        seconds: Processor time of the sweep over that with all values as they are.
        cycles: Simulated cycles.
        outcomes: Digest of what is told of the faults, what they damaged first aside.
    """

    network: str
    faults: int
    name: str
    value: int
    factor: float
    seconds: float
    cycles: int
    outcomes: str


def value_of(name: str) -> int:
    """Return the value that a constant has in the sources."""
    if name in PYTHON:
        return int(getattr(importlib.import_module(PYTHON[name]), name.partition(".")[2]))
    return int(_declared(name)["value"])


def variables() -> Mutant:
    """Return the sources with the constants of the C++ as variables, and a function that sets them."""
    edits = [Edit(f"{CPP}/difference.h", "#include <vector>\n", f"#include <vector>\n{_VARIABLE}")]
    for name, file in CONSTANTS.items():
        found = _declared(name)
        made = f'{found["type"]}& {name} = tunable<{found["type"]}>("{name}", {found["value"]});'
        edits.append(Edit(f"{CPP}/{file}", found[0], _HOW[found["how"]] + made))
    last = "void resil_sweep_times(const Sweep* self, SweepTimes* times) { *times = self->times(); }\n"
    edits.append(Edit(f"{CPP}/sweep.cpp", last, last + _SETTER))
    return Mutant("variables", "", tuple(edits), ())


def _declared(name: str) -> re.Match[str]:
    text = (ROOT / CPP / CONSTANTS[name]).read_text(encoding="utf-8")
    found = [match for match in _DECLARED.finditer(text) if match["name"] == name]
    if len(found) != 1:
        raise SystemExit(f"{CONSTANTS[name]}: expected one constant {name}, found {len(found)}")
    return found[0]


def known(file: Path, options: argparse.Namespace) -> list[Row]:
    """Return the rows of a file that were measured with these options."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    rows = [Row(**json.loads(line)) for line in lines]
    return [row for row in rows if (row.network, row.faults) == (options.network, options.faults)]


def trial(options: argparse.Namespace) -> None:
    """Measure with the sources that run this, in which constants are variables, and add a line for each.

    They are told with the values that they have, as NAME=VALUE.
    """
    network, target = zoo.load(options.network), load_target("ethos-u55-32")
    workload = npu_workload(compile_network(network.path, target.name), network.heldout_inputs[0])
    done = {(row.name, row.factor) for row in known(options.results, options)}
    with VerilatorEngine(
        target, workload, elaborate(target, workload.parameters), sweep=True, lanes=True, audit=NOTHING
    ) as engine:
        engine.prepare()
        faults = faults_of(engine, options.faults)

        def measure() -> tuple[float, int, str]:
            before, begun = engine.simulated, time.process_time()
            found = sorted(engine.run(faults), key=lambda injection: injection.fault)
            seconds = time.process_time() - begun
            answers = [replace(injection, corruption=None) for injection in found]
            return seconds, engine.simulated - before, digest(repr(answers).encode())

        def put(name: str, value: int) -> None:
            if name in PYTHON:
                setattr(importlib.import_module(PYTHON[name]), name.partition(".")[2], value)
            elif name:
                engine._model.runner.library.calls.resil_tune(name.encode(), ctypes.c_uint64(value))

        measure()  # reads the lane model
        pairs = [pair.partition("=")[::2] for pair in options.names]
        wanted = [("", 0, 1.0), *((name, int(value), f) for name, value in pairs for f in FACTORS)]
        for name, was, factor in wanted:
            if (name, factor) not in done:
                row = measured(name, was, factor, options, measure, put)
                with options.results.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(asdict(row)) + "\n")


def measured(
    name: str,
    was: int,
    factor: float,
    options: argparse.Namespace,
    measure: Callable[[], tuple[float, int, str]],
    put: Callable[[str, int], None],
) -> Row:
    """Return what comes of one value; afterwards all are as they were."""
    value, ratios = max(1, round(factor * was)) if name else 0, list[float]()
    for _ in range(options.repeats):
        base, _, _ = measure()
        put(name, value)
        seconds, cycles, outcomes = measure()
        put(name, was)
        ratios.append(seconds / base)
    ratio = statistics.median(ratios)
    return Row(options.network, options.faults, name, value, factor, ratio, cycles, outcomes)


def faults_of(engine: VerilatorEngine, number: int) -> list[Fault]:
    """Return faults uniform over the bits of flip-flops and over cycles."""
    table, choose = engine.elaboration.sites, random.Random(1)
    kept = [i for i, element in enumerate(table.elements) if element.kind == "ff"]
    sites = [site for i in kept for site in range(table.offsets[i], table.offsets[i + 1])]
    end = engine.golden().cycles
    return sorted({Fault(choose.choice(sites), choose.randrange(end)) for _ in range(number)})


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table in Markdown, one line a constant."""
    base = next(row for row in rows if not row.name)
    lines = [f"noise: {base.seconds:.2f}", ""]
    lines.append("| constant | value | time at 1/4 | time at 4 | cycles at 1/4 | cycles at 4 |")
    lines.append("|---|---|---|---|---|---|")
    for name in dict.fromkeys(row.name for row in rows if row.name):
        by = {row.factor: row for row in rows if row.name == name}
        cells = [f"{by[f].seconds:.2f}" if f in by else "-" for f in FACTORS]
        cells += [f"{by[f].cycles / base.cycles:.3f}" if f in by else "-" for f in FACTORS]
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
    parser.add_argument("--trial", action="store_true", help="measure with the sources that run this")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if options.trial:
        trial(options)
        return 0
    if unknown := set(options.names) - {*CONSTANTS, *PYTHON}:
        parser.error(f"no constants of the names {', '.join(sorted(unknown))}")
    options.names = options.names or [*CONSTANTS, *PYTHON]
    with tempfile.TemporaryDirectory() as made, copied(variables()) as folder:
        results = (options.results or Path(made) / "results").absolute()
        wanted = [
            "--trial",
            *(f"{name}={value_of(name)}" for name in options.names),
            "--network",
            options.network,
            "--results",
            str(results),
        ]
        wanted += ["--faults", str(options.faults), "--repeats", str(options.repeats)]
        done = run_python(folder, "-m", "benchmarks.engine.constants", *wanted, seconds=None)
        if done is None or done.returncode:
            raise SystemExit(done.stderr[-2000:] if done else "no end")
        rows = [row for row in known(results, options) if row.name in {"", *options.names}]
    print(json.dumps([asdict(row) for row in rows], indent=2) if options.json else table(rows))
    return 4 if len({row.outcomes for row in rows}) > 1 else 0


if __name__ == "__main__":
    raise SystemExit(main())
