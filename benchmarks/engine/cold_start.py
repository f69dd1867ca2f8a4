# SPDX-License-Identifier: Apache-2.0
"""From an empty cache to the first injection: `python -m benchmarks.engine.cold_start [SIZE...] [--json]`.

Each size of the NPU is taken twice, with what comes with the package and as if nothing came; `--shipped`
leaves the latter out, `--lanes` measures the lane model alone, which large campaigns make. The example
campaign is prepared as `resil run` does it, in a process and a cache of its own, up to the end of the golden
run. Then all that may have to be built, one after the other.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

from resil.campaign.campaign import load_campaign
from resil.prepare.bench import prepare
from resil.progress import Loudness, Progress, set_loudness
from resil.rtl_harness.cache import without_shipped
from resil.rtl_harness.design.area import area_per_block
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.gates.gates import read_gates
from resil.rtl_harness.engine.fast.lanes.build import lane_model
from resil.rtl_harness.engine.fast.native.build import build_model, design_objects, shared_objects
from resil.rtl_harness.engine.fast.state_map import variables_of
from resil.rtl_harness.shipped import results

EXAMPLES = Path(__file__).parents[2] / "examples"
CAMPAIGN = EXAMPLES / "digits.toml"
SIZES = (32, 64, 128, 256)


@dataclass(frozen=True)
class Took:
    """What something took.

    Attributes:
        what: In words.
        seconds: By the clock.
        processor_seconds: Of all processes together.
    """

    what: str
    seconds: float
    processor_seconds: float


def main() -> int:
    """Print a table of all sizes, or with `--one` measure one in this process."""
    options = _options()
    if options.one:
        os.environ["RESIL_CACHE"] = options.cache
        measure = {"whole": _first_injection, "parts": _parts, "lanes": _lane_model}[options.one]
        print(json.dumps([asdict(took) for took in measure(options.sizes[0], options.without_shipped)]))
        return 0
    whole = [([], "whole")]
    if options.lanes:
        wanted = [([], "lanes")]
    elif options.shipped:
        wanted = whole
    else:
        wanted = [*whole, *((["--without-shipped"], one) for one in ("whole", "parts"))]
    rows = [row for size in options.sizes for row in _of_size(size, wanted)]
    if options.json:
        print(json.dumps(rows))
        return 0
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for row in rows:
        times = f"{row['seconds']:7.1f} s  processor {row['processor_seconds']:6.1f} s"
        print(f"{row['macs']:4} MACs  {row['what']:50} {times}")
    return 0


def _of_size(size: int, wanted: Iterable[tuple[list[str], str]]) -> Iterator[dict[str, object]]:
    for flags, one in wanted:
        with tempfile.TemporaryDirectory() as cache:
            own = [str(size), "--one", one, "--cache", cache, *flags]
            command = [sys.executable, "-m", __spec__.name, *own]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        yield from ({"macs": size, **took} for took in json.loads(done.stdout))


def _first_injection(size: int, without: bool) -> list[Took]:
    if without:
        # In all threads, as an installation has it that lacks them.
        results.FILES.clear()
    set_loudness(Loudness.QUIET)
    campaign = load_campaign(CAMPAIGN)
    campaign = replace(campaign, target=f"ethos-u55-{size}")
    what = "to the first injection, " + ("all made here" if without else "with what ships")
    with _taking(what) as taken, prepare(campaign, Progress(), simulates=1).engine(0) as engine:
        engine.golden()
    return taken


def _parts(size: int, without: bool) -> list[Took]:
    target = load_target(f"ethos-u55-{size}")
    with without_shipped() if without else nullcontext():
        with _taking("elaboration") as taken:
            elaboration = elaborate(target)
        parts: dict[str, Callable[[], object]] = {
            "hardware: which storage bits synthesis keeps": lambda: with_hardware(target, elaboration),
            "area: mapping to cells": lambda: area_per_block(target, with_hardware(target, elaboration)),
            "gates for sweeps": lambda: read_gates(target, elaboration),
            "Verilator's runtime, shared by all designs, and a small one": _small_design,
            "our driver, shared by all designs": shared_objects,
            "simulator of this size": lambda: build_model(target, {}, variables_of(elaboration)),
        }
        for what, part in parts.items():
            with _taking(what) as also:
                part()
            taken += also
    return taken


def _lane_model(size: int, without: bool) -> list[Took]:
    target = load_target(f"ethos-u55-{size}")
    elaboration = elaborate(target)
    with _taking("lane model") as taken:
        lane_model(target, elaboration.parameters)
    return taken


def _small_design() -> Path:
    return design_objects(load_target(EXAMPLES / "awkward" / "target.toml"), {}, [], assertions=False)


@contextmanager
def _taking(what: str) -> Iterator[list[Took]]:
    taken: list[Took] = []
    began, before = time.monotonic(), _processor()
    yield taken
    taken.append(Took(what, round(time.monotonic() - began, 1), round(_processor() - before, 1)))


def _processor() -> float:
    used = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES, metavar="SIZE", help="MACs a cycle")
    parser.add_argument("--shipped", action="store_true", help="only with what comes with the package")
    parser.add_argument("--lanes", action="store_true", help="the lane model alone")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", choices=("whole", "parts", "lanes"), help=argparse.SUPPRESS)
    parser.add_argument("--cache", help=argparse.SUPPRESS)
    parser.add_argument("--without-shipped", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
