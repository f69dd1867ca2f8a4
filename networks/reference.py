# SPDX-License-Identifier: Apache-2.0
"""The integer reference: int8 networks in NumPy, a batch at a time, bit for bit as TensorFlow Lite Micro.

A fault-free NPU, its functional model and this reference have to agree on every output byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from resil.networks.errors import NetworkError
from resil.networks.fixed_point import IntArray
from resil.networks.graph import Graph, Operator, Tensor
from resil.networks.kernels import (
    add,
    average_pool,
    convolution,
    depthwise,
    fully_connected,
    max_pool,
    probabilities,
    reshape,
)

Array = npt.NDArray[np.generic]
_CHUNK = 100
Kernel = Callable[[Operator, tuple[Tensor | None, ...], Tensor, tuple[IntArray | None, ...]], IntArray]

KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "ADD": add,
        "AVERAGE_POOL_2D": average_pool,
        "CONV_2D": convolution,
        "DEPTHWISE_CONV_2D": depthwise,
        "FULLY_CONNECTED": fully_connected,
        "MAX_POOL_2D": max_pool,
        "RESHAPE": reshape,
        "SOFTMAX": probabilities,
    }
)


def run(graph: Graph, inputs: npt.ArrayLike) -> npt.NDArray[np.int8]:
    """Return the output (N, ...) of a graph with one input and one output for a batch of inputs (N, ...).

    Args:
        graph: An int8 network; its tensors have batch size 1.
        inputs: int8, (N, H, W, C) or whatever the graph's input is after its first dimension.

    Raises:
        NetworkError: An operator or a type that the reference lacks, or inputs that do not fit.
    """
    if len(graph.outputs) != 1:
        raise NetworkError(f"expected a network with one output, found {len(graph.outputs)}; use run_all")
    batch = np.asarray(inputs)
    parts = [batch[i : i + _CHUNK] for i in range(0, max(len(batch), 1), _CHUNK)] if batch.ndim else [batch]
    return np.concatenate([run_all(graph, part)[graph.outputs[0]].astype(np.int8) for part in parts])


def run_all(graph: Graph, inputs: npt.ArrayLike) -> dict[int, IntArray]:
    """Return every tensor that is computed, by tensor index, each (N, ...); arguments and errors as `run`."""
    if len(graph.inputs) != 1:
        raise NetworkError(f"expected a network with one input, found {len(graph.inputs)}")
    source = graph.tensors[graph.inputs[0]]
    values = {graph.inputs[0]: _batch(source, np.asarray(inputs)).astype(np.int64)}
    for number, operator in enumerate(graph.operators):
        kernel = KERNELS.get(operator.kind)
        if kernel is None:
            raise NetworkError(
                f"operator {number} ({operator.kind}) is not in the integer reference; "
                f"it has {', '.join(KERNELS)}"
            )
        tensors = tuple(None if i < 0 else graph.tensors[i] for i in operator.inputs)
        arguments = tuple(None if i < 0 else values.get(i) for i in operator.inputs)
        output = graph.tensors[operator.outputs[0]]
        try:
            _check_types(operator, tensors, output)
            computed = kernel(operator, tensors, output, arguments)
            values[operator.outputs[0]] = computed if output.clamp is None else computed.clip(*output.clamp)
        except (ValueError, KeyError, IndexError) as error:
            raise NetworkError(
                f"operator {number} ({operator.kind}, output {output.name!r}): {error}"
            ) from error
    return values


def _batch(source: Tensor, inputs: Array) -> Array:
    if inputs.dtype != np.int8 or source.dtype != "int8":
        raise NetworkError(
            f"input {source.name!r}: expected int8, found {inputs.dtype} for a {source.dtype} tensor"
        )
    if inputs.ndim != len(source.shape) or inputs.shape[1:] != source.shape[1:]:
        raise NetworkError(
            f"input {source.name!r}: expected shape (N, {', '.join(map(str, source.shape[1:]))}), "
            f"found {inputs.shape}"
        )
    return inputs


def _check_types(operator: Operator, tensors: tuple[Tensor | None, ...], output: Tensor) -> None:
    if output.dtype != "int8":
        raise ValueError(f"the output is {output.dtype}, only int8 networks are supported")
    first = tensors[0] if tensors else None
    if first is None or first.dtype != "int8":
        raise ValueError(
            f"the first input is {first.dtype if first else 'absent'}, only int8 networks are supported"
        )
    if operator.kind != "RESHAPE":
        for tensor in (first, output):
            if tensor.quantisation is None or len(tensor.quantisation.scale) != 1:
                raise ValueError(f"tensor {tensor.name!r} is not quantised as a whole")
