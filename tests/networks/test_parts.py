# SPDX-License-Identifier: Apache-2.0
"""Networks of which Vela leaves operators to a CPU: how they are divided, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from resil.networks import host
from resil.networks.compile import CompiledNetwork, compile_network
from resil.networks.errors import LeftToCpuError, NetworkError
from resil.networks.graph import Graph
from resil.networks.oracle import run_all
from resil.networks.parts import HostPart, NpuPart, PartedNetwork, begin, compile_parts, results
from resil.networks.reference import outputs
from resil.networks.tflite_writer import serialise_network
from resil.rtl_harness.npu.stretches import PartedModel
from testkit.errors import about
from testkit.npu.parted_networks import Drawing, foreign_host, host_at_both_ends, host_between

ACCELERATOR = "ethos-u55-64"


def parts_of(graph: Graph, folder: Path, accelerator: str = ACCELERATOR) -> PartedNetwork:
    path = folder / "network.tflite"
    path.write_bytes(serialise_network(graph))
    network = compile_parts(path, accelerator)
    assert isinstance(network, PartedNetwork)
    return network


def made(network: PartedNetwork) -> list[tuple[str, list[str]]]:
    kinds = {NpuPart: "npu", HostPart: "host"}
    names = network.graph.tensors
    return [(kinds[type(part)], [names[i].name for i in part.outputs]) for part in network.parts]


def test_as_few_parts_as_can_be_in_an_order_that_works(tmp_path: Path):
    assert made(parts_of(host_at_both_ends(), tmp_path)) == [
        ("host", ["order"]),
        ("npu", ["scores"]),
        ("host", ["log"]),
    ]
    between = parts_of(host_between(), tmp_path)
    assert made(between) == [
        ("npu", ["first"]),
        ("host", ["order"]),
        ("npu", ["both"]),
        ("host", ["unit"]),
        ("npu", ["scores"]),
    ]
    first, unit = (
        next(i for i, t in enumerate(between.graph.tensors) if t.name == n) for n in ("first", "unit")
    )
    assert [first in kept for kept in between.kept] == [True, True, True, True, False]
    assert unit not in between.kept[4]


@pytest.mark.parametrize("make", [host_at_both_ends, host_between, foreign_host])
@pytest.mark.parametrize("accelerator", ["ethos-u55-32", "ethos-u55-256"])
def test_parts_compute_what_the_whole_does(make, accelerator: str, tmp_path: Path):
    graph = make()
    network = parts_of(graph, tmp_path, accelerator)
    inputs = np.random.default_rng(4).integers(-128, 128, (10, 1, 4, 4, 4)).astype(np.int8)
    (wanted,) = run_all(tmp_path / "network.tflite", [inputs])
    model = PartedModel(network)
    for given, expected in zip(inputs, wanted, strict=True):
        (found,) = model.outputs([given])
        assert np.array_equal(found, expected)


def test_what_the_host_computes_is_said_with_its_reference(tmp_path: Path):
    remarks = " ".join(parts_of(host_between(), tmp_path).adapted)
    assert "GATHER ('order') computed by the host (resil's integer reference)" in remarks
    assert "3 parts" in remarks


def test_a_network_that_the_npu_takes_is_compiled_as_ever(digits):
    whole = compile_parts(digits.path, ACCELERATOR)
    assert isinstance(whole, CompiledNetwork)
    assert np.array_equal(whole.commands, compile_network(digits.path, ACCELERATOR).commands)


def test_alone_the_whole_is_refused_with_the_operators(tmp_path: Path):
    path = tmp_path / "network.tflite"
    path.write_bytes(serialise_network(host_at_both_ends()))
    with pytest.raises(LeftToCpuError, match="GATHER") as caught:
        compile_network(path, ACCELERATOR)
    assert set(caught.value.outputs) == {"order", "log"}


def test_what_the_own_reference_lacks_is_computed_by_another(tmp_path: Path):
    network = parts_of(foreign_host(), tmp_path)
    assert "DEPTH_TO_SPACE ('spread') computed by the host (tflite-micro" in " ".join(network.adapted)


def test_what_neither_knows_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def missing(data: bytes, outputs: int | None = None):
        raise NetworkError("tflite-micro is not installed; run `pip install 'resil[reference]'`")

    monkeypatch.setattr(host.oracle, "prepared", missing)
    with pytest.raises(NetworkError, match=r"DEPTH_TO_SPACE.*Unsupported opType.*not installed") as caught:
        parts_of(foreign_host(), tmp_path)
    assert caught.value.field == "operators"
    assert isinstance(parts_of(host_between(), tmp_path), PartedNetwork)


def _kept_inside(graph: Graph) -> Graph:
    tensors = [replace(t, is_variable=True) if t.name == "given" else t for t in graph.tensors]
    return replace(graph, tensors=tuple(tensors))


def test_state_inside_operators_is_refused_by_name(tmp_path: Path):
    with pytest.raises(NetworkError, check=about("operators[0]")):
        parts_of(_kept_inside(host_at_both_ends()), tmp_path)


LEVELS = [
    ((1, 5), 0.05, 3),
    ((1, 40), 0.2, -128),
    ((3, 7), 0.9, 5),
    ((1, 2), 0.003, 0),
    ((1, 3, 3, 16), 0.1, 127),
]


@pytest.mark.parametrize("kind", ["log_softmax", "unit_length"])
@pytest.mark.parametrize(("shape", "scale", "zero_point"), LEVELS)
def test_operators_of_the_host_are_those_of_the_oracle(kind: str, shape, scale: float, zero_point: int):
    drawn = Drawing(1)
    given = drawn.tensor("given", shape, scale, zero_point)
    graph = drawn.graph((given,), (getattr(drawn, kind)("out", given),))
    levels = np.random.default_rng(3).integers(-128, 128, (60, *shape)).astype(np.int8)
    levels[::3] //= 30
    levels[0], levels[1] = zero_point, min(zero_point + 1, 127)
    (wanted,) = run_all(serialise_network(graph), [levels])
    assert np.array_equal(outputs(graph, [levels])[0], wanted)


def test_places_that_a_fault_could_move_are_refused(tmp_path: Path):
    drawn = Drawing(1)
    given = drawn.tensor("given", (1, 4, 4, 4), 0.05)
    conv = drawn.conv("conv", given, 8, 0.1)
    axis = drawn.constant("axis", np.array([3], np.int32))
    best = drawn.constant("best", np.zeros((1, 4, 4), np.int32))
    drawn.tensors[best] = type(drawn.tensors[best])("best", (1, 4, 4), "int32")
    drawn.operator("ARG_MAX", (conv, axis), best, {"output_type": 2}, "ArgMaxOptions")
    out = drawn.tensor("out", (1, 4, 4, 1, 4, 4), 0.1, -5)
    drawn.operator("GATHER", (conv, best), out, {"axis": 3, "batch_dims": 0}, "GatherOptions")
    with pytest.raises(NetworkError, match=r"places that are computed \('best'\)"):
        parts_of(drawn.graph((given,), (out,)), tmp_path)


def test_nothing_for_the_npu_is_refused(tmp_path: Path):
    drawn = Drawing(1)
    given = drawn.tensor("given", (1, 4, 4, 4), 0.05)
    with pytest.raises(NetworkError, match=r"all of them are left to a CPU: GATHER .*nothing to inject"):
        parts_of(drawn.graph((given,), (drawn.gather("order", given),)), tmp_path)


def test_values_are_those_of_the_tensors(tmp_path: Path):
    network = parts_of(host_at_both_ends(), tmp_path)
    values = begin(network, [np.zeros((4, 4, 4), np.int8)])
    assert [v.shape for v in values.values()] == [(1, 4, 4, 4)]
    values |= {network.graph.outputs[0]: np.ones((1, 5), np.int8)}
    assert results(network, values)[0].tolist() == [[1] * 5]
