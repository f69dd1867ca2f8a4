# SPDX-License-Identifier: Apache-2.0
"""The gates of a design, with all that a run's end is known by among what is watched along them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.gates.gates import read_gates
from resil.rtl_harness.engine.fast.gates.gates_file import Gates
from resil.rtl_harness.engine.workload import Workload


def watched_gates(target: Target, workload: Workload, elaboration: Elaboration) -> Gates:
    """Return the target as gates, as `read_gates`; among `ports` is what counts a workload's inferences.

    A run of several inferences pauses where the first has ended: a difference in their count has to be seen
    in the cycle in which it is there. Such gates have that count in place of the counter of operations.

    Raises:
        UnsupportedError: As `read_gates`.
    """
    if workload.inferences == 1:
        return read_gates(target, elaboration)
    gates = read_gates(replace(target, operation=target.inferences), elaboration)
    counted = np.array(gates.operation, np.int32)
    return replace(gates, ports=np.concatenate([gates.ports, counted]), operation=())
