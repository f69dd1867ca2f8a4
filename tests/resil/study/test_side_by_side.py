# SPDX-License-Identifier: Apache-2.0
"""Which parts of a study are carried out at the same time, and with how many workers each."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise

import pytest

from resil.progress import Progress
from resil.study.side_by_side import PartEnd, SideBySide


@dataclass(frozen=True)
class Weighed:
    name: str
    weight: int


def _carried_out(weights, workers, side, room):
    """Return (name, workers, began, ended) of each, in seconds."""

    def attempt(part, own, progress):
        began = time.monotonic()
        time.sleep(0.3)
        return PartEnd((part.name, own, began, time.monotonic()))

    parts = [Weighed(str(number), weight) for number, weight in enumerate(weights)]
    together = SideBySide(attempt, workers, side, lambda part: part.weight, Progress(), room)
    return sorted(end.answer for _, end in together.run(parts, lambda part: None))


@pytest.mark.parametrize(
    ("weights", "workers", "side", "expected"),
    [
        ((1, 1, 1, 1), 4, 4, [{"0", "1", "2", "3"}]),
        ((1, 1, 1), 2, 2, [{"0", "1"}, {"2"}]),
        # As much as fits: what is too large for the room goes by itself, and has all workers.
        ((9, 1, 1), 4, 4, [{"0"}, {"1", "2"}]),
        ((3, 3, 1), 4, 4, [{"0"}, {"1", "2"}]),
        ((2, 2, 2, 2), 4, 4, [{"0", "1"}, {"2", "3"}]),
    ],
)
def test_parts_begin_in_order_as_far_as_there_is_room(weights, workers, side, expected):
    found = _carried_out(weights, workers, side, 4)
    assert [name for name, *_ in found] == [str(number) for number in range(len(weights))]
    for group in expected:
        own = [(began, ended) for name, _, began, ended in found if name in group]
        assert max(began for began, _ in own) < min(ended for _, ended in own)
    for before, after in pairwise(expected):
        ended = min(ended for name, _, _, ended in found if name in before)
        assert all(began >= ended for name, _, began, _ in found if name in after)
    first = expected[0]
    assert [own for name, own, _, _ in found if name in first] == [workers // len(first)] * len(first)
