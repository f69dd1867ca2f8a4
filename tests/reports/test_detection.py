# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io

import openpyxl
import pandas as pd
import pytest

from resil.record.detection import CAUGHT, COLUMNS
from resil.record.errors import ReportError
from resil.reports import render, text_report
from resil.reports.blocks_csv import blocks_csv
from resil.reports.detection import caught_table
from testkit.errors import about
from tests.reports.example import example_summary, predicted, summary_of, with_alarms


@pytest.fixture
def document():
    return with_alarms(example_summary())


def test_detected_faults_are_split_by_what_they_would_have_done(document):
    summary = summary_of(document)
    table = caught_table(summary.detection)
    assert [row[0] for row in table.rows] == [*(block.name for block in summary.blocks), "total"]
    for row, block in zip(table.rows, (*summary.blocks, summary.total), strict=True):
        assert int(row[1]) == block.counts["due"] == sum(int(cell) for cell in row[2:6])
    frame = pd.read_csv(io.StringIO(blocks_csv(summary)))
    assert frame[list(CAUGHT)].sum(axis=1).tolist() == frame["due"].tolist()
    assert frame["corrected"].tolist() == [1] * 7 + [7]


def test_every_output_says_which_alarm_told(document):
    files = {str(path): data for path, data in render(summary_of(document)).items()}
    book = openpyxl.load_workbook(io.BytesIO(files["fmeda.xlsx"]))
    cells = [cell for row in book["Detection"].iter_rows(values_only=True) for cell in row]
    html = files["report.html"]
    html = html if isinstance(html, str) else html.decode()
    for text in (text_report(summary_of(document)), html):
        assert "What detection caught" in text
        assert "6,155" in text
    assert {"error", "ecc", 6155} <= set(cells)


def test_without_alarms_nothing_is_said_of_them():
    summary = summary_of(predicted(example_summary()))
    assert "caught" not in text_report(summary_of(example_summary()))
    assert "caught" not in text_report(summary)
    assert pd.read_csv(io.StringIO(blocks_csv(summary)))[list(COLUMNS)].isna().all(axis=None)


@pytest.mark.parametrize(("change", "wrong"), [({"due_hang": 99}, ""), ({"block": "sb2"}, ".block")])
def test_what_was_caught_adds_up_to_the_detected_faults(document, change, wrong):
    document["detection"]["blocks"][0] |= change
    with pytest.raises(ReportError, check=about(f"detection.blocks[0]{wrong}")):
        summary_of(document)
