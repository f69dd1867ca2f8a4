# SPDX-License-Identifier: Apache-2.0
"""Sheets of a workbook: rows of texts, figures and formulas, set for paper, and the same bytes each time."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.page import PageMargins
from openpyxl.worksheet.worksheet import Worksheet


@dataclass(frozen=True, slots=True)
class Formula:
    """A cell that a spreadsheet program computes.

    Attributes:
        text: Without the equals sign.
        value: What it comes to now, stored beside it for programs that do not compute.
    """

    text: str
    value: float | None


Cell: TypeAlias = str | int | float | Formula | None
# Values of formulas by cell, of each sheet.
Values: TypeAlias = dict[str, dict[str, float]]

_SHEET_FILE = re.compile(r"xl/worksheets/sheet(\d+)\.xml")
_FORMULA_CELL = re.compile(rb'(<c r="([A-Z]+\d+)"[^>]*><f>[^<]*</f>)<v\s*/?>(?:</v>)?</c>')
# Of text in a row: a line, a row at the most, the part of a column's width that fonts of all sorts fill.
_LINE_POINTS, _TALLEST, _FILLED, _LONGEST_SHOWN = 14.5, 409.0, 0.85, 4000
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)
# A cell holds no more.
_LONGEST = 32_767
_CUT = " ... (cut)"
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_HEAD_FILL = PatternFill("solid", fgColor="1F3A5F")
_TEXT, _FIGURE = Alignment(wrap_text=True, vertical="top"), Alignment(vertical="top")


def add_head(sheet: Worksheet, titles: Sequence[str]) -> None:
    """Write the first row: titles of columns, repeated on each printed page."""
    sheet.append(list(titles))
    for cell in sheet[1]:
        cell.font, cell.fill = Font(bold=True, color="FFFFFF"), _HEAD_FILL
        cell.alignment = Alignment(wrap_text=True, vertical="center")
    sheet.freeze_panes = "A2"


def add_rows(sheet: Worksheet, rows: Sequence[Sequence[Cell]]) -> dict[str, float]:
    """Write rows below what is there; return what formulas among them come to, by cell."""
    values: dict[str, float] = {}
    for line, row in enumerate(rows, start=sheet.max_row + 1):
        for column, value in enumerate(row, start=1):
            cell = sheet.cell(line, column)
            if isinstance(value, str):
                text = _CONTROL.sub("\ufffd", value)
                cell.value = text if len(text) <= _LONGEST else f"{text[: _LONGEST - len(_CUT)]}{_CUT}"
                cell.data_type = "s"
                cell.alignment = _TEXT
            elif isinstance(value, Formula):
                cell.value, cell.alignment = f"={value.text}", _FIGURE
                if value.value is not None:
                    values[cell.coordinate] = value.value
            else:
                cell.value = value
                cell.alignment = _FIGURE
    return values


def set_widths(sheet: Worksheet, widths: Sequence[float]) -> None:
    """Set widths of columns, heights of rows by what they hold, and paper."""
    for index, width in enumerate(widths, start=1):
        sheet.column_dimensions[get_column_letter(index)].width = width
    for row in sheet.iter_rows():
        sheet.row_dimensions[row[0].row].height = _height([cell.value for cell in row], widths)
    sheet.page_margins = PageMargins(left=0.4, right=0.4, top=0.5, bottom=0.5)
    sheet.page_setup.orientation, sheet.page_setup.paperSize = "landscape", sheet.PAPERSIZE_A4
    sheet.print_title_rows = "1:1"
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True


def _height(cells: Sequence[object], widths: Sequence[float]) -> float:
    """Return the height of a row in points, with which no text runs into the next one."""
    lines = 1
    for text, width in zip(cells, widths, strict=False):
        if isinstance(text, str) and not text.startswith("="):
            room = max(4, int(_FILLED * width))
            lines = max(lines, sum(_lines(part, room) for part in text[:_LONGEST_SHOWN].split("\n")))
    return min(_TALLEST, _LINE_POINTS * lines + 1.0)


def _lines(text: str, room: int) -> int:
    """Return how many lines a text takes that breaks at spaces, and inside of words that are too long."""
    lines, used = 1, 0
    for word in text.split(" "):
        if used and used + 1 + len(word) > room:
            lines, used = lines + 1, 0
        lines += max(0, len(word) - 1) // room
        used += len(word) + (1 if used else 0)
        used = used if used <= room else used % room
    return lines


def finished_workbook(data: bytes, values: Sequence[Mapping[str, float]]) -> bytes:
    """Return the same workbook without the times at which it was written, and with the values of formulas.

    Args:
        data: The workbook.
        values: Of each sheet, by cell: who opens it without computing sees these.
    """
    stamp = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*(<)")
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as sink:
        for name in source.namelist():
            content = source.read(name)
            if name == "docProps/core.xml":
                content = stamp.sub(rb"\g<1>1980-01-01T00:00:00Z\g<3>", content)
            if found := _SHEET_FILE.fullmatch(name):
                content = _with_values(content, values[int(found[1]) - 1])
            member = zipfile.ZipInfo(name, _FIXED_TIME)
            member.compress_type = zipfile.ZIP_DEFLATED
            sink.writestr(member, content)
    return out.getvalue()


def _with_values(sheet: bytes, values: Mapping[str, float]) -> bytes:
    """Put values beside the formulas of a sheet."""

    def valued(cell: re.Match[bytes]) -> bytes:
        value = values.get(cell[2].decode())
        return cell[0] if value is None else b"%s<v>%s</v></c>" % (cell[1], repr(value).encode())

    return _FORMULA_CELL.sub(valued, sheet)
