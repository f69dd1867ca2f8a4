"""What a convolution was told to do, and the rules that its registers must obey."""

from __future__ import annotations

from dataclasses import dataclass

from rtl_harness.npu.model.commands import CommandError, Register, Registers
from rtl_harness.npu.model.config import (
    MAX_DIMENSION,
    STAGING_BYTES,
    FeatureMap,
    NpuConfig,
    Stream,
    check_below,
    check_bits,
    feature_map,
    stream_at,
)

_IFM_PRECISION_BITS = 0x03C1
_OFM_PRECISION_BITS = 0x00C1
_KERNEL_STRIDE_BITS = 0x027F


@dataclass(frozen=True)
class Axis:
    """The kernel and the blocks along y or x.

    Attributes:
        taps: Kernel elements.
        stride: IFM elements from one OFM element to the next.
        dilation: IFM elements from one tap to the next.
        pad_before: IFM elements of padding before the first.
        pad_after: IFM elements of padding after the last.
        block: OFM elements of a block.
        subkernel: Taps of a subkernel.
    """

    taps: int
    stride: int
    dilation: int
    pad_before: int
    pad_after: int
    block: int
    subkernel: int

    @property
    def extent(self) -> int:
        """IFM elements that the kernel spans."""
        return (self.taps - 1) * self.dilation + 1

    def input_size(self, outputs: int) -> int:
        """IFM elements that `outputs` OFM elements reach, without the padding."""
        return (outputs - 1) * self.stride + self.extent - self.pad_before - self.pad_after

    @property
    def block_input_size(self) -> int:
        """IFM elements that a block needs for a subkernel, with the padding."""
        span = self.subkernel * self.dilation
        return (self.block - 1) * self.stride + min(self.extent, span)


@dataclass(frozen=True)
class ConvConfig:
    """Everything that decides what a convolution does.

    Attributes:
        ifm: Input; its height and width are what the kernel reaches, without padding.
        ofm: Output.
        y: The kernel along y.
        x: The kernel along x.
        block_depth: OFM channels of a block.
        part_kernel_first: Weight order, else depth first.
        weights: The weight stream.
        scales: The scale stream.
        activation_min: Lower bound of the output.
        activation_max: Upper bound of the output.
    """

    ifm: FeatureMap
    ofm: FeatureMap
    y: Axis
    x: Axis
    block_depth: int
    part_kernel_first: bool
    weights: Stream
    scales: Stream
    activation_min: int
    activation_max: int

    @property
    def input_chunk(self) -> int:
        """IFM channels that are worked on at a time."""
        return 16 if self.part_kernel_first else 32


def conv_config(registers: Registers, npu: NpuConfig, read_only: frozenset[int]) -> ConvConfig:
    """Check and collect the registers of a convolution.

    Args:
        registers: The register file when CONV is reached.
        npu: The accelerator.
        read_only: Regions on the read-only port.

    Raises:
        CommandError: If a register is outside what CONV accepts.
    """
    for register in (Register.IFM_UPSCALE, Register.ACC_FORMAT, Register.ACTIVATION):
        check_bits(registers, register, 0)
    kernel = check_bits(registers, Register.KERNEL_STRIDE, _KERNEL_STRIDE_BITS)
    span = 4 if kernel >> 5 & 1 else 8
    y = _axis(
        registers, "HEIGHT", ("TOP", "BOTTOM"), 1 + (kernel >> 1 & 1 | kernel >> 8 & 2), kernel >> 4 & 1, span
    )
    x = _axis(
        registers, "WIDTH", ("LEFT", "RIGHT"), 1 + (kernel & 1 | kernel >> 5 & 2), kernel >> 3 & 1, span
    )
    ofm = _ofm(registers)
    if ofm.region in read_only:
        raise CommandError(f"the OFM is in region {ofm.region}, which is on the read-only port")
    precision = check_bits(registers, Register.IFM_PRECISION, _IFM_PRECISION_BITS)
    config = ConvConfig(
        ifm=feature_map(registers, "IFM", precision, y.input_size(ofm.height), x.input_size(ofm.width)),
        ofm=ofm,
        y=y,
        x=x,
        block_depth=check_below(registers, Register.OFM_BLK_DEPTH_M1, 128) + 1,
        part_kernel_first=bool(kernel >> 2 & 1),
        weights=stream_at(registers, "WEIGHT"),
        scales=stream_at(registers, "SCALE"),
        activation_min=registers.signed(Register.ACTIVATION_MIN),
        activation_max=registers.signed(Register.ACTIVATION_MAX),
    )
    if config.weights.length % 16:
        raise CommandError(f"WEIGHT_LENGTH is {config.weights.length}, expected a multiple of 16")
    _check_buffers(config, npu, registers[Register.IFM_IB_END], registers[Register.AB_START])
    return config


def _axis(
    registers: Registers, size: str, pads: tuple[str, str], stride: int, dilated: int, span: int
) -> Axis:
    name, dilation = Register[f"KERNEL_{size}_M1"], 1 + dilated
    extent_m1 = check_below(registers, name, 128)
    if stride > 3:
        raise CommandError(f"KERNEL_STRIDE has the stride {stride} along {size}, expected 1 to 3")
    if extent_m1 % dilation:
        raise CommandError(f"{name.name} is {extent_m1}, expected an even number with dilation {dilation}")
    before, after = (check_below(registers, Register[f"IFM_PAD_{pad}"], 128) for pad in pads)
    return Axis(
        taps=extent_m1 // dilation + 1,
        stride=stride,
        dilation=dilation,
        pad_before=before,
        pad_after=after,
        block=check_below(registers, Register[f"OFM_BLK_{size}_M1"], 64) + 1,
        subkernel=span // dilation,
    )


def _ofm(registers: Registers) -> FeatureMap:
    precision = check_bits(registers, Register.OFM_PRECISION, _OFM_PRECISION_BITS)
    height = check_below(registers, Register.OFM_HEIGHT_M1, MAX_DIMENSION) + 1
    width = check_below(registers, Register.OFM_WIDTH_M1, MAX_DIMENSION) + 1
    return feature_map(registers, "OFM", precision, height, width)


def _check_buffers(config: ConvConfig, npu: NpuConfig, ib_end: int, ab_start: int) -> None:
    if not 2 <= ib_end <= ab_start <= npu.sb_banks:
        raise CommandError(
            f"IFM_IB_END {ib_end}, AB_START {ab_start}: expected 2 <= . <= . <= {npu.sb_banks}"
        )
    pixels = config.y.block * config.x.block
    ublocks = -(-config.block_depth // npu.ofm_ublock_depth)
    _check_rows("accumulators", pixels * ublocks, npu.accumulator_rows(ab_start))
    _check_rows("staged output bytes", pixels * ublocks * npu.ofm_ublock_depth, STAGING_BYTES)
    input_pixels = config.y.block_input_size * config.x.block_input_size
    depth = min(-(-config.ifm.depth // npu.ifm_ublock_depth), config.input_chunk // npu.ifm_ublock_depth)
    _check_rows("IFM buffer rows", input_pixels * depth, npu.ifm_buffer_rows(ib_end))


def _check_rows(what: str, wanted: int, available: int) -> None:
    if wanted > available:
        raise CommandError(f"the block needs {wanted} {what}, there are {available}")
