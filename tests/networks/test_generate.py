# SPDX-License-Identifier: Apache-2.0
"""Networks of one operation: the writer, the oracle and Vela take them, and they cover the space."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resil.networks import oracle, reference, vela
from resil.networks.compile import compile_network
from resil.networks.errors import NetworkError
from resil.networks.generate import KINDS, generate, random_inputs
from resil.networks.generate.__main__ import main, survey
from resil.networks.graph import Graph
from resil.networks.tflite_reader import parse_network
from resil.networks.tflite_writer import serialise_network, write_network
from testkit.errors import about

seeds = st.integers(0, 2**32 - 1)
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=120)


def constant(graph: Graph, position: int) -> list[int]:
    return graph.tensors[graph.operators[0].inputs[position]].data.tolist()


def drawn(kind: str, count: int) -> list[Graph]:
    return [generate(kind, seed) for seed in range(count)]


@given(st.sampled_from(KINDS), seeds)
@relaxed
def test_networks_keep_their_bytes_and_run_in_the_oracle(kind, seed):
    graph = generate(kind, seed)
    data = serialise_network(graph)
    assert serialise_network(generate(kind, seed)) == data
    assert serialise_network(parse_network(data)) == data
    (operator,) = graph.operators
    assert operator.kind == kind
    inputs = random_inputs(graph, 3, seed)
    outputs = oracle.run_all(data, inputs)
    assert [o.shape for o in outputs] == [(3, *graph.tensors[i].shape) for i in graph.outputs]
    if kind in reference.KERNELS and is_sound(graph):
        for found, right in zip(reference.outputs(graph, inputs), outputs, strict=True):
            np.testing.assert_array_equal(found, right)


def is_sound(graph):
    """Whether TensorFlow Lite Micro can be the judge of a network."""
    try:
        oracle.require_sound(graph)
    except NetworkError:
        return False
    return True


def test_seeds_give_different_networks():
    for kind in KINDS:
        assert len({serialise_network(graph) for graph in drawn(kind, 10)}) == 10


def test_outputs_are_lively():
    """Scales fit the sums: the outputs of a kind take many levels, not just the two ends."""
    for kind in KINDS:
        levels = [
            len(np.unique(oracle.run_all(serialise_network(g), random_inputs(g, 3, 0))[0]))
            for g in drawn(kind, 24)
        ]
        assert np.median(levels) > 8, kind


def test_convolutions_cover_the_space():
    for kind in ("CONV_2D", "DEPTHWISE_CONV_2D"):
        graphs = drawn(kind, 400)
        options = [graph.operators[0].options for graph in graphs]
        assert {(o["stride_h"], o["stride_w"]) for o in options} == set(product((1, 2, 3), repeat=2))
        assert {o["padding"] for o in options} == {"SAME", "VALID"}
        assert {o["dilation_h_factor"] for o in options} == {1, 2, 3, 4}
        assert len({o["fused_activation_function"] for o in options}) == 4
        kernels = [graph.tensors[graph.operators[0].inputs[1]] for graph in graphs]
        assert max(k.shape[1] * k.shape[2] for k in kernels) == 64 * 64
        assert {len(graph.operators[0].inputs) for graph in graphs} == {2, 3}
        assert {graph.tensors[graph.outputs[0]].zero_point for graph in graphs} > {-128, 0, 127}
        assert all(k.data.min() > -128 for k in kernels)


def test_work_is_bounded():
    for graph in drawn("CONV_2D", 400):
        weights = graph.tensors[graph.operators[0].inputs[1]].shape
        _, rows, columns, filters = graph.tensors[graph.outputs[0]].shape
        assert rows * columns * filters * np.prod(weights[1:]) <= 800_000


def test_elementwise_operations_cover_broadcasting():
    for kind in ("ADD", "SUB", "MUL", "MINIMUM", "MAXIMUM"):
        ways = set()
        for graph in drawn(kind, 200):
            one, other = (graph.tensors[i] for i in graph.operators[0].inputs)
            small = min(one, other, key=lambda t: (np.prod(t.shape), len(t.shape)))
            ways.add((small.data is not None, len(small.shape), tuple(n > 1 for n in small.shape)))
            assert 1 in (len(graph.inputs), len(graph.inputs) - 1)
        assert {(True, 0, ()), (True, 1, (True,)), (False, 4, (False, False, False, True))} <= ways
        assert (False, 4, (False, True, True, False)) in ways


def moved(graph: Graph, values: list[np.ndarray]) -> list[np.ndarray]:
    """What the operation means, in NumPy's words."""
    (operator,) = graph.operators
    match operator.kind:
        case "RESHAPE":
            return [values[0].reshape(constant(graph, 1))]
        case "TRANSPOSE":
            return [values[0].transpose(constant(graph, 1))]
        case "CONCATENATION":
            return [np.concatenate(values, axis=operator.options["axis"])]
        case "PACK":
            return [np.stack(values, axis=operator.options["axis"])]
        case "PAD":
            zero = graph.tensors[graph.inputs[0]].zero_point
            return [np.pad(values[0], constant(graph, 1), constant_values=zero)]
        case "MIRROR_PAD":
            mode = ("reflect", "symmetric")[operator.options["mode"]]
            return [np.pad(values[0], constant(graph, 1), mode=mode)]
        case "SPLIT":
            axis = graph.tensors[operator.inputs[0]].data[0]
            return np.split(values[0], operator.options["num_splits"], axis=axis)
        case "SLICE":
            bounds = zip(constant(graph, 1), constant(graph, 2), strict=True)
            return [values[0][tuple(slice(low, low + size) for low, size in bounds)]]
        case "STRIDED_SLICE":
            bounds = zip(constant(graph, 1), constant(graph, 2), constant(graph, 3), strict=True)
            return [values[0][tuple(slice(*bound) for bound in bounds)]]
        case "MINIMUM" | "MAXIMUM":
            operands = iter(values)
            tensors = [graph.tensors[i] for i in operator.inputs]
            one, other = (next(operands) if t.data is None else t.data for t in tensors)
            return [getattr(np, operator.kind.lower())(one, other)]
    raise AssertionError(operator.kind)


