# SPDX-License-Identifier: Apache-2.0
"""The rules of section 4 for convolutions, one by one: what just passes and what just fails."""

from __future__ import annotations

import numpy as np
import pytest

from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.model.config import CONFIGS, ETHOS_U55_32, NpuConfig, npu_config
from resil.rtl_harness.npu.model.program import StreamEnd, lower
from resil.rtl_harness.npu.model.status import Status
from testkit.errors import about
from testkit.npu.model_support import Case, Shape, conv_case, scale_bytes

SHAPE = Shape(
    ofm=(6, 7, 6),
    ifm_depth=9,
    taps=(3, 3),
    block=(4, 4, 8),
    weight_bytes=bytes(64),
    scales=scale_bytes([0] * 6, [1] * 6, [0] * 6),
)
CASE = conv_case(SHAPE, np.random.default_rng(0))
LEGAL = CASE.registers
ROOM = {"IFM_IB_END": 12, "AB_START": 12}


def refusal(case: Case, npu: NpuConfig = ETHOS_U55_32) -> str:
    """Why the operation does not start, "" if it does; region 6 is read only."""
    program = lower(case.stream, npu, frozenset({6}))
    end = program.steps[-1].action
    assert isinstance(end, StreamEnd)
    assert end.status in (Status.CMD_END, Status.CMD_ERROR)
    assert len(program.operations) == (end.status == Status.CMD_END)
    return end.reason if end.status == Status.CMD_ERROR else ""


def accepted(**changes: int) -> bool:
    return not refused(**changes)


def refused(**changes: int) -> str:
    return refusal(CASE.with_registers(**changes))


def test_the_unchanged_registers_are_legal():
    assert accepted()


# Of registers whose fields have no other rule, the bits that may be set.
BITS = {
    "IFM_PRECISION": 0xC341,
    "OFM_PRECISION": 0xC047,
    "ACC_FORMAT": 0,
    "ACTIVATION": 0x0000,
    "IFM_REGION": 7,
    "OFM_REGION": 7,
    "WEIGHT_REGION": 7,
    "SCALE_REGION": 7,
    "KERNEL_STRIDE": 0x027F,
}


@pytest.mark.parametrize("name", BITS)
def test_bits_that_must_be_zero(name):
    for bit in range(16):
        value = LEGAL.get(name, 0) ^ 1 << bit
        legal = not value & ~BITS[name]
        if name == "ACTIVATION":
            legal = value == 1 << 4
        assert accepted(**{name: value}) == legal, bit


FIELDS = [
    # register, values that pass, values that fail
    (
        "IFM_PRECISION",
        [0x0, 0x1, 0x40, 0x300, 0x4000, 0x8000, 0xC000],
        [0x4, 0x8, 0xC, 0x80, 0xC0, 0x10, 0x400],
    ),
    ("OFM_PRECISION", [0x0, 0x2, 0x4, 0x40, 0x4000, 0x8000], [0x6, 0x80, 0xC0, 0x100, 0xC000, 0x8, 0x200]),
    ("ACTIVATION", [0, 16, 23, 0x3000, 0x3010], [1, 15, 24, 31, 0x1000, 0x2000, 0x4000, 0x20, 0x800]),
    ("IFM_UPSCALE", [0, 1, 2], [3, 4, 0x100]),
]


@pytest.mark.parametrize(("name", "passes", "fails"), FIELDS)
def test_values_of_fields(name, passes, fails):
    assert [value for value in passes if refused(**{name: value})] == []
    assert [value for value in fails if accepted(**{name: value})] == []


def test_tables_go_with_some_elements_only():
    for table in range(8):
        bits = {"ACTIVATION": 16 + table}
        clipped = {"ACTIVATION": 0x3010 + table}
        assert accepted(**bits, OFM_PRECISION=0)
        for sixteen in (bits, clipped):
            assert accepted(**sixteen, OFM_PRECISION=2) == (table == 0)
            assert table == 0 or "16-bit" in refused(**sixteen, OFM_PRECISION=2)
        assert "32-bit" in refused(**bits, OFM_PRECISION=4)
        assert accepted(**clipped, OFM_PRECISION=4) == (table <= 1)


