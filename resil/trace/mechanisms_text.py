# SPDX-License-Identifier: Apache-2.0
"""What mechanisms caught, as lines for a person."""

from __future__ import annotations

from textwrap import wrap

from resil.record.mechanisms import MechanismAudit, MechanismRecord
from resil.record.numbers import percent, percent_range
from resil.reports.table import Column, Table

WIDTH = 80
_ROWS = 12
_STORAGE = tuple(Column(name, numeric=False) for name in ("block", "kind", "class"))


def mechanisms_text(found: MechanismAudit) -> str:
    """Return an audit of mechanisms as text."""
    parts = [f"{found.injections:,} injections, hazardous: {', '.join(found.hazardous)}"]
    parts += [_mechanism(one) for one in found.mechanisms]
    parts.append(_missed(found))
    parts += ["\n".join(wrap(f"note: {note}", WIDTH)) for note in found.notes]
    return "\n\n".join(parts)


def _mechanism(one: MechanismRecord) -> str:
    head = f"{one.name} ({one.reports}): first to report in {one.caught:,} injections"
    head += f", too late in {one.late:,}" if one.late else ""
    if one.reports == "detected":
        head += f"; {one.harmless:,} of those caught would have done no harm"
    if one.median_cycles is not None:
        head += (
            f"; {one.median_cycles:g} cycles after the fault in the median, {one.slowest_cycles:,} at most"
        )
    lines = wrap(head, WIDTH)
    if one.storage:
        rows = tuple(
            (
                *(row.block, row.kind, row.register_class),
                *(f"{count:,}" for count in (row.injections, row.caught, row.harmless)),
                f"{percent(row.share.estimate)} {percent_range(row.share)}",
            )
            for row in one.storage[:_ROWS]
        )
        columns = (*_STORAGE, *map(Column, ("injections", "caught", "harmless", "share")))
        lines += ["", Table("caught, by what was struck", columns, rows, keys=3).text(WIDTH).rstrip()]
        lines += _more(len(one.storage))
    return "\n".join(lines)


def _missed(found: MechanismAudit) -> str:
    if not found.storage:
        return "no hazardous fault was found, detected or not"
    columns = (
        *_STORAGE,
        *map(Column, ("caught", "missed", "coverage")),
        Column("missed, to be replayed", numeric=False),
    )
    rows = tuple(
        (
            *(row.block, row.kind, row.register_class, f"{row.caught:,}", f"{row.missed:,}"),
            f"{percent(row.coverage.estimate)} {percent_range(row.coverage)}",
            " ".join(map(str, row.examples)),
        )
        for row in found.storage[:_ROWS]
    )
    title = "hazardous faults, and how many of them were detected in time"
    lines = [Table(title, columns, rows, keys=3).text(WIDTH).rstrip(), *_more(len(found.storage))]
    return "\n".join(lines)


def _more(rows: int) -> list[str]:
    return [f"{rows - _ROWS} more rows: --json has all"] if rows > _ROWS else []
