# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io

import openpyxl
import pytest

from resil.reports.fmeda import FMEDA_COLUMNS, fmeda_xlsx
from tests.reports.example import (
    SEVEN,
    example_protection,
    example_summary,
    protection_of,
    renamed,
    summary_of,
)


def opened(data):
    """The workbook as a program sees it that does not compute."""
    return openpyxl.load_workbook(io.BytesIO(data), data_only=True)


def records(book):
    head, *rows = book["FMEDA"].iter_rows(values_only=True)
    assert head == FMEDA_COLUMNS
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_sheets_and_one_row_for_each_block_and_failure_mode(summary):
    book = opened(fmeda_xlsx(summary))
    assert book.sheetnames == [
        "Summary",
        "FMEDA",
        "Base rates",
        "Assumptions of use",
        "Assumptions & sources",
        "Change history",
    ]
    *rows, total = records(book)
    assert [(row["Block"], row["Outcome"]) for row in rows] == [
        (block.name, outcome) for block in summary.blocks for outcome in block.counts
    ]
    assert total["Block"] == "total"


def test_the_targets_parameters_are_in_the_summary():
    document = example_summary()
    document["target"]["parameters"] = {"Macs": 32, "RegionCheck": 0}
    sheet = opened(fmeda_xlsx(summary_of(document)))["Summary"]
    found = {row[0]: row[1] for row in sheet.iter_rows(values_only=True)}
    assert found["Parameters of the target"] == "Macs = 32, RegionCheck = 0"


def test_unprotected_sums_agree_with_the_summary(summary):
    *rows, total = records(opened(fmeda_xlsx(summary)))
    for block in summary.blocks:
        own = [row for row in rows if row["Block"] == block.name]
        assert sum(row["FIT of failure mode"] for row in own) == pytest.approx(block.fit_raw)
        assert sum(row["Residual FIT"] for row in own) == pytest.approx(block.fit)
        assert {row["Diagnostic coverage"] for row in own} == {0.0}
    assert total["FIT of failure mode"] == pytest.approx(summary.total.fit_raw)
    assert total["Residual FIT"] == pytest.approx(summary.total.fit)
    assert total["Observed"] == summary.total.injections


def test_protected_sums_agree_with_the_protection(summary, protection):
    *rows, total = records(opened(fmeda_xlsx(summary, protection)))
    assert total["Residual FIT"] == pytest.approx(protection.plan.fit)
    for row in rows:
        hazardous = row["Outcome"] in summary.campaign.hazardous
        assert row["Violates the safety goal"] == ("yes" if hazardous else "no")
        if not hazardous:
            assert row["Residual FIT, upper limit"] == 0.0
    covered = {row["Block"]: row["Diagnostic coverage"] for row in rows if row["Outcome"] == "hang"}
    assert covered["cc"] == 0.0
    assert covered["sb"] == 0.0
    factors = {row["Block"]: row["Base rate factor"] for row in rows if row["Outcome"] == "hang"}
    assert factors["cc"] == pytest.approx(2e-4)
    assert factors["sb"] == 1.0
    for row in rows:
        assert row["Base FIT"] == pytest.approx(row["FIT of failure mode"] * row["Base rate factor"])


def test_spfm_is_the_same_number_in_sheet_summary_and_protection(summary, protection):
    *_, total = records(opened(fmeda_xlsx(summary, protection)))
    assert total["Base FIT"] == pytest.approx(protection.plan.fit_raw_after)
    *_, bare = records(opened(fmeda_xlsx(summary)))
    spfm = 1 - bare["Residual FIT"] / bare["Base FIT"]
    assert spfm == pytest.approx(summary.metrics.spfm.estimate)
    assert spfm == pytest.approx(protection.plan.spfm_before)


def test_blocks_with_unlike_kinds_of_bits_add_up_to_their_fit(summary_document):
    row = summary_document["blocks"][0]
    for key in ("fit", "fit_lo", "fit_hi"):
        row[key] *= 0.5
    rows = records(opened(fmeda_xlsx(summary_of(summary_document))))
    own = [record for record in rows if record["Block"] == "cc"]
    assert sum(record["Residual FIT"] for record in own) == pytest.approx(row["fit"])
    assert sum(record["FIT of failure mode"] for record in own) == pytest.approx(row["fit_raw"])


def test_an_infeasible_protection_covers_nothing(summary_document):
    protection = protection_of(example_protection(summary_document, 1e-9))
    rows = records(opened(fmeda_xlsx(summary_of(summary_document), protection)))
    assert {row["Diagnostic coverage"] for row in rows[:-1]} == {0.0}


def test_bytes_are_the_same_each_time(summary, protection):
    assert fmeda_xlsx(summary, protection) == fmeda_xlsx(summary, protection)


def test_text_is_never_a_formula_and_control_characters_do_not_break_it():
    document = example_summary()
    renamed(document, "=1+1")
    document["verdict"]["rationale"] = "a\x07b"
    book = opened(fmeda_xlsx(summary_of(document)))
    assert book["FMEDA"]["A2"].value == "=1+1"
    assert book["FMEDA"]["A2"].data_type == "s"
    assert "a\ufffdb" in [cell.value for cell in book["Summary"]["B"]]


def test_summary_sheet_and_sources(summary, protection):
    book = opened(fmeda_xlsx(summary, protection))
    facts = {row[0]: row[1] for row in book["Summary"].iter_rows(values_only=True)}
    assert facts["FIT, upper limit"] == summary.verdict.fit_hi
    assert facts["FIT budget, unprotected"] == "missed"
    assert facts["LFM"] == "not applicable"
    sources = [row[4] for row in book["Assumptions & sources"].iter_rows(values_only=True)]
    for entry in summary.technology.entries:
        assert entry.source in sources


def test_a_block_that_was_not_injected_is_not_known_rather_than_free_of_failures():
    document = example_summary(blocks=(*SEVEN[:2], ("cpm", 0, 9, 800.0, 0, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))))
    *rows, _ = records(opened(fmeda_xlsx(summary_of(document))))
    own = [row for row in rows if row["Block"] == "cpm"]
    assert len(own) == 6
    for row in own:
        assert {row[name] for name in FMEDA_COLUMNS if "FIT" in name or "Share" in name} == {None}
        assert row["Source of figure"].startswith("not injected")


def test_the_verdict_names_its_scope(summary):
    rows = {row[0]: row[1] for row in opened(fmeda_xlsx(summary))["Summary"].iter_rows(values_only=True)}
    assert rows["Scope"] == summary.verdict.scope == "flip-flops only; 131,072 SRAM bits not injected"
