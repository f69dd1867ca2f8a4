# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite Micro's interpreter, the independent judge of the integer reference.

Traps it has, which this wrapper avoids:

- its default arena of ten times the model's size is too small for a small model with large feature maps, and
  one in which a model of some size nearly fits can end the process; here the arena has room for all feature
  maps side by side, and grows until the model fits;
- an allocation that fails leaves the interpreter unusable, so that a new one is made for each try;
- a DEPTHWISE_CONV_2D whose bias is given as absent (-1) crashes the process; absent inputs at the end are
  left out, which means the same, but for an LSTM, which has to have 24;
- an SVDF without bias, or whose state and weights of time have different types, crashes the process, too, or
  computes with something else; it is not given one;
- `set_input` refuses a wrong shape or type with a bare error code; both are checked before;
- it runs one inference at a time, on batch size 1.
"""

from __future__ import annotations

import importlib.metadata
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from resil.networks.errors import NetworkError
from resil.networks.graph import Graph
from resil.networks.tflite_reader import parse_network
from resil.networks.tflite_writer import serialise_network

Interpreter: TypeAlias = Any

_FIRST_ARENA = 1 << 16
_LAST_ARENA = 1 << 28
# Kept of each tensor and of each scale of its channels.
_KEPT_BYTES = 64
_SVDF_INPUTS = 5
_ALL_INPUTS = "UNIDIRECTIONAL_SEQUENCE_LSTM"


def run(network: Path | str | bytes, inputs: npt.ArrayLike) -> npt.NDArray[np.generic]:
    """Return the outputs (N, ...) of a network with one input and one output for inputs (N, ...).

    Args:
        network: A .tflite file or its bytes.
        inputs: Of the type and, after the first dimension, the shape of the network's input.

    Raises:
        NetworkError: tflite-micro is not installed, cannot run the network, or the inputs do not fit.
    """
    data = network if isinstance(network, bytes) else _read(Path(network))
    interpreter = _interpreter(data)
    details = interpreter.get_input_details(0)
    batch = np.asarray(inputs)
    shape = tuple(int(size) for size in details["shape"])
    if batch.dtype != details["dtype"] or batch.shape[1:] != shape[1:]:
        raise NetworkError(
            f"expected inputs of type {np.dtype(details['dtype'])} "
            f"and shape (N, {', '.join(map(str, shape[1:]))}), found {batch.dtype} {batch.shape}",
            "inputs",
        )
    outputs = []
    for one in batch:
        interpreter.set_input(np.ascontiguousarray(one[None]), 0)
        _invoke(interpreter)
        outputs.append(np.array(interpreter.get_output(0))[0])
    return np.array(outputs)


def name() -> str:
    """Return what the oracle is, with its version."""
    try:
        return f"tflite-micro {importlib.metadata.version('tflite-micro')}"
    except importlib.metadata.PackageNotFoundError:
        return "tflite-micro"


def run_all(
    network: Path | str | bytes, inputs: Sequence[npt.ArrayLike], each: int | None = None
) -> tuple[npt.NDArray[np.generic], ...]:
    """Return all outputs of a network with any number of inputs, for N inferences.

    Args:
        network: A .tflite file or its bytes.
        inputs: For each input of the network N values, (N, *shape), batch dimension included.
        each: After so many inferences a network with state begins anew; None never.

    Returns:
        For each output of the network (N, *shape).

    Raises:
        NetworkError: tflite-micro is not installed, cannot run the network, or the inputs do not fit.
    """
    data = network if isinstance(network, bytes) else _read(Path(network))
    graph = parse_network(data)
    batches = [np.asarray(values) for values in inputs]
    if len(batches) != len(graph.inputs) or len({len(batch) for batch in batches}) != 1:
        raise NetworkError(
            f"expected as many values for each of {len(graph.inputs)} inputs, "
            f"found {[len(batch) for batch in batches]}",
            "inputs",
        )
    for batch, index in zip(batches, graph.inputs, strict=True):
        tensor = graph.tensors[index]
        if batch.dtype != np.dtype(tensor.dtype) or batch.shape[1:] != tensor.shape:
            raise NetworkError(
                f"input {tensor.name!r}: expected {tensor.dtype} and shape "
                f"(N, {', '.join(map(str, tensor.shape))}), found {batch.dtype} {batch.shape}",
                f"inputs.{tensor.name}",
            )
    outputs: list[list[npt.NDArray[np.generic]]] = [[] for _ in graph.outputs]
    for number, values in enumerate(zip(*batches, strict=True)):
        if number % (each or len(batches[0])) == 0:
            run_one = prepared(data, len(graph.outputs))
        for own, found in zip(outputs, run_one(values), strict=True):
            own.append(found)
    return tuple(
        np.array(found).reshape(-1, *graph.tensors[index].shape)
        for found, index in zip(outputs, graph.outputs, strict=True)
    )


def prepared(
    data: bytes, outputs: int | None = None
) -> Callable[[Sequence[npt.NDArray[np.generic]]], tuple[npt.NDArray[np.generic], ...]]:
    """Return what runs one inference of a network: from tensors of its inputs to those of its outputs.

    Args:
        data: The network; it keeps its state from inference to inference.
        outputs: How many outputs it has, if that is known.

    Raises:
        NetworkError: tflite-micro is not installed or cannot run the network.
    """
    count = len(parse_network(data).outputs) if outputs is None else outputs
    interpreter = _interpreter(data)

    def run_one(values: Sequence[npt.NDArray[np.generic]]) -> tuple[npt.NDArray[np.generic], ...]:
        for position, value in enumerate(values):
            interpreter.set_input(np.ascontiguousarray(value), position)
        _invoke(interpreter)
        return tuple(np.array(interpreter.get_output(position)) for position in range(count))

    return run_one


def require_sound(graph: Graph) -> None:
    """Raise NetworkError for operators of which tflite-micro leaves out the output's quantisation.

    Its RELU6 clips the levels that it is given, and its CONCATENATION of int16 copies them, whatever the
    scales of input and output are; TensorFlow Lite rescales.
    """
    for number, operator in enumerate(graph.operators):
        if operator.kind != "RELU6" and (
            operator.kind != "CONCATENATION" or graph.tensors[operator.outputs[0]].dtype != "int16"
        ):
            continue
        output = graph.tensors[operator.outputs[0]]
        for index in operator.inputs:
            given = graph.tensors[index]
            if (given.scale, given.zero_point) != (output.scale, output.zero_point):
                raise NetworkError(
                    f"tflite-micro's {operator.kind} (output {output.name!r}) leaves out that its output has "
                    "another quantisation than its input: it is no reference for this network",
                    f"operators[{number}].quantisation",
                )


def _refuse_crashes(data: bytes) -> None:
    graph = parse_network(data)
    for number, operator in enumerate(graph.operators):
        if operator.kind != "SVDF":
            continue
        known = len(operator.inputs) == _SVDF_INPUTS and -1 not in operator.inputs
        times, state = (
            graph.tensors[i].dtype if known else "" for i in (operator.inputs[2], operator.inputs[-1])
        )
        if not known or times != state:
            raise NetworkError(
                f"tflite-micro cannot run SVDF (output {graph.tensors[operator.outputs[0]].name!r}): "
                f"expected a bias, and one type of state and weights of time, found {list(operator.inputs)}",
                f"operators[{number}].inputs",
            )


def _invoke(interpreter: Interpreter) -> None:
    try:
        interpreter.invoke()
    except RuntimeError as error:
        raise NetworkError(f"tflite-micro cannot run the network: {error}") from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise NetworkError(f"{path}: cannot be read ({error.strerror or error})", "file") from error


def _without_absent_inputs(data: bytes) -> bytes:
    graph = parse_network(data)
    if all(operator.inputs[-1:] != (-1,) or operator.kind == _ALL_INPUTS for operator in graph.operators):
        return data
    operators = []
    for operator in graph.operators:
        inputs = operator.inputs
        while inputs[-1:] == (-1,) and operator.kind != _ALL_INPUTS:
            inputs = inputs[:-1]
        operators.append(replace(operator, inputs=inputs))
    return serialise_network(replace(graph, operators=tuple(operators)))


def _room(graph: Graph) -> int:
    """Return bytes that hold all tensors that are no constants, and what the interpreter keeps of each."""
    room = _FIRST_ARENA
    for tensor in graph.tensors:
        if tensor.data is None and tensor.dtype != "resource":
            room += math.prod(tensor.shape) * np.dtype(tensor.dtype).itemsize
        room += _KEPT_BYTES * (1 + (len(tensor.quantisation.scale) if tensor.quantisation else 0))
    return room


def _interpreter(data: bytes) -> Interpreter:
    try:
        from tflite_micro import runtime
    except ImportError as error:
        raise NetworkError(
            "tflite-micro is not installed; run `pip install 'resil[reference]'`", "packages.tflite-micro"
        ) from error
    _refuse_crashes(data)
    data = _without_absent_inputs(data)
    arena = min(_LAST_ARENA, _room(parse_network(data)))
    while True:
        try:
            return runtime.Interpreter.from_bytes(data, arena_size=arena)
        except Exception as error:
            if arena >= _LAST_ARENA:
                raise NetworkError(f"tflite-micro cannot run the network: {error}") from error
            arena *= 16
