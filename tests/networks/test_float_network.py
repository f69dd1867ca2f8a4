# SPDX-License-Identifier: Apache-2.0
"""Networks with branches, in float and quantised; architectures, trained models and what is exported."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from resil.networks import oracle, reference
from resil.networks.architecture import Architecture, ArchitectureLayer, conv, depthwise
from resil.networks.decision import area_under_curve, real_values
from resil.networks.float_network import FloatLayer, FloatNetwork
from resil.networks.geometry import Window
from resil.networks.quantise import quantise, quantise_values
from resil.networks.recipes import RECIPES
from resil.networks.tflite_writer import serialise_network
from resil.networks.torch_model import TorchModel
from resil.networks.train import quantise_inputs


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


# An inverted residual with RELU6, and two outputs, neither of them of the last layer.
FORKED = Architecture(
    "forked",
    (8, 8, 3),
    (
        conv("stem", 4, relu6=True, normalise=True),
        conv("expand", 12, size=1, relu6=True, normalise=True),
        depthwise("each", relu6=True),
        conv("project", 4, size=1, relu=False, normalise=True),
        ArchitectureLayer("sum", "ADD", sources=("project", "stem")),
        conv("boxes", 4, size=1, relu=False),
        conv("scores", 5, size=1, relu=False, sources=("sum",)),
        conv("unused", 2, size=1),
    ),
    ("scores", "boxes"),
)


@pytest.mark.parametrize(
    "architecture", [AWKWARD, FORKED, *(recipe.architecture for recipe in RECIPES.values())]
)
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
    spread = 30 if architecture is FORKED else 1
    inputs = spread * np.random.default_rng(1).normal(size=(4, *architecture.input_shape)).astype(np.float32)
    first = inputs.transpose(0, 3, 1, 2).copy() if inputs.ndim == 4 else inputs
    made = model(torch.from_numpy(first))
    network = model.export()
    if architecture.outputs:
        assert network.outputs == architecture.outputs
        values = dict(zip(architecture.shapes(), network.activations(inputs.astype(np.float64)), strict=True))
        for name, one in zip(network.outputs, made, strict=True):
            expected = one.detach().numpy().transpose(0, 2, 3, 1)
            np.testing.assert_allclose(values[name], expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
        assert 0.1 < (values["stem"] == 6.0).mean() < 0.9, "some are cut off"
        return
    expected = made.detach().numpy()
    values = network.activations(inputs.astype(np.float64))
    shapes = architecture.shapes()
    assert [v.shape[1:] for v in values] == list(shapes.values())
    found = values[-2] if network.layers[-1].kind == "SOFTMAX" else values[-1]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


def test_outputs_are_of_layers_that_there_are():
    network = branched(np.random.default_rng(0))
    with pytest.raises(ValueError, match="no layer makes the output nowhere"):
        replace(network, outputs=("a", "nowhere"))


def test_several_outputs_and_relu6_are_quantised_and_computed():
    """The int8 file on both references, against the network in real numbers."""
    generator = np.random.default_rng(4)
    inputs = generator.normal(size=(6, 6, 6, 3)) * 4
    one = Window((1, 1))
    layers = (
        FloatLayer("cut", "CONV_2D", generator.normal(size=(5, 1, 1, 3)), np.zeros(5), one, relu6=True),
        FloatLayer("low", "CONV_2D", generator.normal(size=(4, 1, 1, 5)) / 9, np.zeros(4), one),
        FloatLayer(
            "high", "CONV_2D", 9 * generator.normal(size=(2, 1, 1, 5)), np.zeros(2), one, sources=("cut",)
        ),
    )
    network = FloatNetwork("two", (6, 6, 3), layers, ("high", "low"))
    graph = quantise(network, inputs)
    assert [graph.tensors[i].name for i in graph.outputs] == ["high", "low"]
    assert graph.operators[0].options["fused_activation_function"] == "RELU6"
    levels = quantise_inputs(graph, inputs)
    found = reference.outputs(graph, [levels[:, None]])
    micro = oracle.run_all(serialise_network(graph), [levels[:, None]])
    values = dict(zip(("input", "cut", "low", "high"), network.activations(inputs), strict=True))
    assert (values["cut"] == 6.0).mean() > 0.1
    for index, own, other in zip(graph.outputs, found, micro, strict=True):
        tensor = graph.tensors[index]
        assert (own == other).all()
        apart = np.abs(real_values(own[:, 0], tensor) - values[tensor.name])
        assert apart.max() < 12 * tensor.scale


def test_area_under_the_curve_counts_pairs():
    scores = np.array([1.0, 2.0, 2.0, 3.0, 0.5])
    anomalies = np.array([False, False, True, True, True])
    pairs = [(n, a) for n in scores[~anomalies] for a in scores[anomalies]]
    expected = sum((a > n) + 0.5 * (a == n) for n, a in pairs) / len(pairs)
    assert area_under_curve(scores, anomalies) == pytest.approx(expected)
