# SPDX-License-Identifier: Apache-2.0
"""The network as data: a graph of tensors and operators, independent of any file format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

OptionValue = bool | int | float | str | tuple[int, ...] | tuple[float, ...]


@dataclass(frozen=True)
class Quantisation:
    """Affine quantisation: real value = scale * (q - zero_point).

    Attributes:
        scale: One value, or one per channel; each is a float32 value.
        zero_point: As many as scales.
        axis: Dimension of the channels if there is more than one scale.
    """

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int = 0

    def __post_init__(self) -> None:
        if not self.scale or len(self.scale) != len(self.zero_point):
            raise ValueError(f"{len(self.scale)} scales but {len(self.zero_point)} zero points")


@dataclass(frozen=True, eq=False)
class Tensor:
    """A value that flows through the graph, or a constant.

    Attributes:
        name: Name in the file.
        shape: Sizes; () is a scalar.
        dtype: NumPy name of the element type; "resource" of a variable's handle, which has no values.
        quantisation: None for tensors that are not quantised.
        data: Contents of a constant, of that shape and type; None for a value computed at run time.
        is_variable: State that outlives an inference.
        shape_signature: Shape with -1 for dynamic dimensions, if the file says one.
        clamp: Least and greatest level that what computes the tensor may store, see `resil.networks.clamps`;
            None for those of the type. Of int8 tensors only.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    quantisation: Quantisation | None = None
    data: npt.NDArray[np.generic] | None = None
    is_variable: bool = False
    shape_signature: tuple[int, ...] | None = None
    clamp: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if self.clamp is not None and not (
            self.dtype == "int8" and -128 <= self.clamp[0] <= self.clamp[1] <= 127
        ):
            raise ValueError(
                f"tensor {self.name!r} is {self.dtype}, clamped to {self.clamp[0]}..{self.clamp[1]}; "
                "only int8 tensors are, to levels in ascending order"
            )
        if self.data is not None and (
            self.data.shape != self.shape or self.data.dtype != np.dtype(self.dtype)
        ):
            raise ValueError(
                f"tensor {self.name!r} is {self.dtype}{list(self.shape)}, "
                f"its data is {self.data.dtype}{list(self.data.shape)}"
            )

    @property
    def scale(self) -> float:
        """The scale of a tensor quantised as a whole; 0.0 if not quantised."""
        return self.quantisation.scale[0] if self.quantisation else 0.0

    @property
    def zero_point(self) -> int:
        """The zero point of a tensor quantised as a whole; 0 if not quantised."""
        return self.quantisation.zero_point[0] if self.quantisation else 0


@dataclass(frozen=True)
class Operator:
    """One operation.

    Attributes:
        kind: TensorFlow Lite's name, such as "CONV_2D"; "CUSTOM" for a custom operator.
        inputs: Indices of tensors; -1 for an optional input that is absent.
        outputs: Indices of tensors.
        options: Fields of the operator's options table in snake case; `padding` and
            `fused_activation_function` are names, everything else is as in the file.
        options_table: Name of that table, such as "Conv2DOptions"; "" if the operator has none.
        version: Version of the operator.
        custom_code: Name of a custom operator.
        custom_options: Its options, opaque.
    """

    kind: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    options_table: str = ""
    version: int = 1
    custom_code: str = ""
    custom_options: bytes = b""

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))


@dataclass(frozen=True)
class Graph:
    """A network: operators in the order in which they run.

    Attributes:
        tensors: All tensors; operators name them by index.
        operators: In execution order.
        inputs: Indices of the graph's inputs.
        outputs: Indices of the graph's outputs.
        name: Name of the graph in the file.
        description: Free text of the file.
        subgraphs: Other graphs of the file, which CALL_ONCE names from 1 on.
    """

    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    name: str = "main"
    description: str = ""
    subgraphs: tuple[Graph, ...] = ()

    def __post_init__(self) -> None:
        for index in (*self.inputs, *self.outputs):
            _check_index(index, len(self.tensors), "the graph's inputs and outputs")
        for number, operator in enumerate(self.operators):
            for index in operator.outputs:
                _check_index(index, len(self.tensors), f"operator {number} ({operator.kind})")
            for index in operator.inputs:
                if index != -1:
                    _check_index(index, len(self.tensors), f"operator {number} ({operator.kind})")


def _check_index(index: int, count: int, where: str) -> None:
    if not 0 <= index < count:
        raise ValueError(f"{where}: tensor {index} does not exist, there are {count}")


def without_trailing_softmax(graph: Graph) -> Graph:
    """Return the graph without a SOFTMAX that ends it, so that its outputs are logits; else the graph itself.

    Softmax keeps the order of the logits, so the decision is the same; the host can compute it.
    """
    if len(graph.outputs) != 1 or not graph.operators:
        return graph
    last = graph.operators[-1]
    if last.kind != "SOFTMAX" or last.outputs != graph.outputs:
        return graph
    return replace(graph, operators=graph.operators[:-1], outputs=last.inputs[:1])
