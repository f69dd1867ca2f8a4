# SPDX-License-Identifier: Apache-2.0
"""Random choices, and tensors at random places, for operations that the NPU accepts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from testkit.npu.model_support import RAM, scale_bytes

T = TypeVar("T")
RAM_LIMIT = 7000


@dataclass(frozen=True)
class Draw:
    """Random choices; what is named in `always` is always chosen."""

    rng: np.random.Generator
    always: tuple[str, ...] = ()

    def number(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def flag(self, probability: float = 0.5) -> bool:
        return bool(self.rng.random() < probability)

    def pick(self, choices: Sequence[T]) -> T:
        return choices[int(self.rng.integers(len(choices)))]

    def feature(self, name: str) -> bool:
        return name in self.always or self.flag(0.3)


@dataclass(frozen=True)
class ElementKind:
    """Elements of 1, 2 or 4 bytes, signed or not, in bricks or not."""

    size: int
    signed: bool
    bricks: bool

    @property
    def input_precision(self) -> int:
        return self.signed | (self.size.bit_length() - 1) << 2 | self.bricks << 6

    @property
    def output_precision(self) -> int:
        return self.signed | (self.size.bit_length() - 1) << 1 | self.bricks << 6


def random_elements(draw: Draw, sizes: Sequence[int] = (1,)) -> ElementKind:
    return ElementKind(draw.pick(sizes), draw.flag(), draw.flag())


@dataclass
class Arena:
    """RAM that is handed out from the bottom.

    Attributes:
        small: Ranges (start, end, element size) that hold small numbers.
    """

    draw: Draw
    end: int = 0
    small: list[tuple[int, int, int]] = field(default_factory=list)

    def tensor(self, prefix: str, shape: tuple[int, int, int], kind: ElementKind) -> dict[str, int]:
        """Place a tensor; return its address registers. Some have tiles, all may have gaps."""
        draw, (height, width, depth) = self.draw, shape
        tiled = draw.feature("tiles")
        left = draw.number(1, width) if tiled else width
        heights = [draw.number(1, height) if tiled else height for _ in range(2)]
        columns, rows = max(left, width - left), max(*heights, *(height - h for h in heights))
        strides, size = self._strides(kind, rows, columns, depth)
        parts = [(heights[0], left), (heights[1], width - left)]
        parts += [(height - heights[0], left), (height - heights[1], width - left)]
        registers = {f"{prefix}_STRIDE_{axis}": stride for axis, stride in zip("YXC", strides, strict=True)}
        start = self.end
        for i in draw.rng.permutation(4):
            used = min(parts[i]) > 0
            registers[f"{prefix}_BASE{i}"] = self._take(size) if used else draw.number(0, (1 << 32) - 1)
        if kind.size > 1 and draw.flag():
            self.small.append((start, self.end, kind.size))
        return registers | {
            f"{prefix}_WIDTH0_M1": left - 1 if tiled or draw.flag() else 0xFFFF,
            f"{prefix}_HEIGHT0_M1": heights[0] - 1,
            f"{prefix}_HEIGHT1_M1": heights[1] - 1,
            f"{prefix}_REGION": RAM,
        }

    def _take(self, size: int) -> int:
        at = self.end + (self.draw.number(0, 9) if self.draw.flag() else -self.end % 16)
        self.end = at + size
        return at

    def _strides(self, kind: ElementKind, rows: int, columns: int, depth: int) -> tuple[tuple[int, ...], int]:
        """Strides y, x, c, and the bytes of `rows` by `columns` pixels."""
        gap = self.draw.number(0, 5) if self.draw.flag() else 0
        if not kind.bricks:
            x = depth * kind.size + gap
            y = columns * x + gap
            return (y, x, self.draw.number(0, 99)), rows * y
        line, groups = 16 * kind.size * columns + gap, -(-depth // 16)
        if self.draw.flag():
            return (line * groups, self.draw.number(0, 99), line), rows * line * groups
        return (line, self.draw.number(0, 99), line * rows), rows * line * groups

    def fill(self) -> np.ndarray:
        """RAM of random bytes, and of small numbers where that was decided."""
        ram = self.draw.rng.integers(0, 256, self.end + self.draw.number(0, 20)).astype(np.uint8)
        for start, end, size in self.small:
            numbers = self.draw.rng.integers(-40, 40, (end - start) // size).astype(f"<i{size}")
            ram[start : start + numbers.nbytes] = numbers.view(np.uint8)
        return ram


def fitting_scale(draw: Draw, bits: int, wide: bool) -> int:
    """A scale register, shift above bit 31, that takes off about so many bits; if `wide` by shifting."""
    shift = max(0, min(63, bits + (0 if wide else 31) + draw.number(-2, 1)))
    return shift << 32 | draw.number(1 << 30, (1 << 31) - 1)


def random_scale(draw: Draw) -> int:
    """A scale register of any kind."""
    match draw.pick(["unit", "extreme", "any"]):
        case "unit":
            return draw.pick([1, 30 << 32 | 1 << 30, 31 << 32 | 1 << 31])
        case "extreme":
            scale = draw.pick([0, 1, 1 << 30, (1 << 31) - 1, 1 << 31, (1 << 32) - 1])
            return draw.pick([0, 1, 2, 16, 17, 30, 31, 32, 33, 34, 47, 48, 62, 63]) << 32 | scale
    return draw.number(0, 63) << 32 | draw.number(0, (1 << 32) - 1)


def random_scales(rng: np.random.Generator, depth: int, kind: str) -> bytes:
    """A scale stream: bias, scale and shift of each channel."""
    if kind == "bytes":
        return rng.integers(0, 256, 10 * depth).astype(np.uint8).tobytes()
    if kind == "extreme":
        bias = rng.choice([0, 1, -1, (1 << 39) - 1, -(1 << 39), (1 << 31) - 1, -(1 << 31), 1 << 31], depth)
        scale = rng.choice([0, 1, (1 << 30), (1 << 31) - 1, 1 << 31, (1 << 32) - 1], depth)
        return scale_bytes(bias, scale, rng.choice([0, 1, 29, 30, 31, 32, 33, 47, 62, 63], depth))
    return scale_bytes(
        rng.integers(-5000, 5000, depth), rng.integers(1 << 30, 1 << 31, depth), rng.integers(36, 44, depth)
    )
