# SPDX-License-Identifier: Apache-2.0
"""What is left is foretold from what was carried out."""

from __future__ import annotations

import pytest

from resil.study.pace import StudyPace
from tests.resil.studies import study


def test_a_network_takes_as_long_as_on_another_target_and_others_the_mean():
    cells = study().cells
    pace = StudyPace(cells)
    assert pace.seconds_left is None
    assert pace.during(cells[0], 3.0) == "0 of 4 cells"
    pace.answered(cells[0])
    pace.note(cells[0], 10.0, 500)
    assert pace.seconds_left == pytest.approx(30.0)
    assert pace.text() == "1 of 4 cells, about 30 s left, 50 injections/s"
    pace.answered(cells[1])
    pace.note(cells[1], 40.0, 500)
    assert pace.seconds_left == pytest.approx(50.0)
    assert pace.during(cells[2], 4.0) == "2 of 4 cells, about 46 s left"
    assert pace.during(cells[2], 90.0) == "2 of 4 cells, about 40 s left"
    pace.answered(cells[2])
    assert pace.during(cells[3], 90.0) == "3 of 4 cells"


def test_what_follows_on_the_cells_is_said_for_nothing_is_foretold_of_it():
    cells = study().cells
    pace = StudyPace(cells, "protection")
    pace.answered(cells[0])
    pace.note(cells[0], 10.0, 500)
    assert pace.text() == "1 of 4 cells, about 30 s left, then protection, 50 injections/s"
    assert pace.during(cells[1], 4.0) == "1 of 4 cells, about 26 s left, then protection"


def test_builds_are_foretold_for_each_target_once():
    cells = study().cells
    pace = StudyPace(cells)
    pace.answered(cells[0])
    pace.note(cells[0], 110.0, 500, 100.0)
    assert pace.seconds_left == pytest.approx(10.0 + 2 * 10.0 + 100.0)
    assert pace.during(cells[2], 105.0) == "1 of 4 cells, about 25 s left"
    pace.answered(cells[2])
    pace.note(cells[2], 70.0, 500, 60.0)
    assert pace.seconds_left == pytest.approx(20.0)


def test_what_was_finished_before_counts_and_tells_no_time():
    cells = study().cells
    pace = StudyPace(cells)
    for cell in cells[:3]:
        pace.answered(cell)
    assert pace.text() == "3 of 4 cells"
