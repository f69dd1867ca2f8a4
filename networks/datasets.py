"""Data sets that ship with packages, split once and for all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_SPLIT_SEED = 2024
_DIGITS_HELD_OUT = 500
_DIGITS_PEAK = 16.0


@dataclass(frozen=True, eq=False)
class Dataset:
    """Images and labels, split into a training and a held-out part.

    Attributes:
        train_inputs: float32 (N, H, W, C) in [0, 1].
        train_labels: int64 (N,).
        heldout_inputs: As the training inputs.
        heldout_labels: As the training labels.
    """

    train_inputs: npt.NDArray[np.float32]
    train_labels: npt.NDArray[np.int64]
    heldout_inputs: npt.NDArray[np.float32]
    heldout_labels: npt.NDArray[np.int64]


def digits() -> Dataset:
    """Return scikit-learn's 1,797 handwritten digits, 8x8 pixels: 1,297 to train with, 500 held out.

    The images are the test part of the UCI data set "Optical Recognition of Handwritten Digits" (E. Alpaydin,
    C. Kaynak, 1998). The split is stratified and always the same.
    """
    from sklearn.datasets import load_digits

    bunch = load_digits()
    inputs = (np.asarray(bunch.images) / _DIGITS_PEAK).astype(np.float32)[..., None]
    labels = np.asarray(bunch.target, dtype=np.int64)
    heldout = stratified_sample(labels, _DIGITS_HELD_OUT, _SPLIT_SEED)
    return Dataset(inputs[~heldout], labels[~heldout], inputs[heldout], labels[heldout])


def stratified_sample(labels: npt.NDArray[np.int64], count: int, seed: int) -> npt.NDArray[np.bool_]:
    """Return a mask that picks `count` elements, each class in proportion (largest remainders)."""
    classes, sizes = np.unique(labels, return_counts=True)
    quotas = count * sizes / len(labels)
    shares = np.floor(quotas).astype(np.int64)
    order = np.argsort(-(quotas - shares), kind="stable")
    shares[order[: count - shares.sum()]] += 1
    generator = np.random.default_rng(seed)
    mask = np.zeros(len(labels), dtype=np.bool_)
    for label, share in zip(classes, shares, strict=True):
        mask[generator.permutation(np.flatnonzero(labels == label))[:share]] = True
    return mask
