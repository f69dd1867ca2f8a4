# SPDX-License-Identifier: Apache-2.0
import dataclasses
import doctest

import numpy as np
import pytest

from resil.rtl_harness.engine.fast.native import build, runner
from resil.rtl_harness.engine.fast.native.runner import Runner
from resil.rtl_harness.engine.workload import OutputSpec, Workload
from resil.rtl_harness.errors import HarnessError
from testkit.errors import about
from tests.rtl_harness.engine.fast.native.design import closed_target


def workload(words, **changes):
    base = Workload(
        "random",
        {"input": words.astype("<u8").tobytes()},
        OutputSpec("output", 8, (16,), "int8"),
        {"Words": 32},
    )
    return dataclasses.replace(base, **changes)


@pytest.fixture(scope="module")
def small():
    target = closed_target(memories={**closed_target().memories})
    return Runner(target, {"Words": 32})


@pytest.fixture
def words(input_words):
    return input_words[:32]


def test_parameters_reach_the_design_and_output_is_read(small, words):
    run = small.run(workload(words), 10_000)
    assert run.finished
    assert not run.error
    assert run.cycles == 64
    assert run.operation_ends == (32, 64)
    assert run.status & 0xFFFF == 32
    assert len(run.output) == 16


def test_output_depends_on_the_image_alone(small, words):
    first = small.run(workload(words), 10_000)
    assert small.run(workload(words + np.uint64(3)), 10_000).output != first.output
    assert small.run(workload(words), 10_000) == first


def test_limit(small, words):
    run = small.run(workload(words), 10)
    assert (run.finished, run.cycles) == (False, 10)


def test_wrong_parameters_memories_and_sizes_are_named(small, words):
    with pytest.raises(HarnessError, check=about("parameters")):
        small.run(workload(words, parameters={"Words": 64}), 10)
    with pytest.raises(HarnessError, check=about("images")):
        small.run(workload(words, images={"boot": b"\0"}), 10)
    with pytest.raises(HarnessError, match=r"272 bytes.*holds 256"):
        small.run(workload(words, images={"input": bytes(272)}), 10)


def test_doctests():
    for module in (runner, build):
        assert doctest.testmod(module).failed == 0
