# SPDX-License-Identifier: Apache-2.0
"""Kinds of storage in the reports: flip-flops inside SRAM macros stand apart, and the sums lose nothing."""

from __future__ import annotations

import io

import openpyxl
import pytest

from resil.record.errors import ReportError
from resil.reports.blocks_csv import blocks_csv
from resil.reports.fmeda import fmeda_xlsx
from resil.reports.html import report_html
from resil.reports.tables import storage_table, text_report
from testkit.errors import about
from tests.reports.example import example_summary, predicted, summary_of, with_macros


@pytest.fixture
def document():
    return with_macros(example_summary())


def test_a_table_by_kind_of_storage_adds_up(document):
    table = storage_table(summary_of(document))
    assert table is not None
    assert [row[0] for row in table.rows] == ["flip-flops", "flip-flops in SRAM macros", "total"]
    for column in (1, 3):
        *parts, total = (int(row[column].replace(",", "")) for row in table.rows)
        assert sum(parts) == total
    assert storage_table(summary_of(example_summary())) is None


def test_every_report_tells_them_apart(document):
    summary = summary_of(document)
    bits = document["total"]["macro_bits"]
    assert "flip-flops in SRAM macros" in text_report(summary)
    assert "macro bits" in text_report(summary)
    assert "flip-flops in SRAM macros" in report_html(summary)
    head, *rows = blocks_csv(summary).splitlines()
    place = head.split(",").index("macro_bits")
    assert int(rows[0].split(",")[place]) == int(rows[-1].split(",")[place]) == bits
    book = openpyxl.load_workbook(io.BytesIO(fmeda_xlsx(summary)))
    cells = {row[0]: row[1] for row in book["Summary"].iter_rows(values_only=True)}
    assert cells["Flip-flop bits in SRAM macros"] == bits
    stored = [row for row in book["Storage"].iter_rows(values_only=True) if row[0]]
    assert [row[0] for row in stored[2:]] == ["flip-flops", "flip-flops in SRAM macros", "total"]


def test_without_macros_there_is_no_column_for_them():
    summary = summary_of(example_summary())
    assert "macro bits" not in text_report(summary)
    assert "SRAM macros" not in report_html(summary)


@pytest.mark.parametrize(
    ("key", "change", "field"),
    [
        ("bits", 1, "storage[1].bits"),
        ("injections", 1, "storage[1].injections"),
        ("masked", -1, "storage[1].injections"),
        ("fit_raw", 1e-5, "storage"),
    ],
)
def test_a_kind_that_does_not_add_up_is_refused(document, key, change, field):
    document["storage"][1][key] += change
    with pytest.raises(ReportError, check=about(field)):
        summary_of(document)


def test_kinds_that_hold_more_injections_than_the_total_are_refused(document):
    for key in ("injections", "masked"):
        document["storage"][1][key] += 1
    with pytest.raises(ReportError, check=about("storage")):
        summary_of(document)


def test_a_kind_that_is_lost_is_refused(document):
    del document["storage"][1]
    with pytest.raises(ReportError, check=about("storage")):
        summary_of(document)
    document["storage"] = []
    with pytest.raises(ReportError, check=about("storage")):
        summary_of(document)
    assert summary_of(predicted(document)).storage == ()


def test_a_block_whose_macros_the_total_leaves_out_is_refused(document):
    document["total"]["macro_bits"] -= 1
    with pytest.raises(ReportError, check=about("total.macro_bits")):
        summary_of(document)
