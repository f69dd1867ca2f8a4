# SPDX-License-Identifier: Apache-2.0
"""A host's operators: computed by the integer reference, or by TensorFlow Lite Micro what that lacks.

Between whole and real numbers the host goes as QUANTIZE and DEQUANTIZE do. Where these leave open what comes
of a real number, after a fault, it saturates, and what is no number becomes the zero point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from resil.networks import oracle, reference
from resil.networks.adapt import compact
from resil.networks.ends import dequantised
from resil.networks.errors import NetworkError
from resil.networks.graph import Graph, Tensor
from resil.networks.quantise import quantise_values
from resil.networks.tflite_writer import serialise_network

Array = npt.NDArray[np.generic]
PLACES = ("DYNAMIC_UPDATE_SLICE", "EMBEDDING_LOOKUP", "GATHER", "GATHER_ND", "SCATTER_ND")
"""Operators with places of elements among their operands."""
OWN = "resil's integer reference"


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
    """Return what can compute a graph, operator by operator; tried on zeros.

    Raises:
        NetworkError: Nothing can compute an operator; the message says why.
    """
    _check_places(graph)
    steps = []
    for operator in graph.operators:
        inputs = tuple(dict.fromkeys(i for i in operator.inputs if i != -1 and graph.tensors[i].data is None))
        own = compact(graph, [operator], inputs, operator.outputs)
        steps.append((inputs, operator.outputs, _host_of_one(own)))

    def compute(inputs: Sequence[Array]) -> tuple[Array, ...]:
        values = dict(zip(graph.inputs, inputs, strict=True))
        for read, written, step in steps:
            values.update(zip(written, step.run([values[i] for i in read]), strict=True))
        return tuple(values[i] for i in graph.outputs)

    return Host(" and ".join(dict.fromkeys(step.name for _, _, step in steps)), compute)


def _host_of_one(graph: Graph) -> Host:
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
    (operator,) = graph.operators
    given, output = (graph.tensors[i] for i in (operator.inputs[0], operator.outputs[0]))
    if operator.kind == "DEQUANTIZE" and (given.dtype, output.dtype) in _TO_REAL:
        return Host(OWN, lambda inputs: (dequantised(inputs[0], given),))
    if operator.kind == "QUANTIZE" and (output.dtype, given.dtype) in _TO_REAL:
        return Host(OWN, partial(_quantised, output))

    def compute(inputs: Sequence[Array]) -> tuple[Array, ...]:
        return tuple(found[0] for found in reference.outputs(graph, [given[None] for given in inputs]))

    return Host(OWN, compute)


_TO_REAL = (("int8", "float32"), ("int16", "float32"))


def _quantised(output: Tensor, inputs: Sequence[Array]) -> tuple[Array, ...]:
    if output.quantisation is None:
        raise NetworkError(f"{output.name!r} is not quantised", "operators")
    real = np.nan_to_num(inputs[0], nan=0.0, posinf=np.inf, neginf=-np.inf)
    return (quantise_values(real, output.quantisation, output.dtype),)


def _micro(graph: Graph) -> Host:
    oracle.require_sound(graph)
    shapes = [graph.tensors[i].shape for i in graph.outputs]
    run = oracle.prepared(serialise_network(graph))

    def compute(inputs: Sequence[Array]) -> tuple[Array, ...]:
        return tuple(found.reshape(shape) for found, shape in zip(run(inputs), shapes, strict=True))

    return Host(oracle.name(), compute)
