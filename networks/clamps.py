# SPDX-License-Identifier: Apache-2.0
"""Clamps of activations: how they stand in a network's file, and how a compiled stream carries them.

A tensor's clamp is the least and the greatest level that may be stored in it (Ranger, arXiv 2003.13874).
TensorFlow Lite has no field for it: fused activations know three bounds, quantisation the type's. So the file
has it as metadata, which other readers pass over, and the command stream gets it where the NPU has bounds of
its own, NPU_SET_ACTIVATION_MIN and _MAX of each operation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from resil.networks.command_stream import (
    OPERATION_KINDS,
    NpuOperation,
    Words,
    commands,
    encode,
    npu_operations,
)
from resil.networks.errors import NetworkError
from resil.networks.geometry import elements
from resil.networks.graph import Graph, Tensor

_BOUNDS = ("ACTIVATION_MIN", "ACTIVATION_MAX")
_SIGNED_BYTES = 1
_TYPE_BITS = 0b111


@dataclass(frozen=True)
class Bounded:
    """An operation of a command stream, as far as its bounds matter.

    Attributes:
        operation: The operation with its registers.
        name: Name of the tensor that it computes, or computes a part of.
    """

    operation: NpuOperation
    name: str

    @property
    def bounds(self) -> tuple[int, int]:
        """Least and greatest level that it stores."""
        low, high = (_signed(self.operation.registers.get(name, 0)) for name in _BOUNDS)
        return low, high

    @property
    def clampable(self) -> bool:
        """Whether what it stores is what its bounds let through: int8, and no look-up table behind them."""
        registers = self.operation.registers
        plain = registers.get("OFM_PRECISION", 0) & _TYPE_BITS == _SIGNED_BYTES
        return plain and not registers.get("ACTIVATION", 0)


def without_clamps(graph: Graph) -> Graph:
    """Return the graph without clamps."""
    return replace(graph, tensors=tuple(replace(tensor, clamp=None) for tensor in graph.tensors))


def with_clamps(graph: Graph, clamps: Mapping[str, tuple[int, int]]) -> Graph:
    """Return the graph with clamps of tensors by their names, in place of those that it has.

    Raises:
        NetworkError: No tensor, or more than one, has one of the names.
    """
    names = [tensor.name for tensor in graph.tensors]
    for name in clamps:
        if names.count(name) != 1:
            raise NetworkError(
                f"clamp of {name!r}: expected one tensor of that name, found {names.count(name)}; give "
                "tensors names of their own",
                f"clamps.{name}",
            )
    return replace(graph, tensors=tuple(replace(t, clamp=clamps.get(t.name)) for t in graph.tensors))


def clamped_tensors(graph: Graph) -> dict[str, Tensor]:
    """Return the tensors that have a clamp, by name."""
    return {tensor.name: tensor for tensor in graph.tensors if tensor.clamp is not None}


def bounded(stream: Words, names: Sequence[str]) -> tuple[Bounded, ...]:
    """Return the operations of a stream with the name of what each computes."""
    return tuple(Bounded(o, name) for o, name in zip(npu_operations(stream), names, strict=True))


def clampable(graph: Graph, operations: Sequence[Bounded]) -> dict[str, tuple[int, ...]]:
    """Return which activations the operations of a stream can clamp: tensor names to numbers of operations.

    An activation is an int8 tensor that operators compute. It is left out if the compiler has merged it into
    another, if its name is not its own, or if its operations store other elements than its own.
    """
    constant = {*graph.inputs} | {i for i, tensor in enumerate(graph.tensors) if tensor.data is not None}
    computed = {i for operator in graph.operators for i in operator.outputs} - constant
    names = [tensor.name for tensor in graph.tensors]
    found = {}
    for index in sorted(computed):
        tensor = graph.tensors[index]
        own = tuple(i for i, operation in enumerate(operations) if operation.name == tensor.name)
        stored = sum(operations[i].operation.output_elements for i in own)
        whole = own and stored == elements(tensor.shape) and tensor.dtype == "int8"
        if whole and names.count(tensor.name) == 1 and all(operations[i].clampable for i in own):
            found[tensor.name] = own
    return found


def clamp_stream(stream: Words, names: Sequence[str], graph: Graph) -> tuple[Words, tuple[int, ...]]:
    """Return the stream with the clamps of a graph's tensors, and where its operations stand then.

    Args:
        stream: As the compiler made it.
        names: Of what each of its operations computes.
        graph: The network that it was made of, with clamps.

    Returns:
        The stream, and the index of each operation's command in it. Bounds are set where they change, so a
        clamp costs up to two words of the stream. A clamp never widens the bounds of a fused activation.

    Raises:
        NetworkError: The stream cannot carry one of the clamps.
    """
    operations = bounded(stream, names)
    places = clampable(graph, operations)
    wanted = [operation.bounds for operation in operations]
    for name, tensor in clamped_tensors(graph).items():
        if name not in places:
            raise NetworkError(
                f"clamp of {name!r}: expected operations of the compiled network that compute this int8 "
                "tensor and nothing else, found none; clip the network again for this accelerator",
                f"clamps.{name}.operations",
            )
        assert tensor.clamp is not None
        for index in places[name]:
            wanted[index] = _narrowed(name, wanted[index], tensor.clamp)
    return _with_bounds(stream, wanted)


def _narrowed(name: str, bounds: tuple[int, int], clamp: tuple[int, int]) -> tuple[int, int]:
    low, high = max(bounds[0], clamp[0]), min(bounds[1], clamp[1])
    if low > high:
        raise NetworkError(
            f"clamp of {name!r}: expected levels that its fused activation lets through, {bounds[0]} to "
            f"{bounds[1]}, found {clamp[0]} to {clamp[1]}; clip the network again",
            f"clamps.{name}.levels",
        )
    return low, high


def _with_bounds(stream: Words, wanted: Sequence[tuple[int, int]]) -> tuple[Words, tuple[int, ...]]:
    out = bytearray()
    words: list[int] = []
    held: list[int | None] = [None, None]
    for command in commands(stream):
        if command.mnemonic.removeprefix("NPU_SET_") in _BOUNDS:
            continue
        if command.mnemonic in OPERATION_KINDS:
            for place, (name, level) in enumerate(zip(_BOUNDS, wanted[len(words)], strict=True)):
                if held[place] != level:
                    out += encode(f"NPU_SET_{name}", level & 0xFFFF)
                    held[place] = level
            words.append(len(out) // 4)
        out += encode(command.mnemonic, command.parameter, command.payload)
    return np.frombuffer(bytes(out), "<u4").astype(np.uint32), tuple(words)


def _signed(value: int) -> int:
    return (value & 0xFFFF ^ 0x8000) - 0x8000
