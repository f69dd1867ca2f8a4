# SPDX-License-Identifier: Apache-2.0
"""The same upsets in the RTL and in its post-synthesis netlist as a target.

Called as `python -m benchmarks.logic.netlist_target [DESIGN...] [--upsets N] [--seed N]`. Yosys writes
the netlist of each design with the built-in cells, flattened; flip-flops are called as tools call them.
Prints how many cells and pins are sites, how many register bits were found again, how many upsets had
another outcome, and the outcomes. Ends with 1 if any differs.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.workload import OutputSpec, Workload
from resil.rtl_harness.faults import Fault, Injection
from resil.rtl_harness.logic.sites import pin_sites
from resil.rtl_harness.logic.synthesis import logic_netlist
from testkit.netlists import corresponding, synthesised

ROOT = Path(__file__).parents[2]


def awkward(folder: Path, *, scan: bool) -> tuple[Target, Path, Workload]:
    """Return the example, a target file that has its netlist in place of the design, and what runs."""
    example = ROOT / "examples" / "awkward"
    rtl = example / "rtl"
    sources = [rtl / f"{name}.sv" for name in ("awkward_pkg", "awkward", "control", "lanes", "history")]
    netlist, cells = synthesised(sources, "awkward", folder, scan=scan)
    text = (example / "target.toml").read_text(encoding="utf-8")
    own = ", ".join(f'"{file}"' for file in (netlist, rtl / "memory.sv", rtl / "awkward_bench.sv"))
    text = text.replace('["rtl/awkward_pkg.sv", "rtl/*.sv"]', f'[{own}]\ncells = "{cells}"')
    head, _, rest = text.partition("[blocks]")
    text = f'{head}[blocks]\nawkward = "u_dut"\n{rest[rest.index("[memories") :]}'
    (folder / "netlist.toml").write_text(text, encoding="utf-8")
    source = np.random.default_rng(17).integers(0, 256, 256, dtype=np.uint8)
    work = Workload("random", {"source": source.tobytes()}, OutputSpec("sink", 0, (512,)))
    return load_target(example / "target.toml"), folder / "netlist.toml", work


def compared(name: str, upsets: int, seed: int, folder: Path) -> int:
    """Compare one design; return how many upsets differ."""
    began = time.monotonic()
    rtl, file, work = awkward(folder, scan=name.endswith("scan"))
    target = load_target(file)
    # Of the RTL each bit by itself: what another synthesis would merge the netlist has apart.
    source, own = elaborate(rtl), with_hardware(target, elaborate(target))
    netlist = logic_netlist(target, own)
    pins = pin_sites(own.sites, netlist)
    pairs = corresponding(source.sites, own.sites)
    alone = sorted(pairs)
    rng = random.Random(seed)
    with VerilatorEngine(rtl, work, source) as before, VerilatorEngine(target, work, own) as after:
        cycles = before.golden().cycles
        every = [(rng.choice(alone), rng.randrange(cycles)) for _ in range(2 * upsets)]
        chosen = list(dict.fromkeys(every))[:upsets]
        judged = {each.fault: each for each in before.run([Fault(s, c) for s, c in chosen])}
        found = {each.fault: each for each in after.run([Fault(pairs[s], c) for s, c in chosen])}
    different = [
        (site, cycle)
        for site, cycle in chosen
        if _answer(judged[Fault(site, cycle)]) != _answer(found[Fault(pairs[site], cycle)])
    ]
    outcomes = Counter(each.outcome.value for each in judged.values())
    print(
        f"{name}: {netlist.cells:,} cells, {len(pins.pins):,} pins; {len(pairs):,} of {own.sites.size:,} "
        f"flip-flops are a register bit of the RTL; {len(chosen):,} upsets, {len(different)} different; "
        f"{', '.join(f'{count:,} {outcome}' for outcome, count in outcomes.most_common())}; "
        f"{time.monotonic() - began:.0f} s",
        flush=True,
    )
    for site, cycle in different[:20]:
        one, other = judged[Fault(site, cycle)], found[Fault(pairs[site], cycle)]
        print(f"  {source.sites[site].name}, cycle {cycle}: {one.outcome} in the RTL, {other.outcome} here")
    return len(different)


def _answer(own: Injection) -> tuple[object, ...]:
    return own.seen, own.end_cycle, own.status, own.output_hash, own.detected, own.corrected


def main() -> int:
    """Compare; return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("designs", nargs="*", default=["awkward", "awkward-scan"], help="which")
    parser.add_argument("--upsets", type=int, default=1000, help="of each design")
    parser.add_argument("--seed", type=int, default=20261126, help="of the draw")
    asked = parser.parse_args()
    wrong = 0
    for name in asked.designs:
        with tempfile.TemporaryDirectory() as folder:
            wrong += compared(name, asked.upsets, asked.seed, Path(folder))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
