# SPDX-License-Identifier: Apache-2.0
"""What the fast engine is built of, begun before the engine asks for it."""

from __future__ import annotations

from collections.abc import Callable

from resil.rtl_harness.cache import build_meanwhile
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.acceleration import LANES_MADE_FROM, SWEEP_FROM
from resil.rtl_harness.engine.fast.lanes.build import lane_model, pays
from resil.rtl_harness.engine.fast.native.runner import Runner
from resil.rtl_harness.engine.fast.state_map import variables_of
from resil.rtl_harness.engine.fast.watched_gates import watched_gates
from resil.rtl_harness.engine.workload import Workload

# An estimate of the cycles is that far off at the most: gates that would not be used are not begun.
_OFF = 2


def build_ahead(target: Target, workload: Workload, elaboration: Elaboration, fault_cycles: int) -> None:
    """Begin to build the simulator, and gates and lane model if so many faults times cycles ask for them.

    Args:
        target: The design.
        workload: What it will run.
        elaboration: Its storage.
        fault_cycles: Faults times estimated cycles of the golden run.
    """
    builds: list[Callable[[], object]]
    builds = [lambda: Runner(target, workload.parameters, variables_of(elaboration))]
    if fault_cycles >= _OFF * SWEEP_FROM:
        builds.append(lambda: watched_gates(target, workload, elaboration))
    if workload.inferences == 1 and fault_cycles >= _OFF * LANES_MADE_FROM and pays():
        builds.append(lambda: lane_model(target, elaboration.parameters))
    build_meanwhile(*builds)
