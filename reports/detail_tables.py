# SPDX-License-Identifier: Apache-2.0
"""Tables below the level of blocks: registers, operations, register classes, times, memories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from resil.record import numbers
from resil.record.detail import Detail, MemoryMap, PartShare, RegisterRow
from resil.record.outcomes import OUTCOMES
from resil.reports.table import Column, Table
from resil.reports.tables import fit_cell

MOST_REGISTERS = 50
_TIMES = 8


def register_table(detail: Detail, most: int | None = MOST_REGISTERS) -> Table:
    """Return registers by hazardous FIT, the largest first; `most` of them, or all."""
    named = any(row.rtl_register for row in detail.registers)
    columns = (
        Column("register", numeric=False),
        *([Column("in the RTL", numeric=False)] if named else []),
        Column("block", numeric=False),
        Column("class", numeric=False),
        Column("bits"),
        Column("injections"),
        *(Column(outcome.short) for outcome in OUTCOMES),
        Column("raw FIT"),
        Column("FIT"),
        Column("FIT, shrunk"),
    )
    rows = tuple(_register(row, named=named) for row in detail.registers[:most])
    sure = numbers.confidence(detail.confidence)
    return Table(f"Registers and memories by hazardous FIT, {sure} intervals", columns, rows)


def _register(row: RegisterRow, *, named: bool) -> tuple[str, ...]:
    return (
        row.path,
        *([row.rtl_register] if named else []),
        row.block,
        row.register_class,
        numbers.count(row.bits),
        numbers.count(row.injections),
        *(numbers.count(row.counts[outcome.key]) for outcome in OUTCOMES),
        numbers.fit(row.fit_raw),
        fit_cell(row.fit_interval),
        numbers.fit(row.fit_shrunk),
    )


def share_table(detail: Detail, what: str, shares: Sequence[PartShare]) -> Table:
    """Return hazardous FIT and what becomes of upsets, for each operation or register class."""
    columns = (
        Column(what, numeric=False),
        Column("injections"),
        Column("hazardous"),
        Column("FIT"),
        *(Column(f"{outcome.short}, FIT") for outcome in OUTCOMES),
    )
    rows = tuple(
        (
            own.name,
            numbers.count(own.injections),
            numbers.count(own.events),
            fit_cell(own.fit),
            *(numbers.fit(rate) for rate in own.outcomes),
        )
        for own in shares
    )
    sure = numbers.confidence(detail.confidence)
    return Table(f"Hazardous failures by {what}, {sure} intervals; upsets by outcome", columns, rows)


def time_table(detail: Detail) -> Table | None:
    """Return hazardous injections of all in each eighth of the run, by block; None without times."""
    time = detail.timeline
    if time is None:
        return None
    parts = min(_TIMES, time.bins)
    counts: dict[tuple[str, int], list[int]] = {}
    for row, at, n, k in zip(time.row, time.time, time.injections, time.hazardous, strict=True):
        own = counts.setdefault((detail.registers[row].block, at * parts // time.bins), [0, 0])
        own[0] += k
        own[1] += n
    edges = [
        min(bin_ * time.cycles // time.bins for bin_ in range(time.bins) if bin_ * parts // time.bins == part)
        for part in range(parts)
    ]
    columns = (
        Column("block", numeric=False),
        *(Column(f"from cycle {numbers.count(edge)}") for edge in edges),
    )
    rows = tuple(
        (block, *(_of(counts.get((block, part))) for part in range(parts)))
        for block in detail.blocks
        if any((block, part) in counts for part in range(parts))
    )
    return Table("Hazardous injections of all, by block and time", columns, rows)


def _of(counted: Sequence[int] | None) -> str:
    return (
        numbers.NOT_KNOWN
        if counted is None
        else f"{numbers.count(counted[0])} of {numbers.count(counted[1])}"
    )


def memory_table(detail: Detail, memory: MemoryMap) -> Table:
    """Return hazardous injections of all into each eighth of a memory, by operation."""
    parts = min(_TIMES, memory.bins)
    counts: dict[tuple[int, int], list[int]] = {}
    cells = zip(memory.address, memory.operation, memory.injections, memory.hazardous, strict=True)
    for address, operation, n, k in cells:
        own = counts.setdefault((operation, address * parts // memory.bins), [0, 0])
        own[0] += k
        own[1] += n
    edges = _edges(memory, parts)
    columns = (
        Column("operation", numeric=False),
        *(Column(f"from word {numbers.count(edge)}") for edge in edges),
    )
    rows = tuple(
        (own.name, *(_of(counts.get((place, part))) for part in range(parts)))
        for place, own in enumerate(detail.operations)
    )
    return Table(f"{detail.registers[memory.row].path}: hazardous injections of all", columns, rows)


def _edges(memory: MemoryMap, parts: int) -> Iterable[int]:
    firsts: dict[int, int] = {}
    for bin_ in range(memory.bins):
        firsts.setdefault(bin_ * parts // memory.bins, -(-bin_ * memory.words // memory.bins))
    return [firsts[part] for part in range(parts)]
