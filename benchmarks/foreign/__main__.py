# SPDX-License-Identifier: Apache-2.0
"""What resil makes of designs of others: storage, engines, commands from an empty folder, speed, protection.

Run as `python -m benchmarks.foreign FOLDER [--only NAME ...] [--out DIR] [--run-faults N] [--faults N]
[--compared N] [--cocotb N] [--protect SHARE] [--json]` from the root of the project. FOLDER has a folder for
each design, with a file `design.toml` of your own:

    top = "core"                    # the design: a module
    files = ["core.f"]              # file lists
    waves = "core.fst"              # a recording of it in any testbench
    instance = "tb.u_core"          # where the design is in it
    make = ["iverilog ...", "vvp ..."]  # commands that make the recording, run if it is not there
    parameters = ["DEPTH=8"]        # of the top
    set = ["workload.sampled=at"]   # keys of the campaign
    origin = "who, revision, licence"

Printed for each design, and kept in `OUT/results.json`:

- storage bits of the source and those that are hardware, beside what Yosys counts in the same files;
- whether `resil init`, `check` and `run` end, from an empty folder to the first table, and their times;
- faults that a plain Verilator build (and with `--cocotb` the reference engine) answers otherwise, and a
  restart of the same compiled model;
- processor time a fault beside that of a copy of a plain build's process from the fault's cycle on, and of a
  rerun of the compiled model from its start;
- with `--protect` whether the cheapest protection that leaves such a share of the FIT is built and proved.

The exit code is 4 if an answer differs, 2 if a step failed, else 0.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.foreign.design import ForeignDesign, read_designs
from benchmarks.foreign.speed import Speed, compared_speed
from benchmarks.foreign.steps import Protected, Step, first_table, protected
from benchmarks.foreign.storage import YosysCount, count_storage
from resil.rtl_harness.errors import HarnessError
from resil.user_errors import USER_ERRORS


@dataclass(frozen=True)
class Found:
    """What came out for one design.

    Attributes:
        name: Of its folder.
        origin: As its file says.
        steps: Commands, in their order, up to the first that failed.
        failed: What failed, in words; "" if nothing did.
        count: Of Yosys; None if it cannot read the design.
        uncounted: Why it cannot, in words.
        speed: Against a plain build; None if a step failed before.
        cocotb: Likewise the faults that the reference engine answers otherwise; None if it was not asked.
        protect: The build of a protection; None if it was not asked.
        built: What was built; None if nothing was.
    """

    name: str
    origin: str
    steps: tuple[Step, ...] = ()
    failed: str = ""
    count: YosysCount | None = None
    uncounted: str = ""
    speed: Speed | None = None
    cocotb: tuple[str, ...] | None = None
    protect: Step | None = None
    built: Protected | None = None

    @property
    def different(self) -> int:
        """Answers that differ."""
        return len(self.speed.different if self.speed else ()) + len(self.cocotb or ())


def measured(design: ForeignDesign, options: argparse.Namespace) -> Found:
    """Take all steps with one design; what fails is said in the result."""
    found = Found(design.name, design.origin)
    out = Path(options.out).resolve() / design.name
    if out.exists():
        shutil.rmtree(out)
    try:
        design.record()
        try:
            found = replace(found, count=count_storage(design))
        except HarnessError as error:
            found = replace(found, uncounted=str(error))
        steps = first_table(design, out, options.run_faults)
        failed = next((f"{own.name}: {own.said}" for own in steps if own.failed), "")
        found = replace(found, steps=tuple(steps), failed=failed)
        if failed:
            return found
        file = out / "campaign.toml"
        speed = compared_speed(file, design.set, options.faults, options.compared)
        found = replace(found, speed=speed)
        if options.cocotb:
            other = compared_speed(file, design.set, options.cocotb, options.cocotb, "cocotb")
            found = replace(found, cocotb=other.different)
        if options.protect:
            step, built = protected(out, options.protect)
            failed = f"protect: {step.said}" if step.failed else "" if built else "protect: nothing was built"
            found = replace(found, protect=step, built=built, failed=failed)
    except USER_ERRORS as error:
        return replace(found, failed=str(error))
    return found


def row(found: Found) -> list[str]:
    """Return the cells of a design in the table of results."""
    speed, count = found.speed, found.count
    times = " ".join(f"{step.seconds:.0f}" for step in found.steps)
    counted = f"{count.source:,}, {count.kept:,}" if count else "not counted" if found.uncounted else "-"
    if speed is None:
        return [found.name, found.origin, "-", "-", counted, times, "refused", "-", "-", "-", "-"]
    compared = f"{found.different} of {speed.compared}"
    return [
        found.name,
        found.origin,
        f"{speed.cycles:,}",
        f"{speed.source:,}, {speed.kept:,}",
        counted,
        times,
        compared,
        f"{speed.fast_us:,.0f}",
        f"{speed.vs_copy:.1f}",
        f"{speed.vs_restart:.1f}",
        "-" if found.protect is None else _built(found.built),
    ]


def _built(built: Protected | None) -> str:
    if built is None:
        return "refused"
    return f"{built.bits:,} bits, {built.predicted:+.1%}, {built.measured:+.1%}"


HEAD = (
    *("design", "from", "cycles", "storage bits of the source, hardware", "of Yosys before and after `opt`"),
    *("`init`, `check`, `run` s", "answers that differ", "us a fault", "times a copy", "times a rerun"),
    "bits protected, area by the options' figures and by synthesis",
)


def table(results: Sequence[Found]) -> str:
    """Return the results as a table in Markdown, and what failed below it."""
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    lines += ["| " + " | ".join(row(found)) + " |" for found in results]
    lines += [f"{found.name}: {found.failed}" for found in results if found.failed]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what came out for each design."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="of the designs")
    parser.add_argument("--only", nargs="+", default=[], help="of them, by name")
    parser.add_argument("--out", type=Path, default=Path("runs/foreign"), help="folder of what is made")
    parser.add_argument("--run-faults", type=int, default=200, help="injections of `resil run`")
    parser.add_argument("--faults", type=int, default=20_000, help="of the fast engine, for its speed")
    parser.add_argument("--compared", type=int, default=200, help="of these, that restarts take too")
    parser.add_argument("--cocotb", type=int, default=0, help="faults of the reference engine")
    parser.add_argument("--protect", type=float, default=0.0, help="share of the FIT that may be left")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    results: list[Found] = []
    for design in read_designs(options.folder, options.only):
        print(f"{design.name} ...", file=sys.stderr, flush=True)
        results.append(measured(design, options))
        print(table(results[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
        options.out.mkdir(parents=True, exist_ok=True)
        kept = json.dumps([asdict(found) for found in results], indent=2)
        (options.out / "results.json").write_text(kept + "\n", encoding="utf-8")
    print(json.dumps([asdict(found) for found in results], indent=2) if options.json else table(results))
    if any(found.different for found in results):
        return 4
    return 2 if any(found.failed for found in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
