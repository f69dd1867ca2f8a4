# SPDX-License-Identifier: Apache-2.0
"""Networks with variables, as streaming ones: what they read is one more input, what they assign an output.

A variable is named by VAR_HANDLE, read by READ_VARIABLE, assigned by ASSIGN_VARIABLE, and has its first value
from the subgraph that CALL_ONCE runs before the first inference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from resil.networks.errors import NetworkError
from resil.networks.folding import operator_name
from resil.networks.geometry import elements
from resil.networks.graph import Graph, Operator

OPERATORS = ("ASSIGN_VARIABLE", "CALL_ONCE", "READ_VARIABLE", "VAR_HANDLE")
TYPES = ("int8", "int16", "int32")
_LISTED = 3


@dataclass(frozen=True, eq=False)
class StateVariable:
    """State that outlives an inference.

    Attributes:
        name: Its shared name in the file.
        initial: What the first inference reads.
        given: Position among the inputs of the lifted graph of the tensor that is read.
        left: Position among its outputs of the tensor that is assigned last.
    """

    name: str
    initial: npt.NDArray[np.generic]
    given: int
    left: int


def lift_state(graph: Graph) -> tuple[Graph, tuple[StateVariable, ...]]:
    """Make the variables of a network inputs and outputs, behind those that it has.

    Returns:
        The graph without operators of variables, and the variables; the same graph if it has none.

    Raises:
        NetworkError: A variable has no first value, another type than whole numbers, or is not known when the
            file is read; the message names it.
    """
    if not any(operator.kind in OPERATORS for operator in graph.operators):
        return graph, ()
    return _Lifter(graph).lifted()


class _Lifter:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.handles = _handles(graph)
        self.initial = _initial_values(graph)
        self.values: dict[str, int] = {}  # tensor that holds each variable just then
        self.given: dict[str, int] = {}
        self.same: dict[int, int] = {}  # tensors that read a variable again, or after it was assigned

    def lifted(self) -> tuple[Graph, tuple[StateVariable, ...]]:
        kept: list[Operator] = []
        for number, operator in enumerate(self.graph.operators):
            if operator.kind == "READ_VARIABLE":
                self._read(number, operator)
            elif operator.kind == "ASSIGN_VARIABLE":
                self._assign(number, operator)
            elif operator.kind not in OPERATORS:
                own = tuple(self.same.get(i, i) for i in operator.inputs)
                kept.append(replace(operator, inputs=own))
        outputs = [self.same.get(i, i) for i in self.graph.outputs]
        first_input, first_output = len(self.graph.inputs), len(outputs)
        variables = tuple(
            StateVariable(name, self._first(name, tensor), first_input + place, first_output + place)
            for place, (name, tensor) in enumerate(self.given.items())
        )
        lifted = replace(
            self.graph,
            operators=tuple(kept),
            inputs=(*self.graph.inputs, *self.given.values()),
            outputs=(*outputs, *(self.values[name] for name in self.given)),
            subgraphs=(),
        )
        return lifted, variables

    def _read(self, number: int, operator: Operator) -> None:
        name, output = self._name(number, operator), operator.outputs[0]
        if name in self.values:
            self._check(number, operator, name, output, self.values[name])
            self.same[output] = self.values[name]
            return
        tensor = self.graph.tensors[output]
        if tensor.dtype not in TYPES:
            raise NetworkError(
                f"variable {name!r} is {tensor.dtype}, expected {', '.join(TYPES)}; quantise the "
                "variables, too, when converting the network",
                f"variables.{name}",
            )
        self.given[name] = self.values[name] = output

    def _assign(self, number: int, operator: Operator) -> None:
        name = self._name(number, operator)
        value = self.same.get(operator.inputs[1], operator.inputs[1])
        if name in self.given:
            self._check(number, operator, name, value, self.given[name])
        if self.graph.tensors[value].data is not None:
            raise NetworkError(
                f"{self._named(number, operator)} sets variable {name!r} to a constant, expected a value "
                "that is computed; leave the variable out",
                f"variables.{name}",
            )
        self.values[name] = value

    def _check(self, number: int, operator: Operator, name: str, one: int, other: int) -> None:
        tensors = [self.graph.tensors[i] for i in (one, other)]
        a, b = ((elements(t.shape), t.dtype, t.scale, t.zero_point) for t in tensors)
        if a != b or tensors[0].shape != tensors[1].shape:
            raise NetworkError(
                f"{self._named(number, operator)}: variable {name!r} is {tensors[0].dtype}"
                f"{list(tensors[0].shape)} there and {tensors[1].dtype}{list(tensors[1].shape)} elsewhere, "
                "or quantised in another way; expected one type, shape and scale; export the network again",
                f"variables.{name}",
            )

    def _first(self, name: str, tensor: int) -> npt.NDArray[np.generic]:
        own = self.graph.tensors[tensor]
        found = self.initial.get(name)
        if found is None:
            raise NetworkError(
                f"variable {name!r} is read before it has a value: expected a subgraph of CALL_ONCE that "
                f"assigns it a constant, found ones for {', '.join(map(repr, self.initial)) or 'none'}",
                f"variables.{name}",
            )
        if found.dtype != np.dtype(own.dtype) or found.size != elements(own.shape):
            raise NetworkError(
                f"variable {name!r} is {own.dtype}{list(own.shape)}, its first value is "
                f"{found.dtype}{list(found.shape)}; export the network again",
                f"variables.{name}",
            )
        return found.reshape(own.shape)

    def _name(self, number: int, operator: Operator) -> str:
        found = self.handles.get(operator.inputs[0]) if operator.inputs else None
        if found is None:
            raise NetworkError(
                f"{self._named(number, operator)}: its handle is that of no VAR_HANDLE", "variables"
            )
        return found

    def _named(self, number: int, operator: Operator) -> str:
        return operator_name(number, operator, self.graph.tensors)


def _handles(graph: Graph) -> dict[int, str]:
    """Return the name of the variable of each handle."""
    found = {}
    for operator in graph.operators:
        if operator.kind == "VAR_HANDLE":
            names = (operator.options.get("container", ""), operator.options.get("shared_name", ""))
            found[operator.outputs[0]] = "/".join(str(name) for name in names if name)
    return found


def _initial_values(graph: Graph) -> Mapping[str, npt.NDArray[np.generic]]:
    """Return what the subgraphs of CALL_ONCE assign."""
    found: dict[str, npt.NDArray[np.generic]] = {}
    for operator in graph.operators:
        if operator.kind != "CALL_ONCE":
            continue
        number = operator.options.get("init_subgraph_index", 0)
        if not isinstance(number, int) or not 0 < number <= len(graph.subgraphs):
            raise NetworkError(
                f"CALL_ONCE runs subgraph {number}, the file has {len(graph.subgraphs) + 1}", "subgraphs"
            )
        called = graph.subgraphs[number - 1]
        handles = _handles(called)
        others = sorted({o.kind for o in called.operators} - {"ASSIGN_VARIABLE", "VAR_HANDLE"})
        if others:
            raise NetworkError(
                f"the subgraph {called.name!r} that CALL_ONCE runs has {', '.join(others[:_LISTED])}, "
                "expected it to assign constants to variables alone; export the network again",
                "subgraphs",
            )
        for own in called.operators:
            if own.kind == "ASSIGN_VARIABLE":
                data = called.tensors[own.inputs[1]].data
                if data is None or own.inputs[0] not in handles:
                    raise NetworkError(
                        f"the subgraph {called.name!r} that CALL_ONCE runs assigns something that is no "
                        "constant, or to no variable; export the network again",
                        "subgraphs",
                    )
                found[handles[own.inputs[0]]] = data
    return found
