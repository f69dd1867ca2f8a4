# SPDX-License-Identifier: Apache-2.0
"""Networks as converters write them, made into what an NPU takes: int8 throughout, all shapes constant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from resil.networks.ends import Ends, is_whole
from resil.networks.errors import NetworkError
from resil.networks.folding import fold_shapes, operator_name
from resil.networks.geometry import elements
from resil.networks.graph import Graph, Operator, Tensor
from resil.networks.state import StateVariable, lift_state

_HOST_TYPES = ("float32", "uint8")
_RESHAPES = ("EXPAND_DIMS", "RESHAPE", "SQUEEZE")
_REMEDY = (
    "quantise the whole network to int8, with a representative data set and supported_ops = "
    "TFLITE_BUILTINS_INT8"
)


@dataclass(frozen=True, eq=False)
class State:
    """A variable of a network.

    Attributes:
        name: Its name in the file.
        initial: Its value before the first inference.
        given: Tensor of the graph that an inference reads; None if none does.
        left: Tensor of the graph that the next inference reads.
    """

    name: str
    initial: npt.NDArray[np.generic]
    given: int | None
    left: int


@dataclass(frozen=True, eq=False)
class Adapted:
    """A network for an NPU.

    Attributes:
        graph: What the NPU computes.
        ends: What a host does before and after it.
        done: What was done to the network of the file, in words; empty if it is as the file has it.
        variables: State that a host carries from inference to inference: each is an input of the graph and an
            output behind those of the ends.
        refusal: Why an NPU alone cannot compute the graph, though a host may help: operators inside compute
            with real numbers. None if all are of whole numbers.
    """

    graph: Graph
    ends: Ends
    done: tuple[str, ...]
    variables: tuple[State, ...] = ()
    refusal: NetworkError | None = None


def adapt(graph: Graph) -> Adapted:
    """Take the ends off a network and fold its shapes.

    A QUANTIZE behind an input and a DEQUANTIZE or QUANTIZE before an output become work of the host, with
    what only reshapes on its way. What computes shapes is carried out.

    Raises:
        NetworkError: An operator at an end computes with real numbers, or a shape depends on data or is left
            open; the message names it with its number and says what to do.
    """
    graph, variables = lift_state(graph)
    _check_order(graph)
    _check_signatures(graph)
    folded, done = fold_shapes(graph)
    adapted, given = _Adapter(graph, folded, done, bool(variables)).result()
    return _with_state(adapted, given, variables)


def _with_state(adapted: Adapted, given: Sequence[int], variables: Sequence[StateVariable]) -> Adapted:
    """Take the variables off the ends of a lifted network.

    Args:
        adapted: The lifted network.
        given: For each input of its graph, the number of the file's input that it comes from.
        variables: Of the network.
    """
    if not variables:
        return adapted
    graph, ends = adapted.graph, adapted.ends
    inputs, outputs = variables[0].given, variables[0].left
    own = tuple((source, tensor) for source, tensor in ends.npu_inputs if source < inputs)
    sources = ends.sources[:outputs]
    states = tuple(
        State(
            variable.name,
            variable.initial,
            graph.inputs[given.index(variable.given)] if variable.given in given else None,
            graph.outputs[ends.sources[variable.left]],
        )
        for variable in variables
    )
    taken = Ends(
        ends.inputs[:inputs],
        ends.outputs[:outputs],
        own,
        ends.npu_outputs[: 1 + max(sources, default=-1)],
        sources,
    )
    names = ", ".join(repr(state.name) for state in states)
    said = f"The network has state ({names}): the host keeps it in memory from inference to inference."
    return Adapted(graph, taken, (*adapted.done, said), states, adapted.refusal)


class _Adapter:
    def __init__(self, file: Graph, graph: Graph, done: tuple[str, ...], lifted: bool) -> None:
        self.file = file
        self.lifted = lifted
        self.graph = graph
        self.done = list(done)
        self.numbers = {id(operator): number for number, operator in enumerate(file.operators)}
        self.maker = {index: operator for operator in graph.operators for index in operator.outputs}

    def result(self) -> tuple[Adapted, tuple[int, ...]]:
        """Return the network, and for each input the number of the file's input that it comes from."""
        inputs = self._front()
        outputs, sources = self._back()
        operators = self._live(outputs, {index for _, index in inputs})
        refusal = self._refusal(operators)
        used = {index for operator in operators for index in operator.inputs}
        used |= set(outputs) if self.lifted else set()
        inputs = [(source, index) for source, index in inputs if index in used]
        tensors = self.graph.tensors
        ends = Ends(
            tuple(self.file.tensors[i] for i in self.file.inputs),
            tuple(self.file.tensors[i] for i in self.file.outputs),
            tuple((source, tensors[index]) for source, index in inputs),
            tuple(tensors[index] for index in outputs),
            tuple(sources),
        )
        given = tuple(source for source, _ in inputs)
        if not self.done and not self.lifted:
            return Adapted(self.file, ends, (), refusal=refusal), given
        npu_inputs = [index for _, index in inputs]
        graph = compact(self.graph, operators, npu_inputs, outputs)
        return Adapted(graph, ends, tuple(self.done), refusal=refusal), given

    def _tensor(self, index: int) -> Tensor:
        return self.graph.tensors[index]

    def _named(self, operator: Operator) -> str:
        return operator_name(self.numbers[id(operator)], operator, self.graph.tensors)

    def _place(self, operator: Operator) -> str:
        return f"operators[{self.numbers[id(operator)]}]"

    def _front(self) -> list[tuple[int, int]]:
        """Return the NPU's inputs: for each the number of the file's input, and its tensor."""
        found: list[tuple[int, int]] = []
        for source, index in enumerate(self.graph.inputs):
            if self._tensor(index).dtype in _HOST_TYPES and (taken := self._quantised(index)) is not None:
                found += [(source, one) for one in taken]
            else:
                found.append((source, index))
        return found

    def _quantised(self, given: int) -> list[int] | None:
        """Return the int8 tensors that QUANTIZE makes of an input; None for a uint8 network."""
        host, taken = {given}, []
        for operator in self.graph.operators:
            if not operator.inputs or operator.inputs[0] not in host:
                if host & set(operator.inputs):
                    raise self._computes(operator)
                continue
            output = operator.outputs[0]
            if operator.kind == "QUANTIZE" and self._tensor(output).dtype == "int8":
                self._check_quantised(operator, output)
                taken.append(output)
            elif operator.kind in _RESHAPES and not set(operator.inputs[1:]) & host:
                self._check_size(operator)
                host.add(output)
            elif self._tensor(given).dtype == "uint8":
                return None
            else:
                raise self._computes(operator)
        tensor = self._tensor(given)
        if taken:
            one = self._tensor(taken[0])
            self.done.append(
                f"Input {tensor.name!r}: QUANTIZE from {tensor.dtype} taken off, the host does it "
                f"(scale {one.scale:.6g}, zero point {one.zero_point})."
            )
        return taken

    def _back(self) -> tuple[list[int], list[int]]:
        """Return the NPU's outputs, and for each output of the file the position of its source among them."""
        found: list[int] = []
        sources = []
        for index in self.graph.outputs:
            inside = self._before_host(index)
            if inside not in found:
                found.append(inside)
            sources.append(found.index(inside))
        return found, sources

    def _before_host(self, output: int) -> int:
        tensor, at = self._tensor(output), output
        while tensor.dtype in _HOST_TYPES:
            operator = self.maker.get(at)
            if operator is None or not operator.inputs:
                raise NetworkError(
                    f"output {tensor.name!r} is computed by no operator; leave it out",
                    f"outputs.{tensor.name}",
                )
            at = operator.inputs[0]
            leaves = operator.kind == ("DEQUANTIZE" if tensor.dtype == "float32" else "QUANTIZE")
            if leaves and self._tensor(at).dtype == "int8":
                self._check_quantised(operator, at)
                self.done.append(
                    f"Output {tensor.name!r}: {operator.kind} to {tensor.dtype} taken off, the host does it "
                    f"(scale {self._tensor(at).scale:.6g}, zero point {self._tensor(at).zero_point})."
                )
                return at
            if operator.kind not in _RESHAPES:
                if tensor.dtype == "uint8":  # a uint8 network
                    return output
                raise self._computes(operator)
            self._check_size(operator)
        return at

    def _live(self, outputs: list[int], given: set[int]) -> list[Operator]:
        """Return the operators that the outputs need, in order."""
        wanted, live = set(outputs), []
        for operator in reversed(self.graph.operators):
            needed = wanted & set(operator.outputs) - given
            if needed:
                live.append(operator)
                wanted |= set(operator.inputs)
        return live[::-1]

    def _refusal(self, operators: list[Operator]) -> NetworkError | None:
        real = next((operator for operator in operators if is_real(self.graph, operator)), None)
        return None if real is None else self._computes(real)

    def _computes(self, operator: Operator) -> NetworkError:
        types = [self._tensor(i).dtype for i in (*operator.outputs, *operator.inputs) if i != -1]
        found = next((dtype for dtype in types if dtype.startswith("float")), types[0])
        message = f"{self._named(operator)} computes with {found}, which the NPU cannot; {_REMEDY}"
        return NetworkError(message, self._place(operator))

    def _check_quantised(self, operator: Operator, index: int) -> None:
        dtype = self._tensor(operator.inputs[0]).dtype
        ends = (
            [index]
            if "float32" in (dtype, self._tensor(operator.outputs[0]).dtype)
            else [
                operator.inputs[0],
                operator.outputs[0],
            ]
        )
        for end in ends:
            if not is_whole(self._tensor(end).quantisation):
                raise NetworkError(
                    f"{self._named(operator)}: expected one scale for {self._tensor(end).name!r}, "
                    f"found none or several; {_REMEDY}",
                    f"{self._place(operator)}.quantisation",
                )

    def _check_size(self, operator: Operator) -> None:
        before, after = self._tensor(operator.inputs[0]), self._tensor(operator.outputs[0])
        if elements(before.shape) != elements(after.shape) or before.dtype != after.dtype:
            raise NetworkError(
                f"{self._named(operator)}: expected as many elements after it as before, found "
                f"{before.dtype} {before.shape} and {after.dtype} {after.shape}; export the network again",
                f"{self._place(operator)}.shape",
            )


