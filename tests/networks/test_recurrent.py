# SPDX-License-Identifier: Apache-2.0
"""LSTM, SVDF and real numbers inside a network: by the host, as TensorFlow Lite Micro computes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from resil.networks import golden, host, oracle
from resil.networks.adapt import adapt
from resil.networks.compile import compile_network
from resil.networks.errors import NetworkError
from resil.networks.graph import Graph, Operator, Quantisation, Tensor
from resil.networks.logistic import logistic16, tanh16
from resil.networks.oracle import run_all
from resil.networks.parts import NpuPart, PartedNetwork, compile_parts
from resil.networks.reference import outputs
from resil.networks.state import lift_state
from resil.networks.tflite_reader import parse_network
from resil.networks.tflite_writer import serialise_network
from resil.rtl_harness.npu.infer import infer_parts
from testkit.errors import about
from testkit.npu.parted_networks import Drawing
from testkit.npu.recurrent_networks import (
    add_lstm,
    add_real,
    add_svdf,
    with_lstm,
    with_real_numbers,
    with_svdf,
)

ALL16 = np.arange(-32768, 32768)
TIMES = dict(time_major=True)


@pytest.mark.parametrize("power", range(-15, -8))
@pytest.mark.parametrize(("kind", "own"), [("LOGISTIC", logistic16), ("TANH", tanh16)])
def test_every_level_of_the_tables(kind: str, own: Callable[..., np.ndarray], power: int):
    ends = [Quantisation((2.0**own_power,), (0,)) for own_power in (power, -15)]
    tensors = tuple(Tensor(name, (1, 65536), "int16", end) for name, end in zip("xy", ends, strict=True))
    data = serialise_network(Graph(tensors, (Operator(kind, (0,), (1,)),), (0,), (1,)))
    (wanted,) = run_all(data, [ALL16.astype(np.int16).reshape(1, 1, -1)])
    assert np.array_equal(own(ALL16, power), wanted.reshape(-1))


def sequence(graph: Graph, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the reference and TensorFlow Lite Micro compute of inferences one after another."""
    data = serialise_network(graph)
    (wanted,) = run_all(data, [levels])
    lifted, variables = lift_state(parse_network(data))
    state, found = [variable.initial for variable in variables], []
    for one in levels:
        values = outputs(lifted, [one[None], *(own[None] for own in state)])
        found.append(values[0][0])
        state = [values[variable.left][0] for variable in variables]
    return np.array(found), wanted


LSTMS = {
    "one": ((1, 4, 5), 6, {}),
    "two sequences": ((2, 3, 5), 6, {}),
    "time first": ((4, 3, 5), 6, {"options": TIMES}),
    "wide cell": ((1, 4, 5), 6, {"cell_power": -9}),
    "cell of small numbers": ((1, 4, 5), 6, {"cell_power": -15}),
    "clipped cell": ((1, 4, 5), 6, {"options": {"cell_clip": 3.0}}),
    "fine output": ((1, 6, 3), 40, {"scales": (0.004, 0.004), "cell_power": -13, "zero_point": 7}),
}
SVDFS = {
    "int16": ((1, 7), 5, {}),
    "int8": ((1, 7), 5, {"state": "int8", "scale": 0.4}),
    "rank 1, three vectors": ((3, 7), 5, {"rank": 1}),
    "int8, three vectors": ((3, 7), 5, {"state": "int8", "rank": 1, "scale": 0.4}),
    "no activation": ((1, 7), 5, {"activation": "NONE", "zero_point": 11}),
    "long memory": ((1, 20), 9, {"memory": 17, "scale": 8.0}),
}


@pytest.mark.parametrize("scale", [0.05, 0.0117])
@pytest.mark.parametrize(
    ("add", "shape", "units", "options"),
    [(add_lstm, *case) for case in LSTMS.values()] + [(add_svdf, *case) for case in SVDFS.values()],
    ids=[f"lstm {name}" for name in LSTMS] + [f"svdf {name}" for name in SVDFS],
)
def test_operators_with_state_are_those_of_the_oracle(add, shape, units, options, scale: float):
    drawn = Drawing(3)
    given = drawn.tensor("given", shape, scale, 3)
    graph = drawn.graph((given,), (add(drawn, "out", given, units, **options),))
    levels = np.random.default_rng(9).integers(-128, 128, (60, *shape)).astype(np.int8)
    found, wanted = sequence(graph, levels)
    assert len(np.unique(wanted)) > 20
    assert np.array_equal(found, wanted)


