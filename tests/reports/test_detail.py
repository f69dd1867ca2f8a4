# SPDX-License-Identifier: Apache-2.0
"""Registers, times, operations and memories on the page: tables, pictures, and data of its script."""

from __future__ import annotations

import base64
import gzip
import json
import re
from functools import cache
from hashlib import sha256
from xml.etree import ElementTree

import pytest

from resil.reports import render
from resil.reports.detail_tables import memory_table, register_table, time_table
from resil.reports.figures import catalogue
from resil.reports.treemap import Tile, squarified
from testkit.detail_example import example_detail
from tests.reports.example import SEVEN, example_protection, example_summary, protection_of, summary_of

BLOCKS = tuple(row[0] for row in SEVEN)


@cache
def page(even=True, registers=60):
    document = example_summary()
    plan = protection_of(example_protection(document))
    detail = example_detail(BLOCKS, registers=registers, even=even)
    return render(summary_of(document), plan, detail)["report.html"]


def tree(text):
    return ElementTree.fromstring(text.removeprefix("<!doctype html>\n"))


def data_of(text):
    holder = next(e for e in tree(text).iter("script") if e.attrib.get("id") == "page-data")
    return json.loads(gzip.decompress(base64.b64decode(holder.text)))


@pytest.mark.parametrize("even", [True, False])
def test_the_page_runs_its_own_script_and_no_other(even):
    text = page(even)
    scripts = [element for element in tree(text).iter("script")]
    assert [element.attrib for element in scripts] == [{"type": "text/plain", "id": "page-data"}, {}]
    source = re.search(r"<script>(.*)</script>\n</body>|<script>(.*?)</script>", text, re.DOTALL)
    own = next(part for part in source.groups() if part is not None)
    digest = base64.b64encode(sha256(own.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    for word in ("fetch(", "XMLHttpRequest", "import(", "http://", "https://"):
        assert word not in own.replace("http://www.w3.org/2000/svg", "")


def test_the_data_of_the_script_are_those_of_the_tables():
    detail = example_detail(BLOCKS, registers=60)
    found = data_of(page())
    assert len(found["detail"]["registers"]) == 60
    for row, known in zip(found["detail"]["registers"], detail.registers, strict=True):
        assert (row["path"], row["hazardous"]) == (known.path, known.hazardous)
        assert row["fit_hi"] == pytest.approx(known.fit_hi, rel=1e-3)
    front = found["front"]
    assert sum(point["chosen"] for point in front) == 1
    budget = 0.01
    for point in front:
        assert point["rows"][0][0] == (point["fit_hi"] <= budget)


def test_a_million_injections_make_a_page_of_less_than_three_megabytes():
    document = example_summary()
    detail = example_detail(BLOCKS, registers=1500, injections=1_000_000, bins=40)
    assert sum(detail.timeline.injections) == 1_000_000
    assert len(render(summary_of(document), None, detail)["report.html"].encode()) < 3_000_000


def test_every_table_says_what_was_counted():
    detail = example_detail(BLOCKS, registers=60)
    registers = register_table(detail, None)
    assert len(registers.rows) == 60
    for row, known in zip(registers.rows, detail.registers, strict=True):
        assert row[0] == known.path
        assert row[4].replace(",", "") == str(known.injections)
    total = [
        int(part.replace(",", ""))
        for row in time_table(detail).rows
        for cell in row[1:]
        for part in cell.split(" of ")
        if cell != "n/a"
    ]
    assert sum(total[1::2]) == 4000
    assert sum(total[::2]) == sum(detail.timeline.hazardous)
    memory = memory_table(detail, detail.memories[0])
    assert sum(int(cell.split(" of ")[1]) for row in memory.rows for cell in row[1:]) == sum(
        detail.memories[0].injections
    )


def test_a_register_that_nothing_hit_has_a_limit_and_no_estimate():
    detail = example_detail(BLOCKS, registers=60, injections=20)
    unhit = [row for row in register_table(detail, None).rows if row[4] == "0"]
    assert unhit
    assert all(row[-2].startswith("n/a [0, ") for row in unhit)


@pytest.mark.parametrize("width", [350.0, 540.0])
@pytest.mark.parametrize("injections", [1, 4000])
def test_figures_are_well_formed_and_say_what_they_show(width, injections):
    detail = example_detail(BLOCKS, registers=60, injections=injections)
    drawn = catalogue(summary_of(example_summary()), None, width, "x", detail)
    assert {"registers", "treemap", "time", "operation_mix", "class_mix", "memory_0"} <= drawn.keys()
    for drawing in drawn.values():
        ElementTree.fromstring(drawing.standalone())
        assert len(drawing.description) > 10
        assert 'height="-' not in drawing.body
        assert 'width="-' not in drawing.body


def test_traces_are_linked_and_escaped():
    text = page()
    assert '<a href="traces/7.html">Injection 7</a>' in text
    assert "it &lt;waits&gt;" in text


def test_a_page_without_detail_has_none_of_it():
    text = render(summary_of(example_summary()))["report.html"]
    assert 'id="registers"' not in text
    assert "<script" not in text


def test_tiles_fill_their_rectangle_in_proportion():
    tiles = [Tile(str(size), float(size)) for size in (1, 1, 2, 3, 5, 8, 13, 21)]
    placed = squarified(tiles, 10.0, 20.0, 300.0, 100.0)
    scale = 300.0 * 100.0 / sum(tile.size for tile in tiles)
    for own in placed:
        assert own.width * own.height == pytest.approx(own.tile.size * scale)
        assert 10.0 - 1e-6 <= own.x <= own.x + own.width <= 310.0 + 1e-6
        assert 20.0 - 1e-6 <= own.y <= own.y + own.height <= 120.0 + 1e-6
    for one in placed:
        for other in placed:
            across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
            along = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
            assert one is other or across < 1e-6 or along < 1e-6
