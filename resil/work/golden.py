# SPDX-License-Identifier: Apache-2.0
"""The output without a fault against an independent reference of the network, before anything rests on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.networks import golden
from resil.networks.compile import TensorSlot
from resil.networks.ends import each_shape
from resil.networks.errors import NetworkError
from resil.networks.folding import operator_name
from resil.networks.graph import Tensor
from resil.networks.parts import Network, NpuPart, PartedNetwork, begin
from resil.record.golden import DIFFERS, EQUAL, GoldenComparison
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.stretches import PartedModel
from resil.work.inference import Inference

Array = npt.NDArray[np.generic]
Tensors = tuple[Array, ...]
Compare = Callable[[Sequence[Tensors]], GoldenComparison]
"""Compares the outputs of the NPU, one tuple an inference."""


def comparison(
    path: Path,
    compiled: Network,
    inputs: Sequence[Tensors],
    outputs: Sequence[Tensors],
    labels: Sequence[int] = (),
    each: int = 1,
) -> GoldenComparison:
    """Compare what an NPU computes without a fault with an independent reference of the network's file.

    Args:
        path: The file that was compiled.
        compiled: The network.
        inputs: What the NPU was given in each inference, a tensor for each of its inputs.
        outputs: What it computed, a tensor for each of its outputs, in the order of `compiled.outputs`.
        labels: Names of the inferences; they are counted from 0 without them.
        each: After so many inferences a network with state begins anew.

    Raises:
        NetworkError: The file is no longer the one that was compiled.
    """
    source = golden.source_of(path, compiled)
    try:
        expected = golden.expected_outputs(source, _joined(compiled.inputs, inputs), each)
    except NetworkError as error:
        return GoldenComparison.none(str(error).rstrip("."))
    found = source.ends.results(_joined(compiled.outputs, outputs))
    wrong = [(a != b).reshape(len(inputs), -1) for a, b in zip(found, expected.outputs, strict=True)]
    differing = sum(int(own.sum()) for own in wrong)
    text = "" if not differing else _first(source, compiled, inputs, found, expected.outputs, labels)
    return GoldenComparison(
        state=DIFFERS if differing else EQUAL,
        reference=expected.reference,
        inputs=len(inputs),
        elements=sum(own.size for own in wrong),
        differing=differing,
        text=text,
    )


def require_golden(found: GoldenComparison, where: str, accepted: bool) -> None:
    """Raise HarnessError if the output without a fault is not the network's, and that is not accepted.

    Args:
        found: The comparison.
        where: Target and network.
        accepted: The user runs all the same.
    """
    if found.state == DIFFERS and not accepted:
        raise HarnessError(
            f"{where}: expected without a fault what {found.reference} computes of the network, found "
            f"{found.differing:,} of {found.elements:,} elements of the outputs different; {found.text}; no "
            "figure would be one of this network: replace the operator, or go on all the same with "
            "--accept-golden (accept_golden = true in [network]), which every verdict then says",
            "network.accept_golden",
        )


def _joined(slots: Sequence[TensorSlot | Tensor], values: Sequence[Tensors]) -> Tensors:
    """Return a tensor for each slot, (N, ...) without a batch of one, of N inferences."""
    return tuple(
        np.stack([own[place].reshape(each_shape(slot.shape)) for own in values])
        for place, slot in enumerate(slots)
    )


def _first(
    source: golden.Source,
    compiled: Network,
    inputs: Sequence[Tensors],
    found: Tensors,
    expected: Tensors,
    labels: Sequence[int],
) -> str:
    """Return where the first input that differs does: in the output, and in the first operation."""
    number = min(
        int(np.argmax((a != b).reshape(len(inputs), -1).any(axis=1)))
        for a, b in zip(found, expected, strict=True)
        if (a != b).any()
    )
    for output, (tensor, a, b) in enumerate(zip(source.ends.outputs, found, expected, strict=True)):
        if (a[number] != b[number]).any():
            label = labels[number] if labels else number
            return (
                f"of input {label} {_difference(tensor.name, a[number], b[number])}; "
                f"{_operation(source, compiled, inputs[number], output)}"
            )
    raise AssertionError("an input with a difference has an output that differs")


def _difference(name: str, found: Array, expected: Array) -> str:
    wrong = found != expected
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    return (
        f"output {name!r} differs first at {list(place)}: expected {expected[place]}, found {found[place]} "
        f"({int(wrong.sum()):,} of {wrong.size:,} differ)"
    )


def _operation(source: golden.Source, compiled: Network, inputs: Tensors, output: int) -> str:
    """Return the first operation of the stream whose feature map is not that of the network's layer.

    Args:
        source: The network.
        compiled: The same.
        inputs: Of the inference.
        output: Number of the output that differs.
    """
    try:
        layers = golden.tensors(source, _joined(compiled.inputs, [inputs]))
        computed = _computed(compiled, inputs)
        for kind, number, name, own in computed:
            layer = layers.get(name)
            if layer is None or own.size != layer.size or own.dtype != layer.dtype:
                continue
            shaped = layer.reshape(own.shape)
            if (own != shaped).any():
                return f"the first operation to differ is {number}, {kind}: {_difference(name, own, shaped)}"
    except (NetworkError, HarnessError, ValueError) as error:
        return f"which operation computes it otherwise is not known ({error})"
    return f"no operation stores a whole layer that differs; it is computed by {_maker(source, output)}"


def _computed(compiled: Network, inputs: Tensors) -> Iterator[tuple[str, int, str, Array]]:
    """Yield kind, number and name of what is computed in an inference, and the layer that it leaves."""
    if isinstance(compiled, PartedNetwork):
        values, model = begin(compiled, inputs), PartedModel(compiled)
        for number, part in enumerate(compiled.parts):
            model.run(part, values)
            kind = "part of the NPU" if isinstance(part, NpuPart) else "part of the host"
            for index in part.outputs:
                yield kind, number, compiled.graph.tensors[index].name, values[index]
        return
    inference = Inference(compiled, inputs)
    last = {operation.name: operation.index for operation in compiled.operations}
    for operation in compiled.operations:
        if last[operation.name] == operation.index:
            kind = operation.operator or operation.kind
            yield kind, operation.index, operation.name, inference.feature_map(operation.index)


def _maker(source: golden.Source, output: int) -> str:
    """Return the operator that computes an output of the network."""
    graph = source.adapted.graph
    index = graph.outputs[source.ends.sources[output]]
    return next(
        operator_name(number, operator, graph.tensors)
        for number, operator in enumerate(graph.operators)
        if index in operator.outputs
    )
