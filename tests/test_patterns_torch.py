# SPDX-License-Identifier: Apache-2.0
"""The example that replays error patterns in PyTorch: its networks are the zoo's, its hooks damage them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from resil.networks import reference, zoo
from resil.networks.graph import without_trailing_softmax
from resil.networks.tflite_reader import read_network
from resil.record.patterns import ErrorPattern
from resil.work.patterns import Pattern

torch = pytest.importorskip("torch", reason="the example needs pip install 'resil[train]'")
FILE = Path(__file__).parents[1] / "examples" / "patterns_torch.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("patterns_torch", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def network_of(example, name):
    known = zoo.load(name)
    graph = without_trailing_softmax(read_network(known.path))
    return example.Int8Network(graph), known


@pytest.mark.parametrize(
    "name", [name for name in zoo.names() if zoo.load(name).decision != "reconstruction error"]
)
def test_networks_compute_what_the_reference_does(example, name):
    network, known = network_of(example, name)
    levels = known.heldout_at(range(4))
    with torch.no_grad():
        found = network(torch.tensor(levels.astype(np.float64))).numpy()
    expected = reference.run(network.graph, levels).reshape(found.shape)
    # TensorFlow Lite rounds twice: an element may be a step off in a layer, and a few in the end.
    assert np.abs(found - expected).max() <= 3
    assert (found.argmax(axis=1) == expected.argmax(axis=1)).all()


def pattern(kept, operation, kind):
    return ErrorPattern(
        injection=1, input=0, fit=1.0, block="mac", kind="ff", register_class="data", operation=operation,
        operation_kind=kind, extent="region", elements=kept.count, largest_change=1, outcome="sdc_critical",
        pattern=kept.as_text(),
    )  # fmt: skip


def test_patterns_are_laid_into_layers_of_their_kind(example):
    network, known = network_of(example, "digits")
    inputs = torch.tensor(known.heldout_at(range(4)).astype(np.float64))
    nothing = Pattern(0, (1, 1, 10), 1, 0, (0,) * 6, (), 0)
    # All outputs go to the end of their range: the first of equals is the decision.
    ends = Pattern(3, (1, 1, 10), 1, 10, (0, 0, 0, 0, 0, 9), ((0, 0, 0, 1, 1, 1),), 0)
    own = next(layer for layer in network.layers if layer.kind == "dense")
    asked = [
        pattern(nothing, own.name, "dense"),
        pattern(ends, own.name, "dense"),
        pattern(ends, "other", "pool"),
    ]
    with torch.no_grad():
        decided = network(inputs).argmax(dim=1)
        changed, critical = example.replay(network, asked, inputs, times=12, seed=3)
        flips, _ = example.replay(network, asked[:1], inputs, times=12, seed=3, single_bits=True)
    assert (changed[0], critical[0]) == (0.0, 0.0)
    assert changed[1] == 1.0
    assert 0.0 < critical[1] <= float((decided != 0).any())
    assert np.isnan(changed[2])
    assert flips[0] == 1.0


def test_a_difference_that_may_be_nothing_meets(example):
    assert "meets the RTL, -1.000" in example.compared("x", np.array([-0.01, -0.03, -0.01, 0.01]))
    assert "does not meet" in example.compared("x", np.array([-0.02, -0.03, -0.02, -0.01]))
