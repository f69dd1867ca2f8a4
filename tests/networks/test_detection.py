# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from resil.networks.detection import ACTIVATIONS, DetectionRule, Detections, shared


def overlap(one, other):
    """Intersection over union of two boxes, by scalars."""
    height = min(one[2], other[2]) - max(one[0], other[0])
    width = min(one[3], other[3]) - max(one[1], other[1])
    common = max(height, 0) * max(width, 0)
    whole = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)) - common
    return common / whole if whole > 0 else 0.0


def plain_boxes(generator, count):
    first = generator.random((count, 2)) * 0.6
    return np.concatenate([first, first + 0.1 + 0.3 * generator.random((count, 2))], axis=1)


def kept(rule, boxes, scores):
    """What is kept, box by box, as a detector's host does it."""
    found = []
    for number, row in enumerate(scores):
        if rule.activation == "sigmoid":
            row = [1 / (1 + math.exp(-score)) for score in row]
        elif rule.activation == "softmax":
            total = sum(math.exp(score) for score in row)
            row = [math.exp(score) / total for score in row]
        allowed = [(score, -label) for label, score in enumerate(row) if label != rule.background]
        score, label = max(allowed)
        if score > rule.threshold:
            found.append((score, -number, -label))
    result = []
    for _, number, label in sorted(found, reverse=True):
        box = boxes[-number]
        if len(result) < rule.most and all(
            other_label != label or overlap(box, other) <= rule.overlap for other, other_label in result
        ):
            result.append((box, label))
    return result


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("background", [None, 1])
def test_what_is_kept_is_what_a_host_keeps_box_by_box(activation, background):
    generator = np.random.default_rng(5)
    suppressed = 0
    for most in (3, 100):
        rule = DetectionRule(activation, 0.4, 0.3, 0.5, most, background)
        for _ in range(20):
            boxes, scores = plain_boxes(generator, 24), generator.normal(size=(24, 3))
            expected = kept(rule, boxes, scores)
            found = rule.detect(boxes, scores)
            assert found.classes.tolist() == [label for _, label in expected]
            assert np.array_equal(found.boxes, np.array([box for box, _ in expected]).reshape(-1, 4))
            suppressed += len(
                kept(DetectionRule(activation, 0.4, 1.0, 0.5, most, background), boxes, scores)
            ) - len(found)
    assert suppressed > 0


def test_boxes_are_decoded_from_their_anchors():
    anchors = np.array([[0.5, 0.25, 0.2, 0.4]])
    rule = DetectionRule(anchors=anchors, scales=(10.0, 10.0, 5.0, 5.0))
    values = [3.0, -2.0, 5 * math.log(2), 5 * math.log(0.5)]
    y, x = 0.5 + 0.3 * 0.2, 0.25 - 0.2 * 0.4
    assert rule.corners(np.array([values]))[0] == pytest.approx([y - 0.2, x - 0.1, y + 0.2, x + 0.1])
    assert np.isfinite(rule.corners(np.array([[1e9, 0.0, 1e9, 1e9]]))).all()


def test_boxes_are_the_same_if_they_can_be_paired():
    generator = np.random.default_rng(2)
    outcomes = set()
    for _ in range(400):
        count = int(generator.integers(0, 5))
        boxes = plain_boxes(generator, 1)[np.zeros(count, int)] + generator.normal(0, 0.02, (count, 4))
        others = boxes[generator.permutation(count)] + generator.normal(0, 0.02, (count, 4))
        labels = [generator.integers(0, 2, count) for _ in range(2)]
        expected = any(
            all(
                labels[0][i] == labels[1][j] and overlap(boxes[i], others[j]) >= 0.6
                for i, j in enumerate(order)
            )
            for order in permutations(range(count))
        )
        one, other = Detections(boxes, labels[0], 0.6), Detections(others, labels[1], 0.6)
        assert (one == other) is (other == one) is expected
        outcomes.add((count, expected))
    assert {(4, True), (4, False), (0, True)} <= outcomes


BOX = np.array([[0.1, 0.1, 0.5, 0.5]])
SAME = Detections(BOX, np.array([3]), 0.5)


@pytest.mark.parametrize(
    ("boxes", "classes"),
    [
        (np.zeros((0, 4)), []),
        (np.concatenate([BOX, BOX + 0.4]), [3, 3]),
        (BOX, [4]),
        (BOX + np.array([0.2, 0.0, 0.2, 0.0]), [3]),
        (BOX * [[1, 1, 0, 0]], [3]),
    ],
    ids=["lost", "new", "another class", "moved", "empty"],
)
def test_what_is_another_decision(boxes, classes):
    assert Detections(boxes, np.array(classes, int), 0.5) != SAME


def test_a_small_shift_is_none():
    assert Detections(BOX + np.array([0.05, 0.0, 0.05, 0.0]), np.array([3]), 0.5) == SAME
    assert shared(BOX, BOX + 1.0)[0, 0] == 0.0
    assert object() != SAME
