"""Convolutions of the RTL against the functional model, for memory of any content."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rtl_harness.npu.model.config import ETHOS_U55_32
from rtl_harness.npu.model.machine import FunctionalModel
from rtl_harness.npu.model.status import ERRORS
from tests.rtl_harness.npu.model_support import (
    CONSTANTS,
    RAM,
    Case,
    Shape,
    conv_case,
    conv_stream,
    encode,
)
from tests.rtl_harness.npu.rtl_support import run_stream
from tests.rtl_harness.npu.test_model_conv import random_scales, shapes, weights_wanted

MODEL = FunctionalModel(ETHOS_U55_32)


def compare(case: Case) -> int:
    """Run the case on both; return the error bits, which agree, as does the memory where there are none."""
    expected, actual = case.regions, case.regions
    commands = conv_stream(case.registers)
    (result,) = MODEL.run(commands, expected)
    run = run_stream(commands, actual)
    assert run.status & ERRORS == result.status & ERRORS
    assert np.array_equal(expected[CONSTANTS], actual[CONSTANTS])
    if not result.error:
        assert run.status == result.status
        assert np.array_equal(expected[RAM], actual[RAM])
    return result.status & ERRORS


@given(
    shapes(),
    st.sampled_from(["narrow", "wide", "bytes"]),
    st.sampled_from(["usual", "extreme", "bytes"]),
    st.integers(0, 99),
)
@settings(max_examples=80, deadline=None)
def test_random_convolutions_equal_the_model(shape: Shape, weights: str, scales: str, seed: int):
    rng = np.random.default_rng(seed)
    shape.scales = random_scales(rng, shape.ofm[2], scales)
    wanted = weights_wanted(shape)
    if weights == "bytes":
        shape.weight_bytes = rng.integers(0, 256, 16 * (1 + wanted // 16)).astype(np.uint8).tobytes()
    else:
        spread = 255 if weights == "wide" else 12
        shape.weight_bytes = encode(rng.integers(-spread, spread + 1, wanted))
    case = conv_case(shape, rng)
    if case.ram.size > 8000 or case.constants.size > 28000:
        return
    compare(case)
