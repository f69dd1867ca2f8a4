# SPDX-License-Identifier: Apache-2.0
"""Command streams and memory images for the tests of the functional model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from ethosu import mlw_codec
from ethosu.vela.ethos_u55_regs.ethos_u55_regs import cmd0, cmd1

CONSTANTS, RAM = 0, 1
WITH_SHIFT = ("OFM_SCALE", "OPA_SCALE")
SHARED_BUFFER_BIT = 0x100
TABLE_BYTES = 2048


def command(name: str, parameter: int = 0) -> list[int]:
    """A command without payload, such as OP_CONV."""
    return [cmd0[f"NPU_{name}"].value | (parameter & 0xFFFF) << 16]


def setting(name: str, value: int, high: int = 0) -> list[int]:
    """A SET command; `high` is the parameter of one with a payload."""
    if f"NPU_SET_{name}" in cmd1.__members__:
        return [cmd1[f"NPU_SET_{name}"].value | 0x4000 | high << 16, value & 0xFFFFFFFF]
    return [cmd0[f"NPU_SET_{name}"].value | (value & 0xFFFF) << 16]


def settings(registers: Mapping[str, int]) -> list[int]:
    """SET commands; scale registers have their shift above bit 31."""
    words = []
    for name, value in registers.items():
        words += setting(name, value, value >> 32 & 0xFFFF if name in WITH_SHIFT else 0)
    return words


def stream(*parts: list[int]) -> np.ndarray:
    return np.array([word for part in parts for word in part], dtype=np.uint32)


def conv_stream(registers: Mapping[str, int]) -> np.ndarray:
    return stream(settings(registers), command("OP_CONV"), command("OP_STOP", 0x1234))


def scale_bytes(bias, scale, shift) -> bytes:
    """Ten bytes a channel."""
    return b"".join(
        (int(b) & (1 << 40) - 1).to_bytes(5, "little") + int(s).to_bytes(4, "little") + bytes([int(h)])
        for b, s, h in zip(bias, scale, shift, strict=True)
    )


def padded(data: bytes, multiple: int = 16) -> bytes:
    return data + bytes(-len(data) % multiple)


def encode(weights) -> bytes:
    """A valid weight stream of `weights`, in stream order."""
    return padded(bytes(mlw_codec.encode([int(w) for w in weights])))


@dataclass(frozen=True)
class Case:
    """An operation with its memory: constants hold weights, scales, tables; RAM holds IFM, IFM2 and OFM.

    Attributes:
        registers: What SET commands write, by name; scale registers with their shift above bit 31.
        constants: The read-only region.
        ram: The read/write region.
        others: Further regions.
        kind: CONV, DEPTHWISE, POOL or ELEMENTWISE.
        parameter: Of the operation's command.
        tables_at: Where the constants hold what is copied to the last two banks of the shared buffer.
        tables_to: Address of these in the shared buffer.
    """

    registers: dict[str, int]
    constants: np.ndarray
    ram: np.ndarray
    others: dict[int, np.ndarray] = field(default_factory=dict)
    kind: str = "CONV"
    parameter: int = 0
    tables_at: int | None = None
    tables_to: int = 0

    def with_registers(self, **changes: int) -> Case:
        return replace(self, registers={**self.registers, **changes})

    @property
    def regions(self) -> dict[int, np.ndarray]:
        images = {CONSTANTS: self.constants, RAM: self.ram, **self.others}
        return {number: image.copy() for number, image in images.items()}

    @property
    def tables(self) -> bytes:
        at = self.tables_at
        return bytes(TABLE_BYTES) if at is None else self.constants[at : at + TABLE_BYTES].tobytes()

    @property
    def stream(self) -> np.ndarray:
        """Copy of the tables, if there are any, the operation, STOP."""
        copy: list[int] = []
        if self.tables_at is not None:
            registers = {"DMA0_SRC_REGION": CONSTANTS, "DMA0_DST_REGION": SHARED_BUFFER_BIT}
            registers |= {"DMA0_SRC": self.tables_at, "DMA0_DST": self.tables_to, "DMA0_LEN": TABLE_BYTES}
            copy = settings(registers) + command("OP_DMA_START") + command("OP_DMA_WAIT")
        operation = command(f"OP_{self.kind}", self.parameter)
        return stream(copy, settings(self.registers), operation, command("OP_STOP", 0x1234))


@dataclass
class Shape:
    """The choices that define a convolution; the rest follows."""

    ofm: tuple[int, int, int] = (4, 5, 6)
    ifm_depth: int = 7
    taps: tuple[int, int] = (3, 3)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (1, 1, 1, 1)
    block: tuple[int, int, int] = (4, 4, 8)
    part_kernel: bool = False
    small_subkernel: bool = False
    ifm_bricks: bool = False
    ofm_bricks: bool = False
    ifm_signed: bool = True
    ofm_signed: bool = True
    ifm_zero_point: int = 3
    ofm_zero_point: int = -5
    activation: tuple[int, int] = (-128, 127)
    weight_bytes: bytes = b""
    scales: bytes = b""
    gap: int = 0
    extra: dict[str, int] = field(default_factory=dict)

    @property
    def ifm_size(self) -> tuple[int, int]:
        top, left, bottom, right = self.pads
        height, width = (
            (self.ofm[i] - 1) * self.stride[i] + (self.taps[i] - 1) * self.dilation[i] + 1 for i in (0, 1)
        )
        return height - top - bottom, width - left - right


def tensor_strides(height: int, width: int, depth: int, bricks: bool, gap: int) -> tuple[int, int, int, int]:
    """Strides y, x, c and the bytes of a tensor that leaves `gap` bytes free after each row."""
    if bricks:
        row = 16 * width + gap
        return row * -(-depth // 16), 16, row, row * -(-depth // 16) * height
    return depth * width + gap, depth, 1, (depth * width + gap) * height


def conv_case(shape: Shape, ram_fill: np.random.Generator) -> Case:
    """Registers and memory of a convolution; RAM is filled with random bytes."""
    height, width = shape.ifm_size
    ofm_h, ofm_w, ofm_d = shape.ofm
    iy, ix, ic, ifm_bytes = tensor_strides(height, width, shape.ifm_depth, shape.ifm_bricks, shape.gap)
    oy, ox, oc, ofm_bytes = tensor_strides(ofm_h, ofm_w, ofm_d, shape.ofm_bricks, shape.gap)
    weights = padded(shape.weight_bytes)
    constants = np.frombuffer(weights + padded(shape.scales), np.uint8).copy()
    ram = ram_fill.integers(0, 256, ifm_bytes + ofm_bytes + 48).astype(np.uint8)
    (sy, sx), (dy, dx) = shape.stride, shape.dilation
    kernel = (
        (sx - 1 & 1) | (sy - 1 & 1) << 1 | shape.part_kernel << 2 | (dx - 1) << 3 | (dy - 1) << 4
        | shape.small_subkernel << 5 | (sx - 1 >> 1) << 6 | (sy - 1 >> 1) << 9
    )  # fmt: skip
    top, left, bottom, right = shape.pads
    registers = {
        "IFM_PAD_TOP": top, "IFM_PAD_LEFT": left, "IFM_PAD_RIGHT": right, "IFM_PAD_BOTTOM": bottom,
        "IFM_DEPTH_M1": shape.ifm_depth - 1,
        "IFM_PRECISION": shape.ifm_signed | shape.ifm_bricks << 6,
        "IFM_ZERO_POINT": shape.ifm_zero_point,
        "IFM_WIDTH0_M1": width - 1, "IFM_HEIGHT0_M1": height - 1, "IFM_HEIGHT1_M1": height - 1,
        "IFM_IB_END": 8, "IFM_REGION": RAM,
        "IFM_BASE0": 16, "IFM_STRIDE_X": ix, "IFM_STRIDE_Y": iy, "IFM_STRIDE_C": ic,
        "OFM_WIDTH_M1": ofm_w - 1, "OFM_HEIGHT_M1": ofm_h - 1, "OFM_DEPTH_M1": ofm_d - 1,
        "OFM_PRECISION": shape.ofm_signed | shape.ofm_bricks << 6,
        "OFM_BLK_HEIGHT_M1": shape.block[0] - 1, "OFM_BLK_WIDTH_M1": shape.block[1] - 1,
        "OFM_BLK_DEPTH_M1": shape.block[2] - 1,
        "OFM_ZERO_POINT": shape.ofm_zero_point,
        "OFM_WIDTH0_M1": ofm_w - 1, "OFM_HEIGHT0_M1": ofm_h - 1, "OFM_HEIGHT1_M1": ofm_h - 1,
        "OFM_REGION": RAM,
        "OFM_BASE0": 32 + ifm_bytes, "OFM_STRIDE_X": ox, "OFM_STRIDE_Y": oy, "OFM_STRIDE_C": oc,
        "KERNEL_HEIGHT_M1": (shape.taps[0] - 1) * dy, "KERNEL_WIDTH_M1": (shape.taps[1] - 1) * dx,
        "KERNEL_STRIDE": kernel,
        "ACTIVATION_MIN": shape.activation[0], "ACTIVATION_MAX": shape.activation[1],
        "WEIGHT_REGION": CONSTANTS, "WEIGHT_BASE": 0, "WEIGHT_LENGTH": len(weights),
        "SCALE_REGION": CONSTANTS, "SCALE_BASE": len(weights), "SCALE_LENGTH": len(shape.scales),
        "AB_START": 8,
        **shape.extra,
    }  # fmt: skip
    return Case(registers, constants, ram)
