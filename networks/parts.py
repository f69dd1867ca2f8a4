# SPDX-License-Identifier: Apache-2.0
"""A network of which an NPU computes only parts: what the compiler leaves to a CPU, a host does between them.

Each part is compiled as a network by itself, with a memory plan of its own. The host copies tensors from the
outputs of one part to the inputs of the next, and computes its own operators by the integer reference.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from resil.networks import host
from resil.networks.adapt import Adapted, State, compact, is_real
from resil.networks.compile import (
    CompiledNetwork,
    adapt_bytes,
    check_accelerator,
    compile_adapted,
    compile_bytes,
)
from resil.networks.ends import Ends
from resil.networks.errors import LeftToCpuError, NetworkError
from resil.networks.folding import operator_name
from resil.networks.graph import Graph, Operator, Tensor
from resil.networks.state import STATE_OPERANDS

Array = npt.NDArray[np.generic]
Values: TypeAlias = dict[int, Array]
"""Tensors of a network by index, each of its shape and type."""
Npu: TypeAlias = Callable[[CompiledNetwork, Sequence[Array]], Sequence[Array]]
"""Computes N inferences of what is compiled: from (N, *shape) for each input to (N, ...) for each output."""


@dataclass(frozen=True, eq=False)
class NpuPart:
    """What the NPU computes between two steps of the host.

    Attributes:
        compiled: It, as a network by itself.
        inputs: Tensors of the network that it is given, in the order of `compiled.inputs`.
        outputs: Tensors of the network that it computes, likewise.
    """

    compiled: CompiledNetwork
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class HostPart:
    """Operators that the host computes one after another.

    Attributes:
        graph: They, as a network by itself.
        inputs: Tensors of the network that they read, in the order of `graph.inputs`.
        outputs: Tensors of the network that they compute, likewise.
        by: What computes them.
    """

    graph: Graph
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    by: host.Host

    def run(self, values: Values) -> None:
        """Add what the operators compute to the values of one inference."""
        found = self.by.run([values[i] for i in self.inputs])
        values.update(zip(self.outputs, found, strict=True))


@dataclass(frozen=True, eq=False)
class PartedNetwork:
    """A network of which the NPU computes one part or several.

    Attributes:
        name: Of the file, without its ending.
        accelerator: One of `resil.networks.vela.ACCELERATORS`.
        source_sha256: Of the .tflite file.
        ends: What the host does before and after the levels of the network.
        adapted: What was done to the network of the file, and what the host computes, in words.
        graph: The network of whole numbers.
        parts: In the order in which they run.
        variables: State that the host carries from inference to inference.
    """

    name: str
    accelerator: str
    source_sha256: str
    ends: Ends
    adapted: tuple[str, ...]
    graph: Graph
    parts: tuple[NpuPart | HostPart, ...]
    variables: tuple[State, ...] = ()

    @property
    def given(self) -> tuple[int, ...]:
        """The tensors that an inference is given, without what it reads of the state."""
        return self.graph.inputs[: len(self.ends.npu_inputs)]

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """Descriptions of them."""
        return tuple(self.graph.tensors[i] for i in self.given)

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """The tensors that an inference ends with, without what it leaves as state."""
        return tuple(self.graph.tensors[i] for i in self.graph.outputs[: len(self.ends.npu_outputs)])

    @property
    def streams(self) -> tuple[CompiledNetwork, ...]:
        """The networks of one command stream each that the NPU runs: its parts."""
        return tuple(part.compiled for part in self.parts if isinstance(part, NpuPart))

    @property
    def hosts(self) -> tuple[str, ...]:
        """What computes the operators of the host, each once, by name and version."""
        return tuple(sorted({part.by.name for part in self.parts if isinstance(part, HostPart)}))

    @property
    def vela_total_cycles(self) -> int:
        """Vela's estimate of all parts together."""
        return sum(stream.vela_total_cycles for stream in self.streams)

    @cached_property
    def kept(self) -> tuple[frozenset[int], ...]:
        """Tensors that are still to be used after each part."""
        needed, found = set(self.graph.outputs), []
        for part in reversed(self.parts):
            found.append(frozenset(needed))
            needed |= set(part.inputs)
        return tuple(reversed(found))


Network: TypeAlias = CompiledNetwork | PartedNetwork
_STATE = "the state inside is the host's to carry on"
_REAL = "the NPU has whole numbers alone"


