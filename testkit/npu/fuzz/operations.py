# SPDX-License-Identifier: Apache-2.0
"""Random operations of all kinds that keep to the rules, with their memory."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from resil.rtl_harness.npu.model.config import NpuConfig, npu_config
from resil.rtl_harness.npu.model.memory import SHARED_BUFFER
from testkit.npu.model_support import (
    command,
    encode,
    padded,
    scale_bytes,
    setting,
    settings,
    tensor_strides,
)

CONSTANTS, RAM = 0, 1
# IFM_IB_END and AB_START that leave room for both kinds of buffers
_BUFFERS = {
    "ethos-u55-32": (8, 8),
    "ethos-u55-64": (8, 8),
    "ethos-u55-128": (14, 14),
    "ethos-u55-256": (18, 30),
}
_UNARY = (5, 6, 7)
_TABLES = 2048

Random = np.random.Generator


@dataclass
class Builder:
    """A stream and its memory in the making."""

    accelerator: str
    words: list[int] = field(default_factory=list)
    constants: bytes = b""
    ram: bytes = b""

    @property
    def npu(self) -> NpuConfig:
        """The accelerator."""
        return npu_config(self.accelerator)

    def set(self, **registers: int) -> None:
        """Append SET commands."""
        for name, value in registers.items():
            self.words += setting(name, value, value >> 32 & 0xFFFF)

    def place_constants(self, data: bytes) -> int:
        """Append constants; return where they lie."""
        at = len(self.constants)
        self.constants += padded(data)
        return at

    def place_ram(self, size: int, rng: Random) -> int:
        """Append random bytes to region 1; return where they lie."""
        at = len(self.ram)
        self.ram += rng.integers(0, 256, -(-size // 16) * 16, dtype=np.uint8).tobytes()
        return at


def add_operation(builder: Builder, rng: Random) -> None:
    """Append an operation: convolution, depthwise, pooling or elementwise, with all that goes with it."""
    kind = str(rng.choice(["OP_CONV", "OP_DEPTHWISE", "OP_POOL", "OP_ELEMENTWISE"], p=[0.35, 0.2, 0.2, 0.25]))
    parameter = {"OP_POOL": int(rng.integers(0, 3)), "OP_ELEMENTWISE": int(rng.integers(0, 10))}.get(kind, 0)
    ib_end, ab_start = _BUFFERS[builder.accelerator]
    builder.set(IFM_IB_END=ib_end, AB_START=ab_start)
    reduce_sum = (kind, parameter) == ("OP_POOL", 2)
    ofm = (_in(rng, 1, 6), _in(rng, 1, 6), 1 if reduce_sum else _in(rng, 1, 32))
    if kind != "OP_ELEMENTWISE" and rng.random() < 0.2:
        ofm = (1, _in(rng, 1, 18), ofm[2])
    depth = _in(rng, 1, 32) if kind == "OP_CONV" or reduce_sum else ofm[2]
    _output(builder, rng, ofm, weighted=kind in ("OP_CONV", "OP_DEPTHWISE"))
    if kind == "OP_ELEMENTWISE":
        _operands(builder, rng, ofm, parameter, ib_end)
    elif reduce_sum:
        builder.set(KERNEL_WIDTH_M1=0, KERNEL_HEIGHT_M1=0, KERNEL_STRIDE=0, IFM_UPSCALE=0)
        builder.set(**{f"IFM_PAD_{side}": 0 for side in ("TOP", "LEFT", "RIGHT", "BOTTOM")})
        _tensor(builder, rng, "IFM", (ofm[0], ofm[1], depth), int(rng.choice([0, 2])))
    else:
        _kernel(builder, rng, ofm, depth, kind)
    if rng.random() < 0.1:
        _table(builder, rng)
    builder.words += command(kind, parameter)


def add_copy(builder: Builder, rng: Random) -> None:
    """Append a copy from one region to new memory, and waits around it."""
    source = int(rng.integers(0, 2))
    size = 16 * _in(rng, 0, min(512, len((builder.constants, builder.ram)[source])) // 16)
    builder.words += command("OP_KERNEL_WAIT")
    builder.set(
        DMA0_SRC_REGION=source, DMA0_SRC=0, DMA0_DST_REGION=RAM, DMA0_DST=builder.place_ram(size, rng),
        DMA0_LEN=size,
    )  # fmt: skip
    builder.words += command("OP_DMA_START") + command("OP_DMA_WAIT")


def _in(rng: Random, low: int, high: int) -> int:
    return int(rng.integers(low, high + 1))


def _output(builder: Builder, rng: Random, ofm: tuple[int, int, int], weighted: bool) -> None:
    size = int(rng.choice([0, 0, 0, 1, 2]))
    height, width, depth = ofm
    _tensor(
        builder,
        rng,
        "OFM",
        ofm,
        size,
        extra=(not weighted and rng.random() < 0.7) << 8 | _in(rng, 0, 2) << 14,
    )
    low, high = [(-128, 127), (0, 255), (-5, 20), (-32768, 32767)][_in(rng, 0, 3)]
    builder.set(
        OFM_HEIGHT_M1=height - 1, OFM_WIDTH_M1=width - 1, OFM_DEPTH_M1=depth - 1,
        OFM_BLK_HEIGHT_M1=_in(rng, 0, 3 if width <= 6 else 1),
        OFM_BLK_WIDTH_M1=_in(rng, 0, 3 if width <= 6 else 15),
        OFM_BLK_DEPTH_M1=16 * _in(rng, 1, 2) - 1,
        ACTIVATION=0, ACTIVATION_MIN=low, ACTIVATION_MAX=high,
        OFM_SCALE=_in(rng, 1, 1 << 31) | _in(rng, 0, 45) << 32,
    )  # fmt: skip


def _tensor(
    builder: Builder, rng: Random, prefix: str, shape: tuple[int, int, int], size: int, extra: int = 0
) -> None:
    """Set the registers of a tensor with elements of 2^`size` bytes; some are split into tiles."""
    height, width, depth = shape
    bricks = bool(rng.integers(0, 2))
    y, x, c, total = tensor_strides(height, width, depth << size, False, _in(rng, 0, 1) * 4 << size)
    if bricks:
        y, x, c, total = (value << size for value in tensor_strides(height, width, depth, True, 0))
    else:
        x = depth << size
    base = builder.place_ram(total, rng)
    rows = _in(rng, 1, height) if rng.random() < 0.2 else height
    shift = 1 if prefix == "OFM" else 2
    builder.set(**{
        f"{prefix}_PRECISION": int(rng.integers(0, 2)) | size << shift | bricks << 6 | extra,
        f"{prefix}_ZERO_POINT": _in(rng, -128, 127), f"{prefix}_REGION": RAM,
        f"{prefix}_WIDTH0_M1": width - 1, f"{prefix}_HEIGHT0_M1": rows - 1, f"{prefix}_HEIGHT1_M1": rows - 1,
        f"{prefix}_BASE0": base, f"{prefix}_BASE2": base + rows * y,
        f"{prefix}_STRIDE_Y": y, f"{prefix}_STRIDE_X": x, f"{prefix}_STRIDE_C": c,
    })  # fmt: skip
    if prefix == "IFM":
        builder.set(IFM_DEPTH_M1=depth - 1)


def _kernel(builder: Builder, rng: Random, ofm: tuple[int, int, int], depth: int, kind: str) -> None:
    upscale = 0 if rng.random() < 0.8 else _in(rng, 1, 2)
    taps = (_in(rng, 1, 4) if ofm[0] > 1 or rng.random() < 0.2 else 1, _in(rng, 1, 4))
    stride = (1, 1) if upscale else (_in(rng, 1, 3), _in(rng, 1, 3))
    dilation = (1, 1) if kind == "OP_POOL" else (_in(rng, 1, 2), _in(rng, 1, 2))
    pads = [_in(rng, 0, (taps[i % 2] - 1) * dilation[i % 2] // 2) for i in range(4)]
    sizes = [
        (ofm[i] - 1) * stride[i] + (taps[i] - 1) * dilation[i] + 1 - pads[i] - pads[i + 2] for i in (0, 1)
    ]
    height, width = ((size + 1) // 2 if upscale else size for size in sizes)
    (sy, sx), (dy, dx) = stride, dilation
    bits = (sx - 1 & 1) | (sy - 1 & 1) << 1 | (sx - 1 >> 1) << 6 | (sy - 1 >> 1) << 9
    bits |= (dx - 1) << 3 | (dy - 1) << 4
    bits |= _in(rng, 0, 1) << 2 | _in(rng, 0, 1) << 5  # part kernel first, 4x4 subkernels
    builder.set(
        IFM_UPSCALE=upscale,
        IFM_PAD_TOP=pads[0], IFM_PAD_LEFT=pads[1], IFM_PAD_BOTTOM=pads[2], IFM_PAD_RIGHT=pads[3],
        KERNEL_HEIGHT_M1=(taps[0] - 1) * dy, KERNEL_WIDTH_M1=(taps[1] - 1) * dx,
        KERNEL_STRIDE=bits,
    )  # fmt: skip
    size = _in(rng, 0, 1) if kind == "OP_POOL" else 0
    _tensor(builder, rng, "IFM", (height, width, depth), size, extra=_in(rng, 0, 3) << 14)
    if kind == "OP_POOL":
        return
    rounded = -(-taps[0] * taps[1] // 4) * 4 + 12
    count = rounded * (-(-ofm[2] // 16) * 16) * (-(-depth // 32) * 32 if kind == "OP_CONV" else 1)
    weights = encode(rng.integers(-60, 61, count))
    scales = scale_bytes(
        rng.integers(-5000, 5000, ofm[2]),
        rng.integers(1 << 28, 1 << 31, ofm[2]),
        rng.integers(34, 42, ofm[2]),
    )
    builder.set(
        WEIGHT_REGION=CONSTANTS, WEIGHT_BASE=builder.place_constants(weights), WEIGHT_LENGTH=len(weights),
        SCALE_REGION=CONSTANTS, SCALE_BASE=builder.place_constants(scales), SCALE_LENGTH=len(scales),
    )  # fmt: skip


def _operands(builder: Builder, rng: Random, ofm: tuple[int, int, int], function: int, ib_end: int) -> None:
    size = int(rng.choice([0, 0, 1, 2]))
    binary = function not in _UNARY
    _tensor(builder, rng, "IFM", ofm, size, extra=_in(rng, 0, 2) << 8)
    builder.set(
        IFM_UPSCALE=0, OPA_SCALE=_in(rng, 1, 1 << 20) | _in(rng, 0, 20) << 32, OPB_SCALE=_in(rng, 1, 1 << 20)
    )
    if binary:
        broadcast = _in(rng, 0, 7) if rng.random() < 0.4 else 0
        shape = tuple(
            1 if broadcast >> bit & 1 else extent for bit, extent in zip((0, 1, 2), ofm, strict=True)
        )
        _tensor(builder, rng, "IFM2", (shape[0], shape[1], shape[2]), size)
        builder.set(
            IFM2_BROADCAST=broadcast | _in(rng, 0, 1) << 6 | (rng.random() < 0.2) << 7,
            IFM2_SCALAR=_in(rng, 0, 0xFFFF), IFM2_IB_START=2 + (ib_end - 2) // 4 * 2,
        )  # fmt: skip


def _table(builder: Builder, rng: Random) -> None:
    """Fill the tables and let the operation use one."""
    tables = builder.place_constants(rng.integers(0, 256, _TABLES, dtype=np.uint8).tobytes())
    to_shared_buffer = 1 << SHARED_BUFFER
    builder.words += command("OP_KERNEL_WAIT") + settings({
        "DMA0_SRC_REGION": CONSTANTS, "DMA0_SRC": tables, "DMA0_DST_REGION": to_shared_buffer,
        "DMA0_DST": builder.npu.table_base, "DMA0_LEN": _TABLES, "ACTIVATION": 16 | _in(rng, 0, 7) | 3 << 12,
    }) + command("OP_DMA_START") + command("OP_DMA_WAIT")  # fmt: skip
