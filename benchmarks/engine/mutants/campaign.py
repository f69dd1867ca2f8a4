# SPDX-License-Identifier: Apache-2.0
"""A campaign whose audit alone has to notice that the engine is wrong; prints what it noticed, as JSON.

Run as `python -m benchmarks.engine.mutants.campaign [--faults N] [--answers FILE]` by the tool beside it, on
each mutant. The file gets each answer with how it came about, to be compared with those of the right engine.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import astuple, replace
from pathlib import Path

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.audit_sample import AuditSize, kind_of
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.processes import EngineOutcome
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault
from resil.rtl_harness.npu.workload import npu_workload


def faults_of(
    engine: VerilatorEngine, number: int, seed: int, sizes: Sequence[int] = (1, 1, 2, 3)
) -> list[Fault]:
    """Return faults of these numbers of bits, as many of each block and kind of storage as of any other."""
    choose, table, cycles = random.Random(seed), engine.elaboration.sites, engine.golden().cycles
    groups: dict[tuple[str, str], list[int]] = {}
    for index, element in enumerate(table.elements):
        groups.setdefault((element.block, element.kind), []).append(index)
    chosen: set[Fault] = set()
    while len(chosen) < number:
        group = sorted(groups)[len(chosen) % len(groups)]
        index = choose.choice(groups[group])
        site = choose.randrange(table.offsets[index], table.offsets[index + 1])
        bits = min(choose.choice(sizes), table.room(site))
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
    parser.add_argument("--answers", type=Path, help="file for all answers, as JSON")
    options = parser.parse_args()
    network, target = zoo.load(options.network), load_target("ethos-u55-32")
    workload = npu_workload(compile_network(network.path, "ethos-u55-32"), network.heldout_inputs[0])
    parts = target, workload, elaborate(target, workload.parameters)
    audit = AuditSize(share=options.share)
    notes: list[str] = []
    noticed, tried = "", 0
    answers: dict[str, tuple[str, str]] = {}
    try:
        with VerilatorEngine(*parts, sweep=True, lanes=options.lanes, audit=audit) as engine:
            end, sites = engine.golden().end.end_cycle, engine.elaboration.sites

            def keep(done: EngineOutcome) -> None:
                fault = done.injection.fault
                block = sites[fault.site].element.block
                said = repr(replace(done.injection, corruption=None))
                answers[str(astuple(fault))] = (f"{kind_of(done, end)} / {block}", said)

            engine.observer = keep
            try:
                list(engine.run(faults_of(engine, options.faults, options.seed)))
            finally:
                notes, tried = engine.notes, engine.audited
    except HarnessError as error:
        noticed = f"{type(error).__name__}: {error}"
    if options.answers:
        options.answers.write_text(json.dumps(answers), encoding="utf-8")
    print(json.dumps({"noticed": noticed, "notes": notes, "tried": tried}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
