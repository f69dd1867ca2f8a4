# SPDX-License-Identifier: Apache-2.0
"""Networks with branches, in float and quantised; architectures, trained models and what is exported."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from resil.networks import oracle, reference
from resil.networks.architecture import Architecture, ArchitectureLayer, conv
from resil.networks.decision import area_under_curve
from resil.networks.float_network import FloatLayer, FloatNetwork
from resil.networks.geometry import Window
from resil.networks.quantise import quantise, quantise_values
from resil.networks.recipes import RECIPES
from resil.networks.tflite_writer import serialise_network
from resil.networks.torch_model import TorchModel


def branched(random: np.random.Generator) -> FloatNetwork:
    def layer(name: str, source: str, filters: int) -> FloatLayer:
        weights = random.normal(size=(filters, 3, 3, 2)) / 4
        window = Window((3, 3), (1, 1), "SAME")
        return FloatLayer(name, "CONV_2D", weights, random.normal(size=filters), window, sources=(source,))

    layers = (
        layer("a", "input", 2),
        layer("b", "a", 2),
        FloatLayer("sum", "ADD", relu=True, sources=("b", "input")),
        FloatLayer("twice", "ADD", sources=("sum", "a")),
        FloatLayer("flat", "FLATTEN"),
        FloatLayer("logits", "FULLY_CONNECTED", random.normal(size=(5, 50)) / 5, np.zeros(5)),
        FloatLayer("shares", "SOFTMAX"),
    )
    return FloatNetwork("branched", (5, 5, 2), layers)


def test_branches_are_added_and_stay_near_the_float_network_when_quantised():
    random = np.random.default_rng(8)
    network = branched(random)
    inputs = random.normal(size=(64, 5, 5, 2))
    graph = quantise(network, inputs)
    assert [o.kind for o in graph.operators].count("ADD") == 2
    levels = quantise_values(inputs, graph.tensors[0].quantisation)
    found = reference.run(graph, levels)
    np.testing.assert_array_equal(found, oracle.run(serialise_network(graph), levels))
    expected = network.activations(inputs)
    a, b, total = expected[1:4]
    np.testing.assert_array_equal(total, np.maximum(b + inputs, 0.0))
    np.testing.assert_array_equal(expected[4], total + a)
    np.testing.assert_allclose(expected[-1].sum(axis=1), 1.0)
    assert np.abs((found + 128.0) / 256.0 - expected[-1]).mean() < 0.02


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (FloatLayer("late", "ADD", sources=("a", "nowhere")), "takes nowhere, not made before it"),
        (FloatLayer("a", "FLATTEN"), "comes twice"),
        (FloatLayer("input", "FLATTEN"), "comes twice"),
    ],
)
def test_layers_that_do_not_fit_together_are_refused(layer, message):
    network = branched(np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        replace(network, layers=(*network.layers, layer))


AWKWARD = Architecture(
    "awkward",
    (9, 11, 3),
    (
        conv("first", 4, size=5, stride=2, normalise=True),
        ArchitectureLayer("wide", "CONV_2D", 6, Window((3, 1), (1, 2), "VALID", (2, 1)), normalise=True),
        ArchitectureLayer("each", "DEPTHWISE_CONV_2D", window=Window((2, 2), (1, 1), "SAME"), relu=True),
        ArchitectureLayer("flat", "FLATTEN"),
        ArchitectureLayer("out", "FULLY_CONNECTED", 3),
    ),
)


@pytest.mark.parametrize("architecture", [AWKWARD, *(recipe.architecture for recipe in RECIPES.values())])
def test_what_is_exported_computes_what_was_trained(architecture):
    """PyTorch's own forward pass against ours: padding, layouts, flattening and folded normalisation."""
    import torch

    torch.manual_seed(3)
    model = TorchModel(torch, architecture)
    for norm in model.norms.values():
        for values, low, high in (
            (norm.weight.data, 0.5, 2.0),
            (norm.bias.data, -1.0, 1.0),
            (norm.running_mean, -1.0, 1.0),
            (norm.running_var, 0.2, 3.0),
        ):
            values.uniform_(low, high)
    model.modules.eval()
    inputs = np.random.default_rng(1).normal(size=(4, *architecture.input_shape)).astype(np.float32)
    first = inputs.transpose(0, 3, 1, 2).copy() if inputs.ndim == 4 else inputs
    expected = model(torch.from_numpy(first)).detach().numpy()
    network = model.export()
    values = network.activations(inputs.astype(np.float64))
    shapes = architecture.shapes()
    assert [v.shape[1:] for v in values] == list(shapes.values())
    found = values[-2] if network.layers[-1].kind == "SOFTMAX" else values[-1]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


def test_area_under_the_curve_counts_pairs():
    scores = np.array([1.0, 2.0, 2.0, 3.0, 0.5])
    anomalies = np.array([False, False, True, True, True])
    pairs = [(n, a) for n in scores[~anomalies] for a in scores[anomalies]]
    expected = sum((a > n) + 0.5 * (a == n) for n, a in pairs) / len(pairs)
    assert area_under_curve(scores, anomalies) == pytest.approx(expected)
