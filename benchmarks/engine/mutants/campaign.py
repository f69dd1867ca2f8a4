"""A campaign whose audit alone has to notice that the engine is wrong; prints what it noticed, as JSON.

Run as `python -m benchmarks.engine.mutants.campaign [--faults N]` by the tool beside it, on each mutant.
"""

from __future__ import annotations

import argparse
import json
import random

from networks import zoo
from networks.compile import compile_network
from rtl_harness.elaboration import elaborate
from rtl_harness.engines.verilator.audit import Audit
from rtl_harness.engines.verilator.engine import VerilatorEngine
from rtl_harness.errors import HarnessError
from rtl_harness.faults import Fault
from rtl_harness.npu.workload import npu_workload
from rtl_harness.target import load_target


def faults_of(engine: VerilatorEngine, number: int, seed: int) -> list[Fault]:
    """Return faults of one to three bits, as many of each block and kind of storage as of any other."""
    choose, table, cycles = random.Random(seed), engine.elaboration.sites, engine.golden().cycles
    groups: dict[tuple[str, str], list[int]] = {}
    for index, element in enumerate(table.elements):
        groups.setdefault((element.block, element.kind), []).append(index)
    chosen: set[Fault] = set()
    while len(chosen) < number:
        group = sorted(groups)[len(chosen) % len(groups)]
        index = choose.choice(groups[group])
        site = choose.randrange(table.offsets[index], table.offsets[index + 1])
        bits = min(choose.choice((1, 1, 2, 3)), table.room(site))
        chosen.add(Fault(site, choose.randrange(cycles), bits))
    return sorted(chosen)


def main() -> int:
    """Print what was noticed, what the engine says of itself, and how many answers were tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=1200)
    parser.add_argument("--share", type=float, default=1.0, help="of the answers that is audited, up to 200")
    parser.add_argument("--network", default="digits_separable")
    parser.add_argument("--lanes", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    network, target = zoo.load(options.network), load_target("ethos-u55-32")
    workload = npu_workload(compile_network(network.path, "ethos-u55-32"), network.heldout_inputs[0])
    parts = target, workload, elaborate(target, workload.parameters)
    audit = Audit(share=options.share)
    notes: list[str] = []
    noticed, tried = "", 0
    try:
        with VerilatorEngine(*parts, sweep=True, lanes=options.lanes, audit=audit) as engine:
            try:
                list(engine.run(faults_of(engine, options.faults, options.seed)))
            finally:
                notes, tried = engine.notes, engine.audited
    except HarnessError as error:
        noticed = f"{type(error).__name__}: {error}"
    print(json.dumps({"noticed": noticed, "notes": notes, "tried": tried}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
