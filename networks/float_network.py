# SPDX-License-Identifier: Apache-2.0
"""A float network as plain arrays: what training hands over and quantisation starts from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.networks.geometry import Window

FloatArray = npt.NDArray[np.float64]
INPUT = "input"
RELU6_CEILING = 6.0


@dataclass(frozen=True, eq=False)
class FloatLayer:
    """One layer.

    Attributes:
        name: Name of its output tensor.
        kind: "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "MAX_POOL_2D", "AVERAGE_POOL_2D", "ADD",
            "SOFTMAX" or "FLATTEN".
        weights: CONV_2D (O, KH, KW, I); DEPTHWISE_CONV_2D (1, KH, KW, C); FULLY_CONNECTED (O, I); else None.
        bias: (O,), or None where there are no weights.
        window: For convolutions and pools.
        relu: A RELU follows and is fused.
        relu6: A RELU6 follows and is fused.
        sources: Names of the layers that it takes its inputs from, "input" for the network's; () is the layer
            before it.
    """

    name: str
    kind: str
    weights: FloatArray | None = None
    bias: FloatArray | None = None
    window: Window | None = None
    relu: bool = False
    relu6: bool = False
    sources: tuple[str, ...] = ()

    def forward(self, *values: FloatArray) -> FloatArray:
        """Apply the layer to a batch of each of its inputs."""
        result = _FORWARD[self.kind](self, *values)
        if self.relu6:
            return np.clip(result, 0.0, RELU6_CEILING)
        return np.maximum(result, 0.0) if self.relu else result


@dataclass(frozen=True, eq=False)
class FloatNetwork:
    """Layers in the order in which they run, from one input to the output of the last, or to several.

    Attributes:
        name: Of the network.
        input_shape: (H, W, C), or (C,) for a plain vector.
        layers: Each takes what layers before it made.
        outputs: Names of the layers that make the outputs; () is the last.
    """

    name: str
    input_shape: tuple[int, ...]
    layers: tuple[FloatLayer, ...]
    outputs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known = {INPUT}
        for layer in self.layers:
            missing = set(layer.sources) - known
            if missing or layer.name in known:
                raise ValueError(
                    f"{self.name}: layer {layer.name!r} "
                    + (
                        f"takes {', '.join(sorted(missing))}, not made before it"
                        if missing
                        else "comes twice"
                    )
                )
            known.add(layer.name)
        if missing := set(self.outputs) - known:
            raise ValueError(f"{self.name}: no layer makes the output {', '.join(sorted(missing))}")

    def sources(self, index: int) -> tuple[str, ...]:
        """Return the names of what layer `index` takes."""
        before = self.layers[index - 1].name if index else INPUT
        return self.layers[index].sources or (before,)

    def activations(self, inputs: FloatArray) -> list[FloatArray]:
        """Return the inputs (N, ...) and the output of every layer."""
        values = {INPUT: np.asarray(inputs, dtype=np.float64)}
        for index, layer in enumerate(self.layers):
            values[layer.name] = layer.forward(*(values[name] for name in self.sources(index)))
        return list(values.values())


def _parts(layer: FloatLayer) -> tuple[FloatArray, FloatArray]:
    if layer.weights is None or layer.bias is None:
        raise ValueError(f"layer {layer.name} ({layer.kind}) needs weights and bias")
    return layer.weights, layer.bias


def _patches(layer: FloatLayer, values: FloatArray, fill: float) -> FloatArray:
    if layer.window is None:
        raise ValueError(f"layer {layer.name} ({layer.kind}) needs a window")
    return layer.window.patches(values, fill).astype(np.float64)


def _conv(layer: FloatLayer, values: FloatArray) -> FloatArray:
    weights, bias = _parts(layer)
    patches = _patches(layer, values, 0.0)
    return patches.reshape(*patches.shape[:3], -1) @ weights.reshape(len(weights), -1).T + bias


def _depthwise(layer: FloatLayer, values: FloatArray) -> FloatArray:
    weights, bias = _parts(layer)
    sums: FloatArray = np.einsum("nyxhwc,hwc->nyxc", _patches(layer, values, 0.0), weights[0])
    return sums + bias


def _dense(layer: FloatLayer, values: FloatArray) -> FloatArray:
    weights, bias = _parts(layer)
    return values.reshape(len(values), -1) @ weights.T + bias


def _max_pool(layer: FloatLayer, values: FloatArray) -> FloatArray:
    peaks: FloatArray = _patches(layer, values, -np.inf).max(axis=(3, 4))
    return peaks


def _average_pool(layer: FloatLayer, values: FloatArray) -> FloatArray:
    counts = _patches(layer, np.ones_like(values[:1]), 0.0).sum(axis=(3, 4))
    means: FloatArray = _patches(layer, values, 0.0).sum(axis=(3, 4)) / counts
    return means


def _add(_: FloatLayer, first: FloatArray, second: FloatArray) -> FloatArray:
    return first + second


def _softmax(_: FloatLayer, values: FloatArray) -> FloatArray:
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    shares: FloatArray = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def _flatten(_: FloatLayer, values: FloatArray) -> FloatArray:
    return values.reshape(len(values), -1)


_FORWARD: dict[str, Callable[..., FloatArray]] = {
    "CONV_2D": _conv,
    "DEPTHWISE_CONV_2D": _depthwise,
    "FULLY_CONNECTED": _dense,
    "MAX_POOL_2D": _max_pool,
    "AVERAGE_POOL_2D": _average_pool,
    "ADD": _add,
    "SOFTMAX": _softmax,
    "FLATTEN": _flatten,
}
