# SPDX-License-Identifier: Apache-2.0
"""Tables of a study, for a terminal and for its page."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import fill

from resil.record import numbers
from resil.record.interval import RecordedInterval
from resil.record.study import ClassMean, ProtectionAsked, StudyRecord
from resil.record.study_cell import CellRecord, CellResults
from resil.reports.study_growth import growth_lines, growth_table
from resil.reports.study_open import open_reason
from resil.reports.study_views import corner_table
from resil.reports.table import Column, Table
from resil.reports.tables import fit_cell, percent_cell

PREDICTED = "predicted: "
MISSED = "margin missed"
NOT_RUN_THERE = "not in the study"
_HEADINGS = {
    "met": "met in every cell",
    "missed": "not met in every cell",
    "inconclusive": "not decided",
    "none": "nothing was asked",
}
_OF_BUDGET = _HEADINGS | {"met": "FIT budget met in every cell", "missed": "FIT budget missed"}
GOLDEN_MARK = " (golden output: see below)"
_CONFIRMED = {True: "yes", False: "no", None: "not tried"}


def verdict_cell(cell: CellRecord) -> str:
    """Return the verdict of a cell in words; what is predicted says so, and what is to be said of its golden
    output is marked.
    """
    if (found := cell.results) is None:
        return cell.verdict
    mark = GOLDEN_MARK if found.golden else ""
    return (PREDICTED + (found.foreseen or cell.verdict) if cell.predicted else cell.verdict) + mark


def verdict_table(study: StudyRecord) -> Table:
    """Return the verdict matrix: networks by targets."""
    return _matrix(study, "Verdicts", verdict_cell)


def fit_matrix(study: StudyRecord) -> Table:
    """Return hazardous failures of each cell with their intervals."""
    sure = numbers.confidence(study.confidence)
    return _matrix(study, f"Hazardous failures in FIT, {sure} intervals", _fit)


def spfm_matrix(study: StudyRecord) -> Table | None:
    """Return the SPFM of each cell; None where no cell has one."""
    if not any(found.aided.spfm for _, found in study.answered):
        return None
    title = "SPFM of the injected faults, unprotected: unaided / with the error flag and a host that reacts"
    return _matrix(study, title, _spfm)


def class_table(study: StudyRecord) -> Table | None:
    """Return the AVF of register classes by target, mean over injected networks; None if there is none."""
    if not study.classes:
        return None
    known = {(own.target, own.register_class): _class_cell(own, len(study.networks)) for own in study.classes}
    rows = [
        (name, *(known.get((target, name), numbers.NOT_KNOWN) for target in study.targets))
        for name in sorted({own.register_class for own in study.classes})
    ]
    columns = (Column("register class", numeric=False), *map(Column, study.targets))
    return Table("AVF by register class, mean over the networks that were injected", columns, tuple(rows))


def _class_cell(own: ClassMean, networks: int) -> str:
    """Return the mean of a class; one over other networks than those of its neighbours is not like them."""
    shown = percent_cell(own.avf)
    return (
        shown if len(own.networks) == networks else f"{shown}, of {len(own.networks)} of {networks} networks"
    )


def protection_table(study: StudyRecord) -> Table | None:
    """Return what is known of the protection of each target; None if none was asked for."""
    if not study.protection:
        return None
    heads = ("area", "lockstep", "FIT at most", "unaided", "SPFM at least")
    columns = (
        Column("target", numeric=False),
        Column("protection", numeric=False),
        *map(Column, heads),
        Column("decided at", numeric=False),
        Column("networks"),
        Column("confirmed", numeric=False),
    )
    rows = tuple(
        (
            own.target,
            own.result,
            _part(own.overhead),
            _part(own.overhead_lockstep),
            numbers.fit(own.fit_hi),
            numbers.fit(own.unaided_hi),
            numbers.NOT_KNOWN if own.spfm_lo is None else numbers.spfm(own.spfm_lo),
            own.corner or numbers.NOT_KNOWN,
            numbers.count(len(own.networks)),
            _CONFIRMED[own.confirmed] if own.result == "reached" else numbers.NOT_KNOWN,
        )
        for own in study.protection
    )
    return Table("Protection of each configuration that holds for all networks", columns, rows)


def protection_lines(study: StudyRecord) -> list[str]:
    """Return on what the protection of each target rests, or why there is none."""
    lines = []
    for own in study.protection:
        waived = "".join(f" WAIVED: {text}." for text in own.waived)
        lines.append(f"Protection of {own.target}: {own.result} ({own.reason}).{waived}")
    return lines


def time_table(study: StudyRecord) -> Table:
    """Return where the time went, by target; what is left of the whole was spent on all of them."""
    heads = ("builds", "cells", "protection", "injections", "a second")
    rows = []
    for own in study.spent:
        made = sum(found.injections for cell, found in study.answered if cell.target == own.target)
        rate = numbers.count(round(made / own.cells)) if own.cells else numbers.NOT_KNOWN
        parts = map(numbers.duration, (own.builds, own.cells, own.protection))
        rows.append((own.target, *parts, numbers.count(made), rate))
    columns = (Column("target", numeric=False), *map(Column, heads))
    return Table("Where the time went", columns, tuple(rows))


def claim_lines(study: StudyRecord) -> list[str]:
    """Return each claim with its result, and its evidence below it."""
    lines = []
    for own in study.claims:
        lines.append(f"{own.result.upper()}: {own.claim}")
        lines += [f"  {text}" for text in own.evidence]
    return lines


def open_lines(study: StudyRecord) -> list[str]:
    """Return what the study does not say: failed and missing cells, predictions, margins not reached."""
    lines = [f"{cell.name} failed: {cell.error}" for cell in study.cells if cell.verdict == "failed"]
    lines += [f"{cell.name} was not run." for cell in study.cells if cell.verdict == "not run"]
    lines += [f"{cell.name}: {found.golden}" for cell, found in study.answered if found.golden]
    lines += [f"{cell.name} is {cell.verdict}: {why}." for cell in study.cells if (why := open_reason(cell))]
    if foreseen := [cell.name for cell, _ in study.answered if cell.predicted]:
        lines.append(f"Predicted, nothing was injected: {', '.join(foreseen)}.")
    if wide := [(cell, found) for cell, found in study.answered if found.reached is False]:
        named = (f"{cell.name} ({_half(found) or 'no failure was found'})" for cell, found in wide)
        lines.append(f"The margin that was asked for is missed: {', '.join(named)}.")
    if not study.growth.trends:
        lines.append(f"What grows with the array is not assessed: {study.growth.reason}.")
    if class_table(study) is None:
        lines.append(
            "AVF by register class is not assessed: no injected cell has a plan from which it can be counted."
        )
    return lines


def study_heading(study: StudyRecord) -> str:
    """Return the verdict in a few words; where only a budget was asked, it is called no more than that."""
    return (_HEADINGS if study.asked.claims else _OF_BUDGET)[study.verdict.result]


def asked_lines(study: StudyRecord) -> list[str]:
    """Return what every cell is asked, and a set of protection, and what no verdict says."""
    asked, sure = study.asked, numbers.confidence(study.confidence)
    lines = []
    if asked.budget_fit is not None:
        lines.append(
            f"Asked of every cell: at most {numbers.given(asked.budget_fit)} FIT of "
            f"{' or '.join(asked.hazardous)}, at {sure} confidence. {asked.rationale}."
        )
    if asked.claims:
        level = f" for ASIL {asked.asil}" if asked.asil else ""
        lines.append(f"Claimed of every cell{level}: {', '.join(asked.claims)}.")
    elif asked.budget_fit is not None:
        lines.append(
            "Not asked: no row of ISO 26262 (SPFM, LFM, PMHF) is claimed; a cell that is met keeps the FIT "
            "budget, no more."
        )
    if asked.protection is not None and (kept := _kept(asked.protection)):
        waived = "".join(f" WAIVED: {text}." for text in asked.protection.waived)
        lines.append(f"Asked of protection, on every network: {', '.join(kept)}.{waived}")
    return lines


def _kept(asked: ProtectionAsked) -> list[str]:
    """Return what a set of protection has to keep, in words."""
    kept = []
    if asked.budget_fit is not None:
        kept.append(f"at most {numbers.given(asked.budget_fit)} FIT")
    if asked.spfm_target is not None:
        kept.append(f"SPFM of at least {numbers.percent(asked.spfm_target)}")
    if asked.fit_share is not None:
        kept.append(f"at most {numbers.percent(asked.fit_share)} of the FIT without it")
    if asked.due_budget is not None:
        kept.append(f"at most {numbers.given(asked.due_budget)} FIT of detected failures")
    return kept


def scope_lines(study: StudyRecord) -> list[str]:
    """Return which storage the verdicts are about, by the targets that share it."""
    scopes: dict[str, list[str]] = {}
    for cell, found in study.answered:
        if found.scope and cell.target not in scopes.setdefault(found.scope, []):
            scopes[found.scope].append(cell.target)
    return [f"{', '.join(targets)}: {scope}." for scope, targets in scopes.items()]


def study_line(study: StudyRecord) -> str:
    """Return the verdict of the study in one line."""
    return f"STUDY {study_heading(study).upper()}: {study.verdict.reason}"


def study_text(study: StudyRecord, width: int | None = None) -> str:
    """Return tables and verdict as lines for a person; `width` as of `Table.text`, for sentences as well."""
    tables = [verdict_table(study), fit_matrix(study), spfm_matrix(study), corner_table(study)]
    tables += [class_table(study), growth_table(study), protection_table(study)]
    parts = [table.text(width) for table in tables if table is not None]
    last = [
        *growth_lines(study),
        *asked_lines(study),
        *filter(None, [margin_line(study)]),
        *scope_lines(study),
        *open_lines(study),
    ]
    last += [*protection_lines(study), *claim_lines(study)]
    last.append(study_line(study))
    if width is not None:
        last = [fill(line, width, break_long_words=False, break_on_hyphens=False) for line in last]
    return "\n".join([*parts, "".join(f"{line}\n" for line in last)])


def _matrix(study: StudyRecord, title: str, show: Callable[[CellRecord], str]) -> Table:
    columns = (Column("network", numeric=False), *(Column(target, numeric=False) for target in study.targets))
    rows = tuple(
        (
            network,
            *(
                show(cell) if (cell := study.cell(target, network)) is not None else NOT_RUN_THERE
                for target in study.targets
            ),
        )
        for network in study.networks
    )
    return Table(title, columns, rows)


def _fit(cell: CellRecord) -> str:
    if (found := cell.results) is None:
        return cell.verdict
    if cell.predicted:
        return PREDICTED + fit_cell(found.fit_interval)
    parts = [fit_cell(found.fit_interval), *([_half(found)] if found.half_width is not None else [])]
    return " ".join([*parts, *([MISSED] if found.reached is False else [])])


def _half(found: CellResults) -> str:
    """Return the half width of the total's interval as part of the estimate; "" where there is none."""
    return "" if found.half_width is None else f"\N{PLUS-MINUS SIGN}{numbers.percent(found.half_width)}"


