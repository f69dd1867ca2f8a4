# SPDX-License-Identifier: Apache-2.0
"""A campaign whose audit alone has to notice that the engine is wrong; prints what it noticed, as JSON.

Run as `python -m benchmarks.engine.mutants.campaign [--of CAMPAIGN] [--faults N] [--answers FILE]` by the
tool beside it, on each mutant. The file gets each answer with how it came about, to be compared with those of
the right engine. The campaign of logic holds and opens pins of the small awkward design, and lets pulses
strike it, as many of each.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import astuple, replace
from pathlib import Path

from benchmarks.engine.mutants.edits import MutantCampaign
from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.audit_sample import AuditSize, kind_of
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.processes import EngineOutcome
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault
from resil.rtl_harness.logic.open_pins import OpenHolder, open_sites
from resil.rtl_harness.logic.pulse_engine import PulseEngine
from resil.rtl_harness.logic.sites import LogicSites, pin_sites, pulse_sites
from resil.rtl_harness.logic.stuck_engine import OPEN_INPUTS, StuckEngine
from resil.rtl_harness.logic.synthesis import logic_netlist
from resil.rtl_harness.npu.workload import npu_workload
from testkit.awkward import awkward_target, awkward_workload


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


def pins_of(sites: LogicSites, number: int, seed: int) -> list[Fault]:
    """Return pins drawn from all, each held or open at 0 or at 1."""
    every = [(sites.first + row, value) for row in range(len(sites.pins)) for value in (0, 1)]
    chosen = random.Random(seed).sample(every, min(number, len(every)))
    return [Fault(site, 0, held=value) for site, value in sorted(chosen)]


class Audited:
    """Answers of campaigns, how each came about, and what their audits noticed.

    Attributes:
        noticed: What the audit said; empty if nothing.
        notes: What engines said on their own account.
        tried: Answers that were audited.
        answers: By their faults.
    """

    def __init__(self) -> None:
        self.noticed = ""
        self.notes: list[str] = []
        self.tried = 0
        self.answers: dict[str, tuple[str, str]] = {}

    def upsets(self, options: argparse.Namespace, lanes: bool) -> None:
        """Invert storage of an NPU that runs a network of the zoo."""
        network, target = zoo.load(options.network), load_target("ethos-u55-32")
        workload = npu_workload(compile_network(network.path, "ethos-u55-32"), network.heldout_inputs[0])
        parts = target, workload, elaborate(target, workload.parameters)
        audit = AuditSize(share=options.share)
        with VerilatorEngine(*parts, sweep=True, lanes=lanes, audit=audit) as engine:
            end, sites = engine.golden().end.end_cycle, engine.elaboration.sites

            def keep(done: EngineOutcome) -> None:
                fault = done.injection.fault
                block = sites[fault.site].element.block
                said = repr(replace(done.injection, corruption=None))
                self.answers[str(astuple(fault))] = (f"{kind_of(done, end)} / {block}", said)

            engine.observer = keep
            try:
                list(engine.run(faults_of(engine, options.faults, options.seed)))
            finally:
                self.notes += engine.notes
                self.tried += engine.audited

    def logic(self, options: argparse.Namespace) -> None:
        """Hold and open pins of the small awkward design, and let pulses strike its gates."""
        target, work = awkward_target(), awkward_workload()
        elaboration = with_hardware(target, elaborate(target))
        netlist = logic_netlist(target, elaboration)
        held, opened = pin_sites(elaboration.sites, netlist), open_sites(elaboration.sites, netlist)
        audit = AuditSize(share=options.share)
        parts = target, work, elaboration, netlist
        for name, sites, engine in (
            ("held", held, StuckEngine(*parts, held, audit=audit)),
            ("open", opened, StuckEngine(*parts, opened, holder=OpenHolder, names=OPEN_INPUTS, audit=audit)),
        ):
            with engine:
                faults = pins_of(sites, options.faults // 3, options.seed)
                try:
                    for answer in engine.run(faults):
                        self.answers[f"{name} {astuple(answer.fault)}"] = (name, repr(answer))
                finally:
                    self.tried += engine.audited
        gates = pulse_sites(elaboration.sites, netlist)
        with PulseEngine(*parts, gates, sweep=True, audit=audit) as pulses:
            choose, cycles = random.Random(options.seed), pulses.golden().cycles
            strikes = [
                Fault(gates.first + choose.randrange(len(gates.pins)), choose.randrange(cycles))
                for _ in range(options.faults // 3)
            ]
            try:
                for answer in pulses.run(sorted({*strikes})):
                    self.answers[f"pulse {astuple(answer.fault)}"] = ("pulse", repr(answer))
            finally:
                self.tried += sum(own.tried for own in pulses.audits.values())


def main() -> int:
    """Print what was noticed, what the engine says of itself, and how many answers were tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--of", choices=[own.name.lower() for own in MutantCampaign], default="plain")
    parser.add_argument("--faults", type=int, default=1200)
    parser.add_argument("--share", type=float, default=1.0, help="of the answers that is audited, up to 200")
    parser.add_argument("--network", default="digits_separable")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--answers", type=Path, help="file for all answers, as JSON")
    options = parser.parse_args()
    campaign, found = MutantCampaign[options.of.upper()], Audited()
    try:
        if campaign is MutantCampaign.LOGIC:
            found.logic(options)
        else:
            found.upsets(options, campaign is MutantCampaign.LANES)
    except HarnessError as error:
        found.noticed = f"{type(error).__name__}: {error}"
    if options.answers:
        options.answers.write_text(json.dumps(found.answers), encoding="utf-8")
    print(json.dumps({"noticed": found.noticed, "notes": found.notes, "tried": found.tried}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
