# SPDX-License-Identifier: Apache-2.0
"""A spreadsheet program opens the FMEDA without a warning: judged by the XML, not by what wrote it."""

from __future__ import annotations

import io
import re
import zipfile
from xml.etree import ElementTree

import pytest

from resil.reports.fmeda import fmeda_xlsx
from testkit.detail_example import example_detail
from tests.reports.example import example_protection, example_summary, protection_of, summary_of, with_alarms
from tests.reports.test_safety import document as safety_document

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
RELATIONS = "{http://schemas.openxmlformats.org/package/2006/relationships}"
LONGEST = 32_767
# What a spreadsheet program takes for a number that somebody has typed as text.
NUMBER = re.compile(r"\s*[-+]?(\d[\d,]*\.?\d*|\.\d+)([eE][-+]?\d+)?\s*%?\s*")


def documents():
    plain = example_summary()
    yield "plain", summary_of(plain), None
    yield "alarms", summary_of(with_alarms(example_summary())), None
    yield "protected", summary_of(plain), protection_of(example_protection(plain))
    yield "safety", summary_of(safety_document()), None


DETAIL = example_detail(registers=60)
CASES = {
    name: (summary, protection, DETAIL if name == "protected" else None)
    for name, summary, protection in documents()
}


@pytest.fixture(params=CASES)
def parts(request):
    """Content of the parts of a workbook by name."""
    data = fmeda_xlsx(*CASES[request.param])
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        assert book.testzip() is None
        assert len(set(book.namelist())) == len(book.namelist())
        return {name: book.read(name) for name in book.namelist()}


def sheets(parts):
    for name in sorted(parts):
        if name.startswith("xl/worksheets/sheet"):
            yield name, ElementTree.fromstring(parts[name])


def texts(parts):
    for name, sheet in sheets(parts):
        for cell in sheet.iter(f"{MAIN}c"):
            if cell.get("t") == "inlineStr":
                found = cell.find(f"{MAIN}is")
                yield f"{name} {cell.get('r')}", "".join(node.text or "" for node in found.iter(f"{MAIN}t"))


def test_every_part_is_declared_and_every_relation_leads_somewhere(parts):
    declared = ElementTree.fromstring(parts["[Content_Types].xml"])
    named = {node.get("PartName").lstrip("/") for node in declared.iter(f"{TYPES}Override")}
    extensions = {node.get("Extension") for node in declared.iter(f"{TYPES}Default")}
    assert named <= parts.keys()
    for name in parts.keys() - named - {"[Content_Types].xml"}:
        assert name.rpartition(".")[2] in extensions
    for name in [own for own in parts if own.endswith(".rels")]:
        base = name.replace("_rels/", "").rpartition("/")[0]
        for node in ElementTree.fromstring(parts[name]).iter(f"{RELATIONS}Relationship"):
            target = node.get("Target")
            place = target.lstrip("/") if target.startswith("/") else f"{base}/{target}".lstrip("/")
            assert place in parts


def test_every_formula_has_its_value_no_cell_is_an_error_and_every_style_is_there(parts):
    styles = ElementTree.fromstring(parts["xl/styles.xml"])
    formats = len(styles.find(f"{MAIN}cellXfs"))
    fonts, fills = len(styles.find(f"{MAIN}fonts")), len(styles.find(f"{MAIN}fills"))
    for own in styles.find(f"{MAIN}cellXfs"):
        assert int(own.get("fontId", 0)) < fonts
        assert int(own.get("fillId", 0)) < fills
    seen = 0
    for name, sheet in sheets(parts):
        for cell in sheet.iter(f"{MAIN}c"):
            seen += 1
            if cell.find(f"{MAIN}f") is not None:
                assert cell.find(f"{MAIN}v") is not None, f"{name} {cell.get('r')}"
                assert cell.find(f"{MAIN}v").text, f"{name} {cell.get('r')}"
            assert cell.get("t", "n") in ("n", "inlineStr"), f"{name} {cell.get('r')}"
            assert int(cell.get("s", 0)) < formats
            if cell.get("t", "n") == "n" and (value := cell.find(f"{MAIN}v")) is not None:
                assert abs(float(value.text)) < float("inf")
    assert seen > 100


def test_no_number_is_stored_as_text(parts):
    assert [(place, text) for place, text in texts(parts) if NUMBER.fullmatch(text)] == []


def test_text_that_is_too_long_is_cut_and_says_so():
    document = example_summary()
    document["notes"] = ["x" * 40_000]
    with zipfile.ZipFile(io.BytesIO(fmeda_xlsx(summary_of(document)))) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    (cut,) = [text for _, text in texts(parts) if text.startswith("xxx")]
    assert len(cut) == LONGEST
    assert cut.endswith("(cut)")


def test_text_fits_a_cell_and_rows_and_sheets_are_in_order(parts):
    assert all(0 < len(text) <= LONGEST for _, text in texts(parts))
    book = ElementTree.fromstring(parts["xl/workbook.xml"])
    names = [node.get("name") for node in book.iter(f"{MAIN}sheet")]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 31 and not set(name) & set("[]:*?/\\") for name in names)
    for _, sheet in sheets(parts):
        rows = [int(row.get("r")) for row in sheet.iter(f"{MAIN}row")]
        assert rows == sorted(set(rows))
        places = [cell.get("r") for cell in sheet.iter(f"{MAIN}c")]
        assert len(set(places)) == len(places)
