# SPDX-License-Identifier: Apache-2.0
"""Where the elements of a tensor lie, and which transfers would leave the region."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.npu.model.memory import Bytes, Offsets, RegionMemory
from resil.rtl_harness.npu.model.tensors import FeatureMap

_ADDRESS_SPACE = 1 << 32
BRICK = 16
_READ_BYTES = 32
_WRITE_BYTES = 16

Mask = npt.NDArray[np.bool_]
Elements = npt.NDArray[np.generic]
RegionSize = Callable[[int], int]


@dataclass(frozen=True)
class Placement:
    """Byte offsets of a tensor's elements.

    Attributes:
        offsets: Offset of the first byte of each element in its region, shape (height, width, depth).
        inside: The element's segment lies inside the region; same shape.
    """

    offsets: Offsets
    inside: Mask


def read_cuts(tensor: FeatureMap, step: int) -> list[int]:
    """Return the channels at which segments begin that are read, `step` channels in one go."""
    longest = BRICK if tensor.bricks and tensor.element_bytes == 1 else _READ_BYTES // tensor.element_bytes
    return _cuts(tensor.depth, step, longest)


def write_cuts(tensor: FeatureMap, step: int) -> list[int]:
    """Return the channels at which segments begin that are written, blocks of `step` channels."""
    return _cuts(tensor.depth, step, _WRITE_BYTES // tensor.element_bytes)


def _cuts(depth: int, step: int, longest: int) -> list[int]:
    return [cut for first in range(0, depth, step) for cut in range(first, min(first + step, depth), longest)]


def place(tensor: FeatureMap, cuts: Sequence[int], region_size: int) -> Placement:
    """Locate the elements of a tensor.

    Args:
        tensor: The tensor.
        cuts: First channel of each segment, ascending from 0; no segment crosses a multiple of 16 in NHCWB16.
        region_size: Bytes of its region.
    """
    size = tensor.element_bytes
    first = np.array(cuts, dtype=np.int64)
    length = np.diff(np.append(first, tensor.depth))
    z = first // BRICK * tensor.stride_c + first % BRICK * size if tensor.bricks else first * size
    start = (_pixels(tensor)[:, :, None] + z) % _ADDRESS_SPACE
    inside = start + length * size <= region_size
    segment = np.repeat(np.arange(len(first)), length)
    within = (np.arange(tensor.depth) - first[segment]) * size
    return Placement(start[:, :, segment] + within, inside[:, :, segment])


def _pixels(tensor: FeatureMap) -> Offsets:
    """Return the offset of each pixel's channel 0, shape (height, width), not reduced modulo 2^32."""
    tiles = tensor.tiles
    y = np.arange(tensor.height, dtype=np.int64)[:, None]
    x = np.arange(tensor.width, dtype=np.int64)[None, :]
    right = x >= tiles.width
    upper_rows = np.where(right, tiles.right_height, tiles.left_height)
    lower = y >= upper_rows
    step_x = BRICK * tensor.element_bytes if tensor.bricks else tensor.stride_x
    return np.asarray(
        np.array(tiles.bases, dtype=np.int64)[2 * lower + right]
        + (y - lower * upper_rows) * tensor.stride_y
        + (x - right * tiles.width) * step_x
    )


class Transfer:
    """The elements of a placement that are transferred, in a fixed order.

    Attributes:
        shape: (height, width, depth) of the tensor.
        complete: All elements are transferred.
    """

    def __init__(self, tensor: FeatureMap, placement: Placement, order: Offsets | None = None) -> None:
        """Take the elements inside the region, in the order of the flat indices `order` or of the tensor."""
        self._region, self._dtype = tensor.region, tensor.dtype
        self.shape = placement.offsets.shape
        flat = placement.offsets.reshape(-1)
        inside = placement.inside.reshape(-1)
        self.complete = bool(inside.all())
        self._selected: Offsets | None = None
        if order is not None:
            self._selected = order[inside[order]]
        elif not self.complete:
            self._selected = np.flatnonzero(inside)
        offsets = flat if self._selected is None else flat[self._selected]
        self._offsets = _as_slice((offsets[:, None] + np.arange(tensor.element_bytes)).reshape(-1))

    def read(self, memory: RegionMemory) -> Elements:
        """Return the tensor, shape (active or 1, height, width, depth); what is not transferred is zero."""
        if self._selected is None:
            return self._elements(memory).reshape(-1, *self.shape)
        count = int(np.prod(self.shape))
        if not len(self._selected):
            return np.zeros((1, *self.shape), dtype=self._dtype)
        data = self._elements(memory)
        tensor = np.zeros((len(data), count), dtype=self._dtype)
        tensor[:, self._selected] = data
        return tensor.reshape(-1, *self.shape)

    def _elements(self, memory: RegionMemory) -> Elements:
        return np.ascontiguousarray(memory.read(self._region, self._offsets)).view(self._dtype)

    def write(self, memory: RegionMemory, tensor: Elements) -> None:
        """Store a tensor of shape (active or 1, height, width, depth) and the tensor's element type."""
        flat = tensor.reshape(len(tensor), -1)
        if self._selected is not None:
            flat = flat[:, self._selected]
        if flat.size:
            data: Bytes = np.ascontiguousarray(flat).view(np.uint8)
            memory.write(self._region, self._offsets, data)


def has_duplicates(tensor: FeatureMap, placement: Placement) -> bool:
    """Return whether two elements share a byte."""
    offsets = np.sort(placement.offsets[placement.inside], axis=None)
    return bool((np.diff(offsets) < tensor.element_bytes).any())


def _as_slice(offsets: Offsets) -> Offsets | slice:
    if len(offsets) and (np.diff(offsets) == 1).all():
        return slice(int(offsets[0]), int(offsets[-1]) + 1)
    return offsets
