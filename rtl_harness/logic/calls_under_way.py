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
        self._faults = tuple(faults)
        self._answered: set[int] = set()
        self._cycles = cycles
        self._reached = RawArray(ctypes.c_uint64, len(faults))

    def reached(self, call: int, cycle: int) -> None:
        """Note which cycle a call has come to, for all copies of this process."""
        self._reached[call] = cycle

    def answered(self, call: int) -> None:
        """Note that a call has answered; its faults are under way no more."""
        self._answered.add(call)

    def total(self) -> float:
        """Return what has been done by now, in faults: half of a run to its end counts as half a fault."""
        calls = enumerate(zip(self._faults, self._reached, strict=True))
        left = ((faults, int(row)) for call, (faults, row) in calls if call not in self._answered)
        return sum((faults * min(row / self._cycles, 1.0) for faults, row in left), 0.0)