NETWORKS = {"LSTM": with_lstm, "SVDF": with_svdf, "real numbers": with_real_numbers}


def compiled(graph: Graph, folder: Path, accelerator: str = "ethos-u55-64") -> PartedNetwork:
    path = folder / "network.tflite"
    path.write_bytes(serialise_network(graph))
    network = compile_parts(path, accelerator)
    assert isinstance(network, PartedNetwork)
    return network


def drawn_inputs(network: PartedNetwork, count: int = 9) -> np.ndarray:
    shape = network.inputs[0].shape
    return np.random.default_rng(8).integers(-128, 128, (count, *shape)).astype(np.int8)


@pytest.mark.parametrize("accelerator", ["ethos-u55-32", "ethos-u55-256"])
@pytest.mark.parametrize("name", NETWORKS)
def test_the_network_computes_what_the_oracle_does(name: str, accelerator: str, tmp_path: Path):
    network = compiled(NETWORKS[name](), tmp_path, accelerator)
    levels = drawn_inputs(network)
    found = infer_parts(network, levels[:, 0], "functional").outputs[0]
    (wanted,) = run_all(tmp_path / "network.tflite", [levels])
    assert np.array_equal(found, wanted.reshape(found.shape))
    assert len(np.unique(found)) > 10
    told = golden.expected_outputs(
        golden.source_of(tmp_path / "network.tflite", network), [levels[:, 0]], each=9
    )
    assert "tflite-micro" in told.reference
    assert np.array_equal(told.outputs[0].reshape(found.shape), found)


def test_what_the_host_computes_is_said_with_the_reason(tmp_path: Path):
    said = {name: " ".join(compiled(make(), tmp_path).adapted) for name, make in NETWORKS.items()}
    assert "UNIDIRECTIONAL_SEQUENCE_LSTM ('lstm') computed by the host (resil's" in said["LSTM"]
    assert "the state inside is the host's to carry on" in said["LSTM"]
    assert "'lstm_h', 'lstm_c'" in said["LSTM"]
    assert "'svdf_state'" in said["SVDF"]
    assert "and tflite-micro" in said["real numbers"]
    assert "for the NPU has whole numbers alone, Vela leaves it to a CPU" in said["real numbers"]


def test_the_npu_has_the_parts_around(tmp_path: Path):
    network = compiled(with_real_numbers(), tmp_path)
    assert [isinstance(part, NpuPart) for part in network.parts] == [True, False, True]
    assert len(compiled(with_svdf(), tmp_path).streams) == 2


def test_alone_the_whole_is_refused(tmp_path: Path):
    path = tmp_path / "network.tflite"
    for make, field in ((with_real_numbers, "operators[1]"), (with_lstm, "variables")):
        path.write_bytes(serialise_network(make()))
        with pytest.raises(NetworkError, check=about(field)):
            compile_network(path, "ethos-u55-64")


def test_without_the_oracle_only_real_numbers_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def missing(*_: object):
        raise NetworkError("tflite-micro is not installed")

    monkeypatch.setattr(host.oracle, "prepared", missing)
    monkeypatch.setattr(oracle, "run_all", missing)
    with pytest.raises(NetworkError, match=r"EXP.*not installed", check=about("operators")):
        compiled(with_real_numbers(), tmp_path)
    network = compiled(with_lstm(), tmp_path)
    levels = drawn_inputs(network)
    found = infer_parts(network, levels[:, 0], "functional").outputs[0]
    told = golden.expected_outputs(
        golden.source_of(tmp_path / "network.tflite", network), [levels[:, 0]], each=9
    )
    assert told.reference == "resil's integer reference"
    assert np.array_equal(told.outputs[0].reshape(found.shape), found)


