# SPDX-License-Identifier: Apache-2.0
"""Whole networks on the functional model, as the compiler lowers them, against TensorFlow Lite Micro."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from resil.networks.compile import CompiledNetwork, compile_network
from resil.networks.graph import Graph, Operator, Quantisation, Tensor
from resil.networks.oracle import run as oracle
from resil.networks.tflite_reader import read_network
from resil.networks.tflite_writer import serialise_network
from resil.networks.zoo import load, names
from resil.rtl_harness.npu.model.config import CONFIGS
from tests.rtl_harness.npu.network_support import model, run_network


def check(path: Path, inputs: np.ndarray, accelerator: str = "ethos-u55-32") -> CompiledNetwork:
    network = compile_network(path, accelerator)
    (outputs,) = run_network(network, read_network(path), [inputs[:, None]])
    assert np.array_equal(outputs[:, 0], oracle(path, inputs))
    return network


def random_inputs(graph: Graph, count: int, seed: int = 0) -> np.ndarray:
    shape = graph.tensors[graph.inputs[0]].shape
    return np.random.default_rng(seed).integers(-128, 128, (count, *shape[1:])).astype(np.int8)


def test_digits_on_all_that_was_held_out():
    digits = load("digits")
    network = check(digits.path, digits.heldout_inputs)
    operations = model(network.accelerator).lower(network.commands).operations
    assert [step.word for step in operations] == [operation.word for operation in network.operations]


@pytest.mark.parametrize("accelerator", CONFIGS)
@pytest.mark.parametrize("name", names())
def test_networks_of_the_zoo(name: str, accelerator: str):
    network = load(name)
    check(network.path, network.heldout_inputs[:12], accelerator)


@pytest.mark.skipif("RESIL_MODELS" not in os.environ, reason="RESIL_MODELS names no folder of networks")
@pytest.mark.parametrize("accelerator", CONFIGS)
def test_networks_of_the_folder(accelerator: str):
    """Whole networks that others made: random levels, and noise of all strengths."""
    paths = sorted(Path(os.environ["RESIL_MODELS"]).glob("*.tflite"))
    assert paths
    for path in paths:
        graph = read_network(path)
        even = random_inputs(graph, 4)
        levels = np.random.default_rng(0).normal(0, 40, even.shape)
        noise = np.clip(levels, -128, 127).astype(np.int8)
        check(path, np.concatenate([even, noise]), accelerator)


@dataclass(frozen=True)
class Layer:
    """A convolution; pairs are vertical, horizontal."""

    taps: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    padding: str
    channels: int
    activation: str

    def output_size(self, size: tuple[int, int]) -> tuple[int, int]:
        if self.padding == "SAME":
            return tuple(-(-n // s) for n, s in zip(size, self.stride, strict=True))
        sides = zip(size, self.taps, self.dilation, self.stride, strict=True)
        return tuple((n - (t - 1) * d - 1) // s + 1 for n, t, d, s in sides)


class ChainBuilder:
    """Int8 convolutions with random weights, and scales that keep the outputs in range."""

    def __init__(self, rng: np.random.Generator, shape: tuple[int, int, int]) -> None:
        self.rng = rng
        self.tensors: list[Tensor] = []
        self.operators: list[Operator] = []
        self.source = self.current = self.activation("input", shape, 0.002, int(rng.integers(-128, 128)))

    def add(self, *fields) -> int:
        self.tensors.append(Tensor(*fields))
        return len(self.tensors) - 1

    def activation(self, name: str, shape: tuple[int, ...], scale: float, zero_point: int) -> int:
        return self.add(name, (1, *shape), "int8", Quantisation((float(np.float32(scale)),), (zero_point,)))

    def constant(self, name: str, data: np.ndarray, scales: np.ndarray) -> int:
        quantisation = Quantisation(tuple(map(float, scales.astype(np.float32))), (0,) * len(scales))
        return self.add(name, data.shape, str(data.dtype), quantisation, data)

    def convolve(self, layer: Layer) -> None:
        name, source = f"conv{len(self.operators)}", self.tensors[self.current]
        weights = self.rng.integers(-127, 128, (layer.channels, *layer.taps, source.shape[3])).astype(np.int8)
        scales = self.rng.uniform(0.002, 0.02, layer.channels).astype(np.float32)
        bias = self.rng.integers(-2000, 2000, layer.channels).astype(np.int32)
        inputs = (
            self.current,
            self.constant(f"{name}/weights", weights, scales),
            self.constant(f"{name}/bias", bias, scales * np.float32(source.scale)),
        )
        scale = 1.2 * source.scale * np.sqrt(weights[0].size)
        zero_point = int(self.rng.integers(-60, 60)) if layer.activation == "NONE" else -128
        shape = (*layer.output_size(source.shape[1:3]), layer.channels)
        self.current = self.activation(name, shape, scale, zero_point)
        options = {
            "padding": layer.padding,
            "stride_h": layer.stride[0],
            "stride_w": layer.stride[1],
            "dilation_h_factor": layer.dilation[0],
            "dilation_w_factor": layer.dilation[1],
            "fused_activation_function": layer.activation,
        }
        self.operators.append(Operator("CONV_2D", inputs, (self.current,), options, "Conv2DOptions", 3))

    def graph(self) -> Graph:
        return Graph(tuple(self.tensors), tuple(self.operators), (self.source,), (self.current,))


def random_layer(rng: np.random.Generator, size: tuple[int, int]) -> Layer:
    """Any taps, strides, dilations, padding and depth; Vela makes RELU on few channels a pool of its own."""
    dilation = tuple(int(d) for d in rng.choice([1, 1, 2], 2))
    taps = tuple(int(min(rng.integers(1, 6), 1 + (n - 1) // d)) for n, d in zip(size, dilation, strict=True))
    channels = int(rng.choice([1, 3, 4, 10, 16, 24, 33, 64]))
    return Layer(
        taps=taps,
        stride=(1, 1) if max(dilation) > 1 else tuple(int(s) for s in rng.integers(1, 4, 2)),
        dilation=dilation,
        padding=str(rng.choice(["SAME", "VALID"])),
        channels=channels,
        activation=str(rng.choice(["NONE", "RELU", "RELU6"])) if channels > 8 else "NONE",
    )


def random_chain(seed: int) -> Graph:
    """One to three convolutions."""
    rng = np.random.default_rng(seed)
    depth = int(rng.choice([1, 2, 3, 8, 13, 16, 17, 32, 40, 70]))
    builder = ChainBuilder(rng, (int(rng.integers(5, 25)), int(rng.integers(5, 25)), depth))
    for _ in range(rng.integers(1, 4)):
        builder.convolve(random_layer(rng, builder.tensors[builder.current].shape[1:3]))
    return builder.graph()


@pytest.mark.parametrize("seed", range(7, 15))
def test_random_chains_of_convolutions(seed: int, tmp_path: Path):
    graph = random_chain(seed)
    path = tmp_path / f"chain{seed}.tflite"
    path.write_bytes(serialise_network(graph))
    inputs = random_inputs(graph, 3, seed)
    check(path, inputs, list(CONFIGS)[seed % 4])
    assert len(np.unique(oracle(path, inputs))) > 3
