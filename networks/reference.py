# SPDX-License-Identifier: Apache-2.0
"""The integer reference: int8 networks in NumPy, a batch at a time, bit for bit as TensorFlow Lite Micro.

A fault-free NPU, its functional model and this reference have to agree on every output byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from resil.networks import kernels, kernels_elements, kernels_host, kernels_movement, kernels_recurrent
from resil.networks.errors import NetworkError
from resil.networks.fixed_point import IntArray
from resil.networks.graph import Graph, Operator, Tensor

Array = npt.NDArray[np.generic]
_CHUNK = 100
Kernel = Callable[
    [Operator, tuple[Tensor | None, ...], Tensor, tuple[IntArray | None, ...]],
    IntArray | tuple[IntArray, ...],
]

KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "ABS": kernels_elements.absolute,
        "ADD": kernels_elements.add,
        "ARG_MAX": kernels_movement.place_of_largest,
        "AVERAGE_POOL_2D": kernels.average_pool,
        "BATCH_MATMUL": kernels.matrices,
        "CONCATENATION": kernels_movement.joined,
        "CONV_2D": kernels.convolution,
        "DEPTHWISE_CONV_2D": kernels.depthwise,
        "EXPAND_DIMS": kernels_movement.reshaped,
        "FULLY_CONNECTED": kernels.fully_connected,
        "GATHER": kernels_movement.gathered,
        "L2_NORMALIZATION": kernels_host.unit_length,
        "LEAKY_RELU": kernels_elements.leaky_relu,
        "LOG_SOFTMAX": kernels_host.log_probabilities,
        "MAXIMUM": kernels_elements.maximum,
        "MAX_POOL_2D": kernels.max_pool,
        "MEAN": kernels_movement.mean,
        "MINIMUM": kernels_elements.minimum,
        "MIRROR_PAD": kernels_movement.mirrored,
        "MUL": kernels_elements.multiply,
        "PACK": kernels_movement.packed,
        "PAD": kernels_movement.padded,
        "PRELU": kernels_elements.prelu,
        "QUANTIZE": kernels_elements.quantise,
        "REDUCE_MAX": kernels_movement.largest,
        "REDUCE_MIN": kernels_movement.smallest,
        "RELU": kernels_elements.bounded,
        "RELU6": kernels_elements.bounded,
        "RELU_0_TO_1": kernels_elements.bounded,
        "RELU_N1_TO_1": kernels_elements.bounded,
        "RESHAPE": kernels_movement.reshaped,
        "RESIZE_NEAREST_NEIGHBOR": kernels_movement.nearest,
        "SLICE": kernels_movement.cut,
        "SOFTMAX": kernels.probabilities,
        "SPLIT": kernels_movement.split,
        "SPLIT_V": kernels_movement.split_sizes,
        "SQUARED_DIFFERENCE": kernels_elements.squared_difference,
        "SQUEEZE": kernels_movement.reshaped,
        "STRIDED_SLICE": kernels_movement.strided,
        "SUB": kernels_elements.subtract,
        "SUM": kernels_movement.total,
        "SVDF": kernels_recurrent.svdf,
        "TRANSPOSE": kernels_movement.transposed,
        "TRANSPOSE_CONV": kernels.transposed_convolution,
        "UNIDIRECTIONAL_SEQUENCE_LSTM": kernels_recurrent.lstm,
        "UNPACK": kernels_movement.unpacked,
    }
)
WEIGHTED = (
    "AVERAGE_POOL_2D",
    "BATCH_MATMUL",
    "CONV_2D",
    "DEPTHWISE_CONV_2D",
    "FULLY_CONNECTED",
    "L2_NORMALIZATION",
    "LOG_SOFTMAX",
    "MAX_POOL_2D",
    "MEAN",
    "SOFTMAX",
    "SUM",
    "TRANSPOSE_CONV",
)
"""Operators whose arithmetic the reference knows for int8 alone."""


def run(graph: Graph, inputs: npt.ArrayLike) -> npt.NDArray[np.int8]:
    """Return the output (N, ...) of an int8 graph with one input and one output for inputs (N, ...).

    Args:
        graph: Its tensors have batch size 1.
        inputs: int8, (N, H, W, C) or whatever the graph's input is after its first dimension.

    Raises:
        NetworkError: An operator or a type that the reference lacks, or inputs that do not fit.
    """
    if len(graph.outputs) != 1:
        raise NetworkError(
            f"expected a network with one output, found {len(graph.outputs)}; use outputs", "outputs"
        )
    batch = np.asarray(inputs)
    parts = [batch[i : i + _CHUNK] for i in range(0, max(len(batch), 1), _CHUNK)] if batch.ndim else [batch]
    return np.concatenate([run_all(graph, part)[graph.outputs[0]].astype(np.int8) for part in parts])


def outputs(graph: Graph, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Return the outputs of a graph, (N, *shape) each, batch dimension included.

    Args:
        graph: A network of whole numbers.
        inputs: For each input of the graph N values, (N, *shape).

    Raises:
        NetworkError: As `run`.
    """
    kept: list[list[Array]] = [[] for _ in graph.outputs]
    for given in zip(*inputs, strict=True):
        values = _computed(graph, dict(zip(graph.inputs, given, strict=True)))
        for own, index in zip(kept, graph.outputs, strict=True):
            own.append(values[index].astype(graph.tensors[index].dtype).reshape(graph.tensors[index].shape))
    return tuple(np.array(own) for own in kept)


