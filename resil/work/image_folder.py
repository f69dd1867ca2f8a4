# SPDX-License-Identifier: Apache-2.0
"""A folder with a file for each input of a network: arrays, or images that Pillow reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resil.campaign.data_set import IMAGES, IN_FOLDER, DataSet
from resil.errors import CampaignError
from resil.work.image_files import read_array

Array = npt.NDArray[Any]


def image_folder(data_set: DataSet) -> Array:
    """Return the inputs in a folder, (N, H, W, C) of images, in the order of their names.

    Args:
        data_set: Its source is the folder, with a `.npy`, `.png` or `.pgm` file for each input; other files
            are left alone.

    Raises:
        CampaignError: there is none, one cannot be read, or their shapes differ.
    """
    files = data_set.files
    if not files:
        raise CampaignError(
            f"{data_set.source}: expected files {', '.join(IN_FOLDER)}, found none; correct the path", "files"
        )
    arrays = [_read(path, data_set.pixels) for path in files]
    for path, array in zip(files, arrays, strict=True):
        if (array.shape, array.dtype) != (arrays[0].shape, arrays[0].dtype):
            raise CampaignError(
                f"{path}: expected {arrays[0].dtype} {arrays[0].shape} as {files[0].name} has, found "
                f"{array.dtype} {array.shape}; convert it, or move it elsewhere",
                "shape",
            )
    return np.stack(arrays)


def _read(path: Path, pixels: tuple[float, float]) -> Array:
    if path.suffix.lower() not in IMAGES:
        return read_array(path)
    try:
        from PIL import Image
    except ImportError:
        raise CampaignError(
            f"{path}: images are read by Pillow, which is not installed; run: pip install 'resil[images]'",
            "packages.pillow",
        ) from None
    try:
        with Image.open(path) as image:
            levels = np.asarray(image if image.mode in ("L", "RGB", "I;16") else image.convert("RGB"))
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise CampaignError(f"{path}: expected an image, found: {error}; convert it", "content") from None
    low, high = pixels
    values = low + levels.astype(np.float64) * ((high - low) / np.iinfo(levels.dtype).max)
    return values[..., None] if values.ndim == 2 else values
