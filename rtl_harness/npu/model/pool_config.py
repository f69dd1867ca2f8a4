"""What a pooling operation was told to do, and the rules that its registers must obey."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from rtl_harness.npu.model.checks import Request
from rtl_harness.npu.model.commands import CommandError, Register
from rtl_harness.npu.model.conv_config import ZERO_POINT_BITS
from rtl_harness.npu.model.kernel import Kernel, Upscale, check_buffers, kernel_config, piece_words
from rtl_harness.npu.model.output_config import Output, output_config
from rtl_harness.npu.model.tensors import FeatureMap, element_type, feature_map

PIECE_BYTES = 32
_AVERAGED_TAPS = 64


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
    def wide(self) -> bool:
        """The elements of the IFM have 32 bits."""
        return self.ifm.element_bytes == 4


def pool_config(request: Request) -> PoolConfig:
    """Check and collect the registers of POOL; raise CommandError if one is outside what it accepts."""
    registers = request.registers
    if request.parameter > max(Pooling):
        raise CommandError(f"POOL has the parameter {request.parameter}, expected 0 to {max(Pooling)}")
    pooling = Pooling(request.parameter)
    output = output_config(request)
    kernel = kernel_config(request, output)
    element = element_type(registers, "IFM", 2)
    reduces = pooling == Pooling.REDUCE_SUM
    if element.element_bytes not in ((1, 4) if reduces else (1,)):
        raise CommandError(f"IFM_PRECISION has a size that {pooling.name} does not take")
    depth = registers[Register.IFM_DEPTH_M1] + 1 if reduces else output.ofm.depth
    _check_kernel(pooling, kernel, output)
    shape = (kernel.y.stored, kernel.x.stored, depth)
    ifm = feature_map(registers, "IFM", element, shape, ZERO_POINT_BITS)
    channels = min(depth, PIECE_BYTES // element.element_bytes if reduces else output.block.depth)
    check_buffers(request, output, kernel, piece_words(channels, element.element_bytes))
    return PoolConfig(pooling, ifm, output, kernel)


def _check_kernel(pooling: Pooling, kernel: Kernel, output: Output) -> None:
    if kernel.y.upscale != Upscale.NONE:
        raise CommandError(f"IFM_UPSCALE is {kernel.y.upscale}, expected 0 for {pooling.name}")
    if pooling == Pooling.REDUCE_SUM:
        if kernel.taps != 1 or kernel.y.stride != 1 or kernel.x.stride != 1 or output.ofm.depth != 1:
            raise CommandError("REDUCE_SUM with a kernel, a stride or an OFM depth above 1")
    elif kernel.y.dilation != 1 or kernel.x.dilation != 1:
        raise CommandError(f"KERNEL_STRIDE has a dilation, which {pooling.name} does not take")
    elif pooling == Pooling.AVERAGE and not output.global_scale and kernel.taps > _AVERAGED_TAPS:
        raise CommandError(
            f"AVERAGE of {kernel.taps} taps without global scale, expected at most {_AVERAGED_TAPS}"
        )