def run_all(graph: Graph, inputs: npt.ArrayLike) -> dict[int, IntArray]:
    """Return every tensor that is computed, by tensor index, each (N, ...); arguments and errors as `run`."""
    if len(graph.inputs) != 1:
        raise NetworkError(
            f"expected a network with one input, found {len(graph.inputs)}; use outputs", "inputs"
        )
    source = graph.tensors[graph.inputs[0]]
    return _computed(graph, {graph.inputs[0]: _batch(source, np.asarray(inputs))})


def _computed(graph: Graph, given: Mapping[int, Array]) -> dict[int, IntArray]:
    values: dict[int, IntArray] = {index: array.astype(np.int64) for index, array in given.items()}
    for number, operator in enumerate(graph.operators):
        kernel = KERNELS.get(operator.kind)
        if kernel is None:
            raise NetworkError(
                f"operator {number} ({operator.kind}) is not in the integer reference; "
                f"it has {', '.join(KERNELS)}",
                f"operators[{number}].kind",
            )
        tensors = tuple(None if i < 0 else graph.tensors[i] for i in operator.inputs)
        arguments = tuple(None if i < 0 else values.get(i) for i in operator.inputs)
        output = graph.tensors[operator.outputs[0]]
        try:
            _check_types(operator, tensors, output)
            computed = kernel(operator, tensors, output, arguments)
            parts = computed if isinstance(computed, tuple) else (computed,)
            for index, part in zip(operator.outputs, parts, strict=True):
                clamp = graph.tensors[index].clamp
                values[index] = part if clamp is None else part.clip(*clamp)
        except (ValueError, KeyError, IndexError) as error:
            raise NetworkError(
                f"operator {number} ({operator.kind}, output {output.name!r}): {error}",
                f"operators[{number}]",
            ) from error
    return values


def _batch(source: Tensor, inputs: Array) -> Array:
    if inputs.dtype != np.int8 or source.dtype != "int8":
        raise NetworkError(
            f"input {source.name!r}: expected int8, found {inputs.dtype} for a {source.dtype} tensor",
            f"inputs.{source.name}.type",
        )
    if inputs.ndim != len(source.shape) or inputs.shape[1:] != source.shape[1:]:
        raise NetworkError(
            f"input {source.name!r}: expected shape (N, {', '.join(map(str, source.shape[1:]))}), "
            f"found {inputs.shape}",
            f"inputs.{source.name}.shape",
        )
    return inputs


def _check_types(operator: Operator, tensors: tuple[Tensor | None, ...], output: Tensor) -> None:
    """Refuse types whose arithmetic the reference does not know."""
    maps = [tensor for tensor in tensors if tensor is not None and tensor.data is None]
    if not maps:
        raise ValueError("no operand is computed at run time")
    known = ("int8",) if operator.kind in WEIGHTED else ("int8", "int16", "int32")
    for tensor in (*maps, output):
        if tensor.dtype not in known and not (operator.kind == "ARG_MAX" and tensor is output):
            raise ValueError(
                f"{tensor.name!r} is {tensor.dtype}, only {', '.join(known)} networks are supported"
            )
    if operator.kind in ("RESHAPE", "SQUEEZE", "EXPAND_DIMS", "ARG_MAX") or output.dtype == "int32":
        return
    for tensor in (maps[0], output):
        if tensor.quantisation is None or len(tensor.quantisation.scale) != 1:
            raise ValueError(f"tensor {tensor.name!r} is not quantised as a whole")
