# SPDX-License-Identifier: Apache-2.0
"""How the output of every operation was set up, and the rules that hold for all operations."""

from __future__ import annotations

from dataclasses import dataclass

from resil.rtl_harness.npu.model.arithmetic import Rounding
from resil.rtl_harness.npu.model.checks import (
    OperationRequest,
    check_below,
    check_bits,
    written_region,
)
from resil.rtl_harness.npu.model.commands import CommandError, Register, Registers
from resil.rtl_harness.npu.model.tensors import FeatureMap, element_type, feature_map

IFM_PRECISION_BITS = 0xC3CD
"""With `round_mode`, whose two bits the compiler sets, but which change nothing."""
_OFM_PRECISION_BITS = 0xC1C7
_ACTIVATION_BITS = 0x301F
_GLOBAL_SCALE_BIT = 8
_FIRST_TABLE = 16
_TABLES = 8
_TABLES_OF_WORDS = 2
_FORCE_INT8 = 3
_BLOCK_DEPTH_UNIT = 16


@dataclass(frozen=True)
class OfmBlock:
    """OFM elements that are worked on at a time."""

    height: int
    width: int
    depth: int

    @property
    def pixels(self) -> int:
        """Rows times columns."""
        return self.height * self.width


@dataclass(frozen=True)
class Activation:
    """What becomes of a scaled value.

    Attributes:
        low: Lower bound.
        high: Upper bound, which wins over the lower.
        int8: Clamp to int8, whatever the OFM's type.
        table: Number of the look-up table, None for none.
    """

    low: int
    high: int
    int8: bool
    table: int | None


@dataclass(frozen=True)
class Banks:
    """How an operation divides the shared buffer, in banks; as the registers say, unless that is an error.

    Attributes:
        inputs_end: After the last bank of the IFM, or of both operands.
        second: First bank of the second operand.
        accumulators: First bank of the accumulators.
    """

    inputs_end: int
    second: int
    accumulators: int


@dataclass(frozen=True)
class Output:
    """The output of an operation.

    Attributes:
        ofm: Where it goes.
        block: Elements at a time.
        banks: Of the shared buffer, that the operation uses.
        activation: What becomes of a scaled value.
        rounding: How values are scaled.
        global_scale: `scale` and `shift` are those of the operation, not of its channels or values.
        scale: 32 bits.
        shift: 6 bits.
    """

    ofm: FeatureMap
    block: OfmBlock
    banks: Banks
    activation: Activation
    rounding: Rounding
    global_scale: bool
    scale: int
    shift: int


def output_config(request: OperationRequest) -> Output:
    """Check what all operations are checked for; return what concerns the output.

    Raises:
        CommandError: If a register is outside what operations accept.
    """
    registers = request.registers
    check_bits(registers, Register.IFM_PRECISION, IFM_PRECISION_BITS)
    precision = check_bits(registers, Register.OFM_PRECISION, _OFM_PRECISION_BITS)
    if precision >> 14 == 3:
        raise CommandError("OFM_PRECISION has rounding 3, expected 0 (double), 1 (truncate) or 2 (natural)")
    written_region(request, Register.OFM_REGION)
    height, width, depth = (
        registers[Register[f"OFM_{size}_M1"]] + 1 for size in ("HEIGHT", "WIDTH", "DEPTH")
    )
    ofm = feature_map(registers, "OFM", element_type(registers, "OFM", 1), (height, width, depth))
    return Output(
        ofm=ofm,
        block=_block(registers, depth),
        banks=Banks(
            inputs_end=registers[Register.IFM_IB_END],
            second=registers[Register.IFM2_IB_START],
            accumulators=registers[Register.AB_START],
        ),
        activation=_activation(registers, ofm),
        rounding=Rounding(precision >> 14),
        global_scale=bool(precision >> _GLOBAL_SCALE_BIT & 1),
        scale=registers[Register.OFM_SCALE] & 0xFFFFFFFF,
        shift=registers[Register.OFM_SCALE] >> 32 & 63,
    )


def _block(registers: Registers, ofm_depth: int) -> OfmBlock:
    block = OfmBlock(
        check_below(registers, Register.OFM_BLK_HEIGHT_M1, 64) + 1,
        check_below(registers, Register.OFM_BLK_WIDTH_M1, 64) + 1,
        check_below(registers, Register.OFM_BLK_DEPTH_M1, 128) + 1,
    )
    if block.depth % _BLOCK_DEPTH_UNIT and block.depth < ofm_depth:
        raise CommandError(
            f"OFM_BLK_DEPTH_M1 + 1 is {block.depth}, expected a multiple of {_BLOCK_DEPTH_UNIT} "
            f"or at least the OFM's depth of {ofm_depth}"
        )
    return block


def _activation(registers: Registers, ofm: FeatureMap) -> Activation:
    value = check_bits(registers, Register.ACTIVATION, _ACTIVATION_BITS)
    function, clip = value & 0x1F, value >> 12
    if clip not in (0, _FORCE_INT8):
        raise CommandError(f"ACTIVATION has clip range {clip}, expected 0 or {_FORCE_INT8}")
    table = function - _FIRST_TABLE if function else None
    if table is not None:
        if not 0 <= table < _TABLES:
            named = {3: " (tanh)", 4: " (logistic)"}.get(function, "")
            raise CommandError(f"ACTIVATION has function {function}{named}, expected 0 or a table, 16 to 23")
        if ofm.element_bytes == 2 and table:
            raise CommandError(
                f"ACTIVATION has table {table}, but the OFM has 16-bit elements: expected table 0"
            )
        if ofm.element_bytes == 4 and not (table < _TABLES_OF_WORDS and clip == _FORCE_INT8):
            raise CommandError(
                f"ACTIVATION has table {table} and clip range {clip}, but the OFM has 32-bit elements: "
                f"expected a table below {_TABLES_OF_WORDS} and clip range {_FORCE_INT8}"
            )
    return Activation(
        low=registers.signed(Register.ACTIVATION_MIN),
        high=registers.signed(Register.ACTIVATION_MAX),
        int8=clip == _FORCE_INT8,
        table=table,
    )
