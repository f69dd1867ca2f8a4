# SPDX-License-Identifier: Apache-2.0
"""Every operation of the RTL against the functional model, for memory of any content."""

from __future__ import annotations

import numpy as np
import pytest

from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.model.machine import FunctionalModel
from resil.rtl_harness.npu.model.status import ERRORS
from testkit.npu.model_cases import CASES, FEATURE_CASES, FEATURED, FEATURES, NAMES, random_case
from testkit.npu.model_support import CONSTANTS, RAM, Case
from testkit.npu.rtl_support import run_stream

SIZES = [
    "ethos-u55-32",
    pytest.param("ethos-u55-64", marks=pytest.mark.slow),
    pytest.param("ethos-u55-128", marks=pytest.mark.slow),
    "ethos-u55-256",
]


def compare(case: Case, npu: str) -> None:
    """Run on both: error bits agree, and where there are none the whole status and memory."""
    expected, actual = case.regions, case.regions
    (result,) = FunctionalModel(npu_config(npu)).run(case.stream, expected)
    run = run_stream(case.stream, actual, npu)
    assert run.status & ERRORS == result.status & ERRORS
    assert np.array_equal(expected[CONSTANTS], actual[CONSTANTS])
    if not result.error:
        assert run.status == result.status
        assert np.array_equal(expected[RAM], actual[RAM])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("npu", SIZES)
def test_random_operations_equal_the_model(npu: str, name: str):
    for seed in range(CASES):
        compare(random_case(name, npu_config(npu), np.random.default_rng(seed)), npu)


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("npu", SIZES)
def test_random_operations_with_tiles_upscaling_and_tables(npu: str, feature: str):
    rng = np.random.default_rng(7)
    for name in FEATURE_CASES * FEATURED:
        compare(random_case(name, npu_config(npu), rng, (feature,)), npu)
