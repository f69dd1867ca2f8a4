# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.faults import Corruption, Outcome
from resil.rtl_harness.npu.infer import infer
from resil.rtl_harness.npu.work import operation_work
from resil.work.inference import Inference


@pytest.fixture(scope="module")
def digits():
    known = zoo.load("digits")
    compiled = compile_network(known.path, "ethos-u55-32")
    return compiled, known.heldout_inputs[0], Inference(compiled, known.heldout_inputs[0])


def test_feature_maps_are_those_of_the_network(digits):
    compiled, tensor, inference = digits
    expected = infer(compiled, tensor[None], "functional").outputs[0][0]
    assert np.array_equal(inference.feature_map(inference.operations - 1).reshape(-1), expected.reshape(-1))


def test_work_describes_every_operation(digits):
    compiled, _, inference = digits
    work = operation_work(compiled)
    assert [own.kind for own in work] == ["conv", "conv", "conv", "dense"]
    assert [own.shape for own in work] == [inference.feature_map(i).shape for i in range(4)]
    assert all(own.mac_steps >= own.vectors > 0 for own in work)


@pytest.mark.parametrize("operation", range(4))
def test_an_unchanged_map_is_masked(digits, operation):
    inference = digits[2]
    assert inference.outcomes(operation, [inference.feature_map(operation)] * 2) == [Outcome.MASKED] * 2


def test_changed_logits_are_tolerable_or_critical(digits):
    inference = digits[2]
    logits = inference.feature_map(3)
    order = np.argsort(logits.reshape(-1))
    lower, higher = logits.copy(), logits.copy()
    lower.reshape(-1)[order[0]] -= 1
    higher.reshape(-1)[order[0]] = 127
    assert inference.outcomes(3, [lower, higher]) == [Outcome.SDC_TOLERABLE, Outcome.SDC_CRITICAL]


def test_a_corruption_is_described_in_the_map_that_it_hit(digits):
    inference = digits[2]
    place = inference.places[1]
    base = inference._layout.regions[place.region]
    offsets = tuple(sorted(int(o) + base for o in place.offsets[1, :, 5, 0]))
    pattern = inference.pattern(Corruption(2, "sram", offsets, b"\x40" * len(offsets), len(offsets)))
    assert (pattern.operation, pattern.count, pattern.stray) == (1, 4, 0)
    assert pattern.box == (1, 1, 0, 3, 5, 5)
    assert {sample[3] for sample in pattern.samples} == {0x40}


def test_bytes_outside_every_map_are_stray_and_other_memories_unknown(digits):
    inference = digits[2]
    assert inference.pattern(Corruption(1, "sram", (10**6,), b"\1", 1)).stray == 1
    assert inference.pattern(Corruption(1, "flash", (0,), b"\1", 1)) is None
