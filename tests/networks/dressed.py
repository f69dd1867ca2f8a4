# SPDX-License-Identifier: Apache-2.0
"""Networks as converters write them, made of the plain int8 graphs of this project."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from resil.networks.graph import Graph, Operator, Quantisation, Tensor


def with_float_ends(graph: Graph) -> Graph:
    """Return the graph with QUANTIZE at every input and DEQUANTIZE at every output."""
    return with_ends(graph, "float32")


def with_ends(graph: Graph, dtype: str) -> Graph:
    """Return the graph with ends of that type, "float32" or "uint8"."""
    tensors, before, after = list(graph.tensors), [], []

    def end(index: int) -> int:
        inside = tensors[index]
        quantisation = None
        if dtype == "uint8":
            scale, zero = inside.quantisation.scale, inside.quantisation.zero_point[0]
            quantisation = Quantisation(scale, (zero + 128,))
        tensors.append(Tensor(f"{inside.name}_{dtype}", inside.shape, dtype, quantisation))
        return len(tensors) - 1

    inputs, outputs = [], []
    for index in graph.inputs:
        inputs.append(end(index))
        before.append(Operator("QUANTIZE", (inputs[-1],), (index,), {}, "QuantizeOptions"))
    kind = "DEQUANTIZE" if dtype == "float32" else "QUANTIZE"
    for index in graph.outputs:
        outputs.append(end(index))
        after.append(Operator(kind, (index,), (outputs[-1],), {}, f"{kind.capitalize()}Options", 2))
    operators = (*before, *graph.operators, *after)
    return replace(
        graph, tensors=tuple(tensors), operators=operators, inputs=tuple(inputs), outputs=tuple(outputs)
    )


def with_computed_shapes(graph: Graph) -> Graph:
    """Return the graph with the shape of every RESHAPE packed from the batch of its input, as Keras does."""
    tensors, operators = list(graph.tensors), []

    def add(name: str, shape: tuple[int, ...], data: list[int] | int | None = None) -> int:
        values = None if data is None else np.array(data, np.int32).reshape(shape)
        tensors.append(Tensor(name, shape, "int32", None, values))
        return len(tensors) - 1

    for number, operator in enumerate(graph.operators):
        if operator.kind != "RESHAPE":
            operators.append(operator)
            continue
        source, target = operator.inputs[0], tensors[operator.outputs[0]]
        shape = add(f"shape{number}", (len(tensors[source].shape),))
        batch = add(f"batch{number}", ())
        packed = add(f"packed{number}", (len(target.shape),))
        ends = [add(f"end{number}{i}", (1,), value) for i, value in enumerate(([0], [1], [1]))]
        rest = [add(f"size{number}{i}", (), size) for i, size in enumerate(target.shape[1:])]
        if len(rest) > 1:  # the last one is left to RESHAPE
            rest[-1] = add(f"rest{number}", (), -1)
        mask = {"begin_mask": 0, "ellipsis_mask": 0, "end_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 1}
        operators += [
            Operator("SHAPE", (source,), (shape,), {"out_type": 2}, "ShapeOptions"),
            Operator("STRIDED_SLICE", (shape, *ends), (batch,), mask, "StridedSliceOptions"),
            Operator(
                "PACK", (batch, *rest), (packed,), {"values_count": len(rest) + 1, "axis": 0}, "PackOptions"
            ),
            replace(operator, inputs=(source, packed), options={}, options_table=""),
        ]
    return replace(graph, tensors=tuple(tensors), operators=tuple(operators))


def with_dynamic_batch(graph: Graph) -> Graph:
    """Return the graph with a signature that leaves the batch of every computed tensor open."""
    tensors = tuple(
        t if t.data is not None or len(t.shape) < 2 else replace(t, shape_signature=(-1, *t.shape[1:]))
        for t in graph.tensors
    )
    return replace(graph, tensors=tensors)
