# SPDX-License-Identifier: Apache-2.0
"""Feature maps in memory and in the shared buffer, as README.md section 5 says."""

from __future__ import annotations

import random
from dataclasses import dataclass

from testkit.npu.blocks.block import LANES, UD, UH, UW, Values

MASK32 = (1 << 32) - 1


@dataclass(frozen=True)
class FeatureMap:
    """Layout of a tiled feature map inside its region."""

    region: int
    brick: bool
    log2_bytes: int
    tile_sizes: tuple[int, int, int]
    bases: tuple[int, int, int, int]
    strides: tuple[int, int, int]

    @property
    def element_bytes(self) -> int:
        return 1 << self.log2_bytes

    @property
    def longest(self) -> int:
        """Bytes of a segment of the IFM at most."""
        return 16 if self.brick and self.log2_bytes == 0 else 32

    def offset(self, x: int, y: int, c: int) -> int:
        """Byte offset of an element."""
        width0, height0, height1 = self.tile_sizes
        right = x >= width0
        height = height1 if right else height0
        bottom = y >= height
        x -= width0 if right else 0
        y -= height if bottom else 0
        stride_x, stride_y, stride_c = self.strides
        at = self.bases[2 * bottom + right] + y * stride_y
        if self.brick:
            at += c // 16 * stride_c + (16 * x + c % 16) * self.element_bytes
        else:
            at += x * stride_x + c * self.element_bytes
        return at & MASK32

    @property
    def fields(self) -> Values:
        width0, height0, height1 = self.tile_sizes
        x, y, c = self.strides
        return {
            "region": self.region, "brick": self.brick, "log2_bytes": self.log2_bytes,
            "width0_m1": width0 - 1, "height0_m1": height0 - 1, "height1_m1": height1 - 1,
            "base": list(self.bases), "stride_x": x, "stride_y": y, "stride_c": c,
        }  # fmt: skip


def random_map(
    rng: random.Random, region: int, width: int, height: int, depth: int, room: int, stray: bool
) -> FeatureMap:
    """A layout of a map of these sizes in `room` bytes, in tiles or not; astray it reaches beyond."""
    log2_bytes, brick = rng.choice([0, 0, 1, 2]), rng.random() < 0.5
    size = 1 << log2_bytes
    gap = rng.choice([0, 0, 1, 5, 16])
    stride_x = depth * size + gap
    if brick:
        stride_c = 16 * width * size + gap
        stride_y = -(-depth // 16) * stride_c
    else:
        stride_c, stride_y = size, width * stride_x + gap
    tiled = rng.random() < 0.5
    cuts = (rng.randint(1, width), rng.randint(1, height), rng.randint(1, height)) if tiled else (
        width, height, height)  # fmt: skip
    whole = height * stride_y
    bases = [rng.randrange(max(1, room - whole)) for _ in range(4)]
    if stray:
        bases[rng.randrange(4)] = rng.choice([room - 5, room - whole // 2, MASK32 - 20])
    return FeatureMap(
        region, brick, log2_bytes, cuts, (bases[0], bases[1], bases[2], bases[3]),
        (stride_x, stride_y, stride_c),
    )  # fmt: skip


def lane_of(x: int, y: int, stride_x: int, stride_y: int, one_row: bool = False) -> int:
    """Lane that holds a pixel of a piece: pixels whose outputs are computed together meet in none twice."""
    if one_row:
        return x % 4 ^ (stride_x == 2 and x >> 2 & 1)
    across = UW == 2 and (x & 1) ^ (stride_x == 2 and x >> 1 & 1)
    down = UH == 2 and (y & 1) ^ (stride_y == 2 and y >> 1 & 1)
    return int(across) + (UW if down else 0)


def piece_word(
    x: int, y: int, width: int, words: int, strides: tuple[int, int] | None, bank: int, one_row: bool = False
) -> tuple[int, int]:
    """Bank and word address of the first word of a pixel of a piece, spread over the lanes if `strides`."""
    if strides is None:
        lane, lanes, at = 0, 1, (y * width + x) * words
    elif one_row:
        lane, lanes, at = lane_of(x, y, *strides, one_row), LANES, x // 4 * words
    else:
        lane, lanes = lane_of(x, y, *strides), LANES
        at = ((y // UH) * -(-width // UW) + x // UW) * words
    return place(bank, lane, lanes, at)


def accumulator_row(y: int, x: int, c: int, across: int, down: int, one_row: bool) -> tuple[int, int]:
    """Row and lane of an accumulator in a block of `across` by `down` pixels.

    In a one-row operation pairs of pixels follow one another without a gap, two of them in a row.
    """
    if one_row:
        pair = c // UD * -(-across // 2) + x // 2
        return pair // 2, pair % 2 * 2 + x % 2
    across, down = -(-across // UW), -(-down // UH)
    return c // UD * across * down + y // UH * across + x // UW, y % UH * UW + x % UW


def place(bank: int, lane: int, lanes: int, at: int) -> tuple[int, int]:
    return bank + at // 128 * lanes + lane, at % 128
