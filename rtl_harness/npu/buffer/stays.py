# SPDX-License-Identifier: Apache-2.0
"""Data that lie in the shared buffer for a while, and the boxes of elements that they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from resil.rtl_harness.npu.model.config import BANK_BYTES, STAGING_BANKS, NpuConfig

Span = tuple[int, int]
Box = tuple[Span, Span, Span]
Rows = tuple[tuple[int, int], ...]

WORD_BYTES = 8
ROW_BYTES = 16
ACCUMULATOR_BITS = 32
BANK_ROWS = BANK_BYTES // ROW_BYTES
RING_ROWS = STAGING_BANKS * BANK_ROWS


class Role(StrEnum):
    """What the data are."""

    INPUT = "input"
    OPERAND = "operand"
    ACCUMULATOR = "accumulator"
    STAGED = "staged"
    TABLE = "table"


@dataclass(frozen=True)
class Stay:
    """Data of one role that lie in the shared buffer for a while. Times are cycles of the inference.

    Attributes:
        role: What they are.
        operation: That uses them.
        box: Rows, columns and channels, each from and to, of the tensor that they are a part of: the IFM, the
            second operand, or the OFM; of a table, its bytes as channels.
        bits: Bits of each of its elements.
        reach: OFM elements that they may change.
        written: When the first element is written, and when the last one.
        read: When the first element is read for the last time, and when the last one.
        used: When the outputs that they may change begin to be computed, and when that ends; of accumulators
            when the MAC unit begins with its last step, and when the output unit ends.
        by_channel: Elements are written and read channel by channel; else row by row.
        rows: Where they lie: first 128-bit row of the shared buffer, counted over its banks, and how many.
        group: Channels that are written at a time.
    """

    role: Role
    operation: int
    box: Box
    bits: int
    reach: Box
    written: tuple[float, float]
    read: tuple[float, float]
    used: tuple[float, float]
    by_channel: bool
    rows: Rows
    group: int = 1

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(high - low for low, high in self.box)

    @property
    def bit_cycles(self) -> float:
        """Bits times the cycles in which a flip of them is read."""
        first, last = self.written
        written = first + self._mean_write * (last - first)
        return self.elements * self.bits * max(sum(self.read) / 2.0 - written, 0.0)

    @property
    def last_written(self) -> float:
        """When the mean element is written for the last time; accumulators are until their last step ends."""
        first, last = (self.used[0], self.read[0]) if self.role is Role.ACCUMULATOR else self.written
        return (first + last) / 2.0

    @property
    def _mean_write(self) -> float:
        """Return how far the mean element is from the first that is written to the last."""
        if self.role is not Role.ACCUMULATOR:
            return 0.5
        low, high = self.box[2]
        return float(np.mean(np.arange(high - low) // self.group * self.group / (high - low)))

    def window(self, element: tuple[int, int, int]) -> tuple[float, float]:
        """Return when an element is written, and when it is read for the last time, never earlier."""
        (y0, y1), (x0, x1), (z0, z1) = self.box
        y, x, z = element
        across = ((y - y0) * (x1 - x0) + x - x0 + 0.5) / ((y1 - y0) * (x1 - x0))
        deep = (z - z0 + 0.5) / (z1 - z0)
        write = deep if self.role is Role.STAGED else across
        if self.role is Role.ACCUMULATOR:
            write = (z - z0) // self.group * self.group / (z1 - z0)
        read = deep if self.by_channel else across
        written = self.written[0] + write * (self.written[1] - self.written[0])
        return written, max(written, self.read[0] + read * (self.read[1] - self.read[0]))

    def reached_after(self, at: float) -> Box:
        """Return the OFM elements that are computed after a time: channels come one group after another."""
        if self.role not in (Role.INPUT, Role.OPERAND) or self.by_channel:
            return self.reach
        begin, end = self.used
        z0, z1 = self.reach[2]
        past = min(max((at - begin) / max(end - begin, 1e-9), 0.0), 1.0)
        return (self.reach[0], self.reach[1], (min(z0 + int(past * (z1 - z0)), z1 - 1), z1))


def groups(block: Box, npu: NpuConfig) -> int:
    """Return the groups of pixels of a block that the MAC unit computes one after another."""
    return math.ceil(side(block[1]) / npu.ublock_width) * math.ceil(side(block[0]) / npu.ublock_height)


def side(span: Span) -> int:
    """Return the elements from one to the other."""
    return span[1] - span[0]


def pixels(box: Box) -> int:
    """Return rows times columns."""
    return side(box[0]) * side(box[1])


def words_of(box: Box, element_bytes: int) -> int:
    """Return the 64-bit words of a piece, those of each pixel for themselves."""
    return pixels(box) * math.ceil(side(box[2]) * element_bytes / WORD_BYTES)
