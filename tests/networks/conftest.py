# SPDX-License-Identifier: Apache-2.0
"""Networks to test with: the zoo's, a chain of all layer kinds, and models from elsewhere if any."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from resil.networks import zoo
from resil.networks.float_network import FloatLayer, FloatNetwork
from resil.networks.geometry import Window
from resil.networks.graph import Graph
from resil.networks.quantise import quantise
from resil.networks.tflite_reader import read_network


@pytest.fixture(scope="session")
def digits() -> zoo.ZooNetwork:
    return zoo.load("digits")


@pytest.fixture(scope="session")
def digits_graph(digits: zoo.ZooNetwork) -> Graph:
    return read_network(digits.path)


@pytest.fixture(scope="session")
def digits_bytes(digits: zoo.ZooNetwork) -> bytes:
    return digits.path.read_bytes()


@pytest.fixture(params=["pretrainedResnet_quant.tflite", "kws_ref_model.tflite"])
def model(request: pytest.FixtureRequest) -> Path:
    """A network of the folder that RESIL_MODELS names; without the folder the test is skipped."""
    path = Path(os.environ.get("RESIL_MODELS", "")) / request.param
    if not path.is_file():
        pytest.skip(f"no {request.param} in the folder that RESIL_MODELS names")
    return path


@pytest.fixture
def chain() -> Callable[[int], Graph]:
    """A maker of random int8 networks with every kind of layer, odd sizes, strides, padding and dilation."""

    def make(seed: int) -> Graph:
        generator = np.random.default_rng(seed)

        def normal(*shape: int) -> np.ndarray:
            return generator.normal(size=shape) / np.sqrt(np.prod(shape[1:]))

        first = Window((3, 3), (1, 1), "VALID", (2, 1))
        layers = (
            FloatLayer("a", "CONV_2D", normal(6, 3, 3, 3), normal(6), first, relu=True),
            FloatLayer(
                "b", "DEPTHWISE_CONV_2D", normal(1, 3, 5, 6), normal(6), Window((3, 5), (2, 1), "SAME")
            ),
            FloatLayer("c", "MAX_POOL_2D", window=Window((2, 3), (1, 2), "SAME")),
            FloatLayer("d", "CONV_2D", normal(5, 1, 1, 6), normal(5), Window((1, 1), (1, 1), "VALID")),
            FloatLayer("e", "AVERAGE_POOL_2D", window=Window((3, 2), (2, 2), "SAME")),
            FloatLayer("f", "FLATTEN"),
            FloatLayer("g", "FULLY_CONNECTED", normal(7, 45), normal(7), relu=bool(seed % 2)),
        )
        network = FloatNetwork("chain", (13, 11, 3), layers)
        return quantise(network, generator.uniform(-1, 2, size=(16, 13, 11, 3)))

    return make
