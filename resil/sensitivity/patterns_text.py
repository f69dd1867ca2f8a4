# SPDX-License-Identifier: Apache-2.0
"""Patterns of corrupted tensors as lines for a person."""

from __future__ import annotations

from textwrap import wrap

from resil.record.numbers import percent, percent_range
from resil.record.patterns import ErrorPatterns
from resil.reports.table import Column, Table

WIDTH = 100
_ROWS = 20
_NAMES = ("operation", "block", "kind", "class")


def patterns_text(found: ErrorPatterns) -> str:
    """Return what a library of patterns holds, as text."""
    described = sum(one.described for one in found.outcomes)
    inputs = ", ".join(map(str, found.inputs[:8])) + (", ..." if len(found.inputs) > 8 else "")
    head = (
        f"{found.network} on {found.target}, inputs {inputs}: {found.injections:,} injections, {described:,} "
        f"of which damaged a tensor that is described"
    )
    parts = ["\n".join(wrap(head, WIDTH)), _outcomes(found), _groups(found)]
    parts += ["\n".join(wrap(f"note: {note}", WIDTH)) for note in found.notes]
    return "\n\n".join(parts)


def _outcomes(found: ErrorPatterns) -> str:
    columns = (
        Column("outcome", numeric=False),
        *map(Column, ("injections", "share of upsets", "described", "of its FIT")),
    )
    rows = tuple(
        (
            one.outcome,
            f"{one.injections:,}",
            percent(one.fit / found.fit_raw if found.fit_raw else None),
            f"{one.described:,}",
            percent(one.described_fit / one.fit if one.fit else None),
        )
        for one in found.outcomes
    )
    return Table("what became of them, and what is described", columns, rows).text(WIDTH).rstrip()


def _groups(found: ErrorPatterns) -> str:
    columns = (
        *(Column(name, numeric=False) for name in _NAMES),
        *map(Column, ("patterns", "one bit", "one element", "elements", "change", "critical")),
    )
    rows = tuple(
        (
            *(one.operation_kind, one.block, one.kind, one.register_class),
            f"{one.patterns:,}",
            *(percent(value) for value in (one.bit, one.element)),
            f"{one.median_elements:g}",
            f"{one.median_change:g}",
            f"{percent(one.critical.estimate)} {percent_range(one.critical)}",
        )
        for one in found.groups[:_ROWS]
    )
    title = "damaged outputs, by operation and by what was struck (elements, change: medians)"
    lines = [Table(title, columns, rows, keys=4).text(WIDTH).rstrip()]
    if len(found.groups) > _ROWS:
        lines.append(f"{len(found.groups) - _ROWS} more rows: --json has all")
    return "\n".join(lines)
