# SPDX-License-Identifier: Apache-2.0
"""Networks of the kinds that run longest against Vela's estimate; none is in the zoo.

Cycles depend on shapes and on how well weights are compressed. So weights are drawn, not trained, and of each
filter only some are far from zero, as training leaves them.
"""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt

from benchmarks.npu.survey import elements, weighted
from benchmarks.npu.survey.drawing import Drawing
from resil.networks.architecture import Architecture, ArchitectureLayer, conv, dense, depthwise, pool
from resil.networks.float_network import FloatLayer, FloatNetwork
from resil.networks.geometry import Window
from resil.networks.graph import Graph
from resil.networks.quantise import quantise

ROWS = {"row_add": "ADD", "row_sub": "SUB", "row_mul": "MUL"}
"""Element-wise operations on a single row: too short to be compared with an estimate without a start."""
_ROW = (1, 1, 1, 256)
_CALIBRATION = 16


def _shaped(
    name: str, kind: str, size: tuple[int, int], stride: tuple[int, int] = (1, 1), filters: int = 0
) -> ArchitectureLayer:
    return ArchitectureLayer(name, kind, filters, Window(size, stride, "SAME"), kind == "CONV_2D")


def _separable(number: int, filters: int, stride: int = 1) -> tuple[ArchitectureLayer, ArchitectureLayer]:
    return depthwise(f"depthwise{number}", stride), conv(f"pointwise{number}", filters, size=1)


ARCHITECTURES = (
    # Accelerations over time, as TensorFlow Lite Micro's magic wand
    Architecture(
        "gesture",
        (128, 3, 1),
        (
            _shaped("conv1", "CONV_2D", (4, 3), filters=8),
            _shaped("pool1", "MAX_POOL_2D", (3, 3), (3, 3)),
            _shaped("conv2", "CONV_2D", (4, 1), filters=16),
            _shaped("pool2", "MAX_POOL_2D", (3, 1), (3, 1)),
            ArchitectureLayer("flatten", "FLATTEN"),
            dense("hidden", 16, relu=True),
            dense("logits", 4),
            ArchitectureLayer("probabilities", "SOFTMAX"),
        ),
    ),
    # Spectrograms, as TensorFlow Lite Micro's micro_speech
    Architecture(
        "wake_word",
        (49, 40, 1),
        (
            _shaped("conv", "CONV_2D", (10, 8), (2, 2), filters=8),
            ArchitectureLayer("flatten", "FLATTEN"),
            dense("logits", 4),
            ArchitectureLayer("probabilities", "SOFTMAX"),
        ),
    ),
    Architecture(
        "wake_word_separable",
        (25, 10, 1),
        (
            _shaped("conv", "CONV_2D", (10, 4), (2, 2), filters=24),
            *_separable(1, 24),
            *_separable(2, 24),
            *_separable(3, 24),
            _shaped("mean", "AVERAGE_POOL_2D", (13, 5), (13, 5)),
            ArchitectureLayer("flatten", "FLATTEN"),
            dense("logits", 4),
        ),
    ),
    Architecture(
        "small_images",
        (16, 16, 3),
        (
            conv("conv1", 16),
            conv("conv2", 16),
            pool("pool1", "MAX", 2),
            conv("conv3", 32),
            conv("conv4", 32),
            pool("pool2", "MAX", 2),
            conv("conv5", 48),
            pool("mean", "AVERAGE", 4),
            ArchitectureLayer("flatten", "FLATTEN"),
            dense("logits", 10),
        ),
    ),
    Architecture(
        "small_images_separable",
        (24, 24, 3),
        (
            conv("stem", 16, stride=2),
            *_separable(1, 32),
            *_separable(2, 48, 2),
            *_separable(3, 48),
            *_separable(4, 64, 2),
            pool("mean", "AVERAGE", 3),
            ArchitectureLayer("flatten", "FLATTEN"),
            dense("logits", 10),
        ),
    ),
)


def _weights(random: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    drawn: npt.NDArray[np.float64] = random.laplace(0.0, 1.0, shape) / np.sqrt(prod(shape[1:]))
    return drawn


def drawn(architecture: Architecture) -> Graph:
    """Return a network of this architecture with drawn weights, quantised with drawn inputs."""
    random = np.random.default_rng([*architecture.name.encode()])
    shapes = architecture.shapes()
    layers = []
    for index, block in enumerate(architecture.blocks):
        source = shapes[architecture.sources(index)[0]]
        size = block.window.size if block.window else ()
        weights = {
            "CONV_2D": (block.filters, *size, source[-1]),
            "DEPTHWISE_CONV_2D": (1, *size, source[-1]),
            "FULLY_CONNECTED": (block.filters, source[-1]),
        }
        values = bias = None
        if block.kind in weights:
            values = _weights(random, weights[block.kind])
            bias = 0.1 * random.standard_normal(shapes[block.name][-1])
        layers.append(
            FloatLayer(
                block.name, block.kind, values, bias, block.window, block.relu, block.relu6, block.sources
            )
        )
    network = FloatNetwork(architecture.name, architecture.input_shape, tuple(layers))
    return quantise(network, random.standard_normal((_CALIBRATION, *architecture.input_shape)))


def graphs() -> dict[str, Graph]:
    """Return the networks by name."""
    found = {architecture.name: drawn(architecture) for architecture in ARCHITECTURES}
    batch = weighted.connected(Drawing("connected_batch"), rows=16, length=256, filters=128)
    found["connected_batch"] = batch
    for name, kind in ROWS.items():
        found[name] = elements.binary(Drawing(name), kind, first=_ROW, second=_ROW)
    return found
