# SPDX-License-Identifier: Apache-2.0
"""Networks of one operation, drawn from a seed over the whole space of parameters.

They compare implementations: each is a standard .tflite that TensorFlow Lite Micro runs and that Vela
compiles without leaving anything to a CPU. `python -m resil.networks.generate --survey 20` counts which do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from resil.networks.errors import NetworkError
from resil.networks.generate import convolutions, elementwise, movement
from resil.networks.generate.sketch import Sketch
from resil.networks.graph import Graph
from resil.networks.quantise import INT8_MAX

_MAKERS: Mapping[str, Callable[[Sketch], Graph]] = MappingProxyType(
    {
        "ABS": elementwise.unary,
        "ADD": elementwise.binary,
        "AVERAGE_POOL_2D": convolutions.pool,
        "CONCATENATION": movement.concatenation,
        "CONV_2D": convolutions.convolution,
        "DEPTHWISE_CONV_2D": convolutions.depthwise,
        "ELU": elementwise.unary,
        "FULLY_CONNECTED": convolutions.fully_connected,
        "HARD_SWISH": elementwise.unary,
        "LEAKY_RELU": elementwise.leaky_relu,
        "LOGISTIC": elementwise.sigmoid,
        "MAXIMUM": elementwise.binary,
        "MAX_POOL_2D": convolutions.pool,
        "MEAN": movement.mean,
        "MINIMUM": elementwise.binary,
        "MIRROR_PAD": movement.mirror_pad,
        "MUL": elementwise.binary,
        "PACK": movement.pack,
        "PAD": movement.pad,
        "PRELU": elementwise.prelu,
        "QUANTIZE": elementwise.unary,
        "RELU": elementwise.unary,
        "RELU6": elementwise.unary,
        "RESHAPE": movement.reshape,
        "RESIZE_BILINEAR": movement.resize,
        "RESIZE_NEAREST_NEIGHBOR": movement.resize,
        "SLICE": movement.cut,
        "SOFTMAX": elementwise.softmax,
        "SPLIT": movement.split,
        "SQUARED_DIFFERENCE": elementwise.binary,
        "STRIDED_SLICE": movement.strided_slice,
        "SUB": elementwise.binary,
        "SUM": movement.mean,
        "TANH": elementwise.sigmoid,
        "TRANSPOSE": movement.transpose,
        "TRANSPOSE_CONV": convolutions.transposed,
    }
)
KINDS: tuple[str, ...] = tuple(_MAKERS)


def generate(kind: str, seed: int, *, one_row: bool = False) -> Graph:
    """Return an int8 network of one operation; the same seed gives the same network.

    Args:
        kind: One of `KINDS`, TensorFlow Lite's names.
        seed: Not negative.
        one_row: Convolutions and pools are one-dimensional: height 1 of maps and kernels, and wider maps.

    Raises:
        NetworkError: There is no such kind.
    """
    if kind not in _MAKERS:
        raise NetworkError(f"no networks are generated of {kind!r}; the kinds are {', '.join(KINDS)}", "kind")
    return _MAKERS[kind](Sketch(kind, seed, one_row=one_row))


def random_inputs(graph: Graph, count: int, seed: int) -> tuple[npt.NDArray[np.integer], ...]:
    """Return `count` random values of every input of a graph, each (count, *shape of the tensor).

    In turn: all levels alike; levels around the zero point; the two ends of the range. Values of int32 lie
    within 16 bits.
    """
    random = np.random.default_rng(seed)
    inputs = []
    for index in graph.inputs:
        tensor = graph.tensors[index]
        dtype = np.dtype(tensor.dtype)
        info = np.iinfo(dtype if dtype.itemsize < 4 else np.int16)
        values = random.integers(info.min, info.max, (count, *tensor.shape), endpoint=True)
        deviation = 12.0 * (info.max + 1) / (INT8_MAX + 1)
        near = tensor.zero_point + np.rint(random.normal(0.0, deviation, values.shape)).astype(np.int64)
        ends = np.where(values < (info.min + info.max + 1) // 2, info.min, info.max)
        way = (np.arange(count) % 3).reshape(-1, *([1] * len(tensor.shape)))
        mixed = np.choose(way, (values, near, ends))
        inputs.append(np.clip(mixed, info.min, info.max).astype(dtype))
    return tuple(inputs)
