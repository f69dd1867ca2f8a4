# SPDX-License-Identifier: Apache-2.0
"""When a run counts as a hang: the time-outs of the inference and of each operation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

from resil.rtl_harness.design.operations import Move, longest_operation
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError


class Timeout(StrEnum):
    """What has a time-out.

    INFERENCE: the whole of it. OPERATION: each operation too. A watchdog is restarted by each move of the
    counter of operations that the target names, in either direction, and expires when that has stood still
    for as many cycles as are allowed: a multiple of the longest time that it stands still in the run without
    a fault, from the release of reset to the first move and from the last one to the end included.
    """

    INFERENCE = "inference"
    OPERATION = "operation"


def check_timeout(target: Target, timeout: Timeout, factor: float) -> None:
    """Raise HarnessError unless a target can have such a time-out, so many times what a run needs."""
    if factor < 1:
        raise HarnessError(
            f"timeout_factor: expected at least 1, found {factor}; the golden run needs 1", "timeout_factor"
        )
    if timeout is Timeout.OPERATION and not target.operation:
        raise HarnessError(
            f'target {target.name}: timeout = "operation": expected an output of {target.top} that counts '
            "finished operations, found none; name one as operation in the target file, or take "
            'timeout = "inference"',
            "operation",
        )


def operation_allowance(
    target: Target, timeout: Timeout, factor: float, moves: Sequence[Move], end: int
) -> int | None:
    """Return the cycles for which a run's counter may stand still; None if it may for ever.

    Args:
        target: Whose run it was.
        timeout: What has a time-out.
        factor: Multiple of what the run without a fault needs.
        moves: Of the counter in that run, as `longest_operation` takes them.
        end: Its length in cycles, of both inferences if there are two.

    Raises:
        HarnessError: If the counter stood still all the time: there are no operations to be timed.
    """
    if timeout is Timeout.INFERENCE:
        return None
    if len(moves) < 2:
        raise HarnessError(
            f'target {target.name}: timeout = "operation": expected {target.operation} to move in the run '
            f"without a fault, found {moves[0][1] if moves else 0} all the time; name the output that counts "
            'finished operations, or take timeout = "inference"',
            "operation.moves",
        )
    return math.ceil(factor * longest_operation(moves, end))