def margin_line(study: StudyRecord) -> str:
    """Return what was asked of the precision of totals, and how many cells have it; "" if nothing was."""
    asked = [(found, found.margin) for _, found in study.answered if found.margin is not None]
    if not asked:
        return ""
    margins = ", ".join(numbers.percent(own) for own in sorted({margin for _, margin in asked}))
    known = [found.half_width for found, _ in asked if found.half_width is not None]
    worst = f"; the widest is \N{PLUS-MINUS SIGN}{numbers.percent(max(known))}" if known else ""
    return (
        f"Margin asked for: {margins} of each total; {sum(found.reached is True for found, _ in asked)} of "
        f"{len(asked)} injected cells have it{worst}."
    )


def _spfm(cell: CellRecord) -> str:
    if cell.results is None or cell.results.aided.spfm is None:
        return numbers.NOT_KNOWN
    pair = (cell.results.unaided.spfm, cell.results.aided.spfm)
    views = [_interval(own) for own in pair if own is not None]
    return f"{PREDICTED if cell.predicted else ''}{' / '.join(views)}"


def _interval(spfm: RecordedInterval) -> str:
    lo, hi = (numbers.spfm(end).removesuffix(" %") for end in (spfm.lo, spfm.hi))
    return f"{numbers.spfm(spfm.estimate)} [{lo}, {hi}]"


def _part(value: float | None) -> str:
    return numbers.NOT_KNOWN if value is None else f"+{numbers.percent(value)}"