TALL = {"OFM_HEIGHT_M1": 65535, "KERNEL_HEIGHT_M1": 7}
LIMITS = [
    # changes that pass, changes that fail, part of the reason
    ({"IFM_PAD_TOP": 6}, {"IFM_PAD_TOP": 7}, "the IFM's height is 0"),
    ({"IFM_PAD_BOTTOM": 6}, {"IFM_PAD_BOTTOM": 7}, "the IFM's height"),
    ({"IFM_PAD_LEFT": 7}, {"IFM_PAD_LEFT": 8}, "the IFM's width"),
    ({"IFM_PAD_RIGHT": 7}, {"IFM_PAD_RIGHT": 8}, "the IFM's width"),
    ({"OFM_WIDTH_M1": 65535}, {"OFM_WIDTH_M1": 65535, "KERNEL_WIDTH_M1": 3}, "the IFM's width is 65537"),
    ({"OFM_HEIGHT_M1": 65535}, {"OFM_HEIGHT_M1": 65535, "KERNEL_HEIGHT_M1": 3}, "the IFM's height"),
    ({**TALL, "IFM_UPSCALE": 1}, TALL, "the IFM's height is 65541"),
    ({"OFM_BLK_DEPTH_M1": 5}, {"OFM_BLK_DEPTH_M1": 4}, "OFM_BLK_DEPTH_M1"),
    ({"OFM_BLK_DEPTH_M1": 15, "OFM_DEPTH_M1": 16}, {"OFM_BLK_DEPTH_M1": 14, "OFM_DEPTH_M1": 15}, "OFM_BLK"),
    ({"OFM_BLK_DEPTH_M1": 127, "OFM_BLK_WIDTH_M1": 0}, {"OFM_BLK_DEPTH_M1": 128}, "OFM_BLK_DEPTH_M1 is 128"),
    ({"IFM_IB_END": 4}, {"IFM_IB_END": 1}, "IFM_IB_END 1"),
    ({"AB_START": 8}, {"AB_START": 7}, "AB_START 7"),
    ({"AB_START": 14}, {"AB_START": 17}, "AB_START 17"),
    ({"AB_START": 12, "ACTIVATION": 16}, {"AB_START": 15, "ACTIVATION": 16}, "end 14"),
    ({"WEIGHT_BASE": 16}, {"WEIGHT_BASE": 8}, "WEIGHT_BASE"),
    ({"SCALE_BASE": 32}, {"SCALE_BASE": 33}, "SCALE_BASE"),
    ({"WEIGHT_LENGTH": 48}, {"WEIGHT_LENGTH": 40}, "WEIGHT_LENGTH"),
    ({"WEIGHT_LENGTH": 16}, {"WEIGHT_LENGTH": 0}, "WEIGHT_LENGTH"),
    ({"SCALE_LENGTH": 1}, {"SCALE_LENGTH": 0}, "SCALE_LENGTH"),
    ({"OFM_REGION": 5}, {"OFM_REGION": 6}, "read-only"),
    ({"IFM_REGION": 6, "WEIGHT_REGION": 6, "SCALE_REGION": 6}, {"OFM_REGION": 6}, "read-only"),
]  # fmt: skip


@pytest.mark.parametrize(("passes", "fails", "reason"), LIMITS)
def test_limits(passes, fails, reason):
    assert accepted(**passes)
    assert refused(**fails)
    assert reason in refused(**fails)


def test_sizes_have_no_limit_of_their_own():
    for name in ("OFM_DEPTH_M1", "IFM_DEPTH_M1"):
        assert accepted(**{name: 65535, "OFM_BLK_DEPTH_M1": 15, "OFM_BLK_WIDTH_M1": 1})


