# SPDX-License-Identifier: Apache-2.0
"""Networks of one operator, of any element type, that the generator does not draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from resil.networks.graph import Graph, Operator, OptionValue, Quantisation, Tensor

Shape = tuple[int, ...]
Ends = tuple[Shape, float, int, str]
"""Of a tensor: shape, scale, zero point, type."""


def network(
    kind: str,
    inputs: Sequence[Ends],
    output: Ends,
    options: Mapping[str, OptionValue],
    table: str,
    constants: Sequence[np.ndarray] = (),
    version: int = 2,
) -> Graph:
    """The network of one operator: its inputs, then constants that are not quantised."""
    tensors = [
        Tensor(f"in{i}", shape, dtype, Quantisation((float(np.float32(scale)),), (zero,)))
        for i, (shape, scale, zero, dtype) in enumerate(inputs)
    ]
    tensors += [Tensor(f"constant{i}", c.shape, c.dtype.name, None, c) for i, c in enumerate(constants)]
    shape, scale, zero, dtype = output
    tensors.append(Tensor("out", shape, dtype, Quantisation((float(np.float32(scale)),), (zero,))))
    given, last = tuple(range(len(inputs))), len(tensors) - 1
    operator = Operator(kind, tuple(range(last)), (last,), options, table, version)
    return Graph(tuple(tensors), (operator,), given, (last,), "main", kind.lower())


def any_levels(graph: Graph, count: int, seed: int) -> tuple[np.ndarray, ...]:
    """For each input `count` tensors, in turn of all levels alike and of levels near the middle."""
    rng = np.random.default_rng(seed)
    given = []
    for index in graph.inputs:
        tensor = graph.tensors[index]
        info = np.iinfo(tensor.dtype)
        values = rng.integers(info.min, info.max + 1, (count, *tensor.shape))
        values[1::2] //= 8
        given.append(values.astype(tensor.dtype))
    return tuple(given)


def matrix_product(rows: int, inner: int, columns: int) -> Graph:
    """BATCH_MATMUL of two computed operands."""
    left, right = ((1, 3, rows, inner), 0.05, 3, "int8"), ((1, 3, inner, columns), 0.035, -2, "int8")
    options = {"adj_x": False, "adj_y": False, "asymmetric_quantize_inputs": False}
    output = ((1, 3, rows, columns), 0.9, 1, "int8")
    return network("BATCH_MATMUL", (left, right), output, options, "BatchMatMulOptions", version=4)


def sum_or_difference(kind: str, scales: tuple[float, float, float], dtype: str, second: Shape) -> Graph:
    """ADD or SUB of two computed operands, of which the second may be broadcast."""
    shape, small = (1, 9, 7, 24), 1.0 if dtype == "int8" else 1 / 256
    zeros = (3, -5, 7) if dtype == "int8" else (0, 0, 0)
    first, other, out = (
        (s, small * scale, zero, dtype)
        for s, scale, zero in zip((shape, second, shape), scales, zeros, strict=True)
    )
    options: dict[str, OptionValue] = {"fused_activation_function": "NONE"}
    if dtype == "int16":
        options["pot_scale_int16"] = False
    return network(kind, (first, other), out, options, "AddOptions" if kind == "ADD" else "SubOptions")


def reduction(kind: str, axes: tuple[int, ...]) -> Graph:
    """REDUCE_MAX or REDUCE_MIN of int8."""
    shape = (1, 9, 7, 24)
    left = tuple(n for axis, n in enumerate(shape) if axis not in axes)
    ends = [(s, 0.05, 7, "int8") for s in (shape, left)]
    constant = np.array(axes, np.int32)
    return network(kind, ends[:1], ends[1], {"keep_dims": False}, "ReducerOptions", [constant])
