# SPDX-License-Identifier: Apache-2.0
"""Operators whose command stream Vela 5.2.0 makes wrongly, without a word.

Found by compiling every choice of axes of small tensors and comparing with TensorFlow Lite Micro; the streams
say so themselves: a sum over several axes goes over one, a maximum slides along one row.
"""

from __future__ import annotations

import numpy as np

from resil.networks.errors import NetworkError
from resil.networks.graph import Graph, Operator

_RANK = 4


def check_reductions(graph: Graph) -> None:
    """Raise a NetworkError that names the first reduction that Vela would compile wrongly.

    A SUM is right if, of its axes, only the first has more than one element. A REDUCE_MAX or REDUCE_MIN is
    right if its output, filled up with leading ones, has the shape that it has with `keep_dims`.
    """
    for number, operator in enumerate(graph.operators):
        if operator.kind not in ("SUM", "REDUCE_MAX", "REDUCE_MIN"):
            continue
        shape, axes = _reduced(graph, operator)
        if axes is None or graph.tensors[operator.inputs[0]].dtype.startswith("float"):
            continue
        name = f"operator {number}, {operator.kind} (output {graph.tensors[operator.outputs[0]].name!r})"
        if operator.kind == "SUM":
            if any(shape[axis] > 1 for axis in (*axes[1:], *sorted(axes)[1:])):
                raise NetworkError(
                    f"{name} sums over the axes {axes} of {shape}; Vela 5.2.0 makes a stream that sums over "
                    "the first alone. Sum over one axis at a time, or use MEAN",
                    f"operators[{number}].axes",
                )
            continue
        kept = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
        if _filled(graph.tensors[operator.outputs[0]].shape) != _filled(kept):
            raise NetworkError(
                f"{name} reduces the axes {axes} of {shape} without keep_dims; Vela 5.2.0 makes a stream "
                "that reduces other elements. Export it with keep_dims=True, and a RESHAPE behind it",
                f"operators[{number}].keep_dims",
            )


def _reduced(graph: Graph, operator: Operator) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Return the input's shape and the axes, as they are listed; None if they are not constant."""
    given, axes = (graph.tensors[index] for index in operator.inputs[:2])
    if axes.data is None:
        return given.shape, None
    rank = len(given.shape)
    return given.shape, tuple(dict.fromkeys(int(axis) % rank for axis in np.ravel(axes.data)))


def _filled(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (1,) * (_RANK - len(shape)) + shape
