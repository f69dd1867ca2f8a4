# SPDX-License-Identifier: Apache-2.0
"""Images of a memory one after another, kept as what changes between them; and parts of a memory."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.npu.model.memory import Bytes

BATCH_BYTES = 1 << 28
"""Of images that are worked on together."""

Ranges = tuple[range, ...]
"""Parts of a memory, ascending, apart from each other, none empty."""


def batch_size(image_bytes: int, most: int) -> int:
    """Return how many images of that size are worked on together, at least one and at most `most`.

    >>> batch_size(1 << 20, 64), batch_size(1 << 26, 64)
    (64, 4)
    """
    return max(1, min(most, BATCH_BYTES // max(1, image_bytes)))


def united(parts: Iterable[range]) -> Ranges:
    """Return what lies in any of these parts.

    >>> united([range(4, 6), range(0, 4), range(9, 9), range(8, 9)])
    (range(0, 6), range(8, 9))
    """
    found: list[range] = []
    for part in sorted((p for p in parts if p), key=lambda p: p.start):
        if found and part.start <= found[-1].stop:
            found[-1] = range(found[-1].start, max(found[-1].stop, part.stop))
        else:
            found.append(part)
    return tuple(found)


def without(parts: Iterable[range], taken: range) -> Ranges:
    """Return parts of a memory less one of them.

    >>> without([range(0, 6), range(8, 9)], range(2, 4))
    (range(0, 2), range(4, 6), range(8, 9))
    """
    rest = []
    for part in parts:
        rest += [
            range(part.start, min(part.stop, taken.start)),
            range(max(part.start, taken.stop), part.stop),
        ]
    return united(part for part in rest if part.start < part.stop)


class ImageHistory:
    """Images of a memory of one size, by the order in which they were added.

    What is kept grows with what changes between neighbours, not with the memory times their number.

    Args:
        first: The first image, (bytes,).
    """

    def __init__(self, first: Bytes) -> None:
        self._image = first.copy()
        self._at = 0
        self._changes: list[tuple[npt.NDArray[np.int64], Bytes]] = []  # XORed from each to the next

    def __len__(self) -> int:
        return len(self._changes) + 1

    @property
    def size(self) -> int:
        """Bytes of an image."""
        return len(self._image)

    def add(self, image: Bytes) -> None:
        """Add an image behind the last one."""
        last = self.at(len(self) - 1)
        places = np.flatnonzero(last != image)
        self._changes.append((places, last[places] ^ image[places]))

    def at(self, number: int) -> Bytes:
        """Return an image, which is valid until the next call; read only."""
        if not 0 <= number < len(self):
            raise IndexError(f"expected an image from 0 to {len(self) - 1}, found {number}")
        steps = range(self._at, number) if number >= self._at else range(self._at - 1, number - 1, -1)
        for step in steps:
            places, xors = self._changes[step]
            self._image[places] ^= xors
        self._at = number
        found = self._image.view()
        found.flags.writeable = False
        return found
