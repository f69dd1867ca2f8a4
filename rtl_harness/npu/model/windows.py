# SPDX-License-Identifier: Apache-2.0
"""What the kernel sees: the padded, upscaled IFM, its windows, and the pixels that are fetched for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.npu.model.feature_map import Elements, Mask
from resil.rtl_harness.npu.model.kernel import Axis, Kernel, Upscale

_T = TypeVar("_T", bound=np.generic)


def padded_input(
    elements: Elements, kernel: Kernel, zero_point: int, dtype: type[_T] | np.dtype[_T], padding: int = 0
) -> npt.NDArray[_T]:
    """Return the IFM without its zero point, upscaled, with `padding` around it and between its pixels.

    Args:
        elements: Shape (n, height, width, depth).
        kernel: The operation's.
        zero_point: Subtracted.
        dtype: Of the result.
        padding: Value of the padding.

    Returns:
        Shape (n, rows, columns, depth), the rows and columns that the kernel reaches.
    """
    y, x = kernel.y, kernel.x
    rows, columns = (a.pad_before + a.inputs + a.pad_after for a in (y, x))
    padded = np.full((len(elements), rows, columns, elements.shape[3]), padding, dtype=dtype)
    inner = padded[:, y.pad_before : y.pad_before + y.inputs, x.pad_before : x.pad_before + x.inputs]
    if y.upscale == Upscale.NONE:
        np.subtract(elements, zero_point, out=inner, dtype=dtype, casting="unsafe")
        return padded
    stored = np.subtract(elements, zero_point, dtype=dtype, casting="unsafe")
    places = [(0, 0)] if y.upscale == Upscale.ZEROS else [(0, 0), (0, 1), (1, 0), (1, 1)]
    for down, across in places:
        target = inner[:, down::2, across::2]
        target[:] = stored[:, : target.shape[1], : target.shape[2]]
    return padded


def windows(padded: npt.NDArray[_T], kernel: Kernel) -> npt.NDArray[_T]:
    """Return what each OFM pixel sees, a view of shape (n, OFM rows, OFM columns, KH, KW, depth)."""
    y, x = kernel.y, kernel.x
    image, row, column, channel = padded.strides
    return np.lib.stride_tricks.as_strided(
        padded,
        (len(padded), y.outputs, x.outputs, y.taps, x.taps, padded.shape[3]),
        (image, y.stride * row, x.stride * column, y.dilation * row, x.dilation * column, channel),
        writeable=False,
    )


def tap_views(padded: npt.NDArray[_T], kernel: Kernel) -> Iterator[tuple[int, int, npt.NDArray[_T]]]:
    """Yield each tap (ky, kx) and what the OFM pixels see there, shape (n, OFM rows, OFM columns, depth)."""
    seen = windows(padded, kernel)
    for ky in range(kernel.y.taps):
        for kx in range(kernel.x.taps):
            yield ky, kx, seen[:, :, :, ky, kx]


def fetched(kernel: Kernel) -> Mask:
    """Return the IFM pixels in memory that are transferred, shape (height, width, 1).

    They are those of the rectangles that the subkernels span for each block.
    """
    return _fetched_along(kernel.y)[:, None, None] & _fetched_along(kernel.x)[None, :, None]


def _fetched_along(axis: Axis) -> Mask:
    mask = np.zeros(axis.stored, dtype=bool)
    for first in range(0, axis.outputs, axis.block):
        last = min(first + axis.block, axis.outputs) - 1
        for tap in range(0, axis.taps, axis.subkernel):
            last_tap = min(tap + axis.subkernel, axis.taps) - 1
            begin = first * axis.stride + tap * axis.dilation - axis.pad_before
            end = last * axis.stride + last_tap * axis.dilation - axis.pad_before
            if axis.upscale:
                begin = begin + (axis.upscale == Upscale.ZEROS) >> 1
                end = max(end >> 1, begin)
            mask[max(begin, 0) : max(end + 1, 0)] = True
    return mask
