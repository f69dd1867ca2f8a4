# SPDX-License-Identifier: Apache-2.0
"""Which bits of storage differed from the golden run's, from the cycle of the fault on."""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator

import numpy as np

from resil.rtl_harness.engine.trace.storage_bits import NO_BITS, Bits

MOST = 1 << 28
"""Bytes that all differences together may take."""
_SMALL = 64
_Packed = tuple[int, bytes]


class DifferenceHistory:
    """The difference of two runs in each cycle.

    Args:
        first: The first cycle, that of the fault.

    Attributes:
        first: The same.
        end: The cycle after the last that is known.
        full: So much has differed that later cycles were not taken: `MOST` has been reached.
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.end = first
        self.full = False
        self._taken = 0
        self._cycles: list[int] = []
        self._packed: list[_Packed] = []
        self._last: Bits = NO_BITS

    def add(self, bits: Bits) -> bool:
        """Note the difference of the next cycle; true if it is another one than before."""
        if self.full:
            return False
        changed = not self._packed or not np.array_equal(self._last, bits)
        if changed:
            packed = _packed(bits)
            self._taken += len(packed)
            self.full = self._taken > MOST
            self._cycles.append(self.end)
            self._packed.append((len(bits), packed))
            self._last = bits
        self.end += 1
        return changed

    def at(self, cycle: int) -> Bits:
        """Return the bits that differ in a cycle."""
        if not self.first <= cycle < self.end:
            return NO_BITS
        return _unpacked(self._packed[bisect_right(self._cycles, cycle) - 1])

    def differs(self, bit: int, cycle: int) -> bool:
        """Whether a bit differs in a cycle."""
        bits = self.at(cycle)
        place = int(np.searchsorted(bits, bit))
        return place < len(bits) and bool(bits[place] == bit)

    def spans(self) -> Iterator[tuple[int, int, Bits]]:
        """Yield the first and the last cycle of each difference that stayed the same, and its bits."""
        ends = [*self._cycles[1:], self.end]
        for first, end, packed in zip(self._cycles, ends, self._packed, strict=True):
            yield first, end - 1, _unpacked(packed)

    def since(self, bit: int) -> int | None:
        """Return the cycle from which on a bit differs up to the last one; None if it does not then."""
        return self.since_of([bit]).get(bit)

    def since_of(self, bits: Iterable[int]) -> dict[int, int]:
        """Return `since` of bits, those alone that differ in the last cycle."""
        lasting = np.array(sorted(bits), np.int64)
        found: dict[int, int] = {}
        for cycle, packed in zip(reversed(self._cycles), reversed(self._packed), strict=True):
            lasting = lasting[np.isin(lasting, _unpacked(packed), assume_unique=True)]
            if not len(lasting):
                break
            found.update(dict.fromkeys(lasting.tolist(), cycle))
        return found

    @property
    def vanished(self) -> int | None:
        """The cycle from which on nothing differs up to the last one; None if something does."""
        if self._packed and not len(self._last):
            return self._cycles[-1]
        return None


def _packed(bits: Bits) -> bytes:
    """Return bits as steps from one to the next, small where many differ."""
    steps = np.diff(bits, prepend=0).astype(np.int32).tobytes()
    return steps if len(bits) <= _SMALL else zlib.compress(steps, 1)


def _unpacked(packed: _Packed) -> Bits:
    count, content = packed
    steps = np.frombuffer(content if count <= _SMALL else zlib.decompress(content), np.int32)
    return np.cumsum(steps, dtype=np.int64)