def is_real(graph: Graph, operator: Operator) -> bool:
    """Whether an operator takes or gives real numbers."""
    used = (*operator.outputs, *(i for i in operator.inputs if i != -1))
    return any(graph.tensors[i].dtype.startswith("float") for i in used)


def _check_order(graph: Graph) -> None:
    """Every value is computed once, before it is used."""
    there = {*graph.inputs, *(i for i, tensor in enumerate(graph.tensors) if tensor.data is not None)}
    variables = {i for i, tensor in enumerate(graph.tensors) if tensor.is_variable}
    for number, operator in enumerate(graph.operators):
        name = operator_name(number, operator, graph.tensors)
        if not operator.outputs:
            raise NetworkError(
                f"{name} has no output; export or copy the network again", f"operators[{number}].outputs"
            )
        for index in operator.inputs:
            if index != -1 and index not in there | variables:
                raise NetworkError(
                    f"{name} reads {graph.tensors[index].name!r}, which nothing before it computes; "
                    "export or copy the network again",
                    f"operators[{number}].inputs",
                )
        if again := there & set(operator.outputs):
            raise NetworkError(
                f"{name} computes {graph.tensors[min(again)].name!r}, which is there already; "
                "export or copy the network again",
                f"operators[{number}].outputs",
            )
        there |= set(operator.outputs)
    for index in graph.outputs:
        if index not in there:
            raise NetworkError(
                f"output {graph.tensors[index].name!r} is computed by no operator; export the network again",
                f"outputs.{graph.tensors[index].name}",
            )


