# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations, for a batch of memories at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.npu.model.arithmetic import (
    Int64,
    Rounding,
    count_leading_zeros,
    rescale_operand,
    rescale_wide,
    sat32,
    shift_left,
    shift_right,
    wrap,
)
from resil.rtl_harness.npu.model.batch import Upset, check_size, chunks, rows_of
from resil.rtl_harness.npu.model.config import NpuConfig
from resil.rtl_harness.npu.model.elementwise_config import ElementwiseConfig, Function
from resil.rtl_harness.npu.model.feature_map import (
    Elements,
    Placement,
    RegionSize,
    Transfer,
    place,
    read_cuts,
)
from resil.rtl_harness.npu.model.memory import RegionMemory
from resil.rtl_harness.npu.model.output import Sink
from resil.rtl_harness.npu.model.status import Status
from resil.rtl_harness.npu.model.tensors import FeatureMap

_OPERAND_BITS = 33
_SHIFT_MASK = 63
# Bits by which TensorFlow Lite shifts the operands of an addition, by the bytes of the IFM's elements.
_HEADROOM = {1: 20, 2: 15}


class Elementwise:
    """ELEMENTWISE whose addresses have been worked out. Everything is read before anything is written.

    Attributes:
        refusal: Status.NONE: nothing keeps ELEMENTWISE from starting.
    """

    refusal = Status.NONE

    def __init__(self, config: ElementwiseConfig, npu: NpuConfig, region_size: RegionSize) -> None:
        """Prepare `config` for regions whose bytes `region_size` gives by region number.

        Raises:
            HarnessError: A tensor of the operation is beyond what the model can hold.
        """
        self._config = config
        output = config.output
        check_size(OFM=output.ofm.elements)
        self._sink = Sink(output, npu, region_size)
        self._errors = self._sink.errors

        def source(tensor: FeatureMap) -> Transfer:
            placement: Placement = place(
                tensor, read_cuts(tensor, output.block.depth), region_size(tensor.region)
            )
            if not placement.inside.all():
                self._errors |= npu.beyond_region
            return Transfer(tensor, placement)

        self._first = source(config.ifm)
        self._second = source(config.ifm2) if config.ifm2 is not None else None

    def execute(self, memory: RegionMemory, upset: Upset | None = None) -> npt.NDArray[np.uint32]:
        """Work on the active elements of `memory`; return their error bits, shape (active,).

        There are no accumulators that an `upset` could change.
        """
        config = self._config
        first, tables = self._first.read(memory), self._sink.tables(memory)
        second = self._second.read(memory) if self._second is not None else None
        shared = len(first) == len(tables) == 1 and (second is None or len(second) == 1)
        count = 1 if shared else len(memory.active)
        output = self._sink.empty(count)
        for rows in chunks(np.arange(count), 4 * config.output.ofm.elements):
            a = _values(rows_of(first, rows), config.ifm)
            b = np.asarray(config.scalar or 0, dtype=np.int64)
            if second is not None and config.ifm2 is not None:
                b = _values(rows_of(second, rows), config.ifm2)
            values = scaled(config, b, a) if config.swapped else scaled(config, a, b)
            output[rows] = self._sink.finish(values, rows_of(tables, rows))
        self._sink.write(memory, output)
        return np.full(len(memory.active), int(self._errors), dtype=np.uint32)


def _values(elements: Elements, tensor: FeatureMap) -> Int64:
    return wrap(elements.astype(np.int64) - tensor.zero_point, _OPERAND_BITS)


def scaled(config: ElementwiseConfig, a: Int64, b: Int64) -> Int64:
    """Return what the operation makes of its operands, scaled, before the zero point.

    Args:
        config: The operation.
        a: First operand, 33 bits.
        b: Second operand, 33 bits, of a shape that broadcasts with that of `a`; anything if there is none.
    """
    output = config.output
    factor, shift = (1 if config.wide else output.scale, output.shift) if output.global_scale else (1, 0)
    if config.function == Function.MUL and config.wide:
        return rescale_wide(a, b, shift, output.rounding)
    values = _combined(config, a, b)
    result = rescale_wide(values, factor, shift, output.rounding)
    if config.function == Function.LRELU:
        return np.where(a < 0, result, sat32(a))
    return result


def _combined(config: ElementwiseConfig, a: Int64, b: Int64) -> Int64:
    match config.function:
        case Function.ADD | Function.SUB:
            if not config.wide:
                a, b = _operands(config, a, b)
            return a + b if config.function == Function.ADD else a - b
        case Function.MUL:
            return a * b
        case Function.MIN:
            return np.minimum(a, b)
        case Function.MAX:
            return np.maximum(a, b)
        case Function.LRELU:
            return a
        case Function.ABS:
            return np.abs(a)
        case Function.CLZ:
            return count_leading_zeros(a)
        case Function.SHR:
            return shift_right(a, b & _SHIFT_MASK, config.output.rounding == Rounding.NATURAL)
        case Function.SHL:
            return shift_left(a, b & _SHIFT_MASK)


def _operands(config: ElementwiseConfig, a: Int64, b: Int64) -> tuple[Int64, Int64]:
    """Scale the operands of an addition, each to int32."""
    scale = config.operand_scale
    headroom = _HEADROOM[config.ifm.element_bytes]
    match scale.operand:
        case 1:
            return rescale_operand(a, scale.first, scale.shift, headroom), sat32(b << headroom - 1)
        case 2:
            return sat32(a << headroom - 1), rescale_operand(b, scale.first, scale.shift, headroom)
    return (
        rescale_wide(a, scale.first, 0, Rounding.NATURAL),
        rescale_wide(b, scale.second, 0, Rounding.NATURAL),
    )
