# SPDX-License-Identifier: Apache-2.0
"""Every fault of six small regions of the NPU, injected: a population whose true rates are known.

Run as `python -m benchmarks.statistics.exhaustive [--out FILE.npz]` from the root of the project;
it takes some minutes. A region is all bits of some registers of a block in all cycles of one operation of
`digits` at 32 MACs. The outcome of each fault is computed by the fast engine, once, and stored;
`benchmarks.statistics.coverage_plans` then draws samples from it and counts how often intervals cover the
truth.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.faults import Fault, Outcome
from resil.rtl_harness.npu.workload import npu_workload

FILE = Path(__file__).with_name("exhaustive.npz")
ACCELERATOR = "ethos-u55-32"
OUTCOMES = tuple(outcome.value for outcome in Outcome)
OPERATION = 3
REGIONS = {
    "mac": ("u_npu.u_mac.u_sequencer.", ("",)),
    "wd": (
        "u_npu.u_wd.u_control.",
        ("entries_left_q", "lead_q", "runs_left_q", "slice_q", "state_q", "values_q", "weights_left_q"),
    ),
    "ao": (
        "u_npu.u_ao.",
        (
            *("u_walk.c_q", "u_walk.left_q", "u_walk.state_q", "u_walk.x_q", "u_walk.y_q"),
            *("u_window.count_q", "u_pack.from_q", "u_pack.tail_q"),
        ),
    ),
    "cc": ("u_npu.u_cc.u_sequencer.u_mac_walker.", ("",)),
    "dma": ("u_npu.u_dma.u_ofm.", ("beat_addr_q", "beat_data_q", "beat_strb_q", "beat_valid_q")),
    "sb": ("u_npu.u_sb.gen_bank[0].u_bank.", ("rd_data_q",)),
}


@dataclass(frozen=True)
class Region:
    """All faults in some registers of a block.

    Attributes:
        block: The block.
        registers: Paths of the registers.
        bits: Bits of each.
        outcomes: Index into `OUTCOMES` of each fault, shape (sum of bits, cycles), bits of the first register
            first.
    """

    block: str
    registers: tuple[str, ...]
    bits: tuple[int, ...]
    outcomes: npt.NDArray[np.uint8]


def load(path: Path = FILE) -> tuple[Region, ...]:
    """Read the stored outcomes."""
    with np.load(path) as stored:
        return tuple(
            Region(
                block,
                tuple(stored[f"{block} registers"].tolist()),
                tuple(stored[f"{block} bits"].tolist()),
                stored[f"{block} outcomes"],
            )
            for block in REGIONS
        )


def inject_all(engine: VerilatorEngine, block: str) -> Region:
    """Inject every fault of a region."""
    table = engine.elaboration.sites
    registers = _registers(table, *REGIONS[block])
    ends = (0, *engine.golden().operation_ends)
    first, last = ends[OPERATION], ends[OPERATION + 1]
    sites = [table.offsets[i] + bit for i in registers for bit in range(table.elements[i].bits)]
    place = {site: row for row, site in enumerate(sites)}
    found = np.full((len(sites), last - first), 255, dtype=np.uint8)
    faults = [Fault(site, cycle) for cycle in range(first, last) for site in sites]
    began = time.monotonic()
    for number, injection in enumerate(engine.run(faults), 1):
        row, column = place[injection.fault.site], injection.fault.cycle - first
        found[row, column] = OUTCOMES.index(injection.outcome.value)
        if number % 10_000 == 0:
            rate = number / (time.monotonic() - began)
            print(f"{block}: {number:,} of {len(faults):,}, {rate:.0f} a second", file=sys.stderr, flush=True)
    if (found == 255).any():
        raise RuntimeError(f"{block}: {(found == 255).sum()} faults came back without an outcome")
    elements = [table.elements[i] for i in registers]
    return Region(block, tuple(e.path for e in elements), tuple(e.bits for e in elements), found)


def _registers(table: SiteTable, prefix: str, names: tuple[str, ...]) -> list[int]:
    wanted = [
        i
        for i, element in enumerate(table.elements)
        if element.kind == "ff"
        and element.path.startswith(prefix)
        and (names == ("",) or element.path.removeprefix(prefix) in names)
    ]
    if len(wanted) < len(names):
        raise RuntimeError(f"{prefix}: expected the registers {names}, found {len(wanted)} of them")
    return wanted


def main(arguments: list[str] | None = None) -> int:
    """Inject all regions, store the outcomes, print a table of the rates."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    target, digits = load_target(ACCELERATOR), zoo.load("digits")
    workload = npu_workload(compile_network(digits.path, ACCELERATOR), digits.heldout_inputs[0], "digits")
    stored: dict[str, npt.NDArray[np.generic]] = {}
    with VerilatorEngine(target, workload, elaborate(target, workload.parameters), sweep=True) as engine:
        for block in REGIONS:
            region = inject_all(engine, block)
            stored[f"{block} registers"] = np.array(region.registers)
            stored[f"{block} bits"] = np.array(region.bits)
            stored[f"{block} outcomes"] = region.outcomes
            np.savez_compressed(options.out, **stored)
        print(f"early stops {engine.early_stops:,}, run to the end as an audit {engine.audited:,}")
    print(table(load(options.out)))
    return 0


def table(regions: tuple[Region, ...]) -> str:
    """Return the exact rates as a table in Markdown."""
    lines = ["| region | bits | faults | " + " | ".join(OUTCOMES) + " |", "|---" * (len(OUTCOMES) + 3) + "|"]
    for region in regions:
        counts = np.bincount(region.outcomes.ravel(), minlength=len(OUTCOMES))
        rates = " | ".join(f"{100 * count / counts.sum():.3f} %" for count in counts)
        lines.append(f"| {region.block} | {sum(region.bits)} | {counts.sum():,} | {rates} |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
