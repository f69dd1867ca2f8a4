# SPDX-License-Identifier: Apache-2.0
"""Formulas of the FMEDA: each comes to the value that is stored beside it, and follows what is changed."""

from __future__ import annotations

import io
import re
import shutil
import subprocess

import pytest
from openpyxl import load_workbook

from resil.reports.failure_modes import failure_modes
from resil.reports.fmeda import FMEDA_COLUMNS, fmeda_xlsx
from tests.reports.example import example_protection, example_summary, protection_of, summary_of, with_macros

SUMMARIES = {"one kind": example_summary, "two kinds": lambda: with_macros(example_summary())}
CASES = [(name, protected) for name in SUMMARIES for protected in (False, True)]


def written(name, protected):
    document = SUMMARIES[name]()
    plan = protection_of(example_protection(document)) if protected else None
    return summary_of(document), plan, fmeda_xlsx(summary_of(document), plan)


class Sheets:
    """Computes the formulas of a workbook; cells may be changed."""

    def __init__(self, data):
        self.book = load_workbook(io.BytesIO(data))

    def value(self, sheet, cell):
        found = self.book[sheet][cell].value
        if not (isinstance(found, str) and found.startswith("=")):
            return found
        return self.compute(sheet, found[1:])

    def compute(self, sheet, text):
        text = re.sub(r'"([^"]*)"', r"'\1'", text)
        quoted = re.findall(r"'[^']*'(?!!)", text)
        for place, word in enumerate(quoted):
            text = text.replace(word, f"@{place}@")
        named = {}

        def cells(match):
            own = match[1] or match[2] or sheet
            if match[2] in ("IF", "SUM", "SUMPRODUCT"):
                return match[0]
            first = f"{match[3]}{match[4]}"
            key = f"v{len(named)}"
            if match[5]:
                rows = self.book[own][f"{first}:{match[5]}{match[6]}"]
                named[key] = [self.value(own, cell.coordinate) or 0.0 for row in rows for cell in row]
            else:
                named[key] = self.value(own, first) or 0.0
            return key

        text = re.sub(r"(?:'([^']+)'!|(\w+)!)?\$?\b([A-Z]+)\$?(\d+)(?::\$?([A-Z]+)\$?(\d+))?", cells, text)
        for place, word in enumerate(quoted):
            text = text.replace(f"@{place}@", word)
        text = re.sub(r"(?<![<>=])=(?!=)", "==", text)
        functions = {
            "IF": lambda test, one, other: one if test else other,
            "SUM": sum,
            "SUMPRODUCT": lambda one, other: sum(a * b for a, b in zip(one, other, strict=True)),
        }
        return eval(text, {"__builtins__": {}}, {**functions, **named})

    def formulas(self):
        for sheet in self.book.worksheets:
            for row in sheet.iter_rows():
                for cell in row:
                    if cell.data_type == "f":
                        yield sheet.title, cell.coordinate


@pytest.mark.parametrize(("name", "protected"), CASES)
def test_each_formula_comes_to_the_value_beside_it(name, protected):
    summary, plan, data = written(name, protected)
    stored, sheets = load_workbook(io.BytesIO(data), data_only=True), Sheets(data)
    found = list(sheets.formulas())
    assert len(found) >= 6 * len(failure_modes(summary, plan))
    for sheet, cell in found:
        value = stored[sheet][cell].value
        if value is not None:
            assert sheets.value(sheet, cell) == pytest.approx(value, rel=1e-9, abs=1e-300), f"{sheet} {cell}"


def test_what_is_left_follows_a_rate_and_a_coverage():
    summary, _, data = written("one kind", False)
    sheets = Sheets(data)
    total = f"N{len(failure_modes(summary, None)) + 2}"
    before = sheets.value("FMEDA", total)
    assert before == pytest.approx(summary.total.fit)
    rate = sheets.book["Base rates"]["C2"]
    rate.value *= 3.0
    assert sheets.value("FMEDA", total) == pytest.approx(3.0 * before)
    spfm = "Computed from sheet FMEDA: part of faults that violates no goal"
    line = next(row[0].row for row in sheets.book["Summary"].iter_rows() if row[0].value == spfm)
    assert sheets.value("Summary", f"B{line}") == pytest.approx(
        1.0 - summary.total.fit / summary.total.fit_raw
    )
    coverage = FMEDA_COLUMNS.index("Diagnostic coverage") + 1
    for row in range(2, sheets.book["FMEDA"].max_row):
        sheets.book["FMEDA"].cell(row, coverage).value = 0.5
    assert sheets.value("FMEDA", total) == pytest.approx(1.5 * before)


def test_a_text_from_outside_never_becomes_a_formula():
    document = example_summary()
    document["notes"] = ["=1+1"]
    document["network"]["name"] = "=CMD()"
    sheets = Sheets(fmeda_xlsx(summary_of(document)))
    assert {sheet for sheet, _ in sheets.formulas()} == {"Summary", "FMEDA", "Base rates"}
    for sheet, cell in sheets.formulas():
        assert "CMD" not in sheets.book[sheet][cell].value


def test_every_sheet_is_set_for_paper():
    _, _, data = written("one kind", True)
    for sheet in load_workbook(io.BytesIO(data)).worksheets:
        assert sheet.page_setup.orientation == "landscape"
        assert sheet.print_title_rows == "$1:$1"
    fmeda = load_workbook(io.BytesIO(data))["FMEDA"]
    characters = sum(own.width for own in fmeda.column_dimensions.values())
    assert characters < 260  # on A4 across, the 11 points of a cell are then 6 at the least


@pytest.mark.skipif(
    shutil.which("soffice") is None, reason="no LibreOffice (apt-get install libreoffice-calc)"
)
def test_libreoffice_opens_it_and_comes_to_the_same_values(tmp_path):
    _, _, data = written("two kinds", True)
    (tmp_path / "fmeda.xlsx").write_bytes(data)
    home = f"-env:UserInstallation=file://{tmp_path}/home"
    command = [
        "soffice",
        home,
        "--headless",
        "--convert-to",
        "xlsx:Calc MS Excel 2007 XML",
        "--outdir",
        "out",
    ]
    done = subprocess.run(
        [*command, "fmeda.xlsx"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300
    )
    said = [line for line in (done.stdout + done.stderr).splitlines() if "java" not in line]
    assert [line for line in said if "arning" in line or "rror" in line] == []
    again = load_workbook(tmp_path / "out" / "fmeda.xlsx", data_only=True)
    for sheet in load_workbook(io.BytesIO(data), data_only=True).worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                if isinstance(cell.value, float):
                    assert again[sheet.title][cell.coordinate].value == pytest.approx(cell.value, rel=1e-9)
