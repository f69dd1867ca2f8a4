# SPDX-License-Identifier: Apache-2.0
"""Upsets of the shared buffer, followed on the functional model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from resil.errors import ResilError
from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.npu.buffer.liveness import Liveness, buffer_liveness
from resil.rtl_harness.npu.buffer.stays import Role
from resil.rtl_harness.npu.work import operation_work
from resil.sensitivity.coverage import judge
from resil.sensitivity.model import SHIPPED, HoldOutBlock, load_model
from resil.sensitivity.predict import predict_parts
from resil.sensitivity.shared_buffer import predict_buffer
from resil.stats.rates import OUTCOMES
from resil.work.inference import Inference, OperationUpset
from testkit.errors import about


@pytest.fixture(scope="module")
def known():
    digits = zoo.load("digits")
    compiled = compile_network(digits.path, "ethos-u55-32")
    liveness = buffer_liveness(compiled, [own.walk for own in operation_work(compiled)], 6.0)
    return liveness, [Inference(compiled, digits.heldout_inputs[i]) for i in range(2)]


def test_a_struck_accumulator_changes_its_own_element_alone(known):
    inference = known[1][0]
    clean = inference.feature_map(1)
    found = inference.struck(1, [OperationUpset(None, place, 31) for place in range(0, clean.size, 7)])
    for place, values in zip(range(0, clean.size, 7), found, strict=True):
        different = np.flatnonzero((values != clean).reshape(-1)).tolist()
        assert different in ([], [place])
    assert any((values != clean).any() for values in found)


def test_a_struck_input_changes_what_the_kernel_sees_of_it_and_nothing_else(known):
    inference = known[1][0]
    place = inference.operand(1)
    y, x = 3, 3
    (values,) = inference.struck(1, [OperationUpset(place.region, int(place.offsets[y, x, 0, 0]), 6)])
    rows, columns, _ = np.nonzero(values != inference.feature_map(1))
    assert rows.size
    assert (
        {abs(2 * row - y) <= 2 for row in rows} == {abs(2 * column - x) <= 2 for column in columns} == {True}
    )


def test_nothing_struck_changes_nothing(known):
    inference = known[1][0]
    for operation in range(inference.operations):
        twice = OperationUpset(None, 0, 0)
        (values,) = inference.struck(operation, [twice])
        assert values.shape == inference.feature_map(operation).shape
    before = inference.output_hash
    inference.struck(0, [OperationUpset(None, 0, 30)])
    assert inference.output_hash == before


def test_outcomes_sum_to_one_and_only_read_data_have_an_effect(known):
    liveness, inferences = known
    found = predict_buffer(liveness, inferences, np.random.default_rng(1), 200)
    assert found.outcomes.sum() == pytest.approx(1.0)
    assert found.outcomes[OUTCOMES.index("sdc_tolerable") :].sum() < liveness.live
    assert found.injections == pytest.approx(200 / liveness.live)
    again = predict_buffer(liveness, inferences, np.random.default_rng(1), 200)
    assert again.outcomes.tolist() == found.outcomes.tolist()


def test_digits_loses_as_much_as_the_rtl_does(known):
    """2,500 upsets of the shared buffer in the RTL: 63 SDC, none of them critical, and 2,249 latent."""
    liveness, inferences = known
    outcomes = predict_buffer(liveness, inferences, np.random.default_rng(2), 1_000).outcomes
    assert 2_500 * outcomes[OUTCOMES.index("sdc_tolerable")] == pytest.approx(63, abs=20)
    assert 2_500 * outcomes[OUTCOMES.index("sdc_critical")] < 3
    assert 2_500 * outcomes[OUTCOMES.index("latent")] == pytest.approx(2_249, rel=0.05)


def test_an_empty_buffer_loses_nothing(known):
    liveness, inferences = known
    empty = Liveness((), liveness.bits, liveness.cycles, liveness.last_write)
    found = predict_buffer(empty, inferences, np.random.default_rng(1))
    assert found.outcomes[OUTCOMES.index("sdc_tolerable") :].sum() == 0.0


def test_a_struck_table_changes_the_elements_that_are_looked_up_in_it():
    vgg = zoo.load("mnist_vgg")
    compiled = compile_network(vgg.path, "ethos-u55-32")
    liveness = buffer_liveness(compiled, [own.walk for own in operation_work(compiled)], 6.0)
    inference = Inference(compiled, vgg.heldout_inputs[0])
    tables = [stay for stay in liveness.stays if stay.role is Role.TABLE]
    assert tables
    stay = tables[0]
    first, last = stay.box[2]
    clean = inference.feature_map(stay.operation)
    found = inference.struck(stay.operation, [OperationUpset(8, place, 6) for place in range(first, last)])
    changed = [int((values != clean).sum()) for values in found]
    assert sum(changed) == clean.size * clean.dtype.itemsize


def test_a_buffer_of_another_design_is_refused():
    digits = zoo.load("digits")
    compiled = compile_network(digits.path, "ethos-u55-32")
    work, inferences = operation_work(compiled), [Inference(compiled, digits.heldout_inputs[0])]
    model = load_model(SHIPPED)
    own = model.accelerators["ethos-u55-32"]
    wider = {cell: bits * (2 if cell.kind == "sram" else 1) for cell, bits in own.bits.items()}
    other = replace(model, accelerators={"ethos-u55-32": replace(own, bits=wider)})
    with pytest.raises(ResilError, check=about("model.shared_buffer")):
        predict_parts(other, "ethos-u55-32", work, inferences, ("sram",), 1)


def test_runs_of_one_network_are_judged_together():
    """Two runs into the same storage, with other seeds, are one observation of it, not the last of both."""
    row = HoldOutBlock("n", "t", "sb", "sram", 100.0, (90, 5, 5, 0, 0, 0), (90, 5, 4, 1, 0, 0), 1e4)
    others = [replace(row, network=name) for name in "abc"]
    once, twice = (
        judge([*rows, *others], {"t": {("sb", "sram"): 8}})
        for rows in ([row], [row, replace(row, trials=300.0, events=(300, 0, 0, 0, 0, 0))])
    )
    tolerable = [
        next(own.observed for own in judged if own.network == "n" and own.quantity == "sdc_tolerable")
        for judged in (once, twice)
    ]
    assert tolerable == [0.05, 0.0125]
