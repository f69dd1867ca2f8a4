# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from resil.work.patterns import Pattern, describe, redraw

GENERATOR = np.random.default_rng(7)
MAP = GENERATOR.integers(-100, 100, (6, 5, 8), dtype=np.int8)


def changed(before, after):
    places = np.argwhere(before != after)
    index = tuple(places.T)
    return describe(3, places.astype(np.int64), before[index], after[index], before.shape, 0)


def test_text_holds_all_of_a_pattern():
    after = MAP.copy()
    after[2, :, 3] ^= 5
    pattern = changed(MAP, after)
    assert Pattern.from_text(pattern.as_text()) == pattern
    assert pattern.count == 5
    assert pattern.box == (2, 2, 0, 4, 3, 3)


@pytest.mark.parametrize("text", ["", "[]", "[[1,2,3],[1,2,3],[],[]]", "{}", "[[0,1,1,0],[1,1,1],[0],[]]"])
def test_other_text_is_refused(text):
    with pytest.raises(ValueError, match="corruption pattern"):
        Pattern.from_text(text)


def test_one_flipped_bit_is_one_flipped_bit_elsewhere():
    after = MAP.copy()
    after[1, 2, 3] ^= 16
    new = np.zeros((3, 3, 2), np.int8)
    drawn = redraw(changed(MAP, after), new, np.random.default_rng(1))
    assert np.count_nonzero(drawn) == 1
    assert drawn.max() == 16


def test_what_spans_the_map_spans_another_map_too():
    after = MAP.copy()
    after[:, :, 4] = 127
    new = np.zeros((9, 4, 3), np.int8)
    drawn = redraw(changed(MAP, after), new, np.random.default_rng(1))
    channel = np.flatnonzero(drawn.any(axis=(0, 1)))
    assert len(channel) == 1
    assert (drawn[:, :, channel] == 127).all()


def test_places_are_random_and_inside():
    after = MAP.copy()
    after[0, 0, 0] ^= 1
    pattern = changed(MAP, after)
    generator = np.random.default_rng(2)
    places = {
        tuple(np.argwhere(redraw(pattern, np.zeros((4, 4, 4), np.int8), generator))[0]) for _ in range(99)
    }
    assert len(places) > 30


def test_changes_stay_within_the_type_and_grow_with_it():
    after = MAP.copy()
    after[0, 0, :2] = MAP[0, 0, :2] + np.array([3, -9], np.int8)
    drawn = redraw(changed(MAP, after), np.full((2, 2, 2), 2**31 - 1, np.int32), np.random.default_rng(1))
    assert drawn.dtype == np.int32
    assert (drawn.astype(np.int64) >= -(2**31)).all()
    assert drawn.min() < 2**31 - 1 - 2**24


def test_nothing_changed_redraws_nothing():
    none = np.zeros((0, 3), np.int64)
    pattern = describe(0, none, np.zeros(0, np.int8), np.zeros(0, np.int8), (1, 1, 4), 6)
    assert pattern.stray == 6
    assert np.array_equal(redraw(pattern, MAP, GENERATOR), MAP)
