# SPDX-License-Identifier: Apache-2.0
"""What a convolution was set to do, and the rules that its registers must obey."""

from __future__ import annotations

from dataclasses import dataclass

from resil.rtl_harness.npu.model.checks import OperationRequest, check_aligned
from resil.rtl_harness.npu.model.commands import CommandError, Register
from resil.rtl_harness.npu.model.kernel import (
    Kernel,
    check_buffers,
    kernel_config,
    piece_words,
)
from resil.rtl_harness.npu.model.output_config import Output, output_config
from resil.rtl_harness.npu.model.tensors import (
    FeatureMap,
    Stream,
    element_type,
    feature_map,
    stream_at,
)

ZERO_POINT_BITS = 9


@dataclass(frozen=True)
class ConvConfig:
    """Everything that decides what CONV or DEPTHWISE does.

    Attributes:
        ifm: Input; its height and width are what the kernel reaches in memory, without padding.
        output: Output.
        kernel: The kernel.
        depthwise: An OFM channel has one IFM channel.
        weights: The weight stream.
        scales: The scale stream.
    """

    ifm: FeatureMap
    output: Output
    kernel: Kernel
    depthwise: bool
    weights: Stream
    scales: Stream

    @property
    def weight_depth(self) -> int:
        """Weights of an OFM channel at a tap."""
        return 1 if self.depthwise else self.ifm.depth

    @property
    def input_chunk(self) -> int:
        """IFM channels that a convolution works on at a time."""
        return 16 if self.kernel.part_kernel_first else 32


def conv_config(request: OperationRequest) -> ConvConfig:
    """Check and collect the registers of CONV; raise CommandError if one is outside what it accepts."""
    return _config(request, depthwise=False)


def depthwise_config(request: OperationRequest) -> ConvConfig:
    """Check and collect the registers of DEPTHWISE; raise CommandError likewise."""
    return _config(request, depthwise=True)


def _config(request: OperationRequest, depthwise: bool) -> ConvConfig:
    registers = request.registers
    output = output_config(request)
    element = element_type(registers, "IFM", 2)
    if element.element_bytes != 1:
        raise CommandError(
            f"IFM_PRECISION has elements of {8 * element.element_bytes} bits, expected 8: convolutions of "
            "wider ones need products and accumulators that this NPU has not"
        )
    kernel = kernel_config(request, output)
    if output.global_scale:
        raise CommandError("OFM_PRECISION has a global scale, but convolutions have a scale for each channel")
    depth = output.ofm.depth if depthwise else registers[Register.IFM_DEPTH_M1] + 1
    shape = (kernel.y.stored, kernel.x.stored, depth)
    weights = stream_at(request, "WEIGHT")
    check_aligned(registers, Register.WEIGHT_LENGTH)
    config = ConvConfig(
        ifm=feature_map(registers, "IFM", element, shape, ZERO_POINT_BITS),
        output=output,
        kernel=kernel,
        depthwise=depthwise,
        weights=weights,
        scales=stream_at(request, "SCALE"),
    )
    channels = min(output.block.depth, depth) if depthwise else min(depth, config.input_chunk)
    check_buffers(request, output, kernel, piece_words(channels))
    return config