def compile_parts(path: Path | str, accelerator: str, *, cache_dir: Path | None = None) -> Network:
    """Compile a .tflite file with Vela; what it leaves to a CPU is the host's.

    Args:
        path: The network; int8, but for its ends (see `resil.networks.adapt`).
        accelerator: As of `resil.networks.compile.compile_network`.
        cache_dir: Likewise.

    Returns:
        The network compiled as a whole if the NPU takes all of it, else its parts.

    Raises:
        NetworkError: The network is unreadable or cannot be compiled, the NPU would compute nothing of it, or
            neither NPU nor host knows an operator; the message names it.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise NetworkError(
            f"{path}: cannot be read ({error.strerror or error}); give a .tflite file"
        ) from error
    return compile_parts_bytes(data, path, accelerator, cache_dir=cache_dir)


def compile_parts_bytes(
    data: bytes, path: Path, accelerator: str, *, cache_dir: Path | None = None
) -> Network:
    """Compile the bytes of a .tflite file; `path` names it. The rest as `compile_parts`."""
    check_accelerator(accelerator)
    adapted = adapt_bytes(data, str(path))
    left = None
    if not adapted.variables and adapted.refusal is None:
        try:
            return compile_bytes(data, path, accelerator, cache_dir=cache_dir)
        except LeftToCpuError as error:
            left = error
    return _Splitter(path, accelerator, data, adapted, cache_dir).split(left)


class _Splitter:
    def __init__(
        self, path: Path, accelerator: str, data: bytes, adapted: Adapted, cache_dir: Path | None
    ) -> None:
        self.path, self.accelerator, self.data, self.cache_dir = path, accelerator, data, cache_dir
        self.adapted = adapted
        self.graph = self.adapted.graph
        # Of what is the host's, by the operator's number; of these Vela is not asked.
        self.reasons = {
            number: _STATE if operator.kind in STATE_OPERANDS else _REAL
            for number, operator in enumerate(self.graph.operators)
            if operator.kind in STATE_OPERANDS or is_real(self.graph, operator)
        }

    def split(self, left: LeftToCpuError | None) -> PartedNetwork:
        """Return the parts; `left` says what the compiler leaves of the whole network, if that is known."""
        self._check_state()
        while True:
            if left is not None:
                self._give_to_host(left)
            try:
                parts = self._compiled()
            except LeftToCpuError as error:
                left = error
                continue
            return PartedNetwork(
                self.path.stem,
                self.accelerator,
                hashlib.sha256(self.data).hexdigest(),
                self.adapted.ends,
                (*self.adapted.done, *self._remarks(parts)),
                self.graph,
                parts,
                self.adapted.variables,
            )

    def _check_state(self) -> None:
        """Refuse operators that keep state of their own, as LSTM and SVDF do: variables alone are carried."""
        tensors = self.graph.tensors
        for number, operator in enumerate(self.graph.operators):
            for index in operator.inputs:
                if index != -1 and tensors[index].is_variable:
                    raise NetworkError(
                        f"{self.path}: {operator_name(number, operator, tensors)} keeps state inside "
                        f"({tensors[index].name!r}), which the host cannot carry to the next inference; "
                        "expected variables (VAR_HANDLE): convert it as a streaming network",
                        f"operators[{number}]",
                    )

    def _give_to_host(self, left: LeftToCpuError) -> None:
        makers = {
            self.graph.tensors[operator.outputs[0]].name: number
            for number, operator in enumerate(self.graph.operators)
        }
        fresh = {
            makers[output]: reason
            for output, reason in zip(left.outputs, left.reasons, strict=True)
            if output in makers and makers[output] not in self.reasons
        }
        if not fresh:
            raise left
        self.reasons |= fresh

    def _compiled(self) -> tuple[NpuPart | HostPart, ...]:
        parts: list[NpuPart | HostPart] = []
        for on_npu, numbers in _levels(self.graph, frozenset(self.reasons)):
            operators = [self.graph.operators[n] for n in numbers]
            inputs, outputs = _ends(self.graph, operators)
            own = compact(self.graph, operators, inputs, outputs)
            if on_npu:
                compiled = compile_adapted(
                    _by_itself(own), self.path, self.accelerator, self.data, cache_dir=self.cache_dir
                )
                if compiled.operations:
                    parts.append(NpuPart(compiled, inputs, outputs))
                    continue
                self.reasons |= dict.fromkeys(numbers, "it only names other shapes")
            parts.append(HostPart(own, inputs, outputs, self._host(own, numbers)))
        if not any(isinstance(part, NpuPart) for part in parts):
            raise NetworkError(
                f"{self.path}: expected operators for {self.accelerator}, found that all of them are left to "
                f"a CPU: {'; '.join(dict.fromkeys(self.reasons.values()))}; there is nothing to inject into",
                "operators",
            )
        return tuple(parts)

    def _host(self, graph: Graph, numbers: Sequence[int]) -> host.Host:
        names = [operator_name(n, self.graph.operators[n], self.graph.tensors) for n in numbers]
        try:
            return host.host_of(graph)
        except NetworkError as error:
            said = "; ".join(dict.fromkeys(self.reasons[n] for n in numbers))
            raise NetworkError(
                f"{self.path}: {', '.join(names)} cannot be the NPU's ({said}), and the host that computes "
                f"such operators here cannot: {error}; remove or replace them",
                "operators",
            ) from error

    def _remarks(self, parts: Sequence[NpuPart | HostPart]) -> list[str]:
        own = [part for part in parts if isinstance(part, HostPart)]
        remarks = [
            f"{', '.join(_kinds(part.graph))} computed by the host ({part.by.name}), for {self._why(part)}: "
            "no fault strikes there."
            for part in own
        ]
        count = len(parts) - len(own)
        if count > 1:
            remarks.append(
                f"The NPU computes {count} parts of the network, each a command stream of its own; the host "
                "resets it before each."
            )
        return remarks

    def _why(self, part: HostPart) -> str:
        """Return why operators are the host's."""
        names = {part.graph.tensors[operator.outputs[0]].name for operator in part.graph.operators}
        numbers = [
            number
            for number, operator in enumerate(self.graph.operators)
            if self.graph.tensors[operator.outputs[0]].name in names
        ]
        known = dict.fromkeys(reason for n in numbers if (reason := self.reasons[n]) in (_STATE, _REAL))
        left = sum(self.reasons[n] not in known for n in numbers)
        vela = [f"Vela leaves {'it' if left == 1 else 'them'} to a CPU"] if left else []
        return ", ".join([*known, *vela])


