# SPDX-License-Identifier: Apache-2.0
"""The regions of memory, for a batch of images."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]

# Number under which the shared buffer goes beside the regions 0 to 7.
SHARED_BUFFER = 8


class RegionMemory:
    """The regions that a stream works on, and the batch elements that are still running.

    Regions may be shared, shape (bytes,), or given for each batch element, shape (batch, bytes). Reads and
    writes concern the active batch elements. A read from a shared region has one row, whatever the batch.
    The shared buffer is one more region; where it is not given, it is zero until it is written.

    Attributes:
        batch: Number of batch elements.
        active: Indices of the batch elements that have not ended, ascending.
    """

    def __init__(self, regions: Mapping[int, Bytes], shared_buffer_bytes: int) -> None:
        """Refer to `regions`; raise ValueError if their shapes, types or numbers do not fit."""
        for number, region in regions.items():
            if region.dtype != np.uint8 or region.ndim not in (1, 2) or not 0 <= number <= SHARED_BUFFER:
                raise ValueError(
                    f"expected regions 0 to {SHARED_BUFFER} of uint8 and shape (bytes,) or (batch, bytes), "
                    f"found region {number} of {region.dtype} and shape {region.shape}"
                )
        batches = {region.shape[0] for region in regions.values() if region.ndim == 2} or {1}
        if len(batches) > 1:
            raise ValueError(f"expected one batch size, found regions of {sorted(batches)} elements")
        self.batch = batches.pop()
        self.active = np.arange(self.batch)
        self._regions = {n: np.atleast_2d(region) for n, region in regions.items()}
        if SHARED_BUFFER not in self._regions:
            self._regions[SHARED_BUFFER] = np.zeros((self.batch, shared_buffer_bytes), dtype=np.uint8)
        elif self.size(SHARED_BUFFER) != shared_buffer_bytes:
            raise ValueError(
                f"expected a shared buffer of {shared_buffer_bytes} bytes, found {self.size(SHARED_BUFFER)}"
            )

    def size(self, region: int) -> int:
        """Bytes of a region; 0 if there is none of that number."""
        return self._regions[region].shape[1] if region in self._regions else 0

    def check_writable(self, region: int) -> None:
        """Raise ValueError if batch elements would write to memory that they share, or to a constant."""
        data = self._regions.get(region)
        if data is None:
            return
        if data.shape[0] != self.batch:
            raise ValueError(
                f"region {region} is written: give it for each element, shape ({self.batch}, bytes)"
            )
        if not data.flags.writeable:
            raise ValueError(f"region {region} is written: its array must be writeable")

    def retire(self, ended: npt.NDArray[np.bool_]) -> None:
        """Take the active elements where `ended` is set, shape (active,), out of the run."""
        self.active = self.active[~ended]

    def read(self, region: int, offsets: Offsets | slice) -> Bytes:
        """Return the bytes at flat `offsets`, shape (active or 1, len(offsets)).

        The bytes of a slice that lie beyond the region are zero; other offsets are inside.
        """
        if isinstance(offsets, slice) and offsets.stop > self.size(region):
            return self._read_beyond(region, offsets)
        data = self._regions[region]
        if data.shape[0] == 1 or self._all_active:
            return data[:, offsets] if isinstance(offsets, slice) else data.take(offsets, axis=1)
        return (
            data[self.active, offsets] if isinstance(offsets, slice) else data[self.active[:, None], offsets]
        )

    def _read_beyond(self, region: int, offsets: slice) -> Bytes:
        size = self.size(region)
        first = min(offsets.start, size)
        found = self.read(region, slice(first, size)) if size else np.zeros((1, 0), np.uint8)
        return np.pad(found, ((0, 0), (0, offsets.stop - offsets.start - found.shape[1])))

    def write(self, region: int, offsets: Offsets | slice, values: Bytes) -> None:
        """Set the bytes at flat `offsets`; of equal offsets the last counts.

        Args:
            region: Region number.
            offsets: Shape (n,) or a slice of n bytes, inside the region.
            values: Shape (active or 1, n).
        """
        data = self._regions[region]
        if self._all_active:
            data[:, offsets] = values
        elif isinstance(offsets, slice):
            data[self.active, offsets] = values
        else:
            data[self.active[:, None], offsets] = values

    @property
    def _all_active(self) -> bool:
        return bool(len(self.active) == self.batch)