@pytest.mark.parametrize(
    ("real", "wanted"),
    [(np.nan, 4), (np.inf, 127), (-np.inf, -128), (3e38, 127), (0.74, 5), (0.75, 6), (-0.25, 3)],
)
def test_real_numbers_that_a_fault_may_bring_have_a_level(real: float, wanted: int):
    given, levels = (
        Tensor("r", (1, 2), "float32"),
        Tensor("q", (1, 2), "int8", Quantisation((0.5,), (4,))),
    )
    own = host.host_of(Graph((given, levels), (Operator("QUANTIZE", (0,), (1,)),), (0,), (1,)))
    (found,) = own.run([np.full((1, 2), real, np.float32)])
    assert found.tolist() == [[wanted, wanted]]
    assert found.dtype == np.int8


def test_real_numbers_go_both_ways_as_the_oracle_takes_them():
    drawn = Drawing(1)
    given = drawn.tensor("given", (1, 256), 0.037, -11)
    graph = drawn.graph((given,), (add_real(drawn, "out", given, "ABS", 0.0171, 3),))
    levels = np.arange(-128, 128).astype(np.int8).reshape(1, 256)
    (wanted,) = run_all(serialise_network(graph), [levels[None]])
    assert np.array_equal(host.host_of(graph).run([levels])[0], wanted[0])


def _changed(graph: Graph, name: str, **changes: object) -> Graph:
    return replace(
        graph, tensors=tuple(replace(t, **changes) if t.name == name else t for t in graph.tensors)
    )


def _shared_state(graph: Graph) -> Graph:
    names = [tensor.name for tensor in graph.tensors]
    lstm = next(o for o in graph.operators if "LSTM" in o.kind)
    inputs = list(lstm.inputs)
    inputs[19] = names.index("lstm_h")
    operators = tuple(replace(o, inputs=tuple(inputs)) if o is lstm else o for o in graph.operators)
    return replace(graph, operators=operators)


@pytest.mark.parametrize(
    ("graph", "field"),
    [
        (_changed(with_lstm(), "lstm_h", dtype="float32", quantisation=None), "variables.lstm_h"),
        (_shared_state(with_lstm()), "operators[0].inputs"),
        (_changed(with_svdf(), "svdf_state", dtype="float32"), "variables.svdf_state"),
    ],
)
def test_state_that_is_not_known_is_refused(graph: Graph, field: str):
    with pytest.raises(NetworkError, check=about(field)):
        adapt(graph)


@pytest.mark.parametrize(
    "graph",
    [
        _changed(with_lstm(), "lstm_c", quantisation=Quantisation((0.0007,), (0,))),
        _changed(with_lstm(), "lstm_h", quantisation=Quantisation((0.0078125,), (3,))),
        _changed(with_svdf(), "svdf", quantisation=Quantisation((2.0,), (-7,))),
        _changed(with_svdf(), "svdf_state", dtype="int8"),
    ],
    ids=["cell of another scale", "state of another zero point", "activation left out", "types"],
)
def test_arithmetic_that_is_not_known_is_refused_by_name(graph: Graph, tmp_path: Path):
    with pytest.raises(NetworkError, match=r"LSTM|SVDF", check=about("operators")):
        compiled(graph, tmp_path)


def test_what_crashes_the_oracle_is_not_given_to_it():
    drawn = Drawing(1)
    given = drawn.tensor("given", (1, 7), 0.05)
    graph = drawn.graph((given,), (add_svdf(drawn, "out", given, 5),))
    for place, field in ((3, "bias"), (2, "types")):
        (operator,) = graph.operators
        inputs = list(operator.inputs)
        changed = graph
        if field == "bias":
            inputs[place] = -1
        else:
            times = graph.tensors[inputs[place]]
            small = replace(times, dtype="int8", data=times.data.astype(np.int8))
            changed = _changed(graph, times.name, dtype=small.dtype, data=small.data)
        changed = replace(changed, operators=(replace(operator, inputs=tuple(inputs)),))
        with pytest.raises(NetworkError, check=about("operators[0].inputs")):
            oracle.prepared(serialise_network(changed))
