# SPDX-License-Identifier: Apache-2.0
"""Line and toggle coverage of the NPU's RTL, as Verilator counts it, for each block.

The bench with its unreliable bus runs the small networks of the zoo, and random operations, whole and damaged
as the fuzzer makes them; many follow one another in each simulation, so that what one sets the next one
resets. Regions lie anywhere and have any number. The block tests can be counted too. A point counts as
covered when any run passed it in any instance of its module, and a bit in each direction. What
`exclusions.toml` names does not count; the report says how many points that are, and why.

    python -m benchmarks.npu.coverage [--npu ethos-u55-32] [--random 320] [--damaged 320] [--blocks]
                                      [--missing] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.npu.coverage.points import Figures, Point, figures, read_exclusions
from benchmarks.npu.coverage.sessions import (
    REGIONS,
    RUNS,
    Images,
    moved,
    session,
    used_before,
)
from benchmarks.npu.coverage.simulator import build, simulate, simulate_blocks
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.npu.model.config import npu_config
from testkit.npu.blocks.simulator import BENCHES
from testkit.npu.fuzz.cases import (
    MAX_FLASH,
    MAX_RAM,
    Case,
    cases_of,
    network_cases,
    random_case,
)
from testkit.npu.fuzz.damage import DAMAGES, Trial, damaged, sound
from testkit.npu.fuzz.operations import CONSTANTS, RAM
from testkit.npu.model_cases import FEATURES, NAMES
from testkit.npu.model_cases import random_case as random_operation

SIZES = ("ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256")
Random = np.random.Generator


def simulations(accelerator: str, random: int, damages: int, seed: int) -> Iterator[tuple[str, Images]]:
    """Yield what is simulated, `RUNS` runs at a time, by the sort of these runs."""
    rng = np.random.default_rng(seed)
    whole = [sound(case) for case in network_cases(accelerator)]
    for first in range(0, len(whole), RUNS):
        trials = whole[first : first + RUNS]
        yield "networks of the zoo", session(trials, [(CONSTANTS, RAM)] * len(trials), rng)
    for _ in range(-(-random // RUNS)):
        trials, numbers = zip(*(_moved(_operation(accelerator, rng), rng) for _ in range(RUNS)), strict=True)
        yield "random operations", session(trials, numbers, rng)
    for number in range(-(-damages // RUNS)):
        kind = list(DAMAGES)[number % len(DAMAGES)]
        cases = [(cases_of(accelerator, rng), cases_of(accelerator, rng)) for _ in range(RUNS)]
        trials = [damaged(kind, case, other, rng) for case, other in cases]
        yield "damaged", session(trials, [(CONSTANTS, RAM)] * RUNS, rng)


def _operation(accelerator: str, rng: Random) -> Case:
    """Return random operations, as the fuzzer makes them or as the tests of single operations do."""
    while True:
        case = random_case(accelerator, rng)
        if rng.random() < 0.5:
            name = str(rng.choice(NAMES))
            features = tuple(str(feature) for feature in FEATURES if rng.random() < 0.3)
            found = random_operation(name, npu_config(accelerator), rng, features)
            case = Case(name, accelerator, found.stream, found.constants.tobytes(), found.ram.tobytes())
        if len(case.constants) <= MAX_FLASH and len(case.ram) <= MAX_RAM:
            return case


def _moved(case: Case, rng: Random) -> tuple[Trial, tuple[int, int]]:
    first, second = (int(number) for number in rng.permutation(REGIONS)[:2])
    delta = int(rng.integers(0, 1 << 28)) * 16
    trial = moved(sound(case), delta, (first, second))
    return used_before(trial, rng), (first, second)


def as_json(found: Figures, sorts: Counter[str], accelerator: str) -> dict[str, object]:
    """Return the figures for scripts."""
    return {
        "target": accelerator,
        "runs": dict(sorts),
        "blocks": found.blocks,
        "excluded": [
            {"reason": reason, "points": points, "passed": passed}
            for reason, (points, passed) in found.excluded.items()
        ],
        "missing": [{"file": p.file, "line": p.line, "kind": p.kind, "name": p.name} for p in found.missing],
    }


def print_figures(found: Figures, sorts: Counter[str], accelerator: str, rtl: Path, missing: bool) -> None:
    """Print the table, what was left out, and what was not passed if asked, else its lines."""
    print(f"{accelerator}: " + ", ".join(f"{count} {sort}" for sort, count in sorts.items()))
    print(f"{'block':8} {'lines':>16} {'':>7} {'toggles':>16}")
    for block, kinds in found.blocks.items():
        cells = [
            f"{passed:7} / {points:6} {passed / max(points, 1):7.1%}" for passed, points in kinds.values()
        ]
        print(f"{block:8} " + " ".join(cells))
    print("left out:")
    for reason, (points, passed) in found.excluded.items():
        print(f"  {points:6} points, {passed} of them passed: {reason}")
    print("not passed:")
    groups: dict[tuple[str, int, str, str], int] = Counter()
    for point in found.missing:
        signal = point.name.partition(":")[0].partition("[")[0] if point.kind == "toggle" else ""
        groups[point.file, point.line, point.kind, signal] += 1
    for (file, line, kind, signal), count in groups.items():
        if kind == "line" or missing:
            text = (rtl / file).read_text(encoding="utf-8").splitlines()[line - 1].strip()
            print(f"  {file}:{line} {kind} {signal} {count}: {text}")


def main() -> int:
    """Build, run, merge, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--npu", default="ethos-u55-32", choices=SIZES)
    parser.add_argument("--random", type=int, default=320, help="random operations")
    parser.add_argument("--damaged", type=int, default=320, help="damaged streams")
    parser.add_argument("--blocks", action="store_true", help="count the block tests, too")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--missing", action="store_true", help="print signals whose bits were not all passed")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    target = load_target(options.npu)
    simulator = build(target)
    counts: Counter[Point] = Counter()
    sorts: Counter[str] = Counter()
    for sort, images in simulations(options.npu, options.random, options.damaged, options.seed):
        passed, ended = simulate(simulator, images)
        counts.update(passed)
        sorts[sort] += 1
        print(f"coverage: {sum(sorts.values())} simulations", "" if ended else "(cut)", file=sys.stderr)
    for bench in BENCHES if options.blocks else ():
        passed, failed = simulate_blocks(bench, target.parameters["Macs"])
        counts.update(passed)
        sorts["bench of a block"] += 1
        print(f"coverage: {bench}", f"FAILED {', '.join(failed)}" if failed else "", file=sys.stderr)
    rtl = next(path for path in target.sources if path.name == "npu.sv").parent
    found = figures(counts, read_exclusions(), rtl)
    if options.json:
        json.dump(as_json(found, sorts, options.npu), sys.stdout, indent=1)
        print()
    else:
        print_figures(found, sorts, options.npu, rtl, options.missing)
    return 0


if __name__ == "__main__":
    sys.exit(main())