def _kinds(graph: Graph) -> list[str]:
    return [f"{operator.kind} ({graph.tensors[operator.outputs[0]].name!r})" for operator in graph.operators]


def _by_itself(graph: Graph) -> Adapted:
    inputs = tuple(graph.tensors[i] for i in graph.inputs)
    outputs = tuple(graph.tensors[i] for i in graph.outputs)
    return Adapted(
        graph, Ends(inputs, outputs, tuple(enumerate(inputs)), outputs, tuple(range(len(outputs)))), ()
    )


def _levels(graph: Graph, on_host: frozenset[int]) -> list[tuple[bool, list[int]]]:
    """Return the operators' numbers in turns: for each whether it is the NPU's, and which run in it.

    As few turns as can be: an operator runs in the first after what it reads.
    """
    made: dict[int, int] = {}  # turn in which a tensor is computed; the host's are odd, the first is -1
    turns: dict[int, list[int]] = {}
    for number, operator in enumerate(graph.operators):
        earliest = max((made[i] for i in operator.inputs if i in made), default=-1)
        is_hosts = number in on_host
        turn = earliest + ((earliest % 2 == 0) == is_hosts)
        made |= dict.fromkeys(operator.outputs, turn)
        turns.setdefault(turn, []).append(number)
    return [(turn % 2 == 0, turns[turn]) for turn in sorted(turns)]


def _ends(graph: Graph, operators: Sequence[Operator]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the tensors that operators read from others, and those that others or the outputs need."""
    own = {i for operator in operators for i in operator.outputs}
    ids = {id(operator) for operator in operators}
    read = dict.fromkeys(i for o in operators for i in o.inputs if i != -1 and i not in own)
    elsewhere = {i for o in graph.operators if id(o) not in ids for i in o.inputs} | set(graph.outputs)
    inputs = tuple(i for i in read if graph.tensors[i].data is None)
    return inputs, tuple(i for i in sorted(own) if i in elsewhere)


def begin(network: PartedNetwork, inputs: Sequence[Array], before: Values | None = None) -> Values:
    """Return the values that an inference begins with.

    Args:
        network: The network.
        inputs: A tensor for each input, with or without a batch of one.
        before: Values at the end of the inference before; None of the first one.
    """
    values: Values = {
        index: np.ascontiguousarray(given).reshape(network.graph.tensors[index].shape)
        for index, given in zip(network.given, inputs, strict=True)
    }
    for variable in network.variables:
        if variable.given is not None:
            values[variable.given] = variable.initial if before is None else before[variable.left]
    return values


def run_part(
    network: PartedNetwork, part: NpuPart | HostPart, inferences: Sequence[Values], npu: Npu
) -> None:
    """Add what a part computes to the values of each of these inferences, which have reached it.

    Args:
        network: The network.
        part: One of its parts.
        inferences: Their values.
        npu: Computes parts of the NPU, for all of them at once.
    """
    if isinstance(part, HostPart):
        for values in inferences:
            part.run(values)
        return
    given = [np.stack([values[i] for values in inferences]) for i in part.inputs]
    for index, found in zip(part.outputs, npu(part.compiled, given), strict=True):
        for values, tensor in zip(inferences, found, strict=True):
            values[index] = tensor.reshape(network.graph.tensors[index].shape)


def results(network: PartedNetwork, values: Mapping[int, Array]) -> tuple[Array, ...]:
    """Return the outputs of an inference out of its values, each of its tensor's shape."""
    return tuple(values[index] for index in network.graph.outputs[: len(network.ends.npu_outputs)])
