# SPDX-License-Identifier: Apache-2.0
"""What a pooling operation was set to do, and the rules that its registers must obey."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from resil.rtl_harness.npu.model.checks import OperationRequest
from resil.rtl_harness.npu.model.commands import CommandError, Register
from resil.rtl_harness.npu.model.conv_config import ZERO_POINT_BITS
from resil.rtl_harness.npu.model.kernel import (
    Kernel,
    Upscale,
    check_buffers,
    kernel_config,
    piece_words,
)
from resil.rtl_harness.npu.model.output_config import Output, output_config
from resil.rtl_harness.npu.model.tensors import FeatureMap, element_type, feature_map

PIECE_BYTES = 32
_AVERAGED_TAPS = 64
# ACC_FORMAT of 40 bits: sums of 16-bit elements need no more than 32.
_WIDE_SUM = 1


class Pooling(IntEnum):
    """Parameter of the POOL command."""

    MAX = 0
    AVERAGE = 1
    REDUCE_SUM = 2


@dataclass(frozen=True)
class PoolConfig:
    """Everything that decides what POOL does.

    Attributes:
        pooling: Which of the three.
        ifm: Input; its height and width are what the kernel reaches in memory, without padding.
        output: Output.
        kernel: The kernel.
    """

    pooling: Pooling
    ifm: FeatureMap
    output: Output
    kernel: Kernel

    @property
    def counts(self) -> bool:
        """An average divides by the number of taps inside the IFM, instead of using the global scale."""
        return self.pooling == Pooling.AVERAGE and (self.kernel.padded or not self.output.global_scale)

    @property
    def wide(self) -> bool:
        """The elements of the IFM have 32 bits."""
        return self.ifm.element_bytes == 4


def pool_config(request: OperationRequest) -> PoolConfig:
    """Check and collect the registers of POOL; raise CommandError if one is outside what it accepts."""
    registers = request.registers
    if request.parameter > max(Pooling):
        raise CommandError(f"POOL has the parameter {request.parameter}, expected 0 to {max(Pooling)}")
    pooling = Pooling(request.parameter)
    output = output_config(request)
    element = element_type(registers, "IFM", 2)
    reduces = pooling == Pooling.REDUCE_SUM
    kernel = kernel_config(request, output, _WIDE_SUM if reduces and element.element_bytes == 2 else 0)
    if element.element_bytes not in ((1, 2, 4) if reduces else (1, 2)):
        raise CommandError(f"IFM_PRECISION has a size that {pooling.name} does not take")
    depth = registers[Register.IFM_DEPTH_M1] + 1 if reduces else output.ofm.depth
    shape = (kernel.y.stored, kernel.x.stored, depth)
    ifm = feature_map(registers, "IFM", element, shape, ZERO_POINT_BITS)
    channels = min(depth, PIECE_BYTES // element.element_bytes if reduces else output.block.depth)
    check_buffers(request, output, kernel, piece_words(channels, element.element_bytes))
    config = PoolConfig(pooling, ifm, output, kernel)
    _check_kernel(config)
    return config


def _check_kernel(config: PoolConfig) -> None:
    kernel, taps = config.kernel, config.kernel.taps
    if config.pooling == Pooling.REDUCE_SUM:
        if taps != 1 or kernel.y.stride != 1 or kernel.x.stride != 1 or config.output.ofm.depth != 1:
            raise CommandError("REDUCE_SUM with a kernel, a stride or an OFM depth above 1")
        if kernel.y.upscale != Upscale.NONE:
            raise CommandError(f"IFM_UPSCALE is {kernel.y.upscale}, expected 0 for REDUCE_SUM")
    elif kernel.y.dilation != 1 or kernel.x.dilation != 1:
        raise CommandError(f"KERNEL_STRIDE has a dilation, which {config.pooling.name} does not take")
    elif config.counts and taps > _AVERAGED_TAPS:
        raise CommandError(f"AVERAGE counts {taps} taps one by one, expected at most {_AVERAGED_TAPS}")
