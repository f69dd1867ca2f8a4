# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows of a run: verdict with its population, and FIT by block with intervals."""

from __future__ import annotations

from markupsafe import Markup

from resil.record import numbers
from resil.record.summary import Summary
from resil.reports.answer import answer
from resil.reports.table import Table
from resil.reports.tables import fit_table

_CELL = "text-align: {}; padding: 2px 8px"


def summary_html(summary: Summary) -> str:
    """Return a short account of a summary as HTML that lies in another page; every text is escaped."""
    found = answer(summary, None)
    lines = [
        Markup("<p><b>{}</b>: {}</p>").format(found.heading, numbers.pretty(found.reason)),
        Markup("<p>{} at {}. It is about {}; {}.</p>").format(
            numbers.pretty(found.figure),
            numbers.confidence(summary.campaign.confidence),
            summary.verdict.population,
            summary.verdict.scope,
        ),
        Markup("<p>What to do next: {} <code>{}</code></p>").format(*found.next),
    ]
    return str(Markup("<div>{}{}</div>").format(Markup("").join(lines), table_html(fit_table(summary))))


def table_html(table: Table) -> Markup:
    """Return a table as HTML with its title as caption."""
    sides = ["right" if column.numeric else "left" for column in table.columns]
    head = Markup("").join(
        Markup('<th scope="col" style="{}">{}</th>').format(_CELL.format(side), column.head)
        for side, column in zip(sides, table.columns, strict=True)
    )
    rows = Markup("").join(
        Markup("<tr>{}</tr>").format(
            Markup("").join(
                Markup('<td style="{}">{}</td>').format(_CELL.format(side), numbers.pretty(cell))
                for side, cell in zip(sides, row, strict=True)
            )
        )
        for row in table.rows
    )
    return Markup("<table><caption>{}</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(
        table.title, head, rows
    )
