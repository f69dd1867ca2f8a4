# SPDX-License-Identifier: Apache-2.0
"""Networks that confirm the sets of the study: none of its own, each near enough to errors to refuse a set.

    python -m benchmarks.study.hold_out --out NETWORKS [--seed N]

Without protection a small network that is sure of what it sees keeps the budget of the larger sizes, so it
would confirm any set. These read faint digits on photographs, and their inputs are those of 1,000 held-out
images of which they are least sure. Writes `NAME.tflite`, and the inputs as `NAME.npy`. Networks that have
refused a set judge no other set of the same runs: another seed of their training makes others.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.study.photographs import SIDE, digits_on_photographs
from resil.networks.architecture import Architecture, ArchitectureLayer, conv, dense, pool
from resil.networks.quantise import quantise
from resil.networks.recipes import Recipe, Training
from resil.networks.reference import run
from resil.networks.tflite_writer import write_network
from resil.networks.train import quantise_inputs, train

HARDEST = 48
_CONTRAST = 0.4
_CALIBRATION = 500
_TRAINING = Training(8, 64, 6e-3, 1e-2, label_smoothing=0.05)


def _residual() -> tuple[ArchitectureLayer, ...]:
    return (
        conv("stem", 12, stride=2, normalise=True),
        conv("unit1a", 12, normalise=True),
        conv("unit1b", 12, relu=False, normalise=True),
        ArchitectureLayer("unit1", "ADD", relu=True, sources=("unit1b", "stem")),
        conv("unit2a", 24, stride=2, normalise=True),
        conv("unit2b", 24, relu=False, normalise=True),
        conv("around2", 24, size=1, stride=2, relu=False, normalise=True, sources=("unit1",)),
        ArchitectureLayer("unit2", "ADD", relu=True, sources=("unit2b", "around2")),
        conv("unit3a", 32, stride=2, normalise=True),
        conv("unit3b", 32, relu=False, normalise=True),
        conv("around3", 32, size=1, stride=2, relu=False, normalise=True, sources=("unit2",)),
        ArchitectureLayer("unit3", "ADD", relu=True, sources=("unit3b", "around3")),
        pool("mean", "AVERAGE", 4),
    )


def _plain() -> tuple[ArchitectureLayer, ...]:
    return (
        conv("conv1", 16, size=5, stride=2, normalise=True),
        conv("conv2", 24, normalise=True),
        pool("pool2", "MAX", 2),
        conv("conv3", 32, normalise=True),
        pool("pool3", "MAX", 2),
        conv("conv4", 40, normalise=True),
    )


NETWORKS = {"faint_residual": _residual(), "faint_plain": _plain()}


def main() -> None:
    """Write the folder of networks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1, help="of the training")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    data = digits_on_photographs(_CONTRAST)
    for name, blocks in NETWORKS.items():
        ends = (ArchitectureLayer("flatten", "FLATTEN"), dense("logits", 10))
        architecture = Architecture(name, (SIDE, SIDE, 3), (*blocks, *ends))
        recipe = Recipe(lambda: data, architecture, _TRAINING, calibration=_CALIBRATION)
        graph = quantise(train(recipe, data, options.seed), data.train_inputs[:_CALIBRATION])
        write_network(graph, options.out / f"{name}.tflite")
        inputs = quantise_inputs(graph, data.heldout_inputs)
        logits = run(graph, inputs).reshape(len(inputs), -1).astype(np.int64)
        second, first = np.sort(logits, axis=1)[:, -2:].T
        hardest = np.sort(np.argsort(first - second, kind="stable")[:HARDEST])
        np.save(options.out / f"{name}.npy", inputs[hardest])
        right = float(np.mean(logits.argmax(axis=1) == data.heldout_labels))
        widest = int((first - second)[hardest].max())
        print(
            f"{name}: {right:.1%} of {len(inputs):,} right; margins of the hardest up to {widest}", flush=True
        )


if __name__ == "__main__":
    main()
