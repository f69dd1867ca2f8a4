# SPDX-License-Identifier: Apache-2.0
"""Sheets of the FMEDA below the level of blocks: register groups add up and compute; the history."""

from __future__ import annotations

import io

import pytest
from openpyxl import load_workbook

from resil.record.protection_parts import ProtectedGroup
from resil.record.protection_state import ProtectionState
from resil.reports.fmeda import fmeda_xlsx
from resil.reports.fmeda_groups import GROUP_COLUMNS
from testkit.detail_example import example_detail
from tests.reports.example import example_protection, example_summary, protection_of, summary_of
from tests.reports.test_fmeda_formulas import Sheets

DETAIL = example_detail(("cc", "mac"), registers=24, injections=900)


def parted(row):
    """A unit that is some bits of a register, one that is all of it, and one that is no register."""
    title = {"option": "parity", "option_title": "parity"}
    made = {"unit": "u", "block": row.block, "area_added": 1.0, **title}
    return (
        ProtectedGroup(parts=(f"{row.path}[3:2]", f"{row.path}[0:0]"), bits=3, **made),
        ProtectedGroup(parts=("u_npu.u_none",), bits=1, **made),
    )


@pytest.fixture(scope="module")
def book():
    document = example_summary()
    plan = protection_of(example_protection(document)).plan.changed(groups=parted(DETAIL.registers[0]))
    return fmeda_xlsx(summary_of(document), ProtectionState(plan), DETAIL)


def rows_of(data):
    sheet = load_workbook(io.BytesIO(data), data_only=True)["Register groups"]
    head, *rows = sheet.iter_rows(values_only=True)
    assert head == GROUP_COLUMNS
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_groups_are_all_registers_and_add_up(book):
    rows = rows_of(book)
    keys = {(row.block, row.register_class, row.kind) for row in DETAIL.registers}
    assert {(row["Block"], row["Register group"], row["Kind"]) for row in rows} == keys
    for name, field in (("Bits", "bits"), ("Injections", "injections"), ("Dangerous", "hazardous")):
        assert sum(row[name] for row in rows) == sum(getattr(one, field) for one in DETAIL.registers)
    assert sum(row["Raw FIT"] for row in rows) == pytest.approx(sum(one.fit_raw for one in DETAIL.registers))
    for row in rows:
        if row["Injections"]:
            assert row["Dangerous FIT"] == pytest.approx(row["Raw FIT"] * row["Dangerous share"])
            assert row["Safe share"] + row["Dangerous share"] == pytest.approx(1.0)
            assert row["FIT, lower limit"] <= row["Dangerous FIT"] <= row["FIT, upper limit"]


def test_each_formula_of_a_group_comes_to_the_value_beside_it(book):
    stored, sheets = load_workbook(io.BytesIO(book), data_only=True), Sheets(book)
    own = [cell for sheet, cell in sheets.formulas() if sheet == "Register groups"]
    assert len(own) >= 4 * len(rows_of(book))
    for cell in own:
        value = stored["Register groups"][cell].value
        assert sheets.value("Register groups", cell) == pytest.approx(value, rel=1e-9, abs=1e-300)
    sheets.book["Register groups"]["J2"].value *= 2.0
    assert sheets.value("Register groups", "N2") == pytest.approx(2.0 * stored["Register groups"]["N2"].value)


def test_protected_bits_are_those_of_the_units(book):
    first = DETAIL.registers[0]
    for row in rows_of(book):
        own = (row["Block"], row["Register group"], row["Kind"]) == (
            first.block,
            first.register_class,
            first.kind,
        )
        assert row["Protected bits"] == (3 if own else 0)
        assert row["Safety mechanisms"] == ("parity (3 bits)" if own else "none")


def test_what_nothing_hit_is_not_safe():
    detail = DETAIL.changed(
        groups=tuple(
            one.changed(injections=0, events=0, fit=(None, 0.0, one.fit_raw)) for one in DETAIL.groups
        )
    )
    for row in rows_of(fmeda_xlsx(summary_of(example_summary()), None, detail)):
        assert row["Dangerous FIT"] is row["Dangerous share"] is row["Safe share"] is None
        assert "not zero" in row["Source of figure"]


def test_the_history_says_how_the_figures_came_about(book):
    rows = list(load_workbook(io.BytesIO(book))["Change history"].iter_rows(values_only=True))
    summary = summary_of(example_summary())
    assert any(
        row[0] == summary.provenance.finished and f"{summary.total.injections:,}" in row[1] for row in rows
    )
    assert any("Protection example" in row[1] for row in rows)
    assert rows[0] == ("Date", "What", "Digest", "By", "Checked by")
