# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from resil.reports.labels import Box, Labels, Spot
from resil.reports.svg import Canvas

PLOT = Box(0.0, 0.0, 200.0, 100.0)


def written(*labels, taken=()):
    canvas = Canvas("t", 200.0)
    placed = Labels(PLOT, list(taken))
    for text, spots in labels:
        placed.add([text], "strong", spots)
    placed.write(canvas)
    return canvas.finish("", "", 100.0).body


def test_the_first_free_spot_is_taken():
    spots = [Spot(20.0, 30.0), Spot(90.0, 30.0)]
    assert 'x="20"' in written(("one", spots))
    assert 'x="90"' in written(("one", spots), taken=[Box(25.0, 20.0, 30.0, 25.0)])


def test_spots_outside_the_plot_come_last():
    spots = [Spot(190.0, 30.0), Spot(20.0, 30.0)]
    assert 'x="20"' in written(("one", spots), taken=[Box(0.0, 0.0, 100.0, 100.0)])


def test_a_label_gives_way_to_one_that_has_nowhere_else_to_go():
    body = written(("one", [Spot(20.0, 30.0), Spot(120.0, 30.0)]), ("two", [Spot(22.0, 32.0)]))
    assert '<text x="120" y="30"' in body
    assert '<text x="22" y="32"' in body


def test_no_labels_write_nothing():
    assert written() == ""
