# SPDX-License-Identifier: Apache-2.0
"""Images that are kept as what changes between them."""

import doctest

import numpy as np
import pytest

from resil.rtl_harness.npu import images
from resil.rtl_harness.npu.images import ImageHistory


def test_doctests():
    assert doctest.testmod(images).failed == 0


def test_any_image_comes_back_in_any_order():
    random = np.random.default_rng(1)
    made = [random.integers(0, 256, 300, np.uint8)]
    for _ in range(9):
        changed = made[-1].copy()
        changed[random.integers(0, 300, 20)] = random.integers(0, 256, 20)
        made.append(changed)
    history = ImageHistory(made[0])
    for image in made[1:]:
        history.add(image)
    assert len(history) == len(made)
    for number in (0, 9, 4, 4, 5, 0, 8):
        assert np.array_equal(history.at(number), made[number])
    for number in (-1, 10):
        with pytest.raises(IndexError, match="expected an image from 0 to 9"):
            history.at(number)


def test_what_is_given_out_cannot_be_written():
    history = ImageHistory(np.zeros(8, np.uint8))
    with pytest.raises(ValueError, match="read-only"):
        history.at(0)[3] = 1
