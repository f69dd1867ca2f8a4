# SPDX-License-Identifier: Apache-2.0
"""`fmeda.xlsx`: failure modes, effects and diagnostic analysis in the form safety engineers file."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from typing import TypeAlias

from openpyxl import Workbook
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from resil.record import numbers
from resil.record.outcomes import OUTCOMES
from resil.record.protection_state import ProtectionState
from resil.record.safety import Safety, SafetyRow
from resil.record.summary import Summary
from resil.reports.detection import detection_tables
from resil.reports.failure_modes import FailureMode, failure_modes
from resil.reports.narrative import heading
from resil.reports.table import Table
from resil.reports.tables import storage_table

Cell: TypeAlias = str | int | float | None

FMEDA_COLUMNS = (
    "Block", "Failure mode", "Outcome", "Raw FIT of the block", "Share of failure mode", "Share, lower limit",
    "Share, upper limit", "FIT of failure mode", "Violates the safety goal", "Safety mechanism",
    "Base rate factor", "Base FIT", "Diagnostic coverage", "Residual FIT", "Residual FIT, lower limit",
    "Residual FIT, upper limit",
    "Injections", "Observed", "Source of figure",
)  # fmt: skip
_COVERAGE = "share of the base FIT of hazardous failures that the mechanism detects or corrects"
_BASE = "share of the rate that is left with hardened cells: they upset less, which is no diagnostic coverage"
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)
# A cell holds no more.
_LONGEST = 32_767
_CUT = " ... (cut)"
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_HEAD_FILL = PatternFill("solid", fgColor="1F3A5F")
_TOTAL_FILL = PatternFill("solid", fgColor="E8EDF3")
_TEXT, _FIGURE = Alignment(wrap_text=True, vertical="top"), Alignment(vertical="top")


def fmeda_xlsx(summary: Summary, protection: ProtectionState | None = None) -> bytes:
    """Return the workbook: sheets `Summary`, `FMEDA`, `Safety verdict` if one was asked for, `Storage` if
    there are several kinds, `Detection` if alarms reported anything, `Assumptions of use`,
    `Assumptions & sources`.

    The bytes depend on the arguments alone: no time of writing is stored.
    """
    book = Workbook()
    front = book.active
    if not isinstance(front, Worksheet):
        raise TypeError("a new workbook has no worksheet")
    front.title = "Summary"
    _fill_summary(front, summary, protection)
    _fill_fmeda(book.create_sheet("FMEDA"), failure_modes(summary, protection), summary.predicted)
    if summary.safety is not None:
        _fill_safety(book.create_sheet("Safety verdict"), summary.safety)
    if (by_kind := storage_table(summary)) is not None:
        _fill_detection(book.create_sheet("Storage"), [by_kind])
    if tables := detection_tables(summary.detection):
        _fill_detection(book.create_sheet("Detection"), tables)
    _fill_assumptions(book.create_sheet("Assumptions of use"), summary)
    _fill_sources(book.create_sheet("Assumptions & sources"), summary, protection)
    book.properties.creator = f"resil {summary.provenance.resil}"
    book.properties.title = f"FMEDA of {summary.target.name}: {summary.campaign.name}"
    stream = io.BytesIO()
    book.save(stream)
    return _without_times(stream.getvalue())


def _fill_summary(sheet: Worksheet, summary: Summary, protection: ProtectionState | None) -> None:
    verdict, total = summary.verdict, summary.total
    safety = summary.safety
    rows: list[Sequence[Cell]] = [
        ("Safety verdict", "none asked for" if safety is None else f"{safety.result}: {safety.reason}"),
        ("Campaign", summary.campaign.name),
        ("Target", f"{summary.target.name}, top {summary.target.top}"),
        ("Parameters of the target", summary.target.settings or None),
        ("Network", f"{summary.network.name}, sha256 {summary.network.sha256}"),
        ("Decision", summary.network.decision or None),
        ("Technology", f"{summary.technology.name}, {summary.technology.node}"),
        ("Hazardous outcomes", ", ".join(summary.campaign.hazardous)),
        ("Figures are", "PREDICTED: nothing was injected" if summary.predicted else "from injections"),
        ("FIT budget, unprotected", heading(summary) if summary.predicted else verdict.result),
        ("Scope", verdict.scope),
        ("Population", verdict.population),
        ("Reason", verdict.reason),
        ("Golden output", summary.golden.comparison.sentence),
        ("Budget, FIT", verdict.budget_fit),
        ("Rationale of the budget", verdict.rationale),
        ("Confidence", summary.campaign.confidence),
        ("FIT, unprotected", verdict.fit),
        ("FIT, lower limit", verdict.fit_interval.lo),
        ("FIT, upper limit", verdict.fit_interval.hi),
        ("Raw FIT", total.fit_raw),
        ("Injections", "none" if summary.predicted else total.injections),
        ("Flip-flop bits, those in SRAM macros apart", total.ff_bits),
        ("Flip-flop bits in SRAM macros", total.macro_bits),
        ("Memory bits", total.sram_bits),
        ("Flip-flop bits of the source, those included that are no hardware", summary.target.ff_bits_source),
        ("Flip-flop bits in SRAM macros of the source", summary.target.macro_bits_source),
        ("Memory bits of the source, those included that are no hardware", summary.target.sram_bits_source),
        (f"Area, {total.area_unit}", total.area),
    ]
    for name, metric in (("SPFM", summary.metrics.spfm), ("LFM", summary.metrics.lfm)):
        rows.append(
            (name, "not applicable") if metric is None else (name, metric.estimate, metric.lo, metric.hi)
        )
    if protection is not None:
        rows += [
            ("Protection", protection.plan.result + (", predicted" if protection.plan.from_estimate else "")),
            ("Added area, fraction", protection.area_overhead),
            ("FIT with protection, upper limit", protection.plan.fit_hi),
            ("Raw FIT with protection", protection.plan.fit_raw_after),
            ("SPFM before protection", protection.plan.spfm_before, protection.plan.spfm_lo_before),
            ("SPFM with protection", protection.plan.spfm, protection.plan.spfm_lo),
        ]
    _head(sheet, ("Quantity", "Value", "Lower limit", "Upper limit"))
    _rows(sheet, rows)
    _widths(sheet, (34, 60, 16, 16))


def _fill_fmeda(sheet: Worksheet, modes: Sequence[FailureMode], predicted: bool) -> None:
    _head(sheet, FMEDA_COLUMNS)
    _rows(sheet, [_mode_row(mode, predicted) for mode in modes])
    rates = sum(mode.fit.estimate or 0.0 for mode in modes)
    residual = sum(mode.residual.estimate or 0.0 for mode in modes)
    base = sum(mode.base.estimate or 0.0 for mode in modes)
    total: list[Cell] = [None] * len(FMEDA_COLUMNS)
    total[0] = "total"
    total[FMEDA_COLUMNS.index("FIT of failure mode")] = rates
    total[FMEDA_COLUMNS.index("Base FIT")] = base
    total[FMEDA_COLUMNS.index("Residual FIT")] = residual
    observed = sum(mode.block.counts[mode.outcome.key] for mode in modes)
    total[FMEDA_COLUMNS.index("Observed")] = None if predicted else observed
    total[FMEDA_COLUMNS.index("Source of figure")] = (
        "sums of the estimates above; limits do not add up: the interval of the total is on sheet Summary"
    )
    _rows(sheet, [total])
    for cell in sheet[sheet.max_row]:
        cell.font, cell.fill = Font(bold=True), _TOTAL_FILL
    for index, name in enumerate(FMEDA_COLUMNS, start=1):
        pattern = "0.0%" if "Share" in name else "0.00%" if name == "Diagnostic coverage" else None
        pattern = "0.00E+00" if name == "Base rate factor" else pattern
        pattern = "0.00E+00" if "FIT" in name else pattern
        for row in range(2, sheet.max_row + 1):
            if pattern is not None:
                sheet.cell(row, index).number_format = pattern
    _widths(sheet, (10, 38, 14, 12, 12, 12, 12, 13, 12, 34, 12, 12, 12, 12, 12, 12, 11, 10, 70))
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(FMEDA_COLUMNS))}{sheet.max_row - 1}"


def _mode_row(mode: FailureMode, predicted: bool) -> list[Cell]:
    if not mode.block.sampled:
        unknown: list[Cell] = [None] * len(FMEDA_COLUMNS)
        unknown[:3] = mode.block.name, mode.outcome.failure_mode, mode.outcome.key
        unknown[-1] = f"not {'predicted' if predicted else 'injected'}: not known, which is not zero"
        return unknown
    injections, observed = mode.block.injections, mode.block.counts[mode.outcome.key]
    return [
        mode.block.name, mode.outcome.failure_mode, mode.outcome.key, mode.block.fit_raw, mode.share.estimate,
        mode.share.lo, mode.share.hi, mode.fit.estimate, "yes" if mode.violates else "no", mode.mechanism,
        mode.base_factor, mode.base.estimate, mode.coverage, mode.residual.estimate, mode.residual.lo,
        mode.residual.hi, None if predicted else injections,
        None if predicted else observed, mode.source,
    ]  # fmt: skip


def _fill_detection(sheet: Worksheet, tables: Sequence[Table]) -> None:
    """Fill the sheet with tables below each other, numbers as numbers."""
    for table in tables:
        _rows(sheet, [(table.title,), tuple(column.head for column in table.columns)])
        for row in (sheet.max_row - 1, sheet.max_row):
            for cell in sheet[row]:
                cell.font = Font(bold=True)
        _rows(sheet, [tuple(_number(cell) for cell in row) for row in table.rows])
        _rows(sheet, [()])
    _widths(sheet, (34, 12, 12, 12, 14, 12, 12, 12))


def _number(text: str) -> Cell:
    plain = text.replace(",", "")
    return int(plain) if plain.isdecimal() else text


def _fill_sources(sheet: Worksheet, summary: Summary, protection: ProtectionState | None) -> None:
    rows: list[Sequence[Cell]] = [
        ("technology", entry.title, f"{entry.shown} {entry.unit}", entry.status, entry.source)
        for entry in summary.technology.entries
    ]
    if protection is not None:
        for choice in protection.choices:
            coverage = f"base rate x {choice.base_factor:.3g}, coverage {numbers.percent(choice.coverage)}"
            rows.append(
                (
                    "protection",
                    f"{choice.block}: {choice.option_title}",
                    coverage,
                    choice.status,
                    choice.source,
                )
            )
        rows += [("assumption", text, None, None, None) for text in protection.plan.assumptions]
    rows.append(("definition", "Base rate factor", _BASE, None, None))
    rows.append(("definition", "Diagnostic coverage", _COVERAGE, None, None))
    rows += [("metric", text, None, None, None) for text in summary.metrics.notes]
    rows += [("limit", text, None, None, None) for text in summary.notes]
    rows += [("outcome", outcome.title, outcome.meaning, None, None) for outcome in OUTCOMES]
    made_by = summary.provenance
    rows += [
        ("provenance", "command", " ".join(made_by.command), None, None),
        ("provenance", "seed", made_by.seed, None, None),
        ("provenance", "finished", made_by.finished, None, None),
    ]
    rows += [
        # With the name: "0.70" alone is taken for a number that somebody has typed as text.
        ("provenance", f"version of {name}", f"{name} {version}", None, None)
        for name, version in made_by.versions.items()
    ]
    rows += [("provenance", f"hash of {name}", value, None, None) for name, value in made_by.hashes.items()]
    _head(sheet, ("Kind", "Item", "Value", "Status", "Source"))
    _rows(sheet, rows)
    _widths(sheet, (13, 60, 50, 12, 80))


def _fill_safety(sheet: Worksheet, safety: Safety) -> None:
    columns = ("Row", "Claimed", "State", "Unit", "Value", "Lower limit", "Upper limit", "Target is",
               "Target", "Confidence of the limit", "Reason", "Source of figure")  # fmt: skip
    _head(sheet, columns)
    _rows(sheet, [_safety_row(row, row.title, row.name in safety.claims) for row in safety.rows])
    _rows(
        sheet,
        [
            _safety_row(row, f"{row.title}; {variation.title}", claimed=False)
            for variation in safety.sensitivity
            for row in variation.rows
        ],
    )
    _rows(
        sheet, [("whole", None, safety.result, *[None] * 7, safety.reason, safety.shown_confidence or None)]
    )
    _widths(sheet, (44, 9, 14, 8, 12, 12, 12, 10, 10, 12, 70, 70))


def _safety_row(row: SafetyRow, title: str, claimed: bool) -> list[Cell]:
    relation = "at least" if row.at_least else "at most"
    return [
        title, "yes" if claimed else "no", row.state, row.unit, row.value, row.lo, row.hi,
        relation if row.target is not None else None, row.target, row.confidence, row.reason,
        row.origin or None,
    ]  # fmt: skip


def _fill_assumptions(sheet: Worksheet, summary: Summary) -> None:
    _head(sheet, ("Assumption of use", "What has to hold, and what if it does not"))
    _rows(sheet, [(found.topic, found.text) for found in summary.assumptions])
    _widths(sheet, (34, 140))


def _head(sheet: Worksheet, titles: Sequence[str]) -> None:
    sheet.append(list(titles))
    for cell in sheet[1]:
        cell.font, cell.fill = Font(bold=True, color="FFFFFF"), _HEAD_FILL
        cell.alignment = Alignment(wrap_text=True, vertical="center")
    sheet.freeze_panes = "A2"


def _rows(sheet: Worksheet, rows: Sequence[Sequence[Cell]]) -> None:
    for line, row in enumerate(rows, start=sheet.max_row + 1):
        for column, value in enumerate(row, start=1):
            cell = sheet.cell(line, column)
            if isinstance(value, str):
                text = _CONTROL.sub("\ufffd", value)
                cell.value = text if len(text) <= _LONGEST else f"{text[: _LONGEST - len(_CUT)]}{_CUT}"
                cell.data_type = "s"
                cell.alignment = _TEXT
            else:
                cell.value = value
                cell.alignment = _FIGURE


def _widths(sheet: Worksheet, widths: Sequence[float]) -> None:
    for index, width in enumerate(widths, start=1):
        sheet.column_dimensions[get_column_letter(index)].width = width
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True


def _without_times(data: bytes) -> bytes:
    """Return the same workbook without the times at which it was written."""
    stamp = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*(<)")
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as sink:
        for name in source.namelist():
            content = source.read(name)
            if name == "docProps/core.xml":
                content = stamp.sub(rb"\g<1>1980-01-01T00:00:00Z\g<3>", content)
            member = zipfile.ZipInfo(name, _FIXED_TIME)
            member.compress_type = zipfile.ZIP_DEFLATED
            sink.writestr(member, content)
    return out.getvalue()
