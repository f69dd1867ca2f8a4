# SPDX-License-Identifier: Apache-2.0
"""Runs side by side, as text and as a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from markupsafe import Markup

from resil.record import numbers
from resil.record.comparison import NOT_SHOWN, ComparedRun, Comparison, Difference, PartDifference
from resil.record.interval import RecordedInterval
from resil.record.outcomes import OUTCOMES
from resil.reports.figure_intervals import Mark, interval_chart
from resil.reports.figures import NARROW, WIDE
from resil.reports.svg import clean
from resil.reports.table import Column, Table
from resil.reports.templates import page_style, page_template

_MOST_REGISTERS = 40
_WORDS = {"not shown": "no difference shown"}


def compare_text(result: Comparison, width: int | None = None) -> str:
    """Return the comparison as lines for a person; `width` as of `Table.text`."""
    tables = [side_by_side(result), blocks_side_by_side(result)]
    parts = [table.text(width) for table in tables]
    return "\n".join([*parts, *(f"warning: {text}" for text in result.warnings)])


def side_by_side(result: Comparison) -> Table:
    """Return what is said of each run, a column a run, and the difference of its FIT to that of the first."""
    runs, differences = result.runs, result.differences
    columns = (Column("", numeric=False), *(Column(run.name) for run in runs))

    def row(title: str, cell: Callable[[ComparedRun], str]) -> tuple[str, ...]:
        return (title, *map(cell, runs))

    rows = [
        row("network", lambda run: run.network),
        row("target", lambda run: run.target),
        row("predicted, not injected", lambda run: "yes" if run.predicted else "no"),
        row("injected", lambda run: numbers.count(run.injections)),
        *((o.title, *(_count_cell(run, o.key) for run in runs)) for o in OUTCOMES),
        row("FIT", lambda run: _fit_cell(run.fit)),
        row("budget FIT", lambda run: numbers.given(run.budget_fit)),
        row("FIT budget", lambda run: run.verdict),
        row("safety claims", lambda run: run.safety or "none"),
        row("area", lambda run: f"{numbers.area(run.area)} {numbers.unit(run.area_unit)}"),
        (f"FIT less that of {runs[0].name}", "", *(_fit_cell(own.fit) for own in differences)),
        (f"FIT times that of {runs[0].name}", "", *(_ratio_cell(own.ratio) for own in differences)),
    ]
    sure = numbers.confidence(result.confidence)
    return Table(f"Runs side by side, {sure} intervals", columns, tuple(rows))


def blocks_side_by_side(result: Comparison) -> Table:
    """Return the FIT of each block in each run."""
    runs = result.runs
    blocks = list(dict.fromkeys(block for run in runs for block in run.blocks))
    by_block = tuple(
        (block, *(_fit_cell(run.blocks[block]) if block in run.blocks else "" for run in runs))
        for block in blocks
    )
    heads = (Column("block", numeric=False), *(Column(run.name) for run in runs))
    sure = numbers.confidence(result.confidence)
    return Table(f"FIT by block, {sure} intervals", heads, by_block)


def difference_table(
    title: str, what: str, first: str, own: Difference, parts: tuple[PartDifference, ...]
) -> Table:
    """Return the FIT of parts in the first run and in another, and how they differ."""
    columns = (
        Column(what, numeric=False),
        Column(first),
        Column(own.of),
        Column("difference"),
        Column("mark", numeric=False),
    )
    rows = tuple(
        (
            part.name,
            _fit_cell(part.first),
            _fit_cell(part.other),
            _fit_cell(part.difference),
            _WORDS.get(part.mark, part.mark),
        )
        for part in parts
    )
    return Table(title, columns, rows)


def compare_html(result: Comparison, resil: str) -> str:
    """Return the page of a comparison. It loads nothing, runs no script, and escapes every text it is given.

    Args:
        result: The comparison.
        resil: Version that made it.
    """
    page = page_template("compare.html.j2").render(
        result=result,
        resil=resil,
        style=page_style(),
        names=", ".join(run.name for run in result.runs),
        heads=[_head(own, result) for own in result.differences],
        runs=side_by_side(result),
        totals=_chart(result),
        confidence=numbers.confidence(result.confidence),
        differences=[_difference_view(own, result) for own in result.differences],
    )
    return clean(page)


def _head(own: Difference, result: Comparison) -> tuple[str, str]:
    """Return what a run differs by in a sentence, and its tone."""
    first = result.runs[0].name
    shown = f"{numbers.fit(own.fit.estimate)} {numbers.fit_range(own.fit)} FIT"
    if own.fit.lo > 0.0:
        return f"{own.of} has more hazardous failures than {first}: by {shown}.", "missed"
    if own.fit.hi < 0.0:
        return f"{own.of} has fewer hazardous failures than {first}: by {shown}.", "met"
    return f"No difference is shown between {own.of} and {first}: {shown}.", "inconclusive"


def _chart(result: Comparison) -> Markup:
    budgets = {run.budget_fit for run in result.runs}
    budget = budgets.pop() if len(budgets) == 1 else None
    marks = [
        Mark(
            f"{run.name}{' (predicted)' if run.predicted else ''}", run.fit, "fit" if place == 0 else "chosen"
        )
        for place, run in enumerate(result.runs)
    ]
    axis = f"hazardous failures, FIT, {numbers.confidence(result.confidence)} interval"
    drawn = [
        interval_chart(f"totals-{css}", "FIT of each run", marks, budget, width, axis, labels=0.4).inline(css)
        for css, width in (("wide", WIDE), ("narrow", NARROW))
    ]
    return Markup("".join(drawn))


def _difference_view(own: Difference, result: Comparison) -> Mapping[str, object]:
    first = result.runs[0].name
    compared = [part for part in own.registers if part.difference is not None]
    marked = [part for part in compared if part.mark != NOT_SHOWN]
    return {
        "of": own.of,
        "blocks": difference_table("By block", "block", first, own, own.blocks),
        "registers": difference_table("By register", "register", first, own, own.registers[:_MOST_REGISTERS])
        if own.registers
        else None,
        "new": [part.name for part in (*own.blocks, *own.registers) if part.mark == "new"],
        "gone": [part.name for part in (*own.blocks, *own.registers) if part.mark == "gone"],
        "compared": len(compared),
        "marked": len(marked),
        "by_chance": (1.0 - result.confidence) * len(compared),
    }


def _count_cell(run: ComparedRun, outcome: str) -> str:
    return numbers.NOT_KNOWN if run.predicted else numbers.count(run.outcomes[outcome])


def _fit_cell(shown: RecordedInterval | None) -> str:
    if shown is None:
        return numbers.NOT_KNOWN
    return f"{numbers.fit(shown.estimate)} {numbers.fit_range(shown)}"


def _ratio_cell(ratio: float | None) -> str:
    return numbers.NOT_KNOWN if ratio is None else f"{ratio:.3g}x"
