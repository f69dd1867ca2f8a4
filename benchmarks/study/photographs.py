# SPDX-License-Identifier: Apache-2.0
"""Photographs for networks of small colour images: random squares of those that packages bring."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_images

from resil.networks import datasets

SIDE = 32
NUMBER = 256
SMALLEST = 64


def write_photographs(folder: Path, number: int = NUMBER, seed: int = 1) -> None:
    """Write square pieces of photographs as PNG files of 32 by 32 pixels.

    The photographs are the two of scikit-learn and the portrait that matplotlib brings. A piece has a side
    of 64 pixels up to the whole height, each as likely, and lies anywhere.

    Args:
        folder: Made if it is not there.
        number: How many pieces.
        seed: Of their places.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for index, piece in enumerate(_pieces(number, seed)):
        piece.save(folder / f"{index:03d}.png")


def digits_on_photographs(contrast: float = 1.0, seed: int = 1) -> datasets.Dataset:
    """Return MNIST's digits on pieces of photographs, 32x32 pixels in colour.

    A digit turns the piece below it into its negative, or part of the way, after MNIST-M (Y. Ganin and
    others: Domain-Adversarial Training of Neural Networks, JMLR 17, 2016). Split as MNIST is.

    Args:
        contrast: How far; the less, the harder are the digits to tell.
        seed: Of the pieces.
    """
    data = datasets.mnist()
    split = len(data.train_inputs)
    digits = np.concatenate([data.train_inputs, data.heldout_inputs])
    around = (SIDE - digits.shape[1]) // 2
    digits = np.pad(digits, ((0, 0), (around, around), (around, around), (0, 0)))
    pieces = np.stack([np.asarray(piece, np.float32) / 255.0 for piece in _pieces(len(digits), seed)])
    inputs = np.abs(pieces - contrast * digits).astype(np.float32)
    return replace(
        data,
        title="MNIST's digits on photographs",
        train_inputs=inputs[:split],
        heldout_inputs=inputs[split:],
    )


def _pieces(number: int, seed: int) -> Iterator[Image.Image]:
    portrait = Path(matplotlib.get_data_path()) / "sample_data" / "grace_hopper.jpg"
    with Image.open(portrait) as opened:
        sources = [*load_sample_images().images, np.asarray(opened.convert("RGB"))]
    generator = np.random.default_rng(seed)
    for _ in range(number):
        image = sources[generator.integers(len(sources))]
        height, width = image.shape[:2]
        side = int(generator.integers(SMALLEST, min(height, width) + 1))
        top, left = int(generator.integers(height - side + 1)), int(generator.integers(width - side + 1))
        piece = Image.fromarray(image[top : top + side, left : left + side])
        yield piece.resize((SIDE, SIDE), Image.Resampling.BOX)
