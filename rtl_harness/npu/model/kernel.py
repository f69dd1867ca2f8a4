# SPDX-License-Identifier: Apache-2.0
"""The kernel that moves over the IFM, for convolutions and pooling, and the buffers it needs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from resil.rtl_harness.npu.model.checks import (
    OperationRequest,
    check_below,
    check_bits,
    check_order,
    check_room,
)
from resil.rtl_harness.npu.model.commands import CommandError, Register, Registers
from resil.rtl_harness.npu.model.config import IFM_UBLOCK_DEPTH, STAGING_BANKS
from resil.rtl_harness.npu.model.output_config import Output

_KERNEL_STRIDE_BITS = 0x027F
_LARGEST_IFM = 1 << 16


class Upscale(IntEnum):
    """How the IFM is doubled in height and width: not, by copies, or by zeros in between."""

    NONE = 0
    NEAREST = 1
    ZEROS = 2


@dataclass(frozen=True)
class Axis:
    """The kernel and the blocks along y or x. IFM elements are those of the upscaled IFM.

    Attributes:
        outputs: OFM elements.
        taps: Kernel elements.
        stride: IFM elements from one OFM element to the next.
        dilation: IFM elements from one tap to the next.
        pad_before: IFM elements of padding before the first.
        pad_after: IFM elements of padding after the last.
        block: OFM elements of a block.
        subkernel: Taps of a subkernel.
        upscale: How the IFM is doubled.
    """

    outputs: int
    taps: int
    stride: int
    dilation: int
    pad_before: int
    pad_after: int
    block: int
    subkernel: int
    upscale: Upscale

    @property
    def extent(self) -> int:
        """IFM elements that the kernel spans."""
        return (self.taps - 1) * self.dilation + 1

    @property
    def inputs(self) -> int:
        """IFM elements that the kernel reaches, without the padding."""
        return (self.outputs - 1) * self.stride + self.extent - self.pad_before - self.pad_after

    @property
    def stored(self) -> int:
        """IFM elements in memory."""
        return -(-self.inputs // 2) if self.upscale else self.inputs

    @property
    def piece(self) -> int:
        """IFM elements in memory that a block needs for a subkernel, with the padding."""
        span = self.subkernel * self.dilation
        upscaled = (self.block - 1) * self.stride + min(self.extent, span)
        match self.upscale:
            case Upscale.NEAREST:
                return upscaled // 2 + 1
            case Upscale.ZEROS:
                return (upscaled + 1) // 2
        return upscaled


@dataclass(frozen=True)
class Kernel:
    """The kernel of an operation: along y, along x, and the order of its weights."""

    y: Axis
    x: Axis
    part_kernel_first: bool

    @property
    def taps(self) -> int:
        """Kernel elements."""
        return self.y.taps * self.x.taps

    @property
    def padded(self) -> bool:
        """There is padding on one of the four sides."""
        return any((self.y.pad_before, self.y.pad_after, self.x.pad_before, self.x.pad_after))


def kernel_config(request: OperationRequest, output: Output, formats: int = 0) -> Kernel:
    """Check and collect the registers of the kernel; `formats` are the bits that ACC_FORMAT may have.

    Raises:
        CommandError: If a register is outside what operations with a kernel accept.
    """
    registers = request.registers
    upscale = check_below(registers, Register.IFM_UPSCALE, 3)
    check_bits(registers, Register.ACC_FORMAT, formats)
    bits = check_bits(registers, Register.KERNEL_STRIDE, _KERNEL_STRIDE_BITS)
    span = 4 if bits >> 5 & 1 else 8
    stride_y, stride_x = 1 + (bits >> 1 & 1 | bits >> 8 & 2), 1 + (bits & 1 | bits >> 5 & 2)
    for name, stride in (("HEIGHT", stride_y), ("WIDTH", stride_x)):
        if stride > 3:
            raise CommandError(f"KERNEL_STRIDE has the stride {stride} along {name}, expected 1 to 3")
        if upscale and stride > 1:
            raise CommandError(
                f"KERNEL_STRIDE has the stride {stride} along {name}, expected 1 with upscaling"
            )

    def axis(size: str, pads: tuple[str, str], outputs: int, block: int, stride: int, dilation: int) -> Axis:
        before, after = (check_below(registers, Register[f"IFM_PAD_{pad}"], 128) for pad in pads)
        return Axis(
            outputs=outputs,
            taps=_taps(registers, size, dilation),
            stride=stride,
            dilation=dilation,
            pad_before=before,
            pad_after=after,
            block=block,
            subkernel=span // dilation,
            upscale=Upscale(upscale),
        )

    ofm, block = output.ofm, output.block
    y = axis("HEIGHT", ("TOP", "BOTTOM"), ofm.height, block.height, stride_y, 1 + (bits >> 4 & 1))
    x = axis("WIDTH", ("LEFT", "RIGHT"), ofm.width, block.width, stride_x, 1 + (bits >> 3 & 1))
    for name, along in (("height", y), ("width", x)):
        if not 1 <= along.stored <= _LARGEST_IFM:
            raise CommandError(f"the IFM's {name} is {along.stored}, expected 1 to {_LARGEST_IFM}")
    return Kernel(y, x, bool(bits >> 2 & 1))


def _taps(registers: Registers, size: str, dilation: int) -> int:
    name = Register[f"KERNEL_{size}_M1"]
    extent_m1 = check_below(registers, name, 128)
    if extent_m1 % dilation:
        raise CommandError(f"{name.name} is {extent_m1}, expected an even number with dilation {dilation}")
    return extent_m1 // dilation + 1


def piece_words(channels: int, element_bytes: int = 1) -> int:
    """64-bit words of a pixel of so many channels."""
    return -(-channels * element_bytes // IFM_UBLOCK_DEPTH)


def check_buffers(request: OperationRequest, output: Output, kernel: Kernel, words: int) -> None:
    """Check that a block's accumulators, and a piece of the IFM with `words` a pixel, fit the shared buffer.

    Raises:
        CommandError: If they do not.
    """
    npu, registers, block = request.npu, request.registers, output.block
    end = npu.buffers_end(output.activation.table is not None)
    ib_end, ab_start = registers[Register.IFM_IB_END], registers[Register.AB_START]
    check_order(("first bank", STAGING_BANKS), ("IFM_IB_END", ib_end), ("AB_START", ab_start), ("end", end))
    aligned = (ab_start - npu.usable_banks) % npu.accumulator_banks == 0
    if not aligned and not registers[Register.ACC_FORMAT]:
        raise CommandError(
            f"AB_START is {ab_start}, expected {npu.usable_banks} minus a multiple of {npu.accumulator_banks}"
        )

    rows, ifm_words = npu.accumulator_rows(ab_start, end), npu.ifm_words(ib_end)
    planes = -(-block.depth // npu.ublock_depth)
    across = -(-block.width // npu.ublock_width)
    if npu.is_one_row(output.ofm.height, kernel.y.extent):
        check_room("halves of accumulator rows", across * planes, 2 * rows)
        check_room("IFM buffer words", -(-kernel.x.piece // npu.lanes) * words, ifm_words)
        return
    down = -(-block.height // npu.ublock_height)
    pixels = -(-kernel.y.piece // npu.ublock_height) * -(-kernel.x.piece // npu.ublock_width)
    check_room("accumulator rows", across * down * planes, rows)
    check_room("IFM buffer words", pixels * words, ifm_words)
