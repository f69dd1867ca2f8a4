# SPDX-License-Identifier: Apache-2.0
"""Shapes that a network computes from shapes: with a fixed batch they are constants.

Keras writes a Reshape or Flatten as SHAPE, STRIDED_SLICE and PACK around a RESHAPE. On an NPU shapes are
fixed when the network is compiled, so these operators are carried out here, as TensorFlow Lite would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from resil.networks.errors import NetworkError
from resil.networks.graph import Graph, Operator, OptionValue, Tensor

Integers = npt.NDArray[np.int64]
LARGEST = 4096
"""Elements; what is larger is no calculation of shapes."""

_INTEGER_TYPES = ("int32", "int64")
SHAPE_OPERANDS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "BATCH_TO_SPACE_ND": (1, 2),
        "EXPAND_DIMS": (1,),
        "FILL": (0,),
        "MEAN": (1,),
        "MIRROR_PAD": (1,),
        "PAD": (1,),
        "PADV2": (1,),
        "RESHAPE": (1,),
        "RESIZE_BILINEAR": (1,),
        "RESIZE_NEAREST_NEIGHBOR": (1,),
        "SLICE": (1, 2),
        "SPACE_TO_BATCH_ND": (1, 2),
        "STRIDED_SLICE": (1, 2, 3),
        "SUM": (1,),
        "TILE": (1,),
        "TRANSPOSE": (1,),
        "TRANSPOSE_CONV": (0,),
    }
)
"""Operands that an NPU needs as constants: shapes, axes, paddings."""


def operator_name(number: int, operator: Operator, tensors: tuple[Tensor, ...]) -> str:
    """Return how messages name an operator."""
    output = f", output {tensors[operator.outputs[0]].name!r}" if operator.outputs else ""
    return f"operator {number} ({operator.kind}{output})"


def fold_shapes(graph: Graph) -> tuple[Graph, tuple[str, ...]]:
    """Carry out what computes shapes, and put constants in its place.

    Returns:
        The graph without those operators, the same one if there are none; and what was done, in words.

    Raises:
        NetworkError: A shape depends on data, or is not what the file says of the tensor.
    """
    known = {
        i: tensor.data.astype(np.int64)
        for i, tensor in enumerate(graph.tensors)
        if tensor.data is not None and tensor.data.size <= LARGEST and tensor.dtype in _INTEGER_TYPES
    }
    tensors, kept, folded = list(graph.tensors), [], []
    for number, operator in enumerate(graph.operators):
        value = _evaluated(number, operator, graph.tensors, known)
        if value is None:
            kept.append((number, operator))
            continue
        output = operator.outputs[0]
        name = operator_name(number, operator, graph.tensors)
        if output in graph.outputs:
            raise NetworkError(
                f"{name} makes an output of the network out of shapes alone; leave this output out when "
                "exporting the network",
                f"operators[{number}].outputs",
            )
        if value.shape != graph.tensors[output].shape:
            raise NetworkError(
                f"{name}: expected a result of shape {graph.tensors[output].shape} as the file says, found "
                f"{value.shape}; {_REMEDY}",
                f"operators[{number}].shape",
            )
        known[output] = value
        tensors[output] = replace(tensors[output], data=value.astype(tensors[output].dtype))
        folded.append(operator)
    computed = {index for operator in folded for index in operator.outputs}
    for number, operator in kept:
        _check_operands(number, operator, graph, tensors, computed)
    if not folded:
        return graph, ()
    operators = tuple(operator for _, operator in kept)
    kinds = ", ".join(dict.fromkeys(operator.kind for operator in folded))
    note = f"Shapes: {len(folded)} operators ({kinds}) carried out when the network was read."
    return replace(graph, tensors=tuple(tensors), operators=operators), (note,)


_REMEDY = "export the network with all shapes fixed, batch 1 included"


def _evaluated(
    number: int, operator: Operator, tensors: tuple[Tensor, ...], known: Mapping[int, Integers]
) -> Integers | None:
    """Return the result of an operator on shapes; None if it is none, or has other operands."""
    if operator.kind not in _EVALUATORS or not operator.inputs or len(operator.outputs) != 1:
        return None
    output = tensors[operator.outputs[0]]
    if output.dtype not in _INTEGER_TYPES:
        return None
    try:
        if operator.kind == "SHAPE":
            return np.array(tensors[operator.inputs[0]].shape, np.int64)
        operands = [known[index] for index in operator.inputs if index != -1]
    except (KeyError, IndexError):
        return None
    try:
        with np.errstate(all="raise"):
            value = _EVALUATORS[operator.kind](operands, operator.options)
        if value.size > LARGEST:
            raise ValueError(f"{value.size:,} elements")
        if (value.astype(output.dtype) != value).any():
            raise ValueError(f"{value.tolist()} is beyond {output.dtype}")
        return value.astype(np.int64)
    except (ValueError, IndexError, TypeError, KeyError, OverflowError, FloatingPointError) as error:
        raise NetworkError(
            f"{operator_name(number, operator, tensors)} cannot be carried out when the network is read: "
            f"{error}; {_REMEDY}",
            f"operators[{number}]",
        ) from error


def _check_operands(
    number: int, operator: Operator, graph: Graph, tensors: list[Tensor], computed: set[int]
) -> None:
    for position in SHAPE_OPERANDS.get(operator.kind, ()):
        if position >= len(operator.inputs) or (index := operator.inputs[position]) == -1:
            continue
        if tensors[index].data is None:
            makers = [(n, o) for n, o in enumerate(graph.operators) if index in o.outputs]
            maker = operator_name(*makers[-1], graph.tensors) if makers else f"input {tensors[index].name!r}"
            name = operator_name(number, operator, graph.tensors)
            raise NetworkError(
                f"{name} takes a shape that is not known before it runs: {maker} makes it from data; "
                f"{_REMEDY}",
                f"operators[{number}].inputs",
            )
    if operator.kind == "RESHAPE" and computed & set(operator.inputs[1:]):
        _check_reshape(number, operator, tensors)


def _check_reshape(number: int, operator: Operator, tensors: list[Tensor]) -> None:
    """TensorFlow Lite Micro goes by the shape of the output in the file; both have to agree."""
    source, wanted = tensors[operator.inputs[0]], tensors[operator.inputs[1]].data
    output = tensors[operator.outputs[0]].shape
    sizes = [] if wanted is None else [int(size) for size in wanted.reshape(-1)]
    count = int(np.prod(source.shape, dtype=object)) if source.shape else 1
    rest = int(np.prod([size for size in sizes if size != -1], dtype=object)) if sizes else 1
    whole = tuple(count // rest if size == -1 and rest else size for size in sizes)
    if whole != output or int(np.prod(whole, dtype=object) if whole else 1) != count:
        raise NetworkError(
            f"{operator_name(number, operator, tuple(tensors))}: the computed shape is {sizes}, the file "
            f"says {list(output)} for {count} elements; "
            f"{_REMEDY}",
            f"operators[{number}].shape",
        )


def _strided_slice(operands: list[Integers], options: Mapping[str, OptionValue]) -> Integers:
    values, begin, end, strides = operands
    masks = {n: int(options.get(f"{n}_mask", 0)) for n in ("begin", "end", "shrink_axis")}  # type: ignore[arg-type]
    if options.get("ellipsis_mask", 0) or options.get("new_axis_mask", 0) or options.get("offset", False):
        raise ValueError("a slice with an ellipsis, a new axis or an offset")
    index: list[slice | int] = []
    for axis, (first, last, step) in enumerate(
        zip(begin.tolist(), end.tolist(), strides.tolist(), strict=True)
    ):
        if masks["shrink_axis"] >> axis & 1:
            index.append(int(first))
            continue
        index.append(
            slice(
                None if masks["begin"] >> axis & 1 else first,
                None if masks["end"] >> axis & 1 else last,
                step,
            )
        )
    return np.asarray(values[tuple(index)])


def _slice(operands: list[Integers], _: Mapping[str, OptionValue]) -> Integers:
    values, begin, size = operands
    pairs = zip(begin.tolist(), size.tolist(), strict=True)
    return values[tuple(slice(b, None if s == -1 else b + s) for b, s in pairs)]


def _pack(operands: list[Integers], options: Mapping[str, OptionValue]) -> Integers:
    return np.stack(operands, axis=_integer(options, "axis"))


def _concatenation(operands: list[Integers], options: Mapping[str, OptionValue]) -> Integers:
    return np.concatenate(operands, axis=_integer(options, "axis"))


def _gather(operands: list[Integers], options: Mapping[str, OptionValue]) -> Integers:
    if options.get("batch_dims", 0):
        raise ValueError("GATHER over a batch")
    values, indices = operands
    if ((indices < 0) | (indices >= values.shape[_integer(options, "axis")])).any():
        raise ValueError(f"indices {indices.tolist()} into the shape {values.shape}")
    return np.take(values, indices.astype(np.int64), axis=_integer(options, "axis"))


def _squeeze(operands: list[Integers], options: Mapping[str, OptionValue]) -> Integers:
    axes = options.get("squeeze_dims", ())
    return np.squeeze(
        operands[0], axis=tuple(int(a) for a in axes) if isinstance(axes, tuple) and axes else None
    )


def _reduce_prod(operands: list[Integers], options: Mapping[str, OptionValue]) -> Integers:
    values, axes = operands
    kept = bool(options.get("keep_dims", False))
    return np.asarray(
        np.prod(values, axis=tuple(int(a) for a in axes.reshape(-1)), keepdims=kept, dtype=np.int64)
    )


def _arithmetic(function: np.ufunc) -> Callable[[list[Integers], Mapping[str, OptionValue]], Integers]:
    def evaluate(operands: list[Integers], options: Mapping[str, OptionValue]) -> Integers:
        if options.get("fused_activation_function", "NONE") != "NONE":
            raise ValueError("an activation on a shape")
        first, second = operands
        return np.asarray(function(first, second))

    return evaluate


def _integer(options: Mapping[str, OptionValue], name: str) -> int:
    value = options.get(name, 0)
    if not isinstance(value, int):
        raise ValueError(f"option {name} is {value!r}")
    return value


_EVALUATORS: Mapping[str, Callable[[list[Integers], Mapping[str, OptionValue]], Integers]] = MappingProxyType(
    {
        "ADD": _arithmetic(np.add),
        "CAST": lambda operands, _: operands[0],
        "CONCATENATION": _concatenation,
        "EXPAND_DIMS": lambda operands, _: np.expand_dims(operands[0], int(operands[1].reshape(-1)[0])),
        "GATHER": _gather,
        "MUL": _arithmetic(np.multiply),
        "PACK": _pack,
        "REDUCE_PROD": _reduce_prod,
        "RESHAPE": lambda operands, _: operands[0].reshape([int(size) for size in operands[1].reshape(-1)]),
        "SHAPE": lambda operands, _: operands[0],
        "SLICE": _slice,
        "SQUEEZE": _squeeze,
        "STRIDED_SLICE": _strided_slice,
        "SUB": _arithmetic(np.subtract),
    }
)
