# SPDX-License-Identifier: Apache-2.0
"""`fmeda.xlsx`: failure modes, effects and diagnostic analysis in the form safety engineers file."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

from openpyxl import Workbook
from openpyxl.styles import Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from resil.record import numbers
from resil.record.detail import Detail
from resil.record.outcomes import OUTCOMES
from resil.record.protection_state import ProtectionState
from resil.record.safety import Safety, SafetyRow
from resil.record.summary import Summary
from resil.reports.detection import detection_tables
from resil.reports.failure_modes import FailureMode, failure_modes
from resil.reports.fmeda_groups import fill_groups, fill_history
from resil.reports.narrative import heading
from resil.reports.sheet import Cell, Formula, Values, add_head, add_rows, finished_workbook, set_widths
from resil.reports.table import Table
from resil.reports.tables import storage_table

FMEDA_COLUMNS = (
    "Block", "Failure mode", "Outcome", "Raw FIT of the block", "Share of failure mode", "Share, lower limit",
    "Share, upper limit", "FIT of failure mode", "Violates the safety goal", "Safety mechanism",
    "Base rate factor", "Base FIT", "Diagnostic coverage", "Residual FIT", "Residual FIT, lower limit",
    "Residual FIT, upper limit",
    "Injections", "Observed", "Source of figure", "Rate weight",
)  # fmt: skip
_LETTER = {name: get_column_letter(place) for place, name in enumerate(FMEDA_COLUMNS, start=1)}
_WEIGHT = (
    "what the product of raw FIT and share is multiplied with, where bits of unlike raw rates have unlike "
    "shares: so that the modes of a block add up to its FIT"
)
_COVERAGE = "share of the base FIT of hazardous failures that the mechanism detects or corrects"
_BASE = "share of the rate that is left with hardened cells: they upset less, which is no diagnostic coverage"
_AS_GIVEN = "as the results give it: it is not these bits times these rates"
_ROUNDING = 1e-9
_TOTAL_FILL = PatternFill("solid", fgColor="E8EDF3")


def fmeda_xlsx(
    summary: Summary, protection: ProtectionState | None = None, detail: Detail | None = None
) -> bytes:
    """Return the workbook: sheets `Summary`, `FMEDA`, `Register groups` of what was injected, `Base rates`,
    `Safety verdict` if one was asked for, `Storage` if there are several kinds, `Detection` if alarms
    reported anything, `Assumptions of use`, `Assumptions & sources`, `Change history`.

    Raw rates, rates of failure modes and what is left are formulas: they follow when a rate of a bit, a
    share, a factor or a coverage is changed. The bytes depend on the arguments alone: no time of writing is
    stored.
    """
    book = Workbook()
    front = book.active
    if not isinstance(front, Worksheet):
        raise TypeError("a new workbook has no worksheet")
    front.title = "Summary"
    values: Values = {}
    modes = failure_modes(summary, protection)
    values["Summary"] = _fill_summary(front, summary, protection, modes)
    fmeda, rates = book.create_sheet("FMEDA"), book.create_sheet("Base rates")
    values["Base rates"], raw = _fill_rates(rates, summary)
    values["FMEDA"] = _fill_fmeda(fmeda, modes, summary.predicted, raw)
    if detail is not None and detail.groups:
        kinds = [row.kind for row in summary.storage if row.bits]
        at = {kind: f"'Base rates'!{get_column_letter(3 + i)}$2" for i, kind in enumerate(kinds)}
        groups = book.create_sheet("Register groups", 2)
        values["Register groups"] = fill_groups(groups, detail, summary, protection, at)
    if summary.safety is not None:
        _fill_safety(book.create_sheet("Safety verdict"), summary.safety)
    if (by_kind := storage_table(summary)) is not None:
        _fill_detection(book.create_sheet("Storage"), [by_kind])
    if tables := detection_tables(summary.detection):
        _fill_detection(book.create_sheet("Detection"), tables)
    _fill_assumptions(book.create_sheet("Assumptions of use"), summary)
    _fill_sources(book.create_sheet("Assumptions & sources"), summary, protection)
    fill_history(book.create_sheet("Change history"), summary, protection)
    book.properties.creator = f"resil {summary.provenance.resil}"
    book.properties.title = f"FMEDA of {summary.target.name}: {summary.campaign.name}"
    stream = io.BytesIO()
    book.save(stream)
    return finished_workbook(stream.getvalue(), [values.get(name, {}) for name in book.sheetnames])


def _fill_summary(
    sheet: Worksheet, summary: Summary, protection: ProtectionState | None, modes: Sequence[FailureMode]
) -> dict[str, float]:
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
    rows += _from_fmeda(modes)
    add_head(sheet, ("Quantity", "Value", "Lower limit", "Upper limit"))
    values = add_rows(sheet, rows)
    set_widths(sheet, (34, 60, 16, 16))
    return values


def _from_fmeda(modes: Sequence[FailureMode]) -> list[Sequence[Cell]]:
    """Return sums of the sheet FMEDA: they follow what is changed there, and have no limits."""
    last = len(modes) + 2
    base = sum(mode.base.estimate or 0.0 for mode in modes)
    residual = sum(mode.residual.estimate or 0.0 for mode in modes)
    base_at, residual_at = f"FMEDA!{_LETTER['Base FIT']}{last}", f"FMEDA!{_LETTER['Residual FIT']}{last}"
    part = f"IF({base_at}=0,0,1-{residual_at}/{base_at})"
    return [
        ("Computed from sheet FMEDA: base FIT", Formula(base_at, base)),
        ("Computed from sheet FMEDA: residual FIT", Formula(residual_at, residual)),
        (
            "Computed from sheet FMEDA: part of faults that violates no goal",
            Formula(part, 1.0 - residual / base if base else 0.0),
        ),
    ]


def _fill_rates(sheet: Worksheet, summary: Summary) -> tuple[dict[str, float], dict[str, Cell]]:
    """Fill rates of a bit and bits of each block; return values of formulas, and each block's raw FIT.

    A block whose raw FIT is not its bits times these rates (an estimate has none) has it as a figure.
    """
    kinds = [row for row in summary.storage if row.bits]
    add_head(sheet, ("Block", "Raw FIT", *(f"{row.kind} bits" for row in kinds), "Note"))
    rates: list[Cell] = ["FIT of a bit", None, *(row.fit_raw / row.bits for row in kinds)]
    rates.append("change a rate here: raw FIT, failure modes and residual FIT follow" if kinds else None)
    rows: list[Sequence[Cell]] = [rates]
    raw: dict[str, Cell] = {}
    last = get_column_letter(2 + max(1, len(kinds)))
    for line, block in enumerate(summary.blocks, start=3):
        product = sum(row.fit_raw / row.bits * block.bits(row.kind) for row in kinds)
        own = block.fit_raw
        adds_up = own is not None and kinds and abs(product - own) <= _ROUNDING * max(own, product)
        cell: Cell = own
        if adds_up:
            cell = Formula(f"SUMPRODUCT(C$2:{last}$2,C{line}:{last}{line})", own)
        rows.append(
            (block.name, cell, *(block.bits(row.kind) for row in kinds), None if adds_up else _AS_GIVEN)
        )
        raw[block.name] = Formula(f"'Base rates'!B{line}", own) if own is not None else None
    values = add_rows(sheet, rows)
    for line in range(2, sheet.max_row + 1):
        sheet.cell(line, 2).number_format = "0.00E+00"
    for column in range(3, 3 + len(kinds)):
        sheet.cell(2, column).number_format = "0.00E+00"
    set_widths(sheet, (16, 14, *[14] * len(kinds), 60))
    return values, raw


def _fill_fmeda(
    sheet: Worksheet, modes: Sequence[FailureMode], predicted: bool, raw: Mapping[str, Cell]
) -> dict[str, float]:
    add_head(sheet, FMEDA_COLUMNS)
    lines = [_mode_row(mode, predicted, raw, line) for line, mode in enumerate(modes, start=2)]
    values = add_rows(sheet, lines)
    rates = sum(mode.fit.estimate or 0.0 for mode in modes)
    residual = sum(mode.residual.estimate or 0.0 for mode in modes)
    base = sum(mode.base.estimate or 0.0 for mode in modes)
    total: list[Cell] = [None] * len(FMEDA_COLUMNS)
    total[0] = "total"
    for name, value in (("FIT of failure mode", rates), ("Base FIT", base), ("Residual FIT", residual)):
        total[FMEDA_COLUMNS.index(name)] = Formula(
            f"SUM({_LETTER[name]}2:{_LETTER[name]}{len(modes) + 1})", value
        )
    observed = sum(mode.block.counts[mode.outcome.key] for mode in modes)
    total[FMEDA_COLUMNS.index("Observed")] = None if predicted else observed
    total[FMEDA_COLUMNS.index("Source of figure")] = (
        "sums of the estimates above; limits do not add up: the interval of the total is on sheet Summary"
    )
    values |= add_rows(sheet, [total])
    for cell in sheet[sheet.max_row]:
        cell.font, cell.fill = Font(bold=True), _TOTAL_FILL
    for index, name in enumerate(FMEDA_COLUMNS, start=1):
        pattern = "0.0%" if "Share" in name else "0.00%" if name == "Diagnostic coverage" else None
        pattern = "0.00E+00" if name == "Base rate factor" else pattern
        pattern = "0.00E+00" if "FIT" in name else pattern
        for row in range(2, sheet.max_row + 1):
            if pattern is not None:
                sheet.cell(row, index).number_format = pattern
    set_widths(sheet, (9, 24, 13, 9, 8, 8, 8, 9, 9, 18, 9, 9, 11, 9, 9, 9, 10, 10, 32, 8))
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(FMEDA_COLUMNS))}{sheet.max_row - 1}"
    return values


def _mode_row(mode: FailureMode, predicted: bool, raw: Mapping[str, Cell], line: int) -> list[Cell]:
    if not mode.block.sampled:
        unknown: list[Cell] = [None] * len(FMEDA_COLUMNS)
        unknown[:3] = mode.block.name, mode.outcome.failure_mode, mode.outcome.key
        unknown[FMEDA_COLUMNS.index("Source of figure")] = (
            f"not {'predicted' if predicted else 'injected'}: not known, which is not zero"
        )
        return unknown
    at = {name: f"{letter}{line}" for name, letter in _LETTER.items()}
    rate, weight = at["Raw FIT of the block"], at["Rate weight"]
    left = f"{at['Base rate factor']}*(1-{at['Diagnostic coverage']})"

    def residual(share: str) -> str:
        return f'IF({at["Violates the safety goal"]}="yes",{rate}*{at[share]}*{weight}*{left},0)'

    known: dict[str, Cell] = {
        "Block": mode.block.name,
        "Failure mode": mode.outcome.failure_mode,
        "Outcome": mode.outcome.key,
        "Raw FIT of the block": raw.get(mode.block.name),
        "Share of failure mode": mode.share.estimate,
        "Share, lower limit": mode.share.lo,
        "Share, upper limit": mode.share.hi,
        "FIT of failure mode": Formula(f"{rate}*{at['Share of failure mode']}*{weight}", mode.fit.estimate),
        "Violates the safety goal": "yes" if mode.violates else "no",
        "Safety mechanism": mode.mechanism,
        "Base rate factor": mode.base_factor,
        "Base FIT": Formula(f"{at['FIT of failure mode']}*{at['Base rate factor']}", mode.base.estimate),
        "Diagnostic coverage": mode.coverage,
        "Residual FIT": Formula(residual("Share of failure mode"), mode.residual.estimate),
        "Residual FIT, lower limit": Formula(residual("Share, lower limit"), mode.residual.lo),
        "Residual FIT, upper limit": Formula(residual("Share, upper limit"), mode.residual.hi),
        "Injections": None if predicted else mode.block.injections,
        "Observed": None if predicted else mode.block.counts[mode.outcome.key],
        "Source of figure": mode.source,
        "Rate weight": mode.weight,
    }
    return [known[name] for name in FMEDA_COLUMNS]


def _fill_detection(sheet: Worksheet, tables: Sequence[Table]) -> None:
    """Fill the sheet with tables below each other, numbers as numbers."""
    for table in tables:
        add_rows(sheet, [(table.title,), tuple(column.head for column in table.columns)])
        for row in (sheet.max_row - 1, sheet.max_row):
            for cell in sheet[row]:
                cell.font = Font(bold=True)
        add_rows(sheet, [tuple(_number(cell) for cell in row) for row in table.rows])
        add_rows(sheet, [()])
    set_widths(sheet, (34, 12, 12, 12, 14, 12, 12, 12))


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
    rows.append(("definition", "Rate weight", _WEIGHT, None, None))
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
    add_head(sheet, ("Kind", "Item", "Value", "Status", "Source"))
    add_rows(sheet, rows)
    set_widths(sheet, (13, 60, 50, 12, 80))


def _fill_safety(sheet: Worksheet, safety: Safety) -> None:
    columns = ("Row", "Claimed", "State", "Unit", "Value", "Lower limit", "Upper limit", "Target is",
               "Target", "Confidence of the limit", "Reason", "Source of figure")  # fmt: skip
    add_head(sheet, columns)
    add_rows(sheet, [_safety_row(row, row.title, row.name in safety.claims) for row in safety.rows])
    add_rows(
        sheet,
        [
            _safety_row(row, f"{row.title}; {variation.title}", claimed=False)
            for variation in safety.sensitivity
            for row in variation.rows
        ],
    )
    add_rows(
        sheet, [("whole", None, safety.result, *[None] * 7, safety.reason, safety.shown_confidence or None)]
    )
    set_widths(sheet, (44, 9, 14, 8, 12, 12, 12, 10, 10, 12, 70, 70))


def _safety_row(row: SafetyRow, title: str, claimed: bool) -> list[Cell]:
    relation = "at least" if row.at_least else "at most"
    return [
        title, "yes" if claimed else "no", row.state, row.unit, row.value, row.lo, row.hi,
        relation if row.target is not None else None, row.target, row.confidence, row.reason,
        row.origin or None,
    ]  # fmt: skip


def _fill_assumptions(sheet: Worksheet, summary: Summary) -> None:
    add_head(sheet, ("Assumption of use", "What has to hold, and what if it does not"))
    add_rows(sheet, [(found.topic, found.text) for found in summary.assumptions])
    set_widths(sheet, (34, 140))
