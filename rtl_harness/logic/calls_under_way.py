# SPDX-License-Identifier: Apache-2.0
"""How far calls of the simulator of faulty logic are, which answer for all their faults at the end."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from multiprocessing.sharedctypes import RawArray


class CallsUnderWay:
    """What has been done of calls that have not answered, in this process and in copies of it.

    Args:
        faults: That each call answers for.
        cycles: To the end of the run without a fault.
    """

    def __init__(self, faults: Sequence[int], cycles: int) -> None:
        self._left = list(faults)
        self._faults = tuple(faults)
        self._cycles = cycles
        self._reached = RawArray(ctypes.c_uint64, len(faults))

    def reached(self, call: int, cycle: int) -> None:
        """Note which cycle a call has come to, for all copies of this process."""
        self._reached[call] = cycle

    def answered(self, call: int, faults: int) -> None:
        """Note that faults of a call are answered for; those are under way no more."""
        self._left[call] -= faults

    def total(self) -> float:
        """Return what has been done by now, in faults: half of a run to its end counts as half a fault."""
        calls = zip(self._faults, self._left, self._reached, strict=True)
        return float(
            sum(faults * min(row / self._cycles, 1.0) for faults, left, row in calls if left == faults)
        )
