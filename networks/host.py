# SPDX-License-Identifier: Apache-2.0
"""A host's operators: computed by the integer reference, or by TensorFlow Lite Micro what that lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from resil.networks import oracle, reference
from resil.networks.errors import NetworkError
from resil.networks.graph import Graph
from resil.networks.tflite_writer import serialise_network

Array = npt.NDArray[np.generic]
PLACES = ("DYNAMIC_UPDATE_SLICE", "EMBEDDING_LOOKUP", "GATHER", "GATHER_ND", "SCATTER_ND")
"""Operators with places of elements among their operands."""


@dataclass(frozen=True, eq=False)
class Host:
    """What computes a graph of operators.

    Attributes:
        name: For people, with its version.
        compute: Returns outputs for inputs, each of its tensor's shape and type.
    """

    name: str
    compute: Callable[[Sequence[Array]], tuple[Array, ...]] = field(repr=False)

    def run(self, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """Return the outputs of one inference."""
        return self.compute(inputs)


def host_of(graph: Graph) -> Host:
    """Return what can compute a graph; tried on zeros.

    Raises:
        NetworkError: Nothing can; the message says why.
    """
    _check_places(graph)
    zeros = [np.zeros(graph.tensors[i].shape, graph.tensors[i].dtype) for i in graph.inputs]
    reasons = []
    for make in (_own, _micro):
        try:
            found = make(graph)
            found.run(zeros)
        except NetworkError as error:
            reasons.append(str(error))
        else:
            return found
    raise NetworkError("; ".join(reasons), "operators")


def _check_places(graph: Graph) -> None:
    """Refuse places that are computed: after a fault they could be outside, and nothing says what is read."""
    for operator in graph.operators:
        if operator.kind in PLACES:
            for index in operator.inputs:
                tensor = graph.tensors[index]
                if tensor.data is None and tensor.dtype in ("int32", "int64"):
                    raise NetworkError(
                        f"{operator.kind} reads at places that are computed ({tensor.name!r}), which a fault "
                        "could move outside; only constant ones are known here",
                        "operators",
                    )


def _own(graph: Graph) -> Host:
    def compute(inputs: Sequence[Array]) -> tuple[Array, ...]:
        return tuple(found[0] for found in reference.outputs(graph, [given[None] for given in inputs]))

    return Host("resil's integer reference", compute)


def _micro(graph: Graph) -> Host:
    oracle.require_sound(graph)
    shapes = [graph.tensors[i].shape for i in graph.outputs]
    run = oracle.prepared(serialise_network(graph))

    def compute(inputs: Sequence[Array]) -> tuple[Array, ...]:
        return tuple(found.reshape(shape) for found, shape in zip(run(inputs), shapes, strict=True))

    return Host(oracle.name(), compute)
