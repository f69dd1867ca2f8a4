# SPDX-License-Identifier: Apache-2.0
"""An architecture as a PyTorch model, and the trained model as plain arrays."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from resil.networks.architecture import Architecture, ArchitectureLayer, Shape
from resil.networks.errors import NetworkError
from resil.networks.float_network import INPUT, FloatLayer, FloatNetwork

Torch: TypeAlias = Any  # imported only to train, and without types here


def import_torch() -> Torch:
    """Return the module torch.

    Raises:
        NetworkError: It is not installed.
    """
    try:
        import torch
    except ImportError as error:
        raise NetworkError(
            "training needs PyTorch, which is not installed; run `pip install 'resil[train]'`",
            "packages.torch",
        ) from error
    return torch


class TorchModel:
    """A trainable model; feature maps are (N, C, H, W) inside.

    Attributes:
        architecture: What it follows.
        modules: Its modules with weights, in order: for each block the convolution or matrix, then the
            normalisation if there is one.
    """

    def __init__(self, torch: Torch, architecture: Architecture) -> None:
        self.torch = torch
        self.architecture = architecture
        self.shapes = architecture.shapes()
        self.weights: dict[str, Torch] = {}
        self.norms: dict[str, Torch] = {}
        for index, block in enumerate(architecture.blocks):
            source = self.shapes[architecture.sources(index)[0]]
            module = _module(torch, block, source)
            if module is None:
                continue
            self.weights[block.name] = module
            if block.normalise:
                self.norms[block.name] = torch.nn.BatchNorm2d(self.shapes[block.name][-1])
        self.modules: Torch = torch.nn.ModuleList([*self.weights.values(), *self.norms.values()])

    def __call__(self, inputs: Torch) -> Torch:
        """Return the last block's output, of a trailing SOFTMAX its input; a tuple if outputs are named."""
        values = {INPUT: inputs}
        result = inputs
        for index, block in enumerate(self.architecture.blocks):
            sources = [values[name] for name in self.architecture.sources(index)]
            result = sources[0] if block.kind == "SOFTMAX" else self._forward(block, index, sources)
            values[block.name] = result
        named = self.architecture.outputs
        return tuple(values[name] for name in named) if named else result

    def _forward(self, block: ArchitectureLayer, index: int, sources: list[Torch]) -> Torch:
        functional = self.torch.nn.functional
        value = sources[0]
        if block.kind == "ADD":
            value = value + sources[1]
        elif block.kind == "FLATTEN":
            value = value.flatten(1)
        elif block.window is not None:
            height, width, _ = self.shapes[self.architecture.sources(index)[0]]
            (_, top, bottom), (_, left, right) = block.window.axis(height, 0), block.window.axis(width, 1)
            value = functional.pad(value, (left, right, top, bottom))
        if block.kind == "MAX_POOL_2D" and block.window is not None:
            value = functional.max_pool2d(value, block.window.size, block.window.stride)
        elif block.kind == "AVERAGE_POOL_2D" and block.window is not None:
            value = functional.avg_pool2d(value, block.window.size, block.window.stride)
        elif block.name in self.weights:
            value = self.weights[block.name](value)
            if block.normalise:
                value = self.norms[block.name](value)
        if block.relu6:
            return functional.relu6(value)
        return functional.relu(value) if block.relu else value

    def export(self) -> FloatNetwork:
        """Return the weights as they stand, normalisation folded in."""
        layers = []
        for index, block in enumerate(self.architecture.blocks):
            weights, bias = None, None
            if block.name in self.weights:
                weights, bias = self._parameters(block, self._rows_of_flattened(index))
            own = block.relu, block.relu6, block.sources
            layers.append(FloatLayer(block.name, block.kind, weights, bias, block.window, *own))
        made = self.architecture
        return FloatNetwork(made.name, made.input_shape, tuple(layers), made.outputs)

    def _rows_of_flattened(self, index: int) -> Shape | None:
        """Return the shape of the map that was flattened into the block's input."""
        (source,) = self.architecture.sources(index)
        names = [block.name for block in self.architecture.blocks]
        if source not in names or self.architecture.blocks[names.index(source)].kind != "FLATTEN":
            return None
        return self.shapes[self.architecture.sources(names.index(source))[0]]

    def _parameters(
        self, block: ArchitectureLayer, flattened: Shape | None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        module = self.weights[block.name]
        weights, bias = _array(module.weight), _array(module.bias)
        if block.normalise:
            norm = self.norms[block.name]
            gain = _array(norm.weight) / np.sqrt(_array(norm.running_var) + norm.eps)
            weights = weights * gain.reshape(-1, *([1] * (weights.ndim - 1)))
            bias = (bias - _array(norm.running_mean)) * gain + _array(norm.bias)
        if block.kind == "CONV_2D":
            weights = weights.transpose(0, 2, 3, 1)
        elif block.kind == "DEPTHWISE_CONV_2D":
            weights = weights.transpose(1, 2, 3, 0)
        elif flattened is not None:
            height, width, channels = flattened
            maps = weights.reshape(len(weights), channels, height * width).transpose(0, 2, 1)
            weights = maps.reshape(len(weights), -1)
        return weights, bias


def _module(torch: Torch, block: ArchitectureLayer, source: Shape) -> Torch:
    if block.kind == "FULLY_CONNECTED":
        return torch.nn.Linear(source[-1], block.filters)
    if block.window is None or not block.kind.endswith("CONV_2D"):
        return None
    separate = block.kind == "DEPTHWISE_CONV_2D"
    return torch.nn.Conv2d(
        source[2],
        source[2] if separate else block.filters,
        block.window.size,
        block.window.stride,
        dilation=block.window.dilation,
        groups=source[2] if separate else 1,
    )


def _array(parameter: Torch) -> npt.NDArray[np.float64]:
    return np.asarray(parameter.detach().numpy(), dtype=np.float64)
