# SPDX-License-Identifier: Apache-2.0
"""Convolutions of the functional model against the literal transcription of the NPU's page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ethosu.vela.ethos_u55_regs.ethos_u55_regs import cmd1
from hypothesis import given, settings
from hypothesis import strategies as st

from resil.rtl_harness.npu.model.config import ETHOS_U55_32
from resil.rtl_harness.npu.model.machine import FunctionalModel
from resil.rtl_harness.npu.model.program import Execute, lower
from resil.rtl_harness.npu.model.status import ERRORS, Status
from resil.rtl_harness.npu.model.weight_order import weight_order
from testkit.npu.model_layout import random_scales
from testkit.npu.model_support import (
    RAM,
    Case,
    Shape,
    conv_case,
    conv_stream,
    encode,
    scale_bytes,
)
from tests.rtl_harness.npu.literal_arithmetic import DOUBLE, rs, signed
from tests.rtl_harness.npu.model_literal import Literal

MODEL = FunctionalModel(ETHOS_U55_32)


def compare(case: Case) -> int:
    """Run the case on both; return the error bits, which agree, as does the memory where there are none."""
    expected, actual = case.regions, case.regions
    errors = Literal(case.registers, expected).run()
    (result,) = MODEL.run(conv_stream(case.registers), actual)
    assert result.status & ERRORS == errors
    assert result.operations_done == 1
    assert all(np.array_equal(expected[region], actual[region]) for region in expected)
    return errors


def weights_wanted(shape: Shape) -> int:
    """Weights that the operation takes; the number does not depend on what they are."""
    probe = conv_case(
        Shape(**{**vars(shape), "weight_bytes": bytes(16), "scales": bytes(10)}), np.random.default_rng(0)
    )
    (step, _) = lower(conv_stream(probe.registers), ETHOS_U55_32).steps
    assert isinstance(step.action, Execute), step.action
    return weight_order(step.action.config, ETHOS_U55_32).count


@st.composite
def shapes(draw) -> Shape:
    """Small convolutions that the NPU accepts; the weights are added later."""
    number = st.integers
    taps = (draw(number(1, 5)), draw(number(1, 9)))
    dilation = (draw(number(1, 2)), draw(number(1, 2)))
    depth = draw(number(1, 37))
    extents = [(t - 1) * d + 1 for t, d in zip(taps, dilation, strict=True)]
    pads = [draw(number(0, min(2, (extents[i % 2] - 1) // 2))) for i in range(4)]
    return Shape(
        ofm=(draw(number(1, 5)), draw(number(1, 5)), depth),
        ifm_depth=draw(number(1, 40)),
        taps=taps,
        stride=(draw(number(1, 3)), draw(number(1, 3))),
        dilation=dilation,
        pads=tuple(pads),
        block=(
            draw(number(1, 2)),
            draw(number(1, 3)),
            draw(st.one_of(st.sampled_from([16, 32]), number(depth, 40))),
        ),
        part_kernel=draw(st.booleans()),
        small_subkernel=draw(st.booleans()),
        ifm_bricks=draw(st.booleans()),
        ofm_bricks=draw(st.booleans()),
        ifm_signed=draw(st.booleans()),
        ofm_signed=draw(st.booleans()),
        ifm_zero_point=draw(number(-256, 255)),
        ofm_zero_point=draw(st.sampled_from([0, -128, 127, -32768, 32767])),
        activation=draw(st.sampled_from([(-128, 127), (0, 255), (-5, 20), (20, -5), (-32768, 32767)])),
        gap=draw(number(0, 5)),
        extra={"IFM_IB_END": 12, "AB_START": 12},
    )


@given(
    shapes(),
    st.sampled_from(["narrow", "wide", "bytes"]),
    st.sampled_from(["usual", "extreme", "bytes"]),
    st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_random_convolutions_equal_the_literal_loops(shape: Shape, weights: str, scales: str, seed: int):
    rng = np.random.default_rng(seed)
    shape.scales = random_scales(rng, shape.ofm[2], scales)
    wanted = weights_wanted(shape)
    if weights == "bytes":
        shape.weight_bytes = rng.integers(0, 256, 16 * (1 + wanted // 16)).astype(np.uint8).tobytes()
    else:
        spread = 255 if weights == "wide" else 12
        shape.weight_bytes = encode(rng.integers(-spread, spread + 1, wanted))
    errors = compare(conv_case(shape, rng))
    assert weights == "bytes" or not errors


def plain_case(seed: int = 0, **changes: object) -> Case:
    """A convolution with valid streams; `changes` are those of the shape."""
    rng = np.random.default_rng(seed)
    shape = Shape(**changes)
    shape.scales = random_scales(rng, shape.ofm[2], "usual")
    shape.weight_bytes = encode(rng.integers(-255, 256, weights_wanted(shape)))
    return conv_case(shape, rng)


def test_accumulators_wrap():
    """512 channels of 8 x 8 taps with the largest weights and inputs pass 2^31."""
    depth, taps = 512, 8
    shape = Shape(
        ofm=(1, 1, 1),
        ifm_depth=depth,
        taps=(taps, taps),
        pads=(0, 0, 0, 0),
        block=(1, 1, 1),
        ifm_zero_point=-256,
    )
    shape.extra = {"IFM_IB_END": 12, "AB_START": 12, "OFM_ZERO_POINT": 0}
    shape.scales = scale_bytes([0], [1 << 31], [31 + 24])
    shape.weight_bytes = encode([255] * weights_wanted(shape))
    case = conv_case(shape, np.random.default_rng(0))
    case.ram[:] = 127
    compare(case)
    total = signed(383 * 255 * depth * taps * taps, 32)
    assert total < 0 < 383 * 255 * depth * taps * taps
    regions = case.regions
    MODEL.run(conv_stream(case.registers), regions)
    output = regions[RAM][case.registers["OFM_BASE0"]].astype(np.int8)
    assert output == max(-128, rs(total << 31, 55, DOUBLE))


def test_sums_beyond_24_bits_are_exact():
    """The bias takes away all of the sum but its last digits, which the output shows."""
    rng = np.random.default_rng(3)
    depth = 1500
    shape = Shape(ofm=(1, 1, 8), ifm_depth=depth, taps=(1, 1), pads=(0, 0, 0, 0), block=(1, 1, 8))
    shape.scales = bytes(80)
    shape.weight_bytes = encode(rng.integers(1, 128, weights_wanted(shape)) * 2 - 1)
    case = conv_case(replace(shape, ifm_zero_point=-255), rng)
    literal = Literal(case.registers, case.regions)
    literal.run()
    sums = [literal.acc[0, 0, c] for c in range(8)]
    assert min(sums) > 1 << 24
    bias = [c - total for c, total in enumerate(sums)]
    start = case.registers["SCALE_BASE"]
    scales = scale_bytes(bias, [1 << 31] * 8, [31] * 8)
    case.constants[start : start + 80] = np.frombuffer(scales, np.uint8)
    compare(case)
    regions = case.regions
    MODEL.run(conv_stream(case.registers), regions)
    at = case.registers["OFM_BASE0"]
    assert regions[RAM][at : at + 8].view(np.int8).tolist() == [c - 5 for c in range(8)]


def test_a_weight_stream_that_ends_early_is_an_error_in_every_block_depth():
    case = plain_case(ofm=(2, 2, 33), block=(2, 2, 16))
    assert compare(case) == 0
    for length in (16, 64, case.registers["WEIGHT_LENGTH"] // 32 * 16):
        assert compare(case.with_registers(WEIGHT_LENGTH=length)) == Status.WEIGHT_ERROR


@pytest.mark.parametrize("missing", [1, 5, 10, 59])
def test_missing_scales_read_as_zero(missing):
    case = plain_case(ofm=(2, 2, 6))
    length = case.registers["SCALE_LENGTH"] - missing
    assert compare(case.with_registers(SCALE_LENGTH=length)) == Status.SCALE_ERROR


@pytest.mark.parametrize("bricks", [False, True])
@pytest.mark.parametrize("missing", [0, 1, 40])
def test_segments_that_leave_the_region(bricks: bool, missing: int):
    """The regions of IFM and OFM in turn lack the last bytes of the last pixel."""
    shape = {"ofm": (3, 3, 20), "ifm_depth": 35, "ifm_bricks": bricks, "ofm_bricks": bricks}
    case = plain_case(**shape, block=(2, 2, 16), extra={"IFM_IB_END": 10, "AB_START": 10})
    expected = Status.ADDRESS_ERROR if missing else 0
    literal = Literal(case.registers, case.regions)
    end = literal.address("OFM", 2, 2, 19) + 1
    assert compare(replace(case, ram=case.ram[: end - missing])) == expected
    end = literal.address("IFM", 2, 2, 34) + 1
    apart = replace(case, others={2: case.ram[: end - missing]}).with_registers(IFM_REGION=2)
    assert compare(apart) == expected


def test_addresses_are_computed_modulo_2_32():
    """A negative row stride walks backwards; an offset below zero is an offset beyond the region."""
    case = plain_case(ofm=(3, 4, 5), ifm_depth=4, pads=(0, 0, 0, 0))
    row = case.registers["OFM_STRIDE_Y"]
    last = case.registers["OFM_BASE0"] + 2 * row
    assert compare(case.with_registers(OFM_BASE0=last, OFM_STRIDE_Y=-row)) == 0
    row = case.registers["IFM_STRIDE_Y"]
    assert compare(case.with_registers(IFM_BASE0=16 + 4 * row, IFM_STRIDE_Y=-row)) == 0
    assert compare(case.with_registers(IFM_BASE0=16 + 2 * row, IFM_STRIDE_Y=-row)) == Status.ADDRESS_ERROR
    assert compare(case.with_registers(IFM_BASE0=0xFFFFFFF0)) == Status.ADDRESS_ERROR


def test_pixels_between_the_taps_are_transferred_too():
    """With stride 3 and one tap, every second and third pixel serves nothing, but a block fetches it."""
    case = plain_case(
        ofm=(2, 2, 1), ifm_depth=1, taps=(1, 1), stride=(3, 3), pads=(0, 0, 0, 0), block=(1, 2, 1)
    )
    third = 0x55555556  # the third step is back near the first
    assert compare(case.with_registers(IFM_STRIDE_X=third)) == Status.ADDRESS_ERROR
    assert compare(case.with_registers(IFM_STRIDE_X=third, OFM_BLK_WIDTH_M1=0)) == 0
    assert compare(case.with_registers(IFM_STRIDE_Y=third)) == 0
    assert compare(case.with_registers(IFM_STRIDE_Y=third, OFM_BLK_HEIGHT_M1=1)) == Status.ADDRESS_ERROR


@pytest.mark.parametrize("strides", [(0, 0), (1, 1), (3, 1), (0, 2), (5, 0)])
def test_of_ofm_elements_in_one_place_the_last_remains(strides):
    case = plain_case(ofm=(3, 4, 21), ifm_depth=3, block=(2, 3, 16))
    assert compare(case.with_registers(OFM_STRIDE_Y=strides[0], OFM_STRIDE_X=strides[1])) == 0


def test_ifm_elements_in_one_place():
    case = plain_case(ofm=(3, 4, 5), ifm_depth=20)
    assert compare(case.with_registers(IFM_STRIDE_Y=1, IFM_STRIDE_X=0)) == 0


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_one_flipped_bit_in_a_register(data: st.DataObject):
    """Whatever is then accepted is executed alike, and the rest is a command error.

    The OFM has a region of its own, whose number is one bit away from regions without bytes only.
    """
    case = plain_case(ofm=(2, 3, 5), ifm_depth=6, part_kernel=True, ifm_bricks=True)
    case = replace(case, others={7: case.ram}).with_registers(OFM_REGION=7)
    name = data.draw(st.sampled_from(sorted(case.registers)))
    width = 32 if f"NPU_SET_{name}" in cmd1.__members__ else 16
    sizes = ("OFM_DEPTH_M1", "IFM_DEPTH_M1", "OFM_WIDTH_M1", "OFM_HEIGHT_M1")
    highest = 5 if name in sizes else width - 1
    flipped = case.registers[name] ^ 1 << data.draw(st.integers(0, highest))
    changed = case.with_registers(**{name: flipped})
    if len(lower(conv_stream(changed.registers), ETHOS_U55_32).operations):
        compare_or_refused(changed)
    else:
        (result,) = MODEL.run(conv_stream(changed.registers), changed.regions)
        assert result.status == Status.IRQ | Status.CMD_ERROR


def compare_or_refused(case: Case) -> None:
    """Like `compare`, but streams that leave their region keep the operation from starting."""
    sizes = {number: len(image) for number, image in case.regions.items()}
    for kind in ("WEIGHT", "SCALE"):
        region, base, length = (case.registers[f"{kind}_{field}"] for field in ("REGION", "BASE", "LENGTH"))
        if base + length > sizes.get(region, 0):
            (result,) = MODEL.run(conv_stream(case.registers), case.regions)
            assert result.status == Status.IRQ | Status.ADDRESS_ERROR
            assert result.operations_done == 0
            return
    compare(case)
