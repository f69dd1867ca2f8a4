# SPDX-License-Identifier: Apache-2.0
"""What is struck: networks with inputs that calibrate and others that judge, clipped and not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.networks import zoo
from resil.networks.compile import CompiledNetwork
from resil.networks.graph import Graph, Quantisation, Tensor
from resil.networks.tflite_reader import parse_network
from resil.networks.tflite_writer import serialise_network
from resil.rtl_harness.npu.infer import infer
from resil.rtl_harness.npu.upsets import WeightMemory
from resil.work.clip import check_apart, clip, training_inputs

CROP = 32
NPU = "ethos-u55-32"
VARIANTS = ("not clipped", "clipped")
Levels = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Subject:
    """A network, with and without clamps, and what judges it.

    Attributes:
        name: For the figure.
        measure: What `truth` is: "accuracy" or "agreement with the fault-free output".
        inputs: That judge, (N, ...).
        truth: Right class of each, (N,).
        graphs: The network of each of `VARIANTS`.
        compiled: Likewise, compiled.
        memories: Likewise, with these inputs.
        narrowed: Activations that the clamps narrow.
        activations: Activations with a clamp.
    """

    name: str
    measure: str
    inputs: Levels
    truth: npt.NDArray[np.int64]
    graphs: tuple[Graph, Graph]
    compiled: tuple[CompiledNetwork, CompiledNetwork]
    memories: tuple[WeightMemory, WeightMemory]
    narrowed: int
    activations: int


def zoo_subject(name: str, images: int, room: float = 1.0) -> Subject:
    """Return a network of the zoo, judged by the first so many held-out images with their labels."""
    known = zoo.load(name)
    labels = known.heldout_labels
    if labels is None:
        raise SystemExit(f"{name}: expected a network that classifies; choose another")
    data = serialise_network(with_room(parse_network(known.path.read_bytes()), room))
    given = known.heldout_inputs[:images]
    return _subject(_named(name, room), data, training_inputs(known), given, labels[:images])


def file_subject(path: Path, title: str, images: int, room: float = 1.0) -> Subject:
    """Return a network for 32x32 colour images without labelled data, judged by crops of photographs.

    The left halves of the photographs calibrate, the right halves judge: no pixel does both.
    """
    left, right = photographs()
    data = serialise_network(with_room(parse_network(path.read_bytes(), str(path)), room))
    rng = np.random.default_rng(1)
    judging = crops(right, 16)
    judging = judging[rng.permutation(len(judging))[:images]]
    return _subject(_named(title, room), data, crops(left, 24), judging, None)


def with_room(graph: Graph, factor: float) -> Graph:
    """Return the network with the scale of each activation that is computed so many times as large.

    That is a network whose quantisation was given room: real values of `factor` times the range fit. Weights
    are the same, biases are rounded to their new scale. What SOFTMAX computes has its fixed scale.
    """
    if factor == 1.0:
        return graph
    fixed = {i for o in graph.operators if o.kind == "SOFTMAX" for i in o.outputs}
    wide = {i for o in graph.operators for i in o.outputs} - fixed
    tensors = list(graph.tensors)
    for index in wide:
        tensors[index] = _scaled(tensors[index], factor)
    for operator in graph.operators:
        if len(operator.inputs) > 2 and operator.inputs[0] in wide and operator.inputs[2] >= 0:
            bias = _scaled(tensors[operator.inputs[2]], factor)
            assert bias.data is not None
            levels = np.rint(bias.data.astype(np.float64) / factor).astype(np.int32)
            tensors[operator.inputs[2]] = replace(bias, data=levels)
    return replace(graph, tensors=tuple(tensors))


def photographs() -> tuple[list[Levels], list[Levels]]:
    """Return the left and the right halves of the two photographs that come with scikit-learn."""
    from sklearn.datasets import load_sample_images

    whole = [np.asarray(image) for image in load_sample_images().images]
    return [p[:, : p.shape[1] // 2] for p in whole], [p[:, p.shape[1] // 2 :] for p in whole]


def crops(pictures: list[Levels], step: int) -> Levels:
    """Return the crops of 32x32 pixels at each `step` pixels, as levels of a scale of 1 from -128 on."""
    found = [
        picture[y : y + CROP, x : x + CROP]
        for picture in pictures
        for y in range(0, picture.shape[0] - CROP + 1, step)
        for x in range(0, picture.shape[1] - CROP + 1, step)
    ]
    return (np.stack(found).astype(np.int16) - 128).astype(np.int8)


def _scaled(tensor: Tensor, factor: float) -> Tensor:
    old = tensor.quantisation
    assert old is not None
    scale = tuple(float(np.float32(s * factor)) for s in old.scale)
    return replace(tensor, quantisation=Quantisation(scale, old.zero_point, old.axis))


def _named(name: str, room: float) -> str:
    return name if room == 1.0 else f"{name}, {room:g} x the range"


def _subject(
    name: str, data: bytes, calibration: Levels, judging: Levels, labels: npt.NDArray[np.int64] | None
) -> Subject:
    check_apart((calibration,), (judging,))
    found = clip(data, Path(f"{name}.tflite"), NPU, (calibration,))
    plain = infer(found.before, judging, "functional").outputs[0]
    classes = plain.reshape(len(plain), -1).argmax(axis=1).astype(np.int64)
    return Subject(
        name,
        "agreement with the fault-free output" if labels is None else "accuracy",
        judging,
        classes if labels is None else labels,
        (parse_network(data), parse_network(found.data)),
        (found.before, found.after),
        (WeightMemory(found.before, (judging,)), WeightMemory(found.after, (judging,))),
        sum(row.levels != row.before for row in found.activations),
        len(found.activations),
    )
