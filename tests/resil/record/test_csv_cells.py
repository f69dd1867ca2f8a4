# SPDX-License-Identifier: Apache-2.0
"""Cells of CSV files that a spreadsheet would take for formulas."""

from __future__ import annotations

import csv
import io
import json

import pyarrow as pa
import pytest

from resil.record.csv_cells import csv_cell, csv_column, csv_text
from resil.reports.blocks_csv import blocks_csv
from resil.reports.figure_data import figure_data
from resil.rtl_harness.plain_file import read_cell
from tests.reports.example import example_summary, summary_of

FORMULAS = ("=1+1", '=HYPERLINK("x")', "+1", "-1", "@SUM(A1)", "\t=1")


@pytest.mark.parametrize("text", [*FORMULAS, "'", "'=1", "''", "plain", "", "a=1", "dut.u_a.q[3]"])
def test_a_cell_is_read_back_as_it_was(text):
    assert read_cell(str(csv_cell(text))) == text
    assert csv_column(pa.chunked_array([[text, None]])).to_pylist() == [csv_cell(text), None]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_text_begins_a_formula(text):
    (cell,) = list(csv.reader(io.StringIO(csv_text(("a",), [(text,)]), newline="")))[1]
    assert cell == f"'{text}"


def test_numbers_stay_numbers():
    assert csv_text(("a", "b", "c"), [(-1, -2.5, None)]) == "a,b,c\n-1,-2.5,\n"
    assert csv_column(pa.chunked_array([[-1, 2]])).to_pylist() == [-1, 2]


def test_names_of_blocks_begin_no_formula():
    summary = summary_of(json.loads(json.dumps(example_summary()).replace('"cc"', '"=cc"')))
    for text in (blocks_csv(summary), *figure_data(summary).values()):
        rows = list(csv.reader(io.StringIO(text)))
        assert not [cell for row in rows for cell in row if cell.startswith("=")]
    assert "'=cc" in blocks_csv(summary)
