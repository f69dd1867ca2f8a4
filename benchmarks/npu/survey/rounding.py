# SPDX-License-Identifier: Apache-2.0
"""Whose rounding makes a network of the survey differ: the output by each side's arithmetic."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resil.networks.fixed_point import IntArray, multiply_by_quantized_multiplier
from resil.networks.graph import Graph
from resil.networks.kernels import quantised_bound
from resil.networks.quantise import quantize_multiplier

Levels = npt.NDArray[np.generic]


def by_reference(graph: Graph, inputs: tuple[Levels, ...]) -> IntArray:
    """Return the output with scales divided in double precision, rounded twice."""
    return _scaled(graph, inputs, single=False, once=False)


def by_compiler(graph: Graph, inputs: tuple[Levels, ...]) -> IntArray:
    """Return the output as the compiler asks: one rounding of a SUM, else scales in single precision."""
    once = graph.operators[0].kind == "SUM"
    return _scaled(graph, inputs, single=not once, once=once)


def _scaled(graph: Graph, inputs: tuple[Levels, ...], *, single: bool, once: bool) -> IntArray:
    (operator,) = graph.operators
    given, output = [graph.tensors[i] for i in operator.inputs], graph.tensors[operator.outputs[0]]
    offsets = [levels.astype(np.int64) - t.zero_point for levels, t in zip(inputs, given, strict=False)]
    scales = [given[0].scale]
    if operator.kind == "MUL":
        values, scales = offsets[0] * offsets[1], [given[0].scale, given[1].scale]
    elif operator.kind == "SUM":
        assert given[1].data is not None
        values = offsets[0].sum(axis=tuple(int(axis) + 1 for axis in np.ravel(given[1].data)))
    else:
        values = offsets[0]
    real = np.float32 if single else np.float64
    ratio = float(np.prod([real(scale) for scale in scales], dtype=real) / real(output.scale))
    multiplier, shift = quantize_multiplier(ratio)
    if once:
        right = 31 - shift
        levels = (values * multiplier + (1 << (right - 1))) >> right
    else:
        levels = multiply_by_quantized_multiplier(values, multiplier, shift)
    info = np.iinfo(output.dtype)
    low, high = int(info.min), int(info.max)
    if operator.kind == "RELU_N1_TO_1":
        low, high = max(low, quantised_bound(-1.0, output)), min(high, quantised_bound(1.0, output))
    return np.clip(levels + output.zero_point, low, high)
