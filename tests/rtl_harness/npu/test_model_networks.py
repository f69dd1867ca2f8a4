"""Whole networks on the functional model, as the compiler lowers them, against TensorFlow Lite Micro."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from networks.compile import CompiledNetwork, compile_network
from networks.graph import Graph, Operator, Quantisation, Tensor
from networks.oracle import run as oracle
from networks.tflite_reader import read_network
from networks.tflite_writer import serialise_network
from networks.zoo import load
from rtl_harness.npu.model.config import ETHOS_U55_32
from rtl_harness.npu.model.machine import FunctionalModel
from rtl_harness.npu.model.status import Status

STOPPED = Status.IRQ | Status.CMD_END | 0xFFFF << 16


def infer(network: CompiledNetwork, inputs: np.ndarray) -> np.ndarray:
    """Run a batch with random bytes in the rest of the feature-map memory."""
    (source,), (target,) = network.inputs, network.outputs
    constants = np.zeros(network.region_sizes[0], dtype=np.uint8)
    constants[: len(network.constants)] = np.frombuffer(network.constants, np.uint8)
    shape = (len(inputs), network.region_sizes[1])
    scratch = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    scratch[:, source.offset : source.offset + source.size] = inputs.reshape(len(inputs), -1).view(np.uint8)
    results = FunctionalModel(ETHOS_U55_32).run(
        network.commands, {0: constants, 1: scratch}, read_only=frozenset({0})
    )
    for result in results:
        assert result.status == STOPPED
        assert result.operations_done == len(network.operations)
    output = scratch[:, target.offset : target.offset + target.size]
    return output.view(np.int8).reshape(len(inputs), *target.shape[1:])


def check(path: Path, inputs: np.ndarray) -> CompiledNetwork:
    network = compile_network(path, "ethos-u55-32")
    assert np.array_equal(infer(network, inputs), oracle(path, inputs))
    return network


def random_inputs(graph: Graph, count: int, seed: int = 0) -> np.ndarray:
    shape = graph.tensors[graph.inputs[0]].shape
    return np.random.default_rng(seed).integers(-128, 128, (count, *shape[1:])).astype(np.int8)


def test_digits_on_all_that_was_held_out():
    digits = load("digits")
    network = check(digits.path, digits.heldout_inputs)
    operations = FunctionalModel(ETHOS_U55_32).lower(network.commands).operations
    assert [step.word for step in operations] == [operation.word for operation in network.operations]


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
    check(path, inputs)
    assert len(np.unique(oracle(path, inputs))) > 3


def single_operators(path: Path) -> list[Graph]:
    """Each convolution and fully connected layer of a network as a network of its own."""
    graph = read_network(path)
    return [
        replace(graph, operators=(operator,), inputs=operator.inputs[:1], outputs=operator.outputs)
        for operator in graph.operators
        if operator.kind in ("CONV_2D", "FULLY_CONNECTED")
    ]


@pytest.mark.skipif("RESIL_MODELS" not in os.environ, reason="RESIL_MODELS names no folder of networks")
@pytest.mark.parametrize("name", ["pretrainedResnet_quant", "kws_ref_model"])
def test_convolutions_of_real_networks(name: str, tmp_path: Path):
    graphs = single_operators(Path(os.environ["RESIL_MODELS"]) / f"{name}.tflite")
    assert len(graphs) >= 6
    for number, graph in enumerate(graphs):
        path = tmp_path / f"{name}{number}.tflite"
        path.write_bytes(serialise_network(graph))
        check(path, random_inputs(graph, 2, number))
