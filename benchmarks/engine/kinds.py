# SPDX-License-Identifier: Apache-2.0
"""What campaigns of several kinds take: upsets, stuck bits, upsets before two inferences, built protection.

Run as `python -m benchmarks.engine.kinds [NETWORK ...] [--models DIR] [--built DIR ...] [--faults N]
[--alone N] [--json]` from the root of the project. DIR is what `resil protect --build DIR` made of the
accelerator: upsets of it are measured beside those of the source, and nothing else.

Faults of flip-flops, uniform over bits and cycles, go through the engine in sweeps, with the audit; some of
them one by one, without. Told are injections a second of processor time, set-up aside, and how many
injections of those that went both ways differ: the exit code is 4 where any does. Stuck bits go together in
lanes, in place of sweeps.
"""

from __future__ import annotations

import argparse
import json
import random
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from benchmarks.engine.__main__ import networks, run, timed, uniform_faults, workload_parser
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.faults import Fault
from resil.rtl_harness.redundancy.build import TARGET


@dataclass(frozen=True)
class Rates:
    """Figures of one kind of campaign.

    Attributes:
        golden_cycles: Length of the run.
        faults: In sweeps; of stuck bits in lanes.
        audited: Of these.
        a_second: Injections a second of processor time.
        alone: Faults that went one by one as well.
        alone_a_second: Of these.
        different: Of these, injections that differ.
    """

    golden_cycles: int
    faults: int
    audited: int
    a_second: float
    alone: int
    alone_a_second: float
    different: int


def measured(
    workload: Workload, options: argparse.Namespace, *, stuck: bool = False, built: Path | None = None
) -> Rates:
    """Return the figures of one workload."""
    target = load_target(options.accelerator if built is None else built / TARGET)
    elaboration = elaborate(target, workload.parameters)
    choose = random.Random(options.seed)
    way = {"lanes": True} if stuck else {"sweep": True}
    with VerilatorEngine(target, workload, elaboration, **way) as engine:
        engine.prepare()
        golden = engine.golden()
        faults = uniform_faults(engine, options.faults, options.seed, ["ff"], (0, golden.cycles))
        if stuck:
            faults = sorted({Fault(fault.site, 0, held=choose.randrange(2)) for fault in faults})
            run(engine, faults[:1])  # what is made once
        before = engine.audited
        found, seconds = timed(partial(run, engine, faults))
        audited = engine.audited - before
    some = sorted(choose.sample(faults, min(len(faults), options.alone)))
    with VerilatorEngine(target, workload, elaboration, sweep=False, lanes=False, audit=NOTHING) as engine:
        engine.prepare()
        if stuck:
            run(engine, some[:1])
        expected, alone = timed(partial(run, engine, some))
    different = sum(found[fault] != expected[fault] for fault in some)
    end = golden.end.end_cycle
    return Rates(end, len(faults), audited, len(faults) / seconds, len(some), len(some) / alone, different)


def main(arguments: list[str] | None = None) -> int:
    """Print the figures of each kind and network."""
    parser = workload_parser(__doc__, faults=3000)
    parser.add_argument("--built", type=Path, action="append", help="folder of built protection")
    parser.add_argument("--alone", type=int, default=1000, help="faults that go one by one as well")
    options = parser.parse_args(arguments)
    figures: dict[str, Rates] = {}
    for name, made in networks(options.networks, options.models, options.accelerator):
        if options.only in name:
            figures[f"{name}: upsets"] = measured(made(), options)
            for built in options.built or ():
                figures[f"{name}: upsets, {built.name}"] = measured(made(), options, built=built)
            if options.built:
                continue
            figures[f"{name}: stuck bits"] = measured(made(), options, stuck=True)
            for again in ("rewrite", "reset"):
                figures[f"{name}: two inferences, {again}"] = measured(made(again=again), options)
    if options.json:
        print(json.dumps({kind: asdict(rates) for kind, rates in figures.items()}, indent=2))
    else:
        for kind, rates in figures.items():
            print(kind, *(f"  {key}: {value}" for key, value in asdict(rates).items()), sep="\n")
    return 4 if any(rates.different for rates in figures.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
