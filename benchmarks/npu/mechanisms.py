# SPDX-License-Identifier: Apache-2.0
"""What the NPU's built-in mechanisms make of faults: the same faults without them and with them.

Faults of the shared buffer are drawn uniformly from the data bits of its banks and their output latches and
from the cycles of an inference: clusters of one, two and three adjacent bits of a 32-bit word. Those of the
bus are drawn from the flip-flops of the AXI ports. Of the faults that are harm without the mechanism (a
changed output, or a hang) the share that it corrects or detects is its coverage, with an exact interval. What
it says of harmless faults is counted.

    python -m benchmarks.npu.mechanisms [--npu ethos-u55-32] [--network digits] [--faults 3000] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.faults import Fault, Injection, Seen
from resil.rtl_harness.npu.workload import npu_workload
from resil.stats.intervals import clopper_pearson
from testkit.npu.coded import BANK, PARITY, SECDED, WORD, coded, moved

HARM = {Seen.SDC_CRITICAL, Seen.SDC_TOLERABLE, Seen.HANG}
PORTS = tuple(f"u_npu.u_dma.u_{port}." for port in ("m0_read", "m1_read", "m0_write"))
CLUSTERS = (1, 2, 3)


@contextmanager
def engine(target: Target, workload: Workload) -> Iterator[VerilatorEngine]:
    """Build an engine; the golden run has raised no alarm."""
    with VerilatorEngine(target, workload, elaborate(target, workload.parameters)) as made:
        if made.golden().end.alarms:
            raise SystemExit(f"{target.name}: an alarm rose without a fault: {made.golden().end.alarms}")
        yield made


def drawn(made: VerilatorEngine, count: int, bits: int, ports: bool, seed: int) -> list[Fault]:
    """Return faults of the shared buffer, or of the AXI ports, each drawn anew."""
    rng, sites = np.random.default_rng([seed, bits, ports]), made.elaboration.sites
    own = [
        index
        for index, element in enumerate(sites.elements)
        if (element.path.startswith(PORTS) if ports else BANK.fullmatch(element.path))
    ]
    first = np.array([sites.offsets[index] for index in own])
    size = np.array([sites.offsets[index + 1] - sites.offsets[index] for index in own])
    places = size if ports else size // WORD * (WORD + 1 - bits)
    ends = np.cumsum(places)
    faults = set()
    while len(faults) < count:
        place = int(rng.integers(ends[-1]))
        index = int(np.searchsorted(ends, place, "right"))
        place -= int(ends[index] - places[index])
        offset = place if ports else place // (WORD + 1 - bits) * WORD + place % (WORD + 1 - bits)
        cycle = int(rng.integers(made.golden().end.end_cycle))
        faults.add(Fault(int(first[index]) + offset, cycle, 1 if ports else bits))
    return sorted(faults)


def injected(made: VerilatorEngine, faults: Sequence[Fault]) -> list[Injection]:
    """Return what came of faults, in their order."""
    found = {injection.fault: injection for injection in made.run(sorted(faults), workers=2)}
    return [found[fault] for fault in faults]


def compared(
    plain: VerilatorEngine, other: VerilatorEngine, code: int, before: Sequence[Injection]
) -> dict[str, Any]:
    """Return the counts of the same faults with a mechanism."""
    sites = plain.elaboration.sites, other.elaboration.sites
    after = injected(other, [moved(injection.fault, *sites, code) for injection in before])
    pairs = list(zip(before, after, strict=True))
    harm = [now for was, now in pairs if was.seen in HARM]
    covered = sum(
        now.detected is not None or (now.corrected is not None and now.seen not in HARM) for now in harm
    )
    interval = clopper_pearson(covered, len(harm)) if harm else None
    return {
        "faults": len(pairs),
        "harm_without": len(harm),
        "corrected": sum(now.corrected is not None and now.seen not in HARM for now in harm),
        "detected": sum(now.detected is not None for now in harm),
        "covered": covered,
        "coverage": None if interval is None else [covered / len(harm), interval.lo, interval.hi],
        "harm_unreported": sum(now.seen in HARM and now.detected is None for _, now in pairs),
        "harmless_detected": sum(was.seen not in HARM and now.detected is not None for was, now in pairs),
        "harmless_corrected": sum(was.seen not in HARM and now.corrected is not None for was, now in pairs),
    }


def measure(npu: str, network: str, count: int, seed: int) -> list[dict[str, Any]]:
    """Return a row for each mechanism and size of cluster."""
    known = zoo.load(network)
    workload = npu_workload(compile_network(known.path, npu), known.heldout_inputs[0])
    target, rows = load_target(npu), []
    with ExitStack() as stack:
        plain = stack.enter_context(engine(target, workload))
        parity = stack.enter_context(engine(coded(target, PARITY), workload))
        secded = stack.enter_context(engine(coded(target, SECDED, bus_parity=True), workload))
        for bits in CLUSTERS:
            print(f"mechanisms: shared buffer, {bits} bits", file=sys.stderr)
            before = injected(plain, drawn(plain, count, bits, False, seed))
            for name, made, code in (("parity", parity, PARITY), ("SECDED", secded, SECDED)):
                rows.append({"mechanism": name, "bits": bits} | compared(plain, made, code, before))
        print("mechanisms: AXI ports", file=sys.stderr)
        before = injected(plain, drawn(plain, count, 1, True, seed))
        rows.append({"mechanism": "AXI parity", "bits": 1} | compared(plain, secded, SECDED, before))
        rows[-1]["missed"] = missed(plain, secded, before)
    return rows


def missed(plain: VerilatorEngine, other: VerilatorEngine, before: Sequence[Injection]) -> dict[str, int]:
    """Return the registers of the ports in which harm stays unreported, with how many faults."""
    sites = plain.elaboration.sites
    harm = [injection for injection in before if injection.seen in HARM]
    places = [moved(injection.fault, sites, other.elaboration.sites, SECDED) for injection in harm]
    counts: dict[str, int] = {}
    for injection, now in zip(harm, injected(other, places), strict=True):
        if now.seen in HARM and now.detected is None:
            path = sites[injection.fault.site].element.path
            counts[path] = counts.get(path, 0) + 1
    return counts


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--npu", default="ethos-u55-32")
    parser.add_argument("--network", default="digits", help="of the zoo")
    parser.add_argument("--faults", type=int, default=3000, help="of each size of cluster")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = measure(options.npu, options.network, options.faults, options.seed)
    if options.json:
        json.dump(rows, sys.stdout, indent=1)
        print()
        return 0
    for row in rows:
        share = row["coverage"]
        text = "-" if share is None else f"{share[0]:.2%} [{share[1]:.2%}, {share[2]:.2%}]"
        print(
            f"{row['mechanism']:10} {row['bits']} bit: {row['faults']:,} faults, harm without "
            f"{row['harm_without']}: corrected {row['corrected']}, detected {row['detected']}, coverage "
            f"{text}; harm that stays unreported {row['harm_unreported']}; of the harmless, detected "
            f"{row['harmless_detected']}, corrected {row['harmless_corrected']}"
        )
        for path, number in row.get("missed", {}).items():
            print(f"    unreported: {path} {number}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
