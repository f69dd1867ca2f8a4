# SPDX-License-Identifier: Apache-2.0
"""Networks with state, as streaming ones: what they read of it is one more input, what they leave an output.

A variable is named by VAR_HANDLE, read by READ_VARIABLE, assigned by ASSIGN_VARIABLE, and has its first value
from the subgraph that CALL_ONCE runs before the first inference. An operator with state inside has it in a
variable tensor that it reads and writes; such an operator gets an output more for each. It begins with zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from resil.networks.errors import NetworkError
from resil.networks.folding import operator_name
from resil.networks.geometry import elements
from resil.networks.graph import Graph, Operator, Tensor
from resil.networks.kernels_recurrent import LSTM_STATES, SVDF_STATES

OPERATORS = ("ASSIGN_VARIABLE", "CALL_ONCE", "READ_VARIABLE", "VAR_HANDLE")
TYPES = ("int8", "int16", "int32")
STATE_OPERANDS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {"SVDF": SVDF_STATES, "UNIDIRECTIONAL_SEQUENCE_LSTM": LSTM_STATES}
)
"""Operands of operators with state inside that hold it, in the order of the outputs that they get."""
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
    """Make the state of a network inputs and outputs, behind those that it has.

    Returns:
        The graph without operators of variables, and with all state of other operators among their inputs and
        outputs; and the variables. The same graph if it has none.

    Raises:
        NetworkError: A variable has no first value, another type than whole numbers, or is not known when the
            file is read; the message names it.
    """
    if not any(operator.kind in (*OPERATORS, *STATE_OPERANDS) for operator in graph.operators):
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
        self.tensors = list(graph.tensors)

    def lifted(self) -> tuple[Graph, tuple[StateVariable, ...]]:
        kept: list[Operator] = []
        for number, operator in enumerate(self.graph.operators):
            if operator.kind == "READ_VARIABLE":
                self._read(number, operator)
            elif operator.kind == "ASSIGN_VARIABLE":
                self._assign(number, operator)
            elif operator.kind not in OPERATORS:
                own = tuple(self.same.get(i, i) for i in operator.inputs)
                kept.append(self._with_state(number, replace(operator, inputs=own)))
        outputs = [self.same.get(i, i) for i in self.graph.outputs]
        first_input, first_output = len(self.graph.inputs), len(outputs)
        variables = tuple(
            StateVariable(name, self._first(name, tensor), first_input + place, first_output + place)
            for place, (name, tensor) in enumerate(self.given.items())
        )
        lifted = replace(
            self.graph,
            tensors=tuple(self.tensors),
            operators=tuple(kept),
            inputs=(*self.graph.inputs, *self.given.values()),
            outputs=(*outputs, *(self.values[name] for name in self.given)),
            subgraphs=(),
        )
        return lifted, variables

    def _with_state(self, number: int, operator: Operator) -> Operator:
        """Return an operator whose state, if it has some inside, is among its inputs and outputs."""
        left = []
        for place in STATE_OPERANDS.get(operator.kind, ()):
            index = operator.inputs[place] if place < len(operator.inputs) else -1
            tensor = self.tensors[index] if index != -1 else None
            if tensor is None or not tensor.is_variable or tensor.name in self.given:
                found = "none" if tensor is None else f"{tensor.name!r}, which is none or another's"
                raise NetworkError(
                    f"{self._named(number, operator)}: expected a variable tensor of its own as operand "
                    f"{place}, found {found}; export the network again",
                    f"operators[{number}].inputs",
                )
            self._check_type(tensor)
            first = tensor.zero_point if tensor.dtype == "int8" else 0
            self.initial[tensor.name] = np.full(tensor.shape, first, tensor.dtype)
            self.tensors[index] = replace(tensor, is_variable=False)
            self.tensors.append(replace(self.tensors[index], name=f"{tensor.name}, afterwards"))
            self.given[tensor.name], self.values[tensor.name] = index, len(self.tensors) - 1
            left.append(len(self.tensors) - 1)
        return replace(operator, outputs=(*operator.outputs, *left)) if left else operator

    def _check_type(self, tensor: Tensor, name: str = "") -> None:
        called = name or tensor.name
        if tensor.dtype not in TYPES:
            raise NetworkError(
                f"variable {called!r} is {tensor.dtype}, expected {', '.join(TYPES)}; quantise the "
                "variables, too, when converting the network",
                f"variables.{called}",
            )

    def _read(self, number: int, operator: Operator) -> None:
        name, output = self._name(number, operator), operator.outputs[0]
        if name in self.values:
            self._check(number, operator, name, output, self.values[name])
            self.same[output] = self.values[name]
            return
        self._check_type(self.graph.tensors[output], name)
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


def _initial_values(graph: Graph) -> dict[str, npt.NDArray[np.generic]]:
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
