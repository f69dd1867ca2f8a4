# SPDX-License-Identifier: Apache-2.0
"""Photographs for a network of small colour images: random squares of those that packages bring."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_images

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
    portrait = Path(matplotlib.get_data_path()) / "sample_data" / "grace_hopper.jpg"
    with Image.open(portrait) as opened:
        sources = [*load_sample_images().images, np.asarray(opened.convert("RGB"))]
    generator = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for index in range(number):
        image = sources[generator.integers(len(sources))]
        height, width = image.shape[:2]
        side = int(generator.integers(SMALLEST, min(height, width) + 1))
        top, left = int(generator.integers(height - side + 1)), int(generator.integers(width - side + 1))
        piece = Image.fromarray(image[top : top + side, left : left + side])
        small = piece.resize((SIDE, SIDE), Image.Resampling.BOX)
        small.save(folder / f"{index:03d}.png")
