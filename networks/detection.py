# SPDX-License-Identifier: Apache-2.0
"""What a single-shot detector's outputs decide: the boxes that are kept, each with its class.

Boxes are decoded as TensorFlow Lite's detection models have them (SSD, arXiv 1512.02325): of each anchor the
shift of the middle as a share of the anchor's size, and the logarithm of the size as a share of it, both
times a scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]

NONE, SIGMOID, SOFTMAX = ACTIVATIONS = ("none", "sigmoid", "softmax")
# Of a size: a fault that makes a box wider than the whole picture by this power of e has made it wrong.
_LARGEST = 50.0


@dataclass(frozen=True, eq=False)
class DetectionRule:
    """How boxes and scores are read.

    Attributes:
        activation: Of the scores: "none", "sigmoid" or "softmax" over the classes of a box.
        threshold: A box is kept for the class of its highest score, if that is above it.
        overlap: Of two boxes of one class with an intersection over union above it the lower score goes.
        match: Two boxes of one class are the same with an intersection over union of at least this.
        most: Boxes that are kept, those with the highest scores.
        background: Class that stands for no object; None if there is none.
        anchors: (boxes, 4): middle y and x, height and width. None: a box is given by its top, left, bottom
            and right.
        scales: By what the four numbers of a box are divided; only with anchors.
    """

    activation: str = NONE
    threshold: float = 0.5
    overlap: float = 0.5
    match: float = 0.5
    most: int = 100
    background: int | None = None
    anchors: Reals | None = None
    scales: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)

    def detect(self, boxes: Reals, scores: Reals) -> Detections:
        """Return what is detected.

        Args:
            boxes: (..., 4), real values.
            scores: (..., classes), real values, of as many boxes.
        """
        corners = self.corners(boxes.reshape(-1, 4))
        shares = _activated(scores.reshape(len(corners), -1), self.activation)
        if self.background is not None:
            shares[:, self.background] = -np.inf
        classes = shares.argmax(axis=1)
        best = shares[np.arange(len(shares)), classes]
        kept: list[int] = []
        for number in np.argsort(-best, kind="stable").tolist():
            if not best[number] > self.threshold or len(kept) == self.most:
                break
            same = [other for other in kept if classes[other] == classes[number]]
            if not (shared(corners[[number]], corners[same]) > self.overlap).any():
                kept.append(number)
        return Detections(corners[kept], classes[kept], self.match)

    def corners(self, boxes: Reals) -> Reals:
        """Return top, left, bottom and right of boxes (boxes, 4)."""
        if self.anchors is None:
            return boxes
        values = boxes / np.asarray(self.scales)
        middle = values[:, :2] * self.anchors[:, 2:] + self.anchors[:, :2]
        half = np.exp(np.minimum(values[:, 2:], _LARGEST)) * self.anchors[:, 2:] / 2
        found: Reals = np.concatenate([middle - half, middle + half], axis=1)
        return found


@dataclass(frozen=True, eq=False)
class Detections:
    """Boxes that were kept.

    Two are equal if there is a pairing of all boxes of the one with all of the other in which each pair has
    one class and overlaps enough. So a box that is lost, comes new, changes class or moves away is another
    decision.

    Attributes:
        boxes: (boxes, 4): top, left, bottom, right.
        classes: (boxes,).
        match: Least intersection over union of two boxes that are the same.
    """

    boxes: Reals
    classes: npt.NDArray[np.int64]
    match: float

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.boxes)

    def __eq__(self, other: object) -> bool:
        """Return whether the same is detected."""
        if not isinstance(other, Detections):
            return NotImplemented
        if len(self) != len(other):
            return False
        fits = (shared(self.boxes, other.boxes) >= self.match) & (self.classes[:, None] == other.classes)
        return _all_paired([np.flatnonzero(row).tolist() for row in fits])

    __hash__ = None  # type: ignore[assignment]  # equality is no equivalence: it has no classes to hash by


def shared(boxes: Reals, others: Reals) -> Reals:
    """Return the intersection over union of boxes (n, 4) and others (m, 4), (n, m); 0 where one is empty."""
    first = np.maximum(boxes[:, None, :2], others[None, :, :2])
    last = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    common = np.prod(np.maximum(last - first, 0.0), axis=2)
    sizes = [np.prod(np.maximum(own[:, 2:] - own[:, :2], 0.0), axis=1) for own in (boxes, others)]
    whole = sizes[0][:, None] + sizes[1][None, :] - common
    found: Reals = np.divide(common, whole, out=np.zeros_like(common), where=whole > 0)
    return found


def _activated(scores: Reals, activation: str) -> Reals:
    if activation == SIGMOID:
        shares: Reals = 1.0 / (1.0 + np.exp(-np.clip(scores, -_LARGEST, _LARGEST)))
        return shares
    if activation == SOFTMAX:
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares = powers / powers.sum(axis=1, keepdims=True)
        return shares
    return scores.copy()


def _all_paired(choices: Sequence[Sequence[int]]) -> bool:
    """Return whether each can have one of its choices that no other has (augmenting paths)."""
    taken: dict[int, int] = {}

    def place(number: int, tried: set[int]) -> bool:
        for choice in choices[number]:
            if choice in tried:
                continue
            tried.add(choice)
            if choice not in taken or place(taken[choice], tried):
                taken[choice] = number
                return True
        return False

    return all(place(number, set()) for number in range(len(choices)))
