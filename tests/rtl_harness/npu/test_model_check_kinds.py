# SPDX-License-Identifier: Apache-2.0
"""The rules of section 4 for depthwise convolutions, pools and elementwise operations, one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from resil.rtl_harness.npu.model.config import CONFIGS, ETHOS_U55_32, NpuConfig
from resil.rtl_harness.npu.model.elementwise_config import UNARY, Function
from testkit.npu.model_support import Case
from tests.rtl_harness.npu.test_model_checks import CASE, refusal

MAX, AVERAGE, REDUCE_SUM = 0, 1, 2
GLOBAL_SCALE = 0x100
PADS = ("IFM_PAD_TOP", "IFM_PAD_LEFT", "IFM_PAD_RIGHT", "IFM_PAD_BOTTOM")


def operation(kind: str, parameter: int = 0, **registers: int) -> Case:
    """That of the rules for convolutions, made another kind."""
    return replace(CASE.with_registers(**{"KERNEL_STRIDE": 0, **registers}), kind=kind, parameter=parameter)


def refused(kind: str, parameter: int = 0, npu: NpuConfig = ETHOS_U55_32, **registers: int) -> str:
    return refusal(operation(kind, parameter, **registers), npu)


def elementwise(function: int, npu: NpuConfig = ETHOS_U55_32, **registers: int) -> str:
    sound = {"IFM_PRECISION": 1, "IFM2_PRECISION": 1, "IFM_IB_END": 14, "IFM2_IB_START": 8}
    return refused("ELEMENTWISE", function, npu, **{**sound, **registers})


def test_parameters_of_commands():
    for parameter in range(2):
        assert refused("POOL", parameter, OFM_PRECISION=GLOBAL_SCALE) == ""
    for parameter in (3, 4, 0x8000):
        assert "POOL has the parameter" in refused("POOL", parameter)
    for function in range(10):
        assert elementwise(function) == ""
    for function in (10, 16, 0x4000):
        assert "ELEMENTWISE has the parameter" in elementwise(function)
    assert refused("CONV", 7) == refused("DEPTHWISE", 7) == ""


def test_depthwise_convolutions():
    assert refused("DEPTHWISE") == ""
    assert "global scale" in refused("DEPTHWISE", OFM_PRECISION=GLOBAL_SCALE)
    assert "WEIGHT_LENGTH" in refused("DEPTHWISE", WEIGHT_LENGTH=0)
    assert "SCALE_BASE" in refused("DEPTHWISE", SCALE_BASE=8)
    for size in (1, 2):
        assert "expected 8" in refused("DEPTHWISE", IFM_PRECISION=size << 2)
    # 6 x 6 pixels of the block's channels, three words; the IFM's depth does not count.
    deep = {"OFM_DEPTH_M1": 23, "OFM_BLK_DEPTH_M1": 23, "IFM_DEPTH_M1": 999}
    assert refused("DEPTHWISE", IFM_IB_END=4, **deep) == ""
    assert "IFM buffer words" in refused("DEPTHWISE", IFM_IB_END=3, **deep)
    deeper = {"OFM_DEPTH_M1": 31, "OFM_BLK_DEPTH_M1": 31}
    assert "IFM buffer words" in refused("DEPTHWISE", IFM_IB_END=4, **deeper)
    assert refused("DEPTHWISE", IFM_IB_END=4, OFM_BLK_DEPTH_M1=31, OFM_DEPTH_M1=23) == ""


@pytest.mark.parametrize("pooling", [MAX, AVERAGE])
def test_maxima_and_averages(pooling):
    good = {"OFM_PRECISION": GLOBAL_SCALE}
    assert refused("POOL", pooling, **good) == ""
    assert refused("POOL", pooling, IFM_UPSCALE=2, **good) == ""
    assert refused("POOL", pooling, WEIGHT_LENGTH=0, SCALE_BASE=3, SCALE_REGION=99, **good) == ""
    assert refused("POOL", pooling, IFM_PRECISION=1 << 2, **good) == ""
    assert "ACC_FORMAT" in refused("POOL", pooling, IFM_PRECISION=1 << 2, ACC_FORMAT=1, **good)
    assert "size" in refused("POOL", pooling, IFM_PRECISION=2 << 2, **good)
    for bit in (3, 4):
        case = operation("POOL", pooling, **good).with_registers(KERNEL_STRIDE=1 << bit)
        assert "dilation" in refusal(case)


def test_averages_that_count_have_64_taps_at_most():
    room = {"IFM_IB_END": 14, "AB_START": 14, "OFM_BLK_WIDTH_M1": 0, "OFM_BLK_HEIGHT_M1": 0}
    unpadded = dict.fromkeys(PADS, 0)
    for width, height, few in ((8, 8, True), (13, 5, False), (64, 1, True), (65, 1, False)):
        kernel = {**room, "KERNEL_WIDTH_M1": width - 1, "KERNEL_HEIGHT_M1": height - 1}
        assert (refused("POOL", AVERAGE, **kernel, **unpadded) == "") == few
        assert refused("POOL", AVERAGE, **kernel, **unpadded, OFM_PRECISION=GLOBAL_SCALE) == ""
        for pad in PADS:
            padded = {**unpadded, pad: 1, "OFM_PRECISION": GLOBAL_SCALE}
            assert (refused("POOL", AVERAGE, **kernel, **padded) == "") == few
        assert refused("POOL", MAX, **kernel) == ""


def test_sums_over_depth():
    sound = {"OFM_DEPTH_M1": 0, "KERNEL_WIDTH_M1": 0, "KERNEL_HEIGHT_M1": 0, **dict.fromkeys(PADS, 0)}
    assert refused("POOL", REDUCE_SUM, **sound) == ""
    assert refused("POOL", REDUCE_SUM, **sound, IFM_PRECISION=2 << 2) == ""
    for size, format in ((0, 0), (1, 0), (1, 1), (2, 0)):
        assert refused("POOL", REDUCE_SUM, **sound, IFM_PRECISION=size << 2, ACC_FORMAT=format) == ""
    for size, format in ((0, 1), (1, 2), (2, 1)):
        assert "ACC_FORMAT" in refused(
            "POOL", REDUCE_SUM, **sound, IFM_PRECISION=size << 2, ACC_FORMAT=format
        )
    wrong = [{"OFM_DEPTH_M1": 1}, {"KERNEL_WIDTH_M1": 1}, {"KERNEL_HEIGHT_M1": 1}, {"IFM_UPSCALE": 1}]
    for change in wrong:
        assert "REDUCE_SUM" in refused("POOL", REDUCE_SUM, **{**sound, **change})
    for bits, fine in ((0, True), (1, False), (2, False), (1 << 6, False), (1 << 3, True), (1 << 2, True)):
        case = operation("POOL", REDUCE_SUM, **sound).with_registers(KERNEL_STRIDE=bits)
        assert (refusal(case) == "") == fine
    # 16 pixels of 8 channels of 32 bits, 16 of 16, or 32 of 8: four words at most.
    for precision, full in ((0, 32), (1 << 2, 16), (2 << 2, 8)):
        for depth in (full - 1, full, full + 1, 99):
            registers = {**sound, "IFM_PRECISION": precision, "IFM_DEPTH_M1": depth - 1}
            wide = {"OFM_BLK_WIDTH_M1": 7, "OFM_BLK_HEIGHT_M1": 3, "OFM_BLK_DEPTH_M1": 0}
            assert refused("POOL", REDUCE_SUM, **registers, **wide, IFM_IB_END=4) == ""
            wide["OFM_BLK_WIDTH_M1"] = 8
            assert "IFM buffer words" in refused("POOL", REDUCE_SUM, **registers, **wide, IFM_IB_END=4)


@pytest.mark.parametrize("function", Function)
def test_elementwise_operations(function):
    assert elementwise(function, KERNEL_STRIDE=0xFFFF) == ""
    assert "IFM_UPSCALE" in elementwise(function, IFM_UPSCALE=1)
    for operand in range(4):
        assert (elementwise(function, IFM_PRECISION=operand << 8) == "") == (operand < 3)
    for size in range(4):
        precisions = {"IFM_PRECISION": size << 2, "IFM2_PRECISION": size << 2, "IFM_IB_END": 16}
        assert (elementwise(function, OFM_BLK_WIDTH_M1=0, **precisions) == "") == (size < 3)
    assert elementwise(function, IFM_PAD_TOP=999, KERNEL_WIDTH_M1=999, AB_START=0, ACC_FORMAT=9) == ""
    assert "end 14" in elementwise(function, IFM_IB_END=15, ACTIVATION=16)
    assert elementwise(function, IFM_IB_END=14, ACTIVATION=16) == ""


@pytest.mark.parametrize("function", Function)
def test_the_second_operand(function):
    """Its registers count for binary operations; those of its memory not for a constant."""
    binary, scalar = function not in UNARY, 0x80
    for value in (0x0, 0x1, 0x41, 0x301, 0x8001):
        assert elementwise(function, IFM2_PRECISION=value) == ""
    for value in (0x5, 0x9, 0xD, 0x81, 0x11, 0x401):
        for broadcast in (0, scalar):
            assert (elementwise(function, IFM2_PRECISION=value, IFM2_BROADCAST=broadcast) != "") == binary
    for bit in range(16):
        fine = not binary or not (1 << bit) & ~0xC7
        assert (elementwise(function, IFM2_BROADCAST=1 << bit) == "") == fine
    for change in ({"IFM2_REGION": 8}, {"IFM2_IB_START": 1}, {"IFM2_IB_START": 15}):
        assert (elementwise(function, **change) != "") == binary
        assert elementwise(function, **change, IFM2_BROADCAST=scalar) == ""
    assert elementwise(function, IFM2_REGION=7) == ""


def test_the_operands_buffers():
    """8 x 8 pixels of 24 channels are 192 words: two buffers of two banks have room for 256."""
    block = {"OFM_BLK_WIDTH_M1": 7, "OFM_BLK_HEIGHT_M1": 7, "OFM_BLK_DEPTH_M1": 31, "OFM_DEPTH_M1": 23}
    assert elementwise(Function.ABS, **block, IFM_IB_END=6) == ""
    assert "IFM words" in elementwise(Function.ABS, **block, IFM_IB_END=5)
    assert elementwise(Function.ADD, **block, IFM2_BROADCAST=0x80, IFM_IB_END=6) == ""
    assert "IFM words" in elementwise(Function.ADD, **block, IFM2_BROADCAST=0x80, IFM_IB_END=5)
    assert elementwise(Function.ADD, **block, IFM2_IB_START=6, IFM_IB_END=10) == ""
    assert "IFM words" in elementwise(Function.ADD, **block, IFM2_IB_START=5, IFM_IB_END=10)
    assert "IFM2 words" in elementwise(Function.ADD, **block, IFM2_IB_START=6, IFM_IB_END=9)
    # Along broadcast axes it needs one element: 24, 24 or 64 words.
    for broadcast in (1, 2, 4, 7):
        changes = {**block, "IFM2_IB_START": 6, "IFM2_BROADCAST": broadcast}
        assert elementwise(Function.ADD, **changes, IFM_IB_END=8) == ""
        assert "IFM2 words" in elementwise(Function.ADD, **changes, IFM_IB_END=7)
    wide = {**block, "IFM_PRECISION": 8, "IFM2_PRECISION": 8, "OFM_DEPTH_M1": 5}
    assert elementwise(Function.ADD, **wide, IFM2_IB_START=6, IFM_IB_END=10) == ""
    assert "IFM words" in elementwise(Function.ADD, **wide, IFM2_IB_START=5, IFM_IB_END=10)
    deeper = {**wide, "OFM_DEPTH_M1": 8}
    assert "IFM words" in elementwise(Function.ADD, **deeper, IFM2_IB_START=6, IFM_IB_END=10)


@pytest.mark.parametrize("accelerator", CONFIGS)
def test_banks_of_elementwise_operations(accelerator):
    npu = CONFIGS[accelerator]
    end = npu.usable_banks
    assert elementwise(Function.ABS, npu, IFM_IB_END=end) == ""
    assert f"end {end}" in elementwise(Function.ABS, npu, IFM_IB_END=end + 1)
    assert (elementwise(Function.ABS, npu, IFM_IB_END=end, ACTIVATION=16) == "") == (end > 16)
