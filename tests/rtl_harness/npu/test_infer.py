# SPDX-License-Identifier: Apache-2.0
import dataclasses
import doctest

import numpy as np
import pytest

from resil.networks import oracle, zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu import infer as module
from resil.rtl_harness.npu.infer import infer
from testkit.errors import about


@pytest.fixture(scope="module")
def digits():
    return zoo.load("digits")


@pytest.fixture(scope="module")
def compiled(digits):
    return compile_network(digits.path, "ethos-u55-32")


def test_functional_model_equals_the_oracle_on_all_held_out_digits(digits, compiled):
    result = infer(compiled, digits.heldout_inputs, "functional")
    assert np.array_equal(result.outputs[0], oracle.run(digits.path, digits.heldout_inputs))
    assert not (result.status & 0x694).any()


def test_rtl_equals_the_oracle_on_held_out_digits(digits, compiled):
    inputs = digits.heldout_inputs[:120]
    result = infer(compiled, inputs, "rtl")
    assert np.array_equal(result.outputs[0], oracle.run(digits.path, inputs))
    assert len(set(result.cycles.tolist())) == 1
    assert (result.operation_cycles > 0).all()
    assert 0 < result.cycles[0] - result.operation_cycles[0].sum() < 100
    assert np.array_equal(result.status, infer(compiled, inputs, "functional").status)


def test_rtl_that_does_not_finish_is_an_error(digits, compiled):
    with pytest.raises(HarnessError, check=about("end")):
        infer(compiled, digits.heldout_inputs[:1], "rtl", max_cycles=3000)


def test_progress_is_told(digits, compiled):
    seen = []
    infer(
        compiled,
        digits.heldout_inputs[:3],
        "functional",
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (3, 3)


def test_no_inputs_give_no_outputs(digits, compiled):
    for engine in ("functional", "rtl"):
        result = infer(compiled, digits.heldout_inputs[:0], engine)
        assert result.outputs[0].shape == (0, 10)
        assert result.operation_cycles.shape == (0, len(compiled.operations))


@pytest.mark.parametrize("bad", [np.zeros((4, 8, 8, 2), np.int8), np.zeros((8, 8, 1), np.int8), np.int8(0)])
def test_wrong_shapes_are_refused(compiled, bad):
    with pytest.raises(HarnessError, check=about("inputs.input")):
        infer(compiled, np.asarray(bad), "functional")


def test_an_error_of_the_npu_names_input_operation_and_status(digits, compiled):
    broken = dataclasses.replace(compiled, constants=b"\xff" * len(compiled.constants))
    with pytest.raises(HarnessError, check=about("status")):
        infer(broken, digits.heldout_inputs[:1], "functional")


@pytest.mark.parametrize("engine", ["functional", "rtl"])
def test_a_stream_that_the_npu_does_not_take_is_refused_before_it_runs(engine, digits, compiled):
    commands = compiled.commands.copy()
    commands[compiled.operations[2].word] = 0x3FF
    broken = dataclasses.replace(compiled, commands=commands)
    with pytest.raises(HarnessError, check=about("operations[2]")):
        infer(broken, digits.heldout_inputs[:1], engine)


def test_doctests():
    assert doctest.testmod(module).failed == 0