def _check_signatures(graph: Graph) -> None:
    for index in graph.inputs:
        tensor = graph.tensors[index]
        open_ = [axis for axis, size in enumerate(tensor.shape_signature or ()) if size < 0 and axis > 0]
        if open_:
            raise NetworkError(
                f"input {tensor.name!r}: expected fixed sizes behind the batch, found the signature "
                f"{list(tensor.shape_signature or ())}; fix them when exporting the network",
                f"inputs.{tensor.name}.shape",
            )


def compact(
    graph: Graph, operators: Sequence[Operator], inputs: Sequence[int], outputs: Sequence[int]
) -> Graph:
    """Return the graph of these operators with the tensors that they use, in the file's order."""
    used: set[int] = {*inputs, *outputs}
    for operator in operators:
        used |= {index for index in (*operator.inputs, *operator.outputs) if index != -1}
    order = sorted(used)
    place = {index: position for position, index in enumerate(order)} | {-1: -1}

    def placed(indices: Iterable[int]) -> tuple[int, ...]:
        return tuple(place[index] for index in indices)

    return replace(
        graph,
        tensors=tuple(replace(graph.tensors[index], shape_signature=None) for index in order),
        operators=tuple(replace(o, inputs=placed(o.inputs), outputs=placed(o.outputs)) for o in operators),
        inputs=placed(inputs),
        outputs=placed(outputs),
    )
