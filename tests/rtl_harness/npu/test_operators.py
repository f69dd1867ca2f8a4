# SPDX-License-Identifier: Apache-2.0
"""Operators that the NPU once computed in another way than TensorFlow Lite Micro, or refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from resil.networks.compile import compile_network
from resil.networks.graph import Graph
from resil.networks.oracle import run_all
from resil.networks.tflite_writer import serialise_network
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.model.config import CONFIGS
from resil.rtl_harness.npu.refusals import check_taken, refusals
from testkit.errors import about
from tests.rtl_harness.npu.network_support import run_network
from tests.rtl_harness.npu.operator_graphs import (
    any_levels,
    joined,
    matrix_product,
    padded,
    pool,
    reduction,
    requantised,
    softmax,
    sum_or_difference,
    table,
)
from tests.rtl_harness.npu.test_rtl_generated import SIZES, outputs_of

ALL, CHANNELS, PLANE = (1, 9, 7, 24), (1, 1, 1, 24), (1, 9, 1, 1)
UNEQUAL = [(0.05, 0.03, 0.06), (0.03, 0.05, 0.06), (0.05, 0.0007, 0.05), (0.05, 0.11, 0.1)]

OPERATORS: dict[str, Callable[[], Graph]] = {
    "BATCH_MATMUL": lambda: matrix_product(9, 16, 12),
    "REDUCE_MAX": lambda: reduction("REDUCE_MAX", (1, 2)),
    "REDUCE_MIN": lambda: reduction("REDUCE_MIN", (1, 2)),
    "SOFTMAX-int16": lambda: softmax("int16"),
    "CONCATENATION-int16": lambda: joined("int16"),
    "PAD-int16": lambda: padded("int16"),
    "QUANTIZE-16-8": lambda: requantised((2e-4, 0.05), ("int16", "int8")),
    "QUANTIZE-16-16": lambda: requantised((2e-4, 3e-4), ("int16", "int16")),
}
for _kind in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
    for _size, _stride, _padding in ((2, 2, "VALID"), (3, 2, "SAME"), (5, 1, "VALID")):
        OPERATORS[f"{_kind}-{_size}-int16"] = lambda k=_kind, s=_size, t=_stride, p=_padding: pool(k, s, t, p)
for _kind in ("ADD", "SUB"):
    for _number, _scales in enumerate(UNEQUAL):
        for _dtype in ("int8", "int16"):
            OPERATORS[f"{_kind}-{_number}-{_dtype}"] = lambda k=_kind, s=_scales, d=_dtype: sum_or_difference(
                k, s, d, ALL
            )
    for _name, _second in (("channels", CHANNELS), ("plane", PLANE)):
        OPERATORS[f"{_kind}-{_name}"] = lambda k=_kind, s=_second: sum_or_difference(k, UNEQUAL[0], "int8", s)


@pytest.mark.parametrize("name", OPERATORS)
def test_on_the_model(name: str, tmp_path: Path):
    graph = OPERATORS[name]()
    path = tmp_path / "operator.tflite"
    path.write_bytes(serialise_network(graph))
    inputs = any_levels(graph, 6, 1)
    network = compile_network(path, list(CONFIGS)[list(OPERATORS).index(name) % 4])
    (found,), (wanted,) = run_network(network, graph, inputs), run_all(path, inputs)
    assert np.array_equal(found, wanted.reshape(found.shape))


@pytest.mark.parametrize("npu", SIZES)
def test_on_the_rtl(npu: str, tmp_path: Path):
    for name, make in OPERATORS.items():
        graph = make()
        path = tmp_path / f"{name}.tflite"
        path.write_bytes(serialise_network(graph))
        inputs = any_levels(graph, 1, 2)
        (found,) = outputs_of(compile_network(path, npu), graph, inputs)
        (wanted,) = run_all(path, inputs)
        assert np.array_equal(found, wanted.reshape(-1)), name


@pytest.mark.parametrize(("kind", "layer"), [("TANH", "Tanh"), ("LOGISTIC", "Sigmoid")])
def test_what_the_npu_does_not_take_is_refused_with_the_operators_name(kind: str, layer: str, tmp_path: Path):
    graph = table(kind, "int16")
    path = tmp_path / "operator.tflite"
    path.write_bytes(serialise_network(graph))
    network = compile_network(path, "ethos-u55-64")
    assert len(refusals(network)) == 1
    with pytest.raises(HarnessError, check=about("operations[0]")):
        check_taken(network)


def test_what_the_npu_takes_is_not_refused(tmp_path: Path):
    path = tmp_path / "operator.tflite"
    path.write_bytes(serialise_network(softmax("int16")))
    assert refusals(compile_network(path, "ethos-u55-64")) == ()