MOVING = "RESHAPE TRANSPOSE CONCATENATION PACK PAD MIRROR_PAD SPLIT SLICE STRIDED_SLICE MINIMUM MAXIMUM"


@pytest.mark.parametrize("kind", MOVING.split())
def test_options_are_written_as_they_are_meant(kind):
    for seed, graph in enumerate(drawn(kind, 12)):
        inputs = random_inputs(graph, 1, seed)
        outputs = oracle.run_all(serialise_network(graph), inputs)
        for found, expected in zip(outputs, moved(graph, [v[0] for v in inputs]), strict=True):
            np.testing.assert_array_equal(found[0], expected, strict=True)


def check_vela(kind: str, seed: int, accelerator: str, folder) -> None:
    graph = generate(kind, seed)
    path = folder / f"{kind.lower()}.tflite"
    write_network(graph, path)
    compiled = compile_network(path, accelerator, cache_dir=folder)
    assert [s.shape for s in compiled.inputs] == [graph.tensors[i].shape for i in graph.inputs]
    assert [s.shape for s in compiled.outputs] == [graph.tensors[i].shape for i in graph.outputs]
    assert len(compiled.commands) > 0


@pytest.mark.parametrize(
    ("kind", "seed"),
    [("CONV_2D", 5), ("DEPTHWISE_CONV_2D", 6), ("MUL", 1), ("MEAN", 2), ("TANH", 0), ("TRANSPOSE_CONV", 4)],
)
def test_vela_compiles_a_sample(kind, seed, tmp_path):
    check_vela(kind, seed, "ethos-u55-64", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("accelerator", vela.ACCELERATORS)
@pytest.mark.parametrize("kind", KINDS)
def test_vela_compiles_every_kind_for_every_accelerator(kind, accelerator, tmp_path):
    for seed in range(200, 203):
        check_vela(kind, seed, accelerator, tmp_path)


def test_the_survey_counts_and_explains(monkeypatch):
    assert survey("RELU", range(1), "ethos-u55-32") == (1, 1, {})

    def refuse(*_: object, **__: object) -> None:
        raise NetworkError("left to a CPU")

    monkeypatch.setattr("resil.networks.generate.__main__.compile_network", refuse)
    assert survey("RELU", range(2), "ethos-u55-32") == (2, 0, {"left to a CPU": 2})


def test_the_command_writes_a_network(tmp_path, capsys):
    path = tmp_path / "n.tflite"
    assert main(["PAD", "--seed", "3", "--out", str(path)]) == 0
    assert path.read_bytes() == serialise_network(generate("PAD", 3))
    assert main(["DREAM", "--out", str(path)]) == 2
    assert "the kinds are ABS, ADD" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["PAD", "ADD", "--out", str(path)])


def test_inputs_of_the_oracle_are_checked():
    graph = generate("CONCATENATION", 0)
    data = serialise_network(graph)
    inputs = random_inputs(graph, 2, 0)
    with pytest.raises(NetworkError, check=about("inputs")):
        oracle.run_all(data, inputs[:1])
    with pytest.raises(NetworkError, check=about("inputs.input0")):
        oracle.run_all(data, [inputs[0].astype(np.int16), *inputs[1:]])
