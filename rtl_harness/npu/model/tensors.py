# SPDX-License-Identifier: Apache-2.0
"""Tensors and byte streams in memory, as the registers describe them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from resil.rtl_harness.npu.model.checks import OperationRequest, check_aligned, region_number
from resil.rtl_harness.npu.model.commands import CommandError, Register, Registers


@dataclass(frozen=True)
class Tiles:
    """The four tiles of a tensor.

    Attributes:
        width: Columns of the left tiles.
        left_height: Rows of the upper left tile.
        right_height: Rows of the upper right tile.
        bases: Byte offset of the first element of each: upper left, upper right, lower left, lower right.
    """

    width: int
    left_height: int
    right_height: int
    bases: tuple[int, int, int, int]


@dataclass(frozen=True)
class FeatureMap:
    """A tensor in memory.

    Attributes:
        region: Region number.
        tiles: Where its parts begin.
        stride_y: Bytes from row to row, modulo 2^32; so are the other strides.
        stride_x: Bytes from column to column, NHWC only.
        stride_c: Bytes from one 16 channels to the next, NHCWB16 only.
        height: Rows.
        width: Columns.
        depth: Channels.
        bricks: Format: True for NHCWB16, False for NHWC.
        element_bytes: 1, 2 or 4.
        signed: Elements are two's complement numbers.
        zero_point: What stands for zero.
    """

    region: int
    tiles: Tiles
    stride_y: int
    stride_x: int
    stride_c: int
    height: int
    width: int
    depth: int
    bricks: bool
    element_bytes: int
    signed: bool
    zero_point: int

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Type of the elements, little endian."""
        return np.dtype(f"<{'i' if self.signed else 'u'}{self.element_bytes}")

    @property
    def elements(self) -> int:
        """Number of elements."""
        return self.height * self.width * self.depth


@dataclass(frozen=True)
class Stream:
    """A byte stream in memory: region number, offset and length in bytes."""

    region: int
    base: int
    length: int


@dataclass(frozen=True)
class ElementType:
    """What a PRECISION register says of elements: bytes, sign, and format NHCWB16."""

    element_bytes: int
    signed: bool
    bricks: bool


def element_type(registers: Registers, prefix: str, size_bit: int) -> ElementType:
    """Return the element type of the tensor whose registers begin with `prefix`; its size is at `size_bit`.

    Raises:
        CommandError: If the size or the format is none of those that exist.
    """
    register = Register[f"{prefix}_PRECISION"]
    size, layout = registers[register] >> size_bit & 3, registers[register] >> 6 & 3
    if size == 3:
        raise CommandError(f"{register.name} has size {size}, expected 0 (8 bit), 1 (16) or 2 (32)")
    if layout > 1:
        raise CommandError(f"{register.name} has format {layout}, expected 0 (NHWC) or 1 (NHCWB16)")
    return ElementType(1 << size, bool(registers[register] & 1), layout == 1)


def feature_map(
    registers: Registers,
    prefix: str,
    element: ElementType,
    shape: tuple[int, int, int],
    zero_point_bits: int = 16,
) -> FeatureMap:
    """Return the tensor of `shape` (height, width, depth) whose registers begin with IFM, IFM2 or OFM.

    Raises:
        CommandError: If its region number has other bits.
    """

    def get(name: str) -> int:
        return registers[Register[f"{prefix}_{name}"]]

    tiles = Tiles(
        get("WIDTH0_M1") + 1,
        get("HEIGHT0_M1") + 1,
        get("HEIGHT1_M1") + 1,
        (get("BASE0"), get("BASE1"), get("BASE2"), get("BASE3")),
    )
    height, width, depth = shape
    return FeatureMap(
        region=region_number(registers, Register[f"{prefix}_REGION"]),
        tiles=tiles,
        stride_y=get("STRIDE_Y"),
        stride_x=get("STRIDE_X"),
        stride_c=get("STRIDE_C"),
        height=height,
        width=width,
        depth=depth,
        bricks=element.bricks,
        element_bytes=element.element_bytes,
        signed=element.signed,
        zero_point=registers.signed(Register[f"{prefix}_ZERO_POINT"], zero_point_bits),
    )


def stream_at(request: OperationRequest, kind: str) -> Stream:
    """Return the stream whose registers begin with `kind`, WEIGHT or SCALE.

    Raises:
        CommandError: If its length is zero or its base is not aligned.
    """
    registers = request.registers
    length = Register[f"{kind}_LENGTH"]
    if not registers[length]:
        raise CommandError(f"{length.name} is 0, expected at least 1")
    return Stream(
        region=region_number(registers, Register[f"{kind}_REGION"]),
        base=check_aligned(registers, Register[f"{kind}_BASE"]),
        length=registers[length],
    )
