# SPDX-License-Identifier: Apache-2.0
"""Networks with clamps, and the same in operators that TensorFlow Lite knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from resil.networks.graph import Graph, Operator, Tensor


def with_explicit_clamps(graph: Graph) -> Graph:
    """Return the graph with a MAXIMUM and a MINIMUM behind each clamped activation, in place of its clamp."""
    tensors, operators = list(graph.tensors), []
    for operator in graph.operators:
        index = operator.outputs[0]
        tensor = graph.tensors[index]
        if tensor.clamp is None:
            operators.append(operator)
            continue
        tensors[index] = replace(tensor, clamp=None)
        first = len(tensors)
        for place, level in enumerate(tensor.clamp):
            tensors.append(replace(tensor, name=f"{tensor.name}/raw{place}", clamp=None))
            bound = np.array([level], np.int8)
            name = f"{tensor.name}/bound{place}"
            tensors.append(Tensor(name, (1,), "int8", tensor.quantisation, bound))
        operators += [
            replace(operator, outputs=(first,)),
            Operator("MAXIMUM", (first, first + 1), (first + 2,), {}, "MaximumMinimumOptions", 2),
            Operator("MINIMUM", (first + 2, first + 3), (index,), {}, "MaximumMinimumOptions", 2),
        ]
    return replace(graph, tensors=tuple(tensors), operators=tuple(operators))
