"""Where the elements of a tensor lie, and which transfers would leave the region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rtl_harness.npu.model.config import FeatureMap
from rtl_harness.npu.model.memory import Bytes, Memory, Offsets

_ADDRESS_SPACE = 1 << 32
BRICK = 16

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Placement:
    """Byte offsets of a tensor's elements.

    Attributes:
        offsets: Offset of each element in its region, shape (height, width, depth).
        inside: The element's segment lies inside the region; same shape.
    """

    offsets: Offsets
    inside: Mask


def channel_cuts(depth: int, steps: Sequence[int]) -> list[int]:
    """Return the channels at which segments begin: the multiples of all `steps` below `depth`, ascending."""
    return sorted({cut for step in steps for cut in range(0, depth, step)})


def place(tensor: FeatureMap, cuts: Sequence[int], region_size: int) -> Placement:
    """Locate the elements of a tensor.

    Args:
        tensor: The tensor.
        cuts: First channel of each segment, ascending from 0; no segment crosses a multiple of 16 in NHCWB16.
        region_size: Bytes of its region.
    """
    first = np.array(cuts, dtype=np.int64)
    length = np.diff(np.append(first, tensor.depth))
    y = np.arange(tensor.height, dtype=np.int64)[:, None, None] * tensor.stride_y
    x = np.arange(tensor.width, dtype=np.int64)[None, :, None] * (BRICK if tensor.bricks else tensor.stride_x)
    z = first // BRICK * tensor.stride_c + first % BRICK if tensor.bricks else first
    start = (tensor.base + y + x + z) % _ADDRESS_SPACE
    inside = start + length <= region_size
    segment = np.repeat(np.arange(len(first)), length)
    within = np.arange(tensor.depth) - first[segment]
    return Placement(start[:, :, segment] + within, inside[:, :, segment])


class Transfer:
    """The elements of a placement that are transferred, in a fixed order.

    Attributes:
        shape: (height, width, depth) of the tensor.
        complete: All elements are transferred.
    """

    def __init__(self, placement: Placement, order: Offsets | None = None) -> None:
        """Take the elements inside the region, in the order of the flat indices `order` or of the tensor."""
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
        self._offsets = _as_slice(offsets)

    def read(self, memory: Memory, region: int) -> Bytes:
        """Return the tensor, shape (active or 1, height, width, depth); what is not transferred is zero."""
        if self._selected is None:
            return memory.read(region, self._offsets).reshape(-1, *self.shape)
        count = int(np.prod(self.shape))
        if not len(self._selected):
            return np.zeros((1, *self.shape), dtype=np.uint8)
        data = memory.read(region, self._offsets)
        tensor = np.zeros((len(data), count), dtype=np.uint8)
        tensor[:, self._selected] = data
        return tensor.reshape(-1, *self.shape)

    def write(self, memory: Memory, region: int, tensor: Bytes) -> None:
        """Store a tensor of shape (active or 1, height, width, depth)."""
        flat = tensor.reshape(len(tensor), -1)
        if self._selected is None:
            memory.write(region, self._offsets, flat)
        elif len(self._selected):
            memory.write(region, self._offsets, flat[:, self._selected])


def has_duplicates(placement: Placement) -> bool:
    """Return whether two elements share a byte."""
    offsets = np.sort(placement.offsets[placement.inside], axis=None)
    return bool((offsets[1:] == offsets[:-1]).any())


def _as_slice(offsets: Offsets) -> Offsets | slice:
    if len(offsets) and (np.diff(offsets) == 1).all():
        return slice(int(offsets[0]), int(offsets[-1]) + 1)
    return offsets
