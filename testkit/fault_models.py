# SPDX-License-Identifier: Apache-2.0
"""Faults in logic of each model beside the netlist in an untouched simulator: for tests and benchmarks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.faults import Injection
from testkit.clock_tree import NetlistMaker, as_synthesised
from testkit.held import compared_bridges, compared_holds, compared_opens
from testkit.pulses import compared_pulses

PERMANENT = {"stuck_at": compared_holds, "open": compared_opens, "bridge": compared_bridges}
MODELS = (*PERMANENT, "set")


@dataclass(frozen=True)
class ComparedFaults:
    """What engine and truth say of the same faults.

    Attributes:
        different: Those with another answer, in words.
        outcomes: Of all, as the engine has them.
    """

    different: list[str]
    outcomes: Counter[str]


def compared_faults(
    model: str,
    target: Target,
    workload: Workload,
    number: int,
    seed: int,
    folder: Path,
    made: NetlistMaker = as_synthesised,
) -> ComparedFaults:
    """Draw faults of one of `MODELS`, and compare engine and truth; the netlist goes to a folder."""
    if model not in PERMANENT:
        pulses = compared_pulses(target, workload, number, seed, folder, made=made)
        said = [_said(f"{pin}, cycle {cycle}", *both) for pin, cycle, *both in pulses.different]
        return ComparedFaults(said, pulses.outcomes)
    elaboration = with_hardware(target, elaborate(target))
    both = PERMANENT[model](target, workload, elaboration, number, seed, folder, made=made)
    said = [_said(str(both.pins[at]), both.found[at], both.judged[at]) for at in both.different]
    return ComparedFaults(said, Counter(own.outcome.value for own in both.found))


def _said(fault: str, ours: Injection, truth: Injection) -> str:
    return f"{fault}: {ours.outcome} here, {truth.outcome} on the netlist"
