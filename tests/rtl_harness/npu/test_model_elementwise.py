# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of elementwise operations at the corners of their operands, against unbounded integers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from resil.rtl_harness.npu.model.arithmetic import Rounding
from resil.rtl_harness.npu.model.elementwise import scaled
from resil.rtl_harness.npu.model.elementwise_config import (
    ElementwiseConfig,
    Function,
    OperandScale,
)
from resil.rtl_harness.npu.model.output_config import Activation, Banks, OfmBlock, Output
from resil.rtl_harness.npu.model.tensors import FeatureMap, Tiles
from tests.rtl_harness.npu.literal_arithmetic import elementwise
from tests.rtl_harness.npu.literal_memory import Registers

# Operands by bytes of an element: the least and the greatest that zero points make of them, and others.
OPERANDS = {
    1: [-32895, -32768, -128, -7, -1, 0, 1, 2, 31, 127, 255, 32767, 33023],
    2: [-65535, -32769, -32768, -1, 0, 1, 15, 63, 64, 32767, 65535, 98303],
    4: [-(1 << 32), -(1 << 31) - 1, -(1 << 31), -1, 0, 1, 33, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1],
}
SCALES = [
    (0, 0),
    (1, 0),
    (1 << 30, 30),
    ((1 << 31) - 1, 31),
    ((1 << 32) - 1, 33),
    (1518500250, 47),
    (1 << 31, 63),
]
OPERAND_SCALES = [
    (1, 0, 1),
    (1 << 20, 0, 99),
    (1 << 30, 12, 0),
    ((1 << 32) - 1, 0, (1 << 32) - 1),
    (1 << 31, 63, 7),
]


def feature_map(size: int) -> FeatureMap:
    return FeatureMap(1, Tiles(1, 1, 1, (0, 0, 0, 0)), 0, 0, 0, 1, 1, 1, False, size, True, 0)


@pytest.mark.parametrize("size", OPERANDS)
@pytest.mark.parametrize("function", Function)
def test_corners(function: Function, size: int):
    pairs = list(product(OPERANDS[size], OPERANDS[size]))
    a, b = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    adds = function in (Function.ADD, Function.SUB) and size < 4
    ways = product(range(3), OPERAND_SCALES) if adds else [(0, OPERAND_SCALES[0])]
    for operand, (first, first_shift, second) in ways:
        for rounding, global_scale, (scale, shift) in product(Rounding, (False, True), SCALES):
            output = Output(
                ofm=feature_map(4),
                block=OfmBlock(1, 1, 1),
                banks=Banks(0, 0, 0),
                activation=Activation(0, 0, False, None),
                rounding=rounding,
                global_scale=global_scale,
                scale=scale,
                shift=shift,
            )
            operands = OperandScale(operand, first, first_shift, second)
            config = ElementwiseConfig(function, feature_map(size), None, 0, False, operands, output)
            registers = Registers(
                {
                    "IFM_PRECISION": (size.bit_length() - 1) << 2 | operand << 8,
                    "OFM_PRECISION": rounding << 14 | global_scale << 8,
                    "OFM_SCALE": shift << 32 | scale,
                    "OPA_SCALE": first_shift << 32 | first,
                    "OPB_SCALE": second,
                }
            )
            expected = [elementwise(registers, function, *pair) for pair in pairs]
            assert scaled(config, a, b).tolist() == expected, (rounding, global_scale, scale, shift)
