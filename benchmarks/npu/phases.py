# SPDX-License-Identifier: Apache-2.0
"""Where the time and the memory of a campaign go: its phases one after another, in one process.

    python -m benchmarks.npu.phases CAMPAIGN.toml [--faults 100] [--against FILE ...] [--json FILE]
    python -m benchmarks.npu.phases CAMPAIGN.toml --faults 100 --restarted 0 20 --keep FILE

Faults are drawn uniformly over flip-flops and cycles, of the campaign's first input. Of each phase there are
seconds, seconds of the processor, in which other work on the machine is not counted, and the memory at the
peak so far. With `--restarted FIRST LAST` faults of these numbers run from reset to their end, without
anything that the engine knows of the golden run, and nothing else is done; `--keep` gets what came of them.
With `--against` the engine's answers are compared with such files: what is seen, the cycle of the end,
status, output and the first alarm have to be the same.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from resil.campaign.campaign import Campaign, load_campaign
from resil.prepare.bench import prepare
from resil.progress import Progress
from resil.results.summarise import technology_of
from resil.rtl_harness.engine.fast import liveness_cache
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.tail import Departure
from resil.rtl_harness.faults import Fault, Injection, Outcome
from resil.stats.intervals import clopper_pearson
from testkit.plain_runner import restarted

T = TypeVar("T")


class Phases:
    """Prints what each phase takes, and keeps it.

    Attributes:
        figures: By phase: seconds, seconds of the processor, MiB at the peak so far.
    """

    def __init__(self) -> None:
        self.figures: dict[str, dict[str, float]] = {}

    def timed(self, what: str, work: Callable[[], T]) -> T:
        """Do some work as a phase."""
        began, used = time.perf_counter(), time.process_time()
        found = work()
        self.note(what, time.perf_counter() - began, time.process_time() - used)
        return found

    def note(self, what: str, seconds: float, processor: float) -> None:
        """Keep and print a phase that has been timed."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        own = {"seconds": seconds, "processor": processor, "peak_mib": peak}
        self.figures[what] = {key: round(value, 2) for key, value in own.items()}
        print(f"{what}: {seconds:.1f} s, {processor:.1f} s of the processor, {peak:,.0f} MiB", flush=True)


def watch_tail(engine: VerilatorEngine) -> Counter[str]:
    """Return where what the tail does is added up: seconds of the processor, and runs."""
    spent: Counter[str] = Counter()
    tail = engine.workload.tail
    if tail is None:
        return spent
    finish = tail.finish

    def watched(departures: Sequence[Departure]) -> Iterator[bytes | None]:
        own = finish(departures)
        while True:
            began = time.process_time()
            try:
                found = next(own)
            except StopIteration:
                return
            finally:
                spent["milliseconds"] += round(1000 * (time.process_time() - began))
            spent["runs"] += 1
            yield found

    object.__setattr__(tail, "finish", watched)
    return spent


def drawn(engine: VerilatorEngine, faults: int, seed: int) -> list[Fault]:
    """Return faults in flip-flops, all alike likely."""
    sites, generator = flip_flops(engine), random.Random(seed)
    cycles = engine.golden().cycles
    return [Fault(generator.choice(sites), generator.randrange(cycles)) for _ in range(faults)]


def flip_flops(engine: VerilatorEngine) -> list[int]:
    """Return the sites of flip-flops that are hardware, those in SRAM macros too."""
    sites = engine.elaboration.sites
    return [
        offset + bit
        for offset, element in zip(sites.offsets, sites.elements, strict=False)
        if element.kind in ("ff", "macro")
        for bit in range(element.bits)
        if sites.hardware(offset + bit) is None
    ]


def rates(engine: VerilatorEngine, campaign: Campaign, found: Sequence[Injection]) -> str:
    """Return AVF and FIT with exact intervals of 95 %, of faults that were all alike likely."""
    count = len(found)
    visible = sum(one.outcome not in (Outcome.MASKED, Outcome.LATENT) for one in found)
    hazardous = sum(one.outcome in (Outcome.SDC_CRITICAL, Outcome.HANG) for one in found)
    raw = len(flip_flops(engine)) * technology_of(campaign).fit_per_bit("ff")
    avf, own = clopper_pearson(visible, count), clopper_pearson(hazardous, count)
    return (
        f"AVF {avf.estimate:.2%} [{avf.lo:.2%}, {avf.hi:.2%}], raw FIT {raw:.3g}, "
        f"FIT {raw * own.estimate:.3g} [{raw * own.lo:.3g}, {raw * own.hi:.3g}]"
    )


