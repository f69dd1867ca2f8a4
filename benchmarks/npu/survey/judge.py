# SPDX-License-Identifier: Apache-2.0
"""A network of the survey on the functional model and on RTL, against TensorFlow Lite Micro."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.npu.survey.cases import Case
from resil.networks import oracle, reference
from resil.networks.compile import CompiledNetwork
from resil.networks.ends import each_shape
from resil.networks.errors import NetworkError
from resil.networks.generate import random_inputs
from resil.networks.graph import Graph
from resil.networks.parts import Network, compile_parts_bytes
from resil.networks.tflite_writer import serialise_network
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.infer import EngineName, infer, infer_parts
from resil.rtl_harness.npu.refusals import check_taken

EXACT, DIFFERS, REFUSED, STOPPED, UNJUDGED = "exact", "differs", "refused", "stopped", "not judged"
SIZES = ("ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256")
Arrays = tuple[npt.NDArray[np.generic], ...]


@dataclass(frozen=True)
class Outcome:
    """How one network ended on one engine of one size.

    Attributes:
        case: Name of the network; inputs of one with state follow each other.
        npu: Size.
        engine: "functional" or "rtl".
        state: `EXACT`; `DIFFERS`; `REFUSED` when the network was read or compiled; `STOPPED` by an error
            while it ran; `UNJUDGED` if no reference can run the network.
        elements: Elements compared.
        differing: Of them, those that differ.
        largest: Largest difference.
        reason: Of a refusal or an error.
    """

    case: str
    npu: str
    engine: str
    state: str
    elements: int = 0
    differing: int = 0
    largest: int = 0
    reason: str = ""

    @property
    def sound(self) -> bool:
        """Whether nobody is misled: exact, or refused before anything runs."""
        return self.state in (EXACT, REFUSED)


def judge(case: Case, npu: str, engine: EngineName = "functional", inputs: int = 8, seed: int = 1) -> Outcome:
    """Return how a case ends on random inputs."""
    graph = case.graph()
    data = serialise_network(graph)
    try:
        compiled = compile_parts_bytes(data, Path("survey.tflite"), npu)
        for stream in compiled.streams:
            check_taken(stream)
    except (NetworkError, HarnessError) as error:
        return Outcome(case.name, npu, engine, REFUSED, reason=_one_line(error))
    given = random_inputs(graph, inputs, seed)
    try:
        expected = _expected(graph, given)
    except NetworkError as error:
        return Outcome(case.name, npu, engine, UNJUDGED, reason=_one_line(error))
    try:
        found = _computed(compiled, graph, given, engine)
    except HarnessError as error:
        return Outcome(case.name, npu, engine, STOPPED, reason=_one_line(error))
    gaps = [
        np.abs(a.reshape(-1).astype(np.int64) - b.reshape(-1).astype(np.int64))
        for a, b in zip(found, expected, strict=True)
    ]
    gap = np.concatenate(gaps)
    state = DIFFERS if gap.any() else EXACT
    return Outcome(
        case.name, npu, engine, state, gap.size, int(np.count_nonzero(gap)), int(gap.max(initial=0))
    )


def both(graph: Graph, given: Arrays, npu: str) -> Arrays:
    """Return the first output of a network by the functional model, and by the reference."""
    compiled = compile_parts_bytes(serialise_network(graph), Path("survey.tflite"), npu)
    found, expected = _computed(compiled, graph, given, "functional")[0], _expected(graph, given)[0]
    return found, expected.reshape(found.shape)


def _expected(graph: Graph, given: Arrays) -> Arrays:
    """Return what TensorFlow Lite Micro computes; what it cannot, the integer reference."""
    try:
        oracle.require_sound(graph)
        return oracle.run_all(serialise_network(graph), given)
    except NetworkError as error:
        try:
            return reference.outputs(graph, given)
        except NetworkError as other:
            raise NetworkError(f"{error}; {other}") from other


def _computed(compiled: Network, graph: Graph, given: Arrays, engine: EngineName) -> Arrays:
    by_name = {graph.tensors[index].name: values for index, values in zip(graph.inputs, given, strict=True)}
    ordered = [by_name[slot.name].reshape(len(given[0]), *each_shape(slot.shape)) for slot in compiled.inputs]
    whole = isinstance(compiled, CompiledNetwork)
    run = infer(compiled, ordered, engine) if whole else infer_parts(compiled, tuple(ordered), engine)
    outputs = compiled.ends.results(run.outputs)
    return tuple(np.asarray(values) for values in outputs)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
