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


def pool(kind: str, size: int, stride: int, padding: str) -> Graph:
    """AVERAGE_POOL_2D or MAX_POOL_2D of int16."""
    shape = (1, 12, 10, 21)
    sides = [-(-n // stride) if padding == "SAME" else (n - size) // stride + 1 for n in shape[1:3]]
    options: dict[str, OptionValue] = {
        "padding": padding, "stride_w": stride, "stride_h": stride, "filter_width": size,
        "filter_height": size, "fused_activation_function": "NONE",
    }  # fmt: skip
    ends = [(s, 2e-4, 0, "int16") for s in (shape, (1, *sides, shape[3]))]
    return network(kind, ends[:1], ends[1], options, "Pool2DOptions")


def requantised(scales: tuple[float, float], types: tuple[str, str]) -> Graph:
    """QUANTIZE from one type and scale to another."""
    shape = (1, 5, 7, 19)
    given, result = ((shape, scale, 0, dtype) for scale, dtype in zip(scales, types, strict=True))
    return network("QUANTIZE", [given], result, {}, "QuantizeOptions")


def softmax(dtype: str) -> Graph:
    """SOFTMAX of ten rows of 17 logits."""
    scale, out, zero = (0.05, 1 / 256, -128) if dtype == "int8" else (3e-4, 1 / 32768, 0)
    ends = ((1, 10, 17), scale, 0, dtype), ((1, 10, 17), out, zero, dtype)
    return network("SOFTMAX", ends[:1], ends[1], {"beta": 1.0}, "SoftmaxOptions", version=1)


def joined(dtype: str) -> Graph:
    """CONCATENATION of two tensors along their channels."""
    first, second, both = (((1, 5, 6, n), 2e-4, 0, dtype) for n in (16, 21, 37))
    options: dict[str, OptionValue] = {"axis": 3, "fused_activation_function": "NONE"}
    return network("CONCATENATION", (first, second), both, options, "ConcatenationOptions")


def padded(dtype: str) -> Graph:
    """PAD by other numbers on each side."""
    before, after = ((1, 5, 6, 12), 2e-4, 0, dtype), ((1, 8, 9, 12), 2e-4, 0, dtype)
    around = np.array([[0, 0], [1, 2], [2, 1], [0, 0]], np.int32)
    return network("PAD", [before], after, {}, "PadOptions", [around])


def table(kind: str, dtype: str) -> Graph:
    """TANH or LOGISTIC."""
    shape, scale = (1, 5, 7, 19), 1.0 if dtype == "int8" else 1 / 256
    result = {"TANH": (1 / 128, 0), "LOGISTIC": (1 / 256, -128)}[kind]
    if dtype == "int16":
        result = (1 / 32768, 0)
    return network(kind, [(shape, 0.05 * scale, 0, dtype)], (shape, *result, dtype), {}, "", version=2)
