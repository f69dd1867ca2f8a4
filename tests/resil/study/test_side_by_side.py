# SPDX-License-Identifier: Apache-2.0
"""Which parts of a study are carried out at the same time, and with how many workers each."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

from resil.prepare.targets import estimated_cycles
from resil.progress import Progress
from resil.study.side_by_side import CELL_BYTES, INPUT_BYTES, PartEnd, SideBySide, cell_bytes, in_turn
from resil.study.study_file import load_study
from tests.resil.studies import TEXT, write_study


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


def test_cells_of_different_targets_begin_in_turn_with_the_longest_network(tmp_path):
    """Two of one target would wait for the same builds; a target of which nothing is left is passed over."""
    alone = '[[network]]\npath = "zoo:mnist_autoencoder"\ninputs = [0]\ntargets = ["ethos-u55-64"]\n[faults]'
    cells = load_study(write_study(tmp_path, TEXT.replace("[faults]", alone))).cells
    begun = [f"{cell.target[10:]} {cell.network}" for cell in in_turn(cells)]
    assert begun == [
        "32 mnist_lenet",
        "64 mnist_lenet",
        "32 digits",
        "64 mnist_autoencoder",
        "64 digits",
    ]


def test_a_cell_weighs_by_the_length_of_its_runs(tmp_path):
    """`digits` is short, `mnist_lenet` four times as long; of what does not compile nothing is known."""
    digits, lenet = load_study(write_study(tmp_path, TEXT)).cells[:2]
    room = [cell_bytes(cell) - CELL_BYTES for cell in (digits, lenet)]
    assert estimated_cycles(digits.campaign) < estimated_cycles(lenet.campaign)
    assert 0 < room[0] < room[1] < 2 * INPUT_BYTES  # two inputs each
    (tmp_path / "broken.tflite").write_bytes(b"no network")
    broken = TEXT.replace("zoo:mnist_lenet", "broken.tflite").replace("inputs = [0, 3]", 'inputs = "x.npy"')
    np.save(tmp_path / "x.npy", np.zeros((2, 8, 8, 1), np.int8))
    _, unknown = load_study(write_study(tmp_path, broken)).cells[:2]
    assert cell_bytes(unknown) - CELL_BYTES == 64 * INPUT_BYTES
