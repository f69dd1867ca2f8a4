# SPDX-License-Identifier: Apache-2.0
"""The RTL with and without the check of regions' sizes (`RegionCheck`), against the functional model."""

from __future__ import annotations

import numpy as np
import pytest

from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.model.machine import FunctionalModel
from resil.rtl_harness.npu.model.status import ERRORS, Status
from testkit.npu.model_cases import random_case
from testkit.npu.model_support import (
    CONSTANTS,
    RAM,
    Case,
    command,
    settings,
    stream,
)
from testkit.npu.rtl_support import FENCE, SRAM_BYTES, WORDS, run_stream

NPU = "ethos-u55-32"
FLASH_BYTES = 8 * WORDS["flash"]
# Both end where the memory ends, so that what lies beyond the region is answered with an error.
END = {RAM: SRAM_BYTES - FENCE, CONSTANTS: FLASH_BYTES}


def errors_of(words: np.ndarray, case: Case, region_check: bool) -> Status:
    """The error bits, the same of both; the weights of the random cases may end early."""
    npu = npu_config(NPU, region_check=region_check)
    expected, actual = case.regions, case.regions
    (result,) = FunctionalModel(npu).run(words, expected)
    run = run_stream(words, actual, NPU, region_check=region_check)
    assert run.status & ERRORS == result.status & ERRORS
    if not result.error:
        assert run.status == result.status
        assert np.array_equal(expected[RAM], actual[RAM])
    return Status(run.status & ERRORS) & ~Status.WEIGHT_ERROR


def case_of(name: str) -> Case:
    return random_case(name, npu_config(NPU), np.random.default_rng(3))


@pytest.mark.parametrize("region_check", [True, False])
@pytest.mark.parametrize("name", ["conv", "depthwise", "max", "add"])
def test_nothing_differs_within_the_regions(name: str, region_check: bool):
    assert errors_of(case_of(name).stream, case_of(name), region_check) == Status.NONE


@pytest.mark.parametrize(
    ("name", "register"),
    [("conv", "OFM_BASE0"), ("conv", "IFM_BASE0"), ("add", "IFM2_BASE0"), ("max", "OFM_BASE0")],
)
def test_feature_maps_beyond_memory(name: str, register: str):
    case = case_of(name).with_registers(**{register: END[RAM] + 64})
    assert errors_of(case.stream, case, True) == Status.ADDRESS_ERROR
    assert errors_of(case.stream, case, False) == Status.BUS_ERROR


@pytest.mark.parametrize("stream_name", ["WEIGHT", "SCALE"])
def test_streams_beyond_memory_start_the_operation_without_the_check(stream_name: str):
    case = case_of("conv").with_registers(**{f"{stream_name}_BASE": END[CONSTANTS]})
    assert errors_of(case.stream, case, True) == Status.ADDRESS_ERROR
    assert errors_of(case.stream, case, False) == Status.BUS_ERROR


def copy(source: int, destination: int, length: int, target: int = RAM) -> np.ndarray:
    registers = {"DMA0_SRC_REGION": CONSTANTS, "DMA0_DST_REGION": target}
    registers |= {"DMA0_SRC": source, "DMA0_DST": destination, "DMA0_LEN": length}
    words = settings(registers) + command("OP_DMA_START") + command("OP_DMA_WAIT")
    return stream(words, command("OP_STOP", 1))


def test_copies_beyond_memory():
    case = case_of("conv")
    for words in (copy(0, END[RAM], 16), copy(END[CONSTANTS], 0, 16)):
        assert errors_of(words, case, True) == Status.ADDRESS_ERROR
        assert errors_of(words, case, False) == Status.BUS_ERROR


def test_copies_beyond_the_shared_buffer_are_refused_always():
    words = copy(0, npu_config(NPU).shared_buffer_bytes, 16, target=0x100)
    for region_check in (True, False):
        assert errors_of(words, case_of("conv"), region_check) == Status.ADDRESS_ERROR


def test_what_lies_behind_a_region_is_reached_without_the_check():
    case = case_of("conv")
    regions = case.regions
    behind = -(-regions[RAM].size // 16) * 16
    run = run_stream(copy(0, behind, 16), regions, NPU, region_check=False)
    assert not run.status & ERRORS
    written = np.frombuffer(run.output, np.uint8)[FENCE + behind : FENCE + behind + 16]
    assert np.array_equal(written, case.constants[:16])
    checked = run_stream(copy(0, behind, 16), case.regions, NPU)
    assert checked.status & ERRORS == Status.ADDRESS_ERROR