def test_padding_is_below_128():
    roomy = {**ROOM, "KERNEL_WIDTH_M1": 127, "OFM_WIDTH_M1": 63}
    assert accepted(IFM_PAD_LEFT=127, IFM_PAD_RIGHT=0, **roomy)
    assert "IFM_PAD_LEFT" in refused(IFM_PAD_LEFT=128, IFM_PAD_RIGHT=0, **roomy)


@pytest.mark.parametrize(("low", "high", "dilation", "axis"), [(0, 6, 3, "WIDTH"), (1, 9, 4, "HEIGHT")])
def test_strides_and_dilations(low, high, dilation, axis):
    for stride in range(4):
        bits = (stride & 1) << low | (stride >> 1) << high
        assert accepted(KERNEL_STRIDE=bits, **ROOM) == (stride < 3)
        for upscale in (1, 2):
            assert accepted(KERNEL_STRIDE=bits, IFM_UPSCALE=upscale, **ROOM) == (stride == 0)
    for extent_m1 in range(6):
        kernel = {"KERNEL_STRIDE": 1 << dilation, f"KERNEL_{axis}_M1": extent_m1}
        assert accepted(**kernel, **ROOM) == (extent_m1 % 2 == 0)


@pytest.mark.parametrize("axis", ["WIDTH", "HEIGHT"])
def test_the_kernel_is_at_most_128(axis):
    assert accepted(**{f"KERNEL_{axis}_M1": 127}, **ROOM)
    assert "KERNEL_" in refused(**{f"KERNEL_{axis}_M1": 128}, **ROOM)


def test_a_block_is_at_most_64_across_and_down():
    line = {"OFM_BLK_HEIGHT_M1": 0, "OFM_BLK_WIDTH_M1": 0, "OFM_BLK_DEPTH_M1": 3, "OFM_DEPTH_M1": 3}
    for name in ("OFM_BLK_WIDTH_M1", "OFM_BLK_HEIGHT_M1"):
        assert accepted(**{**line, **ROOM, "AB_START": 14, name: 63})
        assert "OFM_BLK_" in refused(**{**line, **ROOM, "AB_START": 14, name: 64})


def test_accumulators():
    """Two buffers of two banks hold 128 rows: 16 pixels by 8 units of four channels."""
    room = {"OFM_BLK_HEIGHT_M1": 3, "OFM_BLK_WIDTH_M1": 3}
    assert accepted(AB_START=12, OFM_BLK_DEPTH_M1=31, **room)
    assert "accumulator rows" in refused(AB_START=12, OFM_BLK_DEPTH_M1=32, **room)
    assert accepted(AB_START=10, OFM_BLK_DEPTH_M1=47, **room)
    assert "accumulator rows" in refused(AB_START=11, OFM_BLK_DEPTH_M1=47, **room)
    assert accepted(AB_START=10, OFM_BLK_DEPTH_M1=31, ACTIVATION=16, **room)
    assert "accumulator rows" in refused(AB_START=11, OFM_BLK_DEPTH_M1=31, ACTIVATION=16, **room)


@pytest.mark.parametrize(
    ("accelerator", "banks"), [("ethos-u55-64", 2), ("ethos-u55-128", 4), ("ethos-u55-256", 8)]
)
def test_accumulators_begin_where_a_micro_block_begins(accelerator, banks):
    npu = CONFIGS[accelerator]
    for back in range(1, 20):
        start = npu.usable_banks - back
        if start < 2:
            break
        case = CASE.with_registers(
            AB_START=start, IFM_IB_END=2 + (start - 2) // 2, OFM_BLK_WIDTH_M1=0, OFM_BLK_HEIGHT_M1=0
        )
        reason = refusal(case, npu)
        assert ("AB_START is" in reason) == (back % banks != 0)
        if back == 2 * banks:
            assert reason == ""


