# SPDX-License-Identifier: Apache-2.0
"""The answer of `resil protect` alone: the chosen protection, without the tables of its campaign."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from resil.record.protection_state import ProtectionState
from resil.record.summary import Summary
from resil.reports.table import Table
from resil.reports.tables import protection_line, protection_sources, protection_table


def text_protection(
    summary: Summary, protection: ProtectionState, details: str = "", width: int | None = None
) -> str:
    """Return the chosen options and the outcome as plain text, for stdout.

    Args:
        summary: Of the campaign.
        protection: As it stands.
        details: Lines that stand above the outcome.
        width: As of `Table.text`.
    """
    tables, lines = _parts(summary, protection, details)
    return "\n".join([*(table.text(width) for table in tables), "".join(f"{line}\n" for line in lines)])


def rich_protection(summary: Summary, protection: ProtectionState, details: str = "") -> Group:
    """Return the same for a `rich` console."""
    tables, lines = _parts(summary, protection, details)
    return Group(*(part for table in tables for part in (table, Text())), *map(Text, lines))


def _parts(summary: Summary, protection: ProtectionState, details: str) -> tuple[list[Table], list[str]]:
    """Return the table, if something is protected, and the lines below it; the last is the outcome."""
    last = [*details.splitlines(), protection_line(protection, summary.safety)]
    if not protection.plan.protects:
        return [], last
    table = protection_table(protection, summary.total.area_unit)
    return [table], [*protection_sources(protection), "", *last]
