# SPDX-License-Identifier: Apache-2.0
"""How long the operations of a network take, and whether a watchdog on them detects a hang in time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from resil.rtl_harness.redundancy.watchdog import LATENCY


@dataclass(frozen=True, slots=True)
class WatchdogPace:
    """Of one network, in cycles.

    Attributes:
        longest: Most for which the counter of operations stands still in the run without a fault.
        cycles: That run.
        allowed: After which a run counts as a hang.
        operation_allowed: For which the counter may stand still before a run counts as a hang; None if it
            may for ever.
    """

    longest: int
    cycles: int
    allowed: int
    operation_allowed: int | None = None

    def detects(self, limit: int) -> bool:
        """Whether a watchdog of that limit detects a hang before the run counts as one.

        Wherever the counter comes to its last stand in the time that the run without a fault takes. One that
        is set off later than the time-out is never seen: it helps nothing.
        """
        if self.operation_allowed is not None:
            return self.longest < limit and limit + LATENCY < self.operation_allowed
        return self.longest < limit and self.cycles + limit + LATENCY < self.allowed


def watchdog_limit(longest: Sequence[int], factor: float) -> int:
    """Return the limit of a watchdog that lets networks through, from their longest operations in cycles.

    Examples:
        >>> watchdog_limit([3053, 3937], 1.5)
        5906
    """
    return max(math.ceil(factor * max(longest)), max(longest) + 1)
