# SPDX-License-Identifier: Apache-2.0
"""Windows that slide over feature maps, in TensorFlow Lite's conventions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Window:
    """A kernel that slides over the two middle dimensions of (N, H, W, C).

    Attributes:
        size: Taps in y and x.
        stride: Step in y and x.
        padding: "SAME" or "VALID".
        dilation: Distance of taps in y and x.
    """

    size: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    padding: str = "VALID"
    dilation: tuple[int, int] = (1, 1)

    def axis(self, extent: int, dimension: int) -> tuple[int, int, int]:
        """Return output size, padding before and padding after along dimension 0 (y) or 1 (x)."""
        reach = (self.size[dimension] - 1) * self.dilation[dimension] + 1
        stride = self.stride[dimension]
        if self.padding == "VALID":
            return (extent - reach) // stride + 1, 0, 0
        output = -(-extent // stride)
        total = max((output - 1) * stride + reach - extent, 0)
        return output, total // 2, total - total // 2

    def output_shape(self, height: int, width: int) -> tuple[int, int]:
        """Return output height and width."""
        return self.axis(height, 0)[0], self.axis(width, 1)[0]

    def patches(self, maps: npt.NDArray[np.generic], fill: float | int) -> npt.NDArray[np.generic]:
        """Return what the kernel sees, (N, OH, OW, KH, KW, C); outside the map it sees `fill`."""
        (rows, top, bottom), (columns, left, right) = self.axis(maps.shape[1], 0), self.axis(maps.shape[2], 1)
        padded = np.pad(
            maps, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=np.asarray(fill)
        )
        y = _positions(rows, self.stride[0], self.size[0], self.dilation[0])
        x = _positions(columns, self.stride[1], self.size[1], self.dilation[1])
        return padded[:, y[:, None, :, None], x[None, :, None, :], :]


def _positions(count: int, stride: int, taps: int, dilation: int) -> npt.NDArray[np.intp]:
    return (np.arange(count) * stride)[:, None] + np.arange(taps) * dilation


def elements(shape: Sequence[int]) -> int:
    """Return the number of elements of a tensor of that shape, exactly."""
    product = 1
    for size in shape:
        product *= int(size)
    return product