def row(one: Injection) -> list[object]:
    """Return what two answers for a fault have to have in common."""
    detected = one.detected and (one.detected.alarm, one.detected.cycle)
    return [
        one.fault.site,
        one.fault.cycle,
        one.seen.value,
        one.end_cycle,
        one.status,
        one.output_hash,
        detected,
    ]


def restarted_rows(engine: VerilatorEngine, faults: Sequence[Fault]) -> list[list[object]]:
    """Return the rows of runs from reset to the end; what is before the faults is simulated once for all."""
    found = []
    for injection in restarted(engine, faults):
        found.append(row(injection))
        print(f"  {found[-1]}", flush=True)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Go through the phases; return 1 if an answer is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("campaign", type=Path)
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--restarted", type=int, nargs=2, metavar=("FIRST", "LAST"))
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--against", type=Path, nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kept", type=int, help="MiB of changes of memories that are kept of the golden run")
    parser.add_argument("--windows", type=int, help="that are gone through backwards for dead storage")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    if given.windows:
        liveness_cache.MOST_WINDOWS = given.windows
    phases = Phases()
    campaign = load_campaign(given.campaign)
    bench = phases.timed("compiled, laid out, elaborated", lambda: prepare(campaign, Progress(), simulates=1))
    engine = phases.timed("compiled model", lambda: bench.engine(0))
    assert isinstance(engine, VerilatorEngine)
    with engine:
        engine.expect(max(given.faults, 1000))
        if given.kept is not None:
            engine.model.injector.bound(given.kept << 20, 1 << 16)
        golden = phases.timed("golden run", engine.golden)
        remembered = engine.model.injector.remembered_bytes
        print(f"{golden.cycles:,} cycles; what is remembered takes {remembered / 2**20:,.0f} MiB")
        faults = drawn(engine, given.faults, given.seed)
        if given.restarted:
            first, last = given.restarted
            rows = phases.timed(
                f"{last - first} restarted", lambda: restarted_rows(engine, faults[first:last])
            )
            if given.keep:
                given.keep.write_text(json.dumps(rows), encoding="utf-8")
            return 0
        phases.timed("gates, dead storage", engine.prepare)
        spent = watch_tail(engine)
        injections: list[Injection] = []
        slow: list[tuple[float, str]] = []

        def note(done: object) -> None:
            slow.append(
                (done.nanoseconds / 1e9, f"{done.how} {done.injection.seen.value} {done.simulated:,}")
            )  # type: ignore[attr-defined]

        engine.observer = note
        began, used = time.perf_counter(), time.process_time()
        for injection in engine.run(faults):
            injections.append(injection)
            if len(injections) == len(faults):
                phases.note(f"{len(faults)} faults", time.perf_counter() - began, time.process_time() - used)
                began, used = time.perf_counter(), time.process_time()
        phases.note(f"audit of {engine.audited}", time.perf_counter() - began, time.process_time() - used)
        times = engine.sweep_times
        parts = {key: getattr(times, key) / 1e9 for key in ("loading", "following", "simulating")}
        print(
            {**{key: round(value, 1) for key, value in parts.items()}, **spent, "simulated": engine.simulated}
        )
        print(Counter(one.outcome.value for one in injections), dict(engine.ends))
        print(rates(engine, campaign, injections))
        print(
            "again:", engine.model.injector.recalled, "slowest:", *sorted(slow, reverse=True)[:12], sep="\n  "
        )
        print(*engine.notes, sep="\n")
        answers = {(one.fault.site, one.fault.cycle): row(one) for one in injections}
        rows = [own for file in given.against for own in json.loads(file.read_text(encoding="utf-8"))]
        different = [own for own in rows if json.loads(json.dumps(answers[own[0], own[1]])) != own]
        print(f"{len(different)} of {len(rows)} that were restarted differ", *different, sep="\n")
        if given.json:
            own = {"cycles": golden.cycles, "phases": phases.figures, "parts": parts, "tail": spent}
            own |= {
                "outcomes": Counter(one.outcome.value for one in injections),
                "restarted": len(rows),
                "differ": len(different),
            }
            given.json.write_text(json.dumps(own, indent=2) + "\n", encoding="utf-8")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
