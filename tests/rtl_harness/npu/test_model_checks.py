"""The rules of section 4 for CONV, one by one: what just passes and what just fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rtl_harness.errors import HarnessError
from rtl_harness.npu.model.config import ETHOS_U55_32, npu_config
from rtl_harness.npu.model.program import End, lower
from rtl_harness.npu.model.status import Status
from tests.rtl_harness.npu.model_support import Shape, conv_case, conv_stream, scale_bytes

SHAPE = Shape(
    ofm=(6, 7, 6),
    ifm_depth=9,
    taps=(3, 3),
    block=(4, 4, 8),
    weight_bytes=bytes(64),
    scales=scale_bytes([0] * 6, [1] * 6, [0] * 6),
)
LEGAL = conv_case(SHAPE, np.random.default_rng(0)).registers


def refusal(**changes: int) -> str:
    """Why CONV does not start with the legal registers changed so, "" if it does; region 6 is read only."""
    program = lower(conv_stream({**LEGAL, **changes}), ETHOS_U55_32, frozenset({6}))
    end = program.steps[-1].action
    assert isinstance(end, End)
    assert end.status in (Status.CMD_END, Status.CMD_ERROR)
    assert len(program.operations) == (end.status == Status.CMD_END)
    return end.reason if end.status == Status.CMD_ERROR else ""


def accepted(**changes: int) -> bool:
    return not refusal(**changes)


def test_the_unchanged_registers_are_legal():
    assert accepted()


BITS = {
    "IFM_PRECISION": 0x0341,
    "OFM_PRECISION": 0x0041,
    "IFM_UPSCALE": 0,
    "ACC_FORMAT": 0,
    "ACTIVATION": 0,
    "IFM_REGION": 7,
    "OFM_REGION": 7,
    "WEIGHT_REGION": 7,
    "SCALE_REGION": 7,
    "KERNEL_STRIDE": 0x027F,
}


ROOM = {"IFM_WIDTH0_M1": 999, "IFM_HEIGHT0_M1": 999, "IFM_HEIGHT1_M1": 999}


@pytest.mark.parametrize("name", BITS)
def test_bits_that_must_be_zero(name):
    for bit in range(16):
        value = LEGAL.get(name, 0) ^ 1 << bit
        assert accepted(**ROOM, **{name: value}) == (not value & ~BITS[name]), bit


LIMITS = [
    # changes that pass, changes that fail, part of the reason
    ({"IFM_HEIGHT0_M1": 5, "IFM_HEIGHT1_M1": 5}, {"IFM_HEIGHT0_M1": 4}, "IFM is"),
    ({"IFM_HEIGHT1_M1": 5}, {"IFM_HEIGHT1_M1": 4}, "IFM is"),
    ({"IFM_WIDTH0_M1": 6}, {"IFM_WIDTH0_M1": 5}, "IFM is"),
    ({"IFM_WIDTH0_M1": 0xFFFF}, {"IFM_WIDTH0_M1": 0}, "IFM is"),
    ({"OFM_HEIGHT0_M1": 5}, {"OFM_HEIGHT0_M1": 4}, "OFM is"),
    ({"OFM_HEIGHT1_M1": 5}, {"OFM_HEIGHT1_M1": 4}, "OFM is"),
    ({"OFM_WIDTH0_M1": 6}, {"OFM_WIDTH0_M1": 5}, "OFM is"),
    ({"IFM_PAD_TOP": 6}, {"IFM_PAD_TOP": 7}, "IFM is"),
    ({"IFM_PAD_BOTTOM": 6}, {"IFM_PAD_BOTTOM": 7}, "IFM is"),
    ({"IFM_PAD_LEFT": 7}, {"IFM_PAD_LEFT": 8}, "IFM is"),
    ({"IFM_PAD_RIGHT": 7}, {"IFM_PAD_RIGHT": 8}, "IFM is"),
    ({"OFM_DEPTH_M1": 8191}, {"OFM_DEPTH_M1": 8192}, "OFM_DEPTH_M1"),
    (
        {"IFM_DEPTH_M1": 8191, "OFM_BLK_WIDTH_M1": 1},
        {"IFM_DEPTH_M1": 8192, "OFM_BLK_WIDTH_M1": 1},
        "IFM_DEPTH_M1",
    ),
    (
        {"OFM_BLK_DEPTH_M1": 127, "OFM_BLK_WIDTH_M1": 0},
        {"OFM_BLK_DEPTH_M1": 128, "OFM_BLK_WIDTH_M1": 0},
        "OFM_BLK_DEPTH_M1",
    ),
    ({"IFM_IB_END": 2 + 2}, {"IFM_IB_END": 1}, "IFM_IB_END"),
    ({"AB_START": 8}, {"AB_START": 7}, "IFM_IB_END"),
    ({"AB_START": 12}, {"AB_START": 17}, "IFM_IB_END"),
    ({"WEIGHT_BASE": 16}, {"WEIGHT_BASE": 8}, "WEIGHT_BASE"),
    ({"SCALE_BASE": 32}, {"SCALE_BASE": 33}, "SCALE_BASE"),
    ({"WEIGHT_LENGTH": 48}, {"WEIGHT_LENGTH": 40}, "WEIGHT_LENGTH"),
    ({"WEIGHT_LENGTH": 16}, {"WEIGHT_LENGTH": 0}, "WEIGHT_LENGTH"),
    ({"SCALE_LENGTH": 1}, {"SCALE_LENGTH": 0}, "SCALE_LENGTH"),
    ({"OFM_REGION": 5}, {"OFM_REGION": 6}, "read-only"),
    ({"IFM_REGION": 6, "WEIGHT_REGION": 6, "SCALE_REGION": 6}, {"OFM_REGION": 6}, "read-only"),
]


@pytest.mark.parametrize(("passes", "fails", "reason"), LIMITS)
def test_limits(passes, fails, reason):
    assert accepted(**passes)
    assert reason in refusal(**fails)


def test_dimensions_of_the_ofm():
    wide = {"OFM_WIDTH0_M1": 0xFFFF, "IFM_WIDTH0_M1": 0xFFFF}
    assert accepted(OFM_WIDTH_M1=8191, **wide)
    assert "OFM_WIDTH_M1" in refusal(OFM_WIDTH_M1=8192, **wide)
    high = {name: 0xFFFF for name in ("OFM_HEIGHT0_M1", "OFM_HEIGHT1_M1", "IFM_HEIGHT0_M1", "IFM_HEIGHT1_M1")}
    assert accepted(OFM_HEIGHT_M1=8191, **high)
    assert "OFM_HEIGHT_M1" in refusal(OFM_HEIGHT_M1=8192, **high)


def test_padding_is_below_128():
    roomy = {
        "KERNEL_WIDTH_M1": 127,
        "OFM_WIDTH_M1": 63,
        "OFM_WIDTH0_M1": 63,
        "IFM_WIDTH0_M1": 200,
        "IFM_IB_END": 12,
        "AB_START": 12,
    }
    assert accepted(IFM_PAD_LEFT=127, IFM_PAD_RIGHT=0, **roomy)
    assert "IFM_PAD_LEFT" in refusal(IFM_PAD_LEFT=128, IFM_PAD_RIGHT=0, **roomy)


@pytest.mark.parametrize(("axis", "low", "high", "dilation"), [("WIDTH", 0, 6, 3), ("HEIGHT", 1, 9, 4)])
def test_strides_and_dilations(axis, low, high, dilation):
    room = {**ROOM, "IFM_IB_END": 12, "AB_START": 12}
    for stride in range(4):
        bits = (stride & 1) << low | (stride >> 1) << high
        assert accepted(KERNEL_STRIDE=bits, **room) == (stride < 3)
    for extent_m1 in range(6):
        kernel = {"KERNEL_STRIDE": 1 << dilation, f"KERNEL_{axis}_M1": extent_m1}
        assert accepted(**kernel, **room) == (extent_m1 % 2 == 0)


@pytest.mark.parametrize("axis", ["WIDTH", "HEIGHT"])
def test_the_kernel_is_at_most_128(axis):
    room = {**ROOM, "IFM_IB_END": 12, "AB_START": 12}
    assert accepted(**{f"KERNEL_{axis}_M1": 127}, **room)
    assert "KERNEL_" in refusal(**{f"KERNEL_{axis}_M1": 128}, **room)


def test_a_block_is_at_most_64_across_and_down():
    line = {
        "IFM_IB_END": 12,
        "AB_START": 12,
        "OFM_BLK_HEIGHT_M1": 0,
        "OFM_BLK_WIDTH_M1": 0,
        "OFM_BLK_DEPTH_M1": 3,
    }
    for name in ("OFM_BLK_WIDTH_M1", "OFM_BLK_HEIGHT_M1"):
        assert accepted(**{**line, name: 63})
        assert "OFM_BLK_" in refusal(**{**line, name: 64})


def test_accumulators():
    """Four banks hold 128 rows: 16 pixels by 8 units of four channels."""
    room = {"OFM_BLK_HEIGHT_M1": 3, "OFM_BLK_WIDTH_M1": 3}
    assert accepted(AB_START=12, OFM_BLK_DEPTH_M1=31, **room)
    assert "accumulators" in refusal(AB_START=12, OFM_BLK_DEPTH_M1=32, **room)
    assert accepted(AB_START=8, OFM_BLK_DEPTH_M1=32, **room)
    assert "accumulators" in refusal(AB_START=9, OFM_BLK_DEPTH_M1=32, **room)
    assert "accumulators" in refusal(AB_START=13, OFM_BLK_DEPTH_M1=0, OFM_BLK_HEIGHT_M1=0, OFM_BLK_WIDTH_M1=0)


def test_the_staging_area_holds_2048_bytes():
    """In 16 banks the accumulators are what limits, so the rule shows in a larger shared buffer only."""
    big = replace(ETHOS_U55_32, sb_banks=32)

    def ends(depth: int) -> Status:
        registers = {**LEGAL, "IFM_IB_END": 12, "AB_START": 12, "OFM_BLK_DEPTH_M1": depth - 1}
        registers |= {"OFM_BLK_WIDTH_M1": 7, "OFM_BLK_HEIGHT_M1": 3}
        end = lower(conv_stream(registers), big).steps[-1].action
        assert isinstance(end, End)
        return end.status

    assert ends(64) == Status.CMD_END
    assert ends(65) == Status.CMD_ERROR


def test_the_ifm_buffer():
    """(3 + 3) by (3 + 3) pixels of two 8-channel words are 72 rows."""
    assert accepted(IFM_IB_END=4)
    assert "IFM buffer rows" in refusal(IFM_IB_END=3)
    assert "IFM buffer rows" in refusal(IFM_IB_END=2)
    wide = {"OFM_BLK_WIDTH_M1": 29, "OFM_BLK_HEIGHT_M1": 0, "OFM_BLK_DEPTH_M1": 3}
    assert accepted(IFM_IB_END=6, **wide)  # 3 * 32 * 2 = 192 of 256
    assert "IFM buffer rows" in refusal(IFM_IB_END=4, **wide)
    assert accepted(IFM_IB_END=4, **{**wide, "OFM_BLK_WIDTH_M1": 18})  # 3 * 21 * 2 = 126 of 128
    assert "IFM buffer rows" in refusal(IFM_IB_END=5, **{**wide, "OFM_BLK_WIDTH_M1": 19})  # still 128
    assert "IFM buffer rows" in refusal(IFM_IB_END=4, **{**wide, "OFM_BLK_WIDTH_M1": 19})  # 132


def test_the_ifm_buffer_counts_a_subkernel_and_a_chunk_of_channels():
    deep = {"IFM_DEPTH_M1": 63, "OFM_BLK_WIDTH_M1": 0, "OFM_BLK_HEIGHT_M1": 0}
    tall = {**ROOM, "KERNEL_HEIGHT_M1": 30}
    assert accepted(IFM_IB_END=4, **deep, **tall)  # 8 * 3 * 4 = 96
    assert "IFM buffer rows" in refusal(IFM_IB_END=4, **deep, **tall, KERNEL_WIDTH_M1=4)  # 8 * 5 * 4 = 160
    assert accepted(IFM_IB_END=4, **deep, **tall, KERNEL_WIDTH_M1=4, KERNEL_STRIDE=4)  # 8 * 5 * 2 = 80
    assert accepted(IFM_IB_END=4, **deep, **tall, KERNEL_WIDTH_M1=4, KERNEL_STRIDE=1 << 5)  # 4 * 4 * 4 = 64


def test_accelerators_by_name():
    assert npu_config("ethos-u55-32") is ETHOS_U55_32
    with pytest.raises(HarnessError, match=r"ethos-u55-32.*'ethos-u99'"):
        npu_config("ethos-u99")
