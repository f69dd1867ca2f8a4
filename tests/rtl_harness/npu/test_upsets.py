# SPDX-License-Identifier: Apache-2.0
"""Damaged weights in memory: the functional model does what the RTL does, whatever the stream holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.native.runner import Runner
from resil.rtl_harness.npu.infer import infer
from resil.rtl_harness.npu.model.status import ERRORS
from resil.rtl_harness.npu.upsets import WeightMemory, flipped
from resil.rtl_harness.npu.workload import npu_workload

KNOWN = zoo.load("digits")
DIGITS = compile_network(KNOWN.path, "ethos-u55-32")


def test_bits_are_flipped_and_flipped_back():
    data = bytes(range(16))
    once = flipped(data, [0, 7, 8, 127])
    assert [i for i, (a, b) in enumerate(zip(once, data, strict=True)) if a != b] == [0, 1, 15]
    assert flipped(once.tobytes(), [127, 8, 7, 0]).tobytes() == data


def test_undamaged_memory_gives_the_outputs_of_the_network():
    inputs = KNOWN.shipped.inputs[:300]
    memory = WeightMemory(DIGITS, (inputs,))
    run = memory.run(np.frombuffer(DIGITS.constants, np.uint8))
    np.testing.assert_array_equal(run.outputs[0], infer(DIGITS, inputs, "functional").outputs[0])
    assert not run.detected.any()
    with pytest.raises(ValueError, match="bytes of constants"):
        memory.run(np.zeros(4, np.uint8))


def test_damage_is_done_as_the_rtl_does_it_broken_streams_included():
    rng, given = np.random.default_rng(5), KNOWN.shipped.inputs[:1]
    runner = Runner(load_target("ethos-u55-32"), npu_workload(DIGITS, given[0]).parameters)
    memory = WeightMemory(DIGITS, (given,))
    right = infer(DIGITS, given, "functional").outputs[0].tobytes()
    detected, wrong = 0, 0
    for upsets in [1] * 30 + [20] * 10:
        bits = rng.choice(8 * len(DIGITS.constants), upsets, replace=False)
        damaged = flipped(DIGITS.constants, bits)
        model = memory.run(damaged)
        workload = npu_workload(replace(DIGITS, constants=damaged.tobytes()), given[0])
        rtl = runner.run(workload, 100_000)
        assert rtl.finished
        assert bool(rtl.status & int(ERRORS)) == bool(model.detected[0])
        if not model.detected[0]:
            assert rtl.output == model.outputs[0].tobytes()
        detected += int(model.detected[0])
        wrong += rtl.output != right
    assert detected
    assert wrong
