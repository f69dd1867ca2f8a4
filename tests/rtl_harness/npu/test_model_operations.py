# SPDX-License-Identifier: Apache-2.0
"""Random operations of every kind, in all configurations, against the literal transcription of the page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from resil.rtl_harness.npu.model.commands import Opcode
from resil.rtl_harness.npu.model.config import CONFIGS, NpuConfig
from resil.rtl_harness.npu.model.machine import FunctionalModel
from resil.rtl_harness.npu.model.memory import SHARED_BUFFER
from resil.rtl_harness.npu.model.status import ERRORS, Status
from testkit.npu.model_cases import FEATURES, NAMES, folded, random_case
from testkit.npu.model_support import Case, Shape, conv_case, encode, scale_bytes
from tests.rtl_harness.npu.model_literal import Literal

MODELS = {name: FunctionalModel(config) for name, config in CONFIGS.items()}


def compare(case: Case, npu: NpuConfig) -> int:
    """Run the case on both; return the error bits, which agree, as does all memory."""
    expected, actual = case.regions, case.regions
    kind = int(Opcode[case.kind])
    literal = Literal(case.registers, expected, kind, case.parameter, npu.ublock_depth, case.tables)
    errors = literal.run()
    (result,) = MODELS[npu.name].run(case.stream, actual)
    assert result.status & ERRORS == errors
    assert result.operations_done == 1
    assert all(np.array_equal(expected[region], actual[region]) for region in expected)
    return errors


@pytest.mark.parametrize("accelerator", CONFIGS)
@pytest.mark.parametrize("name", NAMES)
def test_random_operations_equal_the_literal_loops(name: str, accelerator: str):
    npu = CONFIGS[accelerator]
    for seed in range(6):
        rng = np.random.default_rng([seed, npu.macs, NAMES.index(name)])
        case = random_case(name, npu, rng)
        errors = compare(case, npu)
        assert errors & Status.ADDRESS_ERROR == 0
        if seed % 3 == 0:
            kept = int(rng.integers(len(case.ram) // 2, len(case.ram)))
            compare(replace(case, ram=case.ram[:kept]), npu)


@pytest.mark.parametrize("accelerator", ["ethos-u55-32", "ethos-u55-256"])
@pytest.mark.parametrize("name", NAMES)
def test_elements_in_one_place_and_beyond_the_region(name: str, accelerator: str):
    npu = CONFIGS[accelerator]
    features = [(), ("upscale",)] if name in ("conv", "depthwise", "max", "average") else [()]
    seen = 0
    for seed in range(8):
        rng = np.random.default_rng([1, seed, npu.macs, NAMES.index(name)])
        case = folded(random_case(name, npu, rng, always=features[seed % len(features)]), rng)
        seen |= compare(case, npu)
    assert seen & Status.ADDRESS_ERROR


@pytest.mark.parametrize("missing", [0, 1, 7, 8, 9, 23, 24, 25, 39, 40])
@pytest.mark.parametrize("kind", ["DEPTHWISE", "POOL", "ELEMENTWISE"])
def test_segments_begin_anew_with_each_block(kind: str, missing: int):
    """The region of the IFM lacks the last bytes of the last of 40 channels, read 16 and 8 at a time."""
    shape = Shape(ofm=(2, 3, 40), ifm_depth=40, taps=(1, 1), pads=(0, 0, 0, 0), block=(2, 2, 16))
    shape.weight_bytes, shape.scales = encode([3] * 2000), scale_bytes([0] * 40, [1 << 30] * 40, [31] * 40)
    case = conv_case(shape, np.random.default_rng(0))
    end = case.registers["IFM_BASE0"] + 2 * 3 * 40
    image = np.random.default_rng(1).integers(1, 127, end - missing).astype(np.uint8)
    parameter = {"POOL": 1, "ELEMENTWISE": 6}.get(kind, 0)
    case = replace(case, kind=kind, parameter=parameter, others={2: image})
    errors = compare(case.with_registers(IFM_REGION=2), CONFIGS["ethos-u55-32"])
    assert errors == (Status.ADDRESS_ERROR if missing else 0)


@pytest.mark.parametrize(("padding", "taps", "absent"), [(1, 8, 3), (0, 8, None), (1, 4, None)])
def test_of_an_upscaled_ifm_the_rectangles_leave_little_out(padding: int, taps: int, absent: int | None):
    """Columns -1 .. 5 and 7 .. 13 of two subkernels need columns 0 .. 2 and 4 .. 6 of memory."""
    for column in range((2 * taps - 1 - padding + 1) // 2):
        shape = Shape(
            ofm=(1, 1, 4), taps=(1, taps), dilation=(1, 2), pads=(0, padding, 0, 0), block=(1, 1, 4)
        )
        shape.weight_bytes, shape.scales = encode([3] * 5000), scale_bytes([0] * 4, [1 << 30] * 4, [36] * 4)
        case = conv_case(shape, np.random.default_rng(0))
        step = case.registers["IFM_STRIDE_X"]
        # The column and those behind it are in the right tile, which begins a column before offset 0.
        changes = {"IFM_UPSCALE": 2, "IFM_WIDTH0_M1": column - 1, "IFM_BASE1": -step}
        changes |= {"IFM_HEIGHT0_M1": 0, "IFM_HEIGHT1_M1": 0, "IFM_REGION": 2}
        if column == 0:
            changes |= {"IFM_WIDTH0_M1": 0xFFFF, "IFM_BASE0": -step}
        case = replace(case, others={2: case.ram}).with_registers(**changes)
        errors = compare(case, CONFIGS["ethos-u55-32"])
        assert errors == (0 if column == absent else Status.ADDRESS_ERROR), column


@pytest.mark.parametrize("accelerator", CONFIGS)
@pytest.mark.parametrize("feature", FEATURES)
def test_operations_with_a_feature(feature: str, accelerator: str):
    npu = CONFIGS[accelerator]
    with_kernel = ("conv", "depthwise", "max", "average")
    names = with_kernel if feature in ("upscale", "one_row") else NAMES
    seen = 0
    for number, name in enumerate(names):
        rng = np.random.default_rng([FEATURES.index(feature), npu.macs, number])
        case = random_case(name, npu, rng, always=(feature,))
        compare(case, npu)
        match feature:
            case "tiles":
                seen += case.registers["OFM_WIDTH0_M1"] < case.registers["OFM_WIDTH_M1"]
            case "upscale":
                seen += case.registers["IFM_UPSCALE"] > 0
            case "table":
                seen += case.tables_at is not None
            case "one_row":
                seen += not (case.registers["OFM_HEIGHT_M1"] or case.registers["KERNEL_HEIGHT_M1"])
    assert seen >= (len(names) // 3 if feature == "tiles" else len(names))


def test_a_batch_of_operations_is_a_loop_of_singles():
    """Images, weights, scales and tables differ from one element to the next, or are shared."""
    for number, name in enumerate(NAMES):
        npu = list(CONFIGS.values())[number % 4]
        rng = np.random.default_rng(number)
        case = random_case(name, npu, rng, always=("table",))
        rams = np.stack([rng.permutation(case.ram) for _ in range(4)])
        constants = np.stack([case.constants] * 4)
        constants[2:, rng.integers(0, constants.shape[1], 40)] ^= 0x11
        for shared in (True, False):
            regions = {0: case.constants.copy() if shared else constants.copy(), 1: rams.copy()}
            results = MODELS[npu.name].run(case.stream, regions)
            for i in range(4):
                single = {0: case.constants.copy() if shared else constants[i].copy(), 1: rams[i].copy()}
                assert MODELS[npu.name].run(case.stream, single) == [results[i]]
                assert np.array_equal(regions[1][i], single[1])


def test_the_shared_buffer_is_kept_from_run_to_run():
    npu = CONFIGS["ethos-u55-128"]
    case = random_case("abs", npu, np.random.default_rng(0), always=("table",))
    model, regions = MODELS[npu.name], case.regions
    regions[SHARED_BUFFER] = np.zeros(npu.shared_buffer_bytes, np.uint8)
    model.run(case.stream, regions)
    assert regions[SHARED_BUFFER][npu.table_base :].tobytes() == case.tables
    assert not regions[SHARED_BUFFER][: npu.table_base].any()
    (operation,) = model.lower(case.stream).operations
    again = {**case.regions, SHARED_BUFFER: regions[SHARED_BUFFER]}
    model.run(case.stream, again, start_word=operation.word)
    assert np.array_equal(again[1], regions[1])
    with pytest.raises(ValueError, match="give it as region 8"):
        model.run(case.stream, case.regions, start_word=operation.word)
    small = {**case.regions, SHARED_BUFFER: np.zeros(16, np.uint8)}
    with pytest.raises(ValueError, match="shared buffer of 24576 bytes, found 16"):
        model.run(case.stream, small)