def test_the_ifm_buffer():
    """(3 + 3) by (3 + 3) pixels of two 8-channel words are 72."""
    assert accepted(IFM_IB_END=4)
    assert "IFM buffer words" in refused(IFM_IB_END=3)
    wide = {"OFM_BLK_WIDTH_M1": 29, "OFM_BLK_HEIGHT_M1": 0, "OFM_BLK_DEPTH_M1": 5}
    assert accepted(IFM_IB_END=6, **wide)  # 3 * 32 * 2 = 192 of 256
    assert "IFM buffer words" in refused(IFM_IB_END=4, **wide)
    assert accepted(IFM_IB_END=4, **{**wide, "OFM_BLK_WIDTH_M1": 18})  # 3 * 21 * 2 = 126 of 128
    assert "IFM buffer words" in refused(IFM_IB_END=5, **{**wide, "OFM_BLK_WIDTH_M1": 19})  # 132 of 128


def test_the_ifm_buffer_of_an_upscaled_ifm():
    line = {"OFM_BLK_HEIGHT_M1": 0, "OFM_BLK_DEPTH_M1": 5, "IFM_IB_END": 4}
    # Two words a pixel; 3 rows are 2 in memory. 63 columns are 32 of copies, 32 between zeros.
    assert accepted(**line, OFM_BLK_WIDTH_M1=60, IFM_UPSCALE=1)
    assert accepted(**line, OFM_BLK_WIDTH_M1=61, IFM_UPSCALE=2)
    assert "IFM buffer words" in refused(**line, OFM_BLK_WIDTH_M1=61, IFM_UPSCALE=1)
    assert "IFM buffer words" in refused(**line, OFM_BLK_WIDTH_M1=62, IFM_UPSCALE=2)


def test_the_ifm_buffer_counts_a_subkernel_and_a_chunk_of_channels():
    deep = {"IFM_DEPTH_M1": 63, "OFM_BLK_WIDTH_M1": 0, "OFM_BLK_HEIGHT_M1": 0}
    tall = {"KERNEL_HEIGHT_M1": 30}
    assert accepted(IFM_IB_END=4, **deep, **tall)  # 8 * 3 * 4 = 96
    assert "IFM buffer words" in refused(IFM_IB_END=4, **deep, **tall, KERNEL_WIDTH_M1=4)  # 8 * 5 * 4 = 160
    assert accepted(IFM_IB_END=4, **deep, **tall, KERNEL_WIDTH_M1=4, KERNEL_STRIDE=4)  # 8 * 5 * 2 = 80
    assert accepted(IFM_IB_END=4, **deep, **tall, KERNEL_WIDTH_M1=4, KERNEL_STRIDE=1 << 5)  # 4 * 4 * 4 = 64


def test_the_ifm_buffer_is_divided_among_lanes():
    """With 2 x 2 lanes, 6 x 6 pixels are 3 x 3 a lane, and a buffer grows by four banks at a time."""
    npu = CONFIGS["ethos-u55-256"]
    wide = {"AB_START": 30, "OFM_BLK_WIDTH_M1": 21, "OFM_BLK_HEIGHT_M1": 8, "OFM_BLK_DEPTH_M1": 5}
    assert refusal(CASE.with_registers(**wide, IFM_IB_END=18), npu) == ""  # 12 * 6 * 2 = 144 of 256
    assert "IFM buffer words" in refusal(CASE.with_registers(**wide, IFM_IB_END=17), npu)  # of 128


def test_accelerators_by_name():
    assert npu_config("ethos-u55-32") == ETHOS_U55_32
    assert [(c.name, c.macs) for c in CONFIGS.values()] == [(f"ethos-u55-{n}", n) for n in (32, 64, 128, 256)]
    with pytest.raises(HarnessError, check=about("accelerator")):
        npu_config("ethos-u99")
