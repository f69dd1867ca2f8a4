# SPDX-License-Identifier: Apache-2.0
"""What an elementwise operation was set to do, and the rules that its registers must obey."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from resil.rtl_harness.npu.model.checks import OperationRequest, check_bits, check_order, check_room
from resil.rtl_harness.npu.model.commands import CommandError, Register
from resil.rtl_harness.npu.model.config import STAGING_BANKS
from resil.rtl_harness.npu.model.kernel import piece_words
from resil.rtl_harness.npu.model.output_config import IFM_PRECISION_BITS, OfmBlock, Output, output_config
from resil.rtl_harness.npu.model.tensors import FeatureMap, element_type, feature_map

_BROADCAST_HEIGHT, _BROADCAST_WIDTH, _BROADCAST_DEPTH = 1 << 0, 1 << 1, 1 << 2
_SWAPPED, _SCALAR = 1 << 6, 1 << 7
_BROADCAST_BITS = 0x00C7


class Function(IntEnum):
    """Parameter of the ELEMENTWISE command."""

    MUL = 0
    ADD = 1
    SUB = 2
    MIN = 3
    MAX = 4
    LRELU = 5
    ABS = 6
    CLZ = 7
    SHR = 8
    SHL = 9


UNARY = frozenset({Function.LRELU, Function.ABS, Function.CLZ})


@dataclass(frozen=True)
class OperandScale:
    """How the operands of ADD and SUB are scaled.

    Attributes:
        operand: The one that is scaled and shifted, 1 or 2; 0 if both are only scaled.
        first: Scale of the first, or of the one that is scaled.
        shift: Shift that goes with it.
        second: Scale of the second, if both are scaled.
    """

    operand: int
    first: int
    shift: int
    second: int


@dataclass(frozen=True)
class ElementwiseConfig:
    """Everything that decides what ELEMENTWISE does.

    Attributes:
        function: Which of the ten.
        ifm: First operand.
        ifm2: Second operand from memory, its sizes 1 where it is broadcast; None if there is none.
        scalar: Second operand, without its zero point, if it is a constant.
        swapped: The operands change places.
        operand_scale: For ADD and SUB.
        output: Output.
    """

    function: Function
    ifm: FeatureMap
    ifm2: FeatureMap | None
    scalar: int | None
    swapped: bool
    operand_scale: OperandScale
    output: Output

    @property
    def wide(self) -> bool:
        """The elements of the IFM have 32 bits."""
        return self.ifm.element_bytes == 4


def elementwise_config(request: OperationRequest) -> ElementwiseConfig:
    """Check and collect the registers of ELEMENTWISE; raise CommandError if it does not accept them."""
    registers = request.registers
    if request.parameter > max(Function):
        raise CommandError(
            f"ELEMENTWISE has the parameter {request.parameter}, expected 0 to {max(Function)}"
        )
    function = Function(request.parameter)
    output = output_config(request)
    check_bits(registers, Register.IFM_UPSCALE, 0)
    operand = registers[Register.IFM_PRECISION] >> 8 & 3
    if operand == 3:
        raise CommandError("IFM_PRECISION has operand to scale 3, expected 0 to 2")
    shape = (output.ofm.height, output.ofm.width, output.ofm.depth)
    ifm = feature_map(registers, "IFM", element_type(registers, "IFM", 2), shape)
    ifm2, scalar, broadcast = None, None, 0
    if function not in UNARY:
        broadcast = check_bits(registers, Register.IFM2_BROADCAST, _BROADCAST_BITS)
        check_bits(registers, Register.IFM2_PRECISION, IFM_PRECISION_BITS)
        element = element_type(registers, "IFM2", 2)
        if element.element_bytes != ifm.element_bytes:
            raise CommandError("IFM2_PRECISION and IFM_PRECISION have different sizes")
        if broadcast & _SCALAR:
            scalar = (
                registers.signed(Register.IFM2_SCALAR) if element.signed else registers[Register.IFM2_SCALAR]
            )
            scalar -= registers.signed(Register.IFM2_ZERO_POINT)
        else:
            ifm2 = feature_map(registers, "IFM2", element, _broadcast(shape, broadcast))
    _check_buffers(request, output, ifm, ifm2)
    opa = registers[Register.OPA_SCALE]
    scale = OperandScale(
        operand, opa & 0xFFFFFFFF, opa >> 32 & 63, registers[Register.OPB_SCALE] & 0xFFFFFFFF
    )
    return ElementwiseConfig(function, ifm, ifm2, scalar, bool(broadcast & _SWAPPED), scale, output)


def _broadcast(shape: tuple[int, int, int], broadcast: int) -> tuple[int, int, int]:
    height, width, depth = shape
    return (
        1 if broadcast & _BROADCAST_HEIGHT else height,
        1 if broadcast & _BROADCAST_WIDTH else width,
        1 if broadcast & _BROADCAST_DEPTH else depth,
    )


def _check_buffers(
    request: OperationRequest, output: Output, ifm: FeatureMap, ifm2: FeatureMap | None
) -> None:
    npu, registers, block = request.npu, request.registers, output.block
    limit = npu.buffers_end(output.activation.table is not None)
    end = registers[Register.IFM_IB_END]
    split = end if ifm2 is None else registers[Register.IFM2_IB_START]
    second = () if ifm2 is None else (("IFM2_IB_START", split),)
    check_order(("first bank", STAGING_BANKS), *second, ("IFM_IB_END", end), ("end", limit))
    check_room("IFM words", _words(block, ifm, 0), npu.operand_words(STAGING_BANKS, split))
    if ifm2 is not None:
        broadcast = registers[Register.IFM2_BROADCAST]
        check_room("IFM2 words", _words(block, ifm2, broadcast), npu.operand_words(split, end))


def _words(block: OfmBlock, tensor: FeatureMap, broadcast: int) -> int:
    height, width, depth = _broadcast((block.height, block.width, block.depth), broadcast)
    return height * width * piece_words(min(depth, tensor.depth), tensor.element_bytes)
