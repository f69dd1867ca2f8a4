# SPDX-License-Identifier: Apache-2.0
"""What a network of a file computes by an independent integer reference, for the inputs that an NPU is given.

The reference is TensorFlow Lite Micro's interpreter where it is installed and can run the file, else the
package's own. It knows nothing of the compiler, the command stream or the hardware.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.networks import oracle, reference
from resil.networks.adapt import Adapted, adapt
from resil.networks.clamps import clamped_tensors
from resil.networks.ends import Ends, each_shape
from resil.networks.errors import NetworkError
from resil.networks.graph import Graph
from resil.networks.host import OWN
from resil.networks.parts import Network
from resil.networks.tflite_reader import read_network
from resil.networks.tflite_writer import serialise_network

Array = npt.NDArray[np.generic]


@dataclass(frozen=True, eq=False)
class ReferenceOutputs:
    """What a network computes.

    Attributes:
        reference: What says so, with its version.
        outputs: Of the network's file, (N, ...) each without a batch of one.
    """

    reference: str
    outputs: tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class Source:
    """A network as its file has it, and as the NPU takes it.

    Attributes:
        file: The graph of the file.
        adapted: The graph of the NPU, and the ends.
    """

    file: Graph
    adapted: Adapted

    @property
    def ends(self) -> Ends:
        """What a host does before and after the NPU."""
        return self.adapted.ends


def source_of(path: Path, compiled: Network) -> Source:
    """Return the network that was compiled, read again from its file.

    Raises:
        NetworkError: The file cannot be read, or is not the one that was compiled.
    """
    graph = read_network(path)
    adapted = adapt(graph)
    names = [tensor.name for tensor in adapted.ends.npu_outputs]
    if names != [slot.name for slot in compiled.outputs]:
        raise NetworkError(
            f"{path}: expected the network that was compiled, found another; run again", "file"
        )
    return Source(graph, adapted)


def expected_outputs(source: Source, levels: Sequence[Array], each: int = 1) -> ReferenceOutputs:
    """Return what the network computes for N inferences.

    Args:
        source: The network.
        levels: For each input of the NPU N values, (N, ...) without a batch of one.
        each: After so many inferences a network with state begins anew.

    Raises:
        NetworkError: No reference can run the network; the message says why.
    """
    reasons = []
    for attempt in _attempts(source, levels, each):
        try:
            return attempt()
        except NetworkError as error:
            reasons.append(str(error))
    raise NetworkError("; ".join(dict.fromkeys(reasons)))


def tensors(source: Source, levels: Sequence[Array]) -> dict[str, Array]:
    """Return every tensor that the NPU's part of a network computes, by name, for one inference.

    Args:
        source: The network.
        levels: The inputs of the NPU, (1, ...) each; the tensors are of that form, too.

    Raises:
        NetworkError: As `expected_outputs`.
    """
    if source.adapted.variables:
        raise NetworkError("it depends on the state that the network was in")
    graph = source.adapted.graph
    computed = tuple(dict.fromkeys(i for operator in graph.operators for i in operator.outputs))
    found = {}
    everything = replace(graph, outputs=computed)
    values = _by_any(everything, [_batched(graph, i, v) for i, v in zip(graph.inputs, levels, strict=True)])
    for index, value in zip(computed, values, strict=True):
        found[graph.tensors[index].name] = value
    return found


def _attempts(source: Source, levels: Sequence[Array], each: int) -> list[Callable[[], ReferenceOutputs]]:
    """Return the ways to compute the outputs, the most independent one first."""
    graph = source.adapted.graph
    inputs = [_batched(graph, i, v) for i, v in zip(graph.inputs[: len(levels)], levels, strict=True)]
    own = partial(_own, source, inputs, each)
    if clamped_tensors(graph):
        return [own]
    given = source.ends.givens(levels)
    attempts: list[Callable[[], ReferenceOutputs]] = [own]
    if not source.adapted.variables:
        attempts.insert(0, partial(_adapted, source, inputs))
    if given is not None and source.file is not graph:
        attempts.insert(0, partial(_file, source, given, each))
    return attempts


def _file(source: Source, given: Sequence[Array], each: int) -> ReferenceOutputs:
    graph = source.file
    inputs = [_batched(graph, i, v) for i, v in zip(graph.inputs, given, strict=True)]
    outputs = _micro(graph, inputs, each if source.adapted.variables else None)
    shaped = [
        values.reshape(-1, *each_shape(graph.tensors[i].shape))
        for values, i in zip(outputs, graph.outputs, strict=True)
    ]
    return ReferenceOutputs(oracle.name(), tuple(shaped))


def _adapted(source: Source, inputs: Sequence[Array]) -> ReferenceOutputs:
    outputs = _micro(source.adapted.graph, inputs)
    return ReferenceOutputs(oracle.name(), source.ends.results(outputs))


def _own(source: Source, inputs: Sequence[Array], each: int) -> ReferenceOutputs:
    adapted = source.adapted
    if not adapted.variables:
        return ReferenceOutputs(OWN, source.ends.results(reference.outputs(adapted.graph, inputs)))
    graph, last = adapted.graph, len(source.ends.npu_outputs)
    state: dict[int, Array] = {}
    kept: list[list[Array]] = [[] for _ in range(last)]
    for number, given in enumerate(zip(*inputs, strict=True)):
        if number % each == 0:
            state = {v.given: v.initial for v in adapted.variables if v.given is not None}
        values = dict(zip(graph.inputs, given, strict=False)) | state
        found = reference.outputs(graph, [values[i][None] for i in graph.inputs])
        left = dict(zip(graph.outputs, (own[0] for own in found), strict=True))
        state = {v.given: left[v.left] for v in adapted.variables if v.given is not None}
        for own, index in zip(kept, graph.outputs, strict=False):
            own.append(left[index])
    return ReferenceOutputs(OWN, source.ends.results([np.stack(own) for own in kept]))


def _micro(graph: Graph, inputs: Sequence[Array], each: int | None = None) -> tuple[Array, ...]:
    oracle.require_sound(graph)
    return oracle.run_all(serialise_network(graph), inputs, each)


def _by_any(graph: Graph, inputs: Sequence[Array]) -> tuple[Array, ...]:
    if clamped_tensors(graph):
        return reference.outputs(graph, inputs)
    try:
        return _micro(graph, inputs)
    except NetworkError:
        return reference.outputs(graph, inputs)


def _batched(graph: Graph, index: int, values: Array) -> Array:
    return values.reshape(-1, *graph.tensors[index].shape)
