# SPDX-License-Identifier: Apache-2.0
"""Networks with variables: files, what is lifted out of them, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from resil.networks import golden, oracle
from resil.networks.adapt import adapt
from resil.networks.compile import compile_network
from resil.networks.errors import NetworkError
from resil.networks.graph import Graph, Operator
from resil.networks.oracle import run_all
from resil.networks.parts import PartedNetwork, compile_parts
from resil.networks.reference import outputs
from resil.networks.state import lift_state
from resil.networks.tflite_reader import parse_network
from resil.networks.tflite_writer import serialise_network
from resil.rtl_harness.npu.infer import infer_parts
from testkit.errors import about
from testkit.npu.parted_networks import Drawing, streaming

ROWS = np.random.default_rng(6).integers(-128, 128, (8, 1, 1, 4, 4)).astype(np.int8)


def test_variables_and_their_first_values_survive_the_file():
    graph = streaming()
    data = serialise_network(graph)
    read = parse_network(data)
    assert serialise_network(read) == data
    assert len(read.subgraphs) == 1
    handle = next(o for o in read.operators if o.kind == "VAR_HANDLE")
    assert handle.options["shared_name"] == "past"
    assert read.tensors[handle.outputs[0]].dtype == "resource"


def test_what_is_lifted_computes_what_the_file_does():
    data = serialise_network(streaming())
    (wanted,) = run_all(data, [ROWS])
    lifted, variables = lift_state(parse_network(data))
    assert [variable.name for variable in variables] == ["past", "inner"]
    assert not any(o.kind in ("VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE") for o in lifted.operators)
    state = [variable.initial for variable in variables]
    for row, expected in zip(ROWS, wanted, strict=True):
        found = outputs(lifted, [row[None], *(own[None] for own in state)])
        assert np.array_equal(found[0][0], expected)
        state = [found[variable.left][0] for variable in variables]
    again = run_all(data, [ROWS], each=4)[0]
    assert np.array_equal(again[:4], wanted[:4])
    assert not np.array_equal(again[4:], wanted[4:])


@pytest.mark.parametrize("with_host", [False, True])
def test_the_model_computes_the_sequence(with_host: bool, tmp_path: Path):
    path = tmp_path / "stream.tflite"
    path.write_bytes(serialise_network(streaming(with_host=with_host)))
    network = compile_parts(path, "ethos-u55-128")
    assert isinstance(network, PartedNetwork)
    assert [state.name for state in network.variables] == ["past", "inner"]
    assert len(network.streams) == 1 + with_host
    found = infer_parts(network, ROWS, "functional")
    assert np.array_equal(found.outputs[0], run_all(path, [ROWS])[0].reshape(found.outputs[0].shape))
    with pytest.raises(NetworkError, check=about("variables")):
        compile_network(path, "ethos-u55-128")


@pytest.mark.parametrize("installed", [True, False])
def test_references_begin_anew_with_each_sequence(
    installed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "stream.tflite"
    path.write_bytes(serialise_network(streaming()))
    network = compile_parts(path, "ethos-u55-32")
    wanted = run_all(path, [ROWS], each=4)[0]
    if not installed:

        def missing(*_: object):
            raise NetworkError("not installed")

        monkeypatch.setattr(oracle, "run_all", missing)
    found = golden.expected_outputs(golden.source_of(path, network), [ROWS[:, 0]], each=4)
    assert ("tflite-micro" in found.reference) == installed
    assert np.array_equal(found.outputs[0].reshape(wanted.shape), wanted)


def test_a_variable_may_hold_what_another_held(tmp_path: Path):
    drawn = Drawing(5)
    given = drawn.tensor("row", (1, 1, 4, 4), 0.05, -3)
    first = np.full((1, 1, 4, 4), 7, np.int8)
    drawn.call_once({"one": first, "two": 2 * first})
    one, two = drawn.handle("one"), drawn.handle("two")
    before = drawn.read(one, drawn.tensor("one_before", (1, 1, 4, 4), 0.05, -3))
    older = drawn.read(two, drawn.tensor("two_before", (1, 1, 4, 4), 0.05, -3))
    drawn.assign(two, before)
    drawn.assign(one, given)
    rows = drawn.join_rows("rows", older, given)
    scores = drawn.dense("scores", rows, 5, 1.0)
    path = tmp_path / "delay.tflite"
    path.write_bytes(serialise_network(drawn.graph((given,), (scores,))))
    network = compile_parts(path, "ethos-u55-32")
    assert isinstance(network, PartedNetwork)
    found = infer_parts(network, ROWS, "functional")
    assert np.array_equal(found.outputs[0], run_all(path, [ROWS])[0].reshape(found.outputs[0].shape))


def _without_first(graph: Graph) -> Graph:
    called = graph.subgraphs[0]
    own = [o for o in called.operators if o.kind == "VAR_HANDLE" or o.inputs[0] != 0]
    return replace(graph, subgraphs=(replace(called, operators=tuple(own)),))


def _real(graph: Graph) -> Graph:
    tensors = [replace(t, dtype="float32") if t.name == "past_before" else t for t in graph.tensors]
    return replace(graph, tensors=tuple(tensors))


def _other_size(graph: Graph) -> Graph:
    inner = next(i for i, t in enumerate(graph.tensors) if t.name == "inner_before")
    operators = [
        replace(o, inputs=(o.inputs[0], inner)) if o.kind == "ASSIGN_VARIABLE" else o for o in graph.operators
    ]
    return replace(graph, operators=tuple(operators))


def _computing_subgraph(graph: Graph) -> Graph:
    called = graph.subgraphs[0]
    odd = Operator("ABS", (1,), (1,))
    return replace(graph, subgraphs=(replace(called, operators=(*called.operators, odd)),))


def _computed_value(graph: Graph) -> Graph:
    called = graph.subgraphs[0]
    tensors = tuple(replace(tensor, data=None) for tensor in called.tensors)
    return replace(graph, subgraphs=(replace(called, tensors=tensors),))


def _to_no_variable(graph: Graph) -> Graph:
    called = graph.subgraphs[0]
    own = tuple(operator for operator in called.operators if operator.kind != "VAR_HANDLE")
    return replace(graph, subgraphs=(replace(called, operators=own),))


REFUSED: dict[str, tuple[Callable[[Graph], Graph], str]] = {
    "no first value": (_without_first, "variables.past"),
    "real numbers": (_real, "variables.past"),
    "another size": (_other_size, "variables.past"),
    "a subgraph that computes": (_computing_subgraph, "subgraphs"),
    "a first value that is no constant": (_computed_value, "subgraphs"),
    "a first value of no variable": (_to_no_variable, "subgraphs"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_known_is_refused_by_name(name: str):
    change, field = REFUSED[name]
    with pytest.raises(NetworkError, check=about(field)):
        adapt(change(streaming()))


def test_subgraphs_that_nothing_runs_once_are_refused():
    graph = streaming()
    spare = replace(graph, subgraphs=(*graph.subgraphs, graph.subgraphs[0]))
    with pytest.raises(NetworkError, check=about("content")):
        parse_network(serialise_network(spare))
