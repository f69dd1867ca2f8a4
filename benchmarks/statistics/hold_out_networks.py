# SPDX-License-Identifier: Apache-2.0
"""Networks that take no part in any sensitivity model, to judge one by.

    python -m benchmarks.statistics.hold_out_networks --out NETWORKS [--inputs N] [--others FILE.tflite ...]

Trains small networks on the zoo's data sets and writes a folder of them: `NAME.tflite`, and its inputs as
`NAME.npy`. Their shapes are none of the zoo's. Networks named with `--others` are copied in beside them,
and get random inputs.
"""

from __future__ import annotations

import argparse
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from resil.networks import datasets
from resil.networks.architecture import Architecture, ArchitectureLayer, conv, dense, depthwise, pool
from resil.networks.quantise import quantise
from resil.networks.recipes import Recipe, Training
from resil.networks.tflite_reader import read_network
from resil.networks.tflite_writer import write_network
from resil.networks.train import quantise_inputs, train

INPUTS = 128
_DIGITS = Training(30, 32, 4e-3, 2e-2, noise=0.1, label_smoothing=0.05)
_IMAGES = Training(6, 64, 6e-3, 1e-2, warp=0.1, label_smoothing=0.05)
_ROWS = replace(_IMAGES, warp=0.0)


def _ends(*blocks: ArchitectureLayer) -> tuple[ArchitectureLayer, ...]:
    return (*blocks, ArchitectureLayer("flatten", "FLATTEN"), dense("logits", 10))


ARCHITECTURES = (
    Architecture(
        "digits_matrices",
        (64,),
        (dense("hidden1", 48, relu=True), dense("hidden2", 24, relu=True), dense("logits", 10)),
    ),
    Architecture(
        "digits_wide",
        (8, 8, 1),
        _ends(
            conv("conv1", 32),
            pool("pool", "MAX", 2),
            conv("conv2", 24, size=1, normalise=True),
            conv("conv3", 32, stride=2),
        ),
    ),
    Architecture(
        "mnist_strided",
        (28, 28, 1),
        _ends(
            conv("stem", 12, size=5, stride=2),
            conv("conv1", 20, stride=2, normalise=True),
            conv("conv2", 28, stride=2, normalise=True),
        ),
    ),
    Architecture(
        "mnist_mixed",
        (28, 28, 1),
        _ends(
            conv("stem", 16, stride=2, normalise=True),
            depthwise("depthwise", 1),
            conv("pointwise", 16, size=1, relu=False, normalise=True),
            ArchitectureLayer("sum", "ADD", relu=True, sources=("pointwise", "stem")),
            pool("pool", "MAX", 2),
            conv("conv", 24, normalise=True),
            pool("mean", "AVERAGE", 7),
        ),
    ),
    Architecture(
        "digits_residual",
        (8, 8, 1),
        _ends(
            conv("stem", 12, normalise=True),
            conv("conv1", 12, normalise=True),
            conv("conv2", 12, relu=False, normalise=True),
            ArchitectureLayer("sum", "ADD", relu=True, sources=("conv2", "stem")),
            pool("mean", "AVERAGE", 4),
        ),
    ),
    Architecture(
        "digits_depthwise",
        (8, 8, 1),
        _ends(
            conv("stem", 20, size=5, normalise=True),
            depthwise("depthwise1", 2),
            conv("pointwise1", 28, size=1, normalise=True),
            depthwise("depthwise2", 1),
            conv("pointwise2", 12, size=1, normalise=True),
        ),
    ),
    Architecture(
        "mnist_pooled",
        (28, 28, 1),
        _ends(
            conv("conv1", 8, size=3, normalise=True),
            pool("pool1", "MAX", 2),
            conv("conv2", 16, size=3, normalise=True),
            pool("pool2", "MAX", 2),
            conv("conv3", 24, size=3, normalise=True),
            pool("pool3", "AVERAGE", 7),
        ),
    ),
    Architecture(
        "mnist_matrices",
        (784,),
        (dense("hidden1", 40, relu=True), dense("hidden2", 40, relu=True), dense("logits", 10)),
    ),
)


def recipe_of(architecture: Architecture) -> Recipe:
    """Return how a network of this architecture is trained."""
    if architecture.name.startswith("digits"):
        return Recipe(datasets.digits, architecture, _DIGITS)
    training = _IMAGES if len(architecture.input_shape) > 1 else _ROWS
    return Recipe(datasets.mnist, architecture, training, calibration=500)


def main() -> None:
    """Write the folder of networks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--inputs", type=int, default=INPUTS, help="held-out inputs of each")
    parser.add_argument("--others", type=Path, nargs="*", default=())
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for architecture in ARCHITECTURES:
        recipe = recipe_of(architecture)
        data = recipe.dataset()
        shape = architecture.input_shape
        train_inputs = data.train_inputs.reshape(-1, *shape)
        data = datasets.Dataset(
            data.title, train_inputs, data.train_labels, data.heldout_inputs.reshape(-1, *shape),
            data.heldout_labels, data.licence,
        )  # fmt: skip
        graph = quantise(train(recipe, data, 1), train_inputs[: recipe.calibration])
        write_network(graph, options.out / f"{architecture.name}.tflite")
        inputs = quantise_inputs(graph, data.heldout_inputs[: options.inputs])
        np.save(options.out / f"{architecture.name}.npy", inputs)
        print(architecture.name, inputs.shape, flush=True)
    for other in options.others:
        shutil.copy(other, options.out / other.name)
        shape = read_network(other).tensors[read_network(other).inputs[0]].shape[1:]
        inputs = np.random.default_rng(1).integers(-128, 128, (options.inputs, *shape)).astype(np.int8)
        np.save(options.out / f"{other.stem}.npy", inputs)


if __name__ == "__main__":
    main()
