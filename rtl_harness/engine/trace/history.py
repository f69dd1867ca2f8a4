# SPDX-License-Identifier: Apache-2.0
"""Which bits of storage differed from the golden run's, from the cycle of the fault on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from resil.rtl_harness.engine.trace.storage_bits import NO_BITS, Bits


class DifferenceHistory:
    """The difference of two runs in each cycle.

    Args:
        first: The first cycle, that of the fault.

    Attributes:
        first: The same.
        end: The cycle after the last that was compared.
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.end = first
        self._cycles: list[int] = []
        self._bits: list[Bits] = []

    def add(self, bits: Bits) -> bool:
        """Note the difference of the next cycle; true if it is another one than before."""
        changed = not self._bits or not np.array_equal(self._bits[-1], bits)
        if changed:
            self._cycles.append(self.end)
            self._bits.append(bits)
        self.end += 1
        return changed

    def at(self, cycle: int) -> Bits:
        """Return the bits that differ in a cycle."""
        if not self.first <= cycle < self.end:
            return NO_BITS
        return self._bits[bisect_right(self._cycles, cycle) - 1]

    def differs(self, bit: int, cycle: int) -> bool:
        """Whether a bit differs in a cycle."""
        bits = self.at(cycle)
        place = int(np.searchsorted(bits, bit))
        return place < len(bits) and bool(bits[place] == bit)

    def spans(self) -> Iterator[tuple[int, int, Bits]]:
        """Yield the first and the last cycle of each difference that stayed the same, and its bits."""
        ends = [*self._cycles[1:], self.end]
        for first, end, bits in zip(self._cycles, ends, self._bits, strict=True):
            yield first, end - 1, bits

    def since(self, bit: int) -> int | None:
        """Return the cycle from which on a bit differs up to the last one; None if it does not then."""
        found = None
        for cycle, bits in zip(reversed(self._cycles), reversed(self._bits), strict=True):
            place = int(np.searchsorted(bits, bit))
            if place >= len(bits) or bits[place] != bit:
                break
            found = cycle
        return found

    @property
    def vanished(self) -> int | None:
        """The cycle from which on nothing differs up to the last one; None if something does."""
        if self._bits and not len(self._bits[-1]):
            return self._cycles[-1]
        return None
