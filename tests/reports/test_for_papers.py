# SPDX-License-Identifier: Apache-2.0
"""Figures for papers: each as SVG and as PDF with its fonts, and the data that it shows as CSV."""

from __future__ import annotations

import csv
import io
import re
import sys
import zlib
from functools import cache

import pytest

from resil.reports import ReportError, render_for_papers
from resil.reports.figure_data import figure_data
from resil.reports.figures import framed_figures
from resil.reports.pdf import pdf_of
from testkit.detail_example import example_detail
from tests.reports.example import SEVEN, example_protection, example_summary, protection_of, summary_of

BLOCKS = tuple(row[0] for row in SEVEN)
NAMES = {
    *("verdict", "fit-area", "fit-intervals", "outcomes", "operations", "registers", "treemap", "time"),
    *("operation-mix", "class-mix", "memory-0", "front", "effect"),
}


@cache
def documents():
    made = example_summary()
    return summary_of(made), protection_of(example_protection(made)), example_detail(BLOCKS, registers=60)


@cache
def files():
    return render_for_papers(*documents())


def rows(name):
    return list(csv.DictReader(io.StringIO(files()[f"{name}.csv"])))


def test_every_figure_is_there_three_times():
    expected = {f"{name}.{end}" for name in NAMES for end in ("svg", "pdf", "csv")}
    assert set(files()) == expected | {"overview.svg", "overview.pdf"}


def test_pdf_has_its_fonts_and_says_what_the_figure_says():
    for name in ("fit-intervals", "treemap", "front"):
        data = files()[f"{name}.pdf"]
        assert data.startswith(b"%PDF")
        assert b"/FontFile2" in data
        assert b"/Type3" not in data
    page = files()["fit-area.pdf"]
    streams = [
        zlib.decompress(own) for own in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", page, re.DOTALL)[:3]
    ]
    drawn = b"".join(streams)
    assert drawn.count(b" re") + drawn.count(b" l\n") > 14


def test_the_same_figures_are_the_same_bytes():
    drawing = framed_figures(*documents())["verdict"]
    assert pdf_of(drawing) == files()["verdict.pdf"]


def test_data_are_those_of_the_run():
    summary, protection, detail = documents()
    found = {row["block"]: row for row in rows("fit_intervals".replace("_", "-"))}
    for block in (*summary.blocks, summary.total):
        assert float(found[block.name]["fit_hi"]) == block.fit_interval.hi
        assert found[block.name]["figure_is"] == "measured"
    assert sum(float(row["share_of_area"]) for row in rows("fit-area")) == pytest.approx(1.0)
    for row, known in zip(rows("registers"), detail.registers, strict=True):
        assert (row["register"], int(row["hang"])) == (known.path, known.hang)
        assert float(row["fit_lo"]) == known.fit_lo
    assert sum(int(row["injections"]) for row in rows("time")) == sum(detail.timeline.injections)
    assert len(rows("front")) == len(protection.plan.pareto)
    assert {row["figure_is"] for row in rows("front")} == {"predicted"}


def test_an_unknown_figure_is_an_empty_cell_and_no_zero():
    blocks = (*SEVEN[:2], ("cpm", 0, 0, 0.0, 0, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
    made = figure_data(summary_of(example_summary(blocks=blocks)))
    last = list(csv.DictReader(io.StringIO(made["fit_intervals"])))[-2]
    assert (last["block"], last["fit"], last["fit_hi"]) == ("cpm", "", "")


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ReportError) as caught:
        render_for_papers(*documents())
    assert caught.value.field == "matplotlib"
    assert "resil[notebook]" in str(caught.value)
