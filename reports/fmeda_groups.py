# SPDX-License-Identifier: Apache-2.0
"""Two sheets of the FMEDA: storage of a block by what its registers are for, and the change history."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from openpyxl.worksheet.worksheet import Worksheet

from resil.record import numbers
from resil.record.detail import Detail, GroupShare, RegisterRow
from resil.record.protection_state import ProtectionState, confirmation_line
from resil.record.summary import Summary
from resil.reports.sheet import Cell, Formula, add_head, add_rows, set_widths

GROUP_COLUMNS = (
    "Block", "Register group", "Kind", "Registers", "Bits", "FIT of a bit", "Raw FIT", "Injections",
    "Dangerous", "Dangerous share", "Share, lower limit", "Share, upper limit", "Safe share",
    "Dangerous FIT", "FIT, lower limit", "FIT, upper limit", "Safety mechanisms", "Protected bits",
    "Source of figure",
)  # fmt: skip
_HISTORY = ("Date", "What", "Digest", "By", "Checked by")
_ROUNDING = 1e-9
_RANGE = re.compile(r"(.*)\[(\d+)(?::(\d+))?\]")


def fill_groups(
    sheet: Worksheet,
    detail: Detail,
    summary: Summary,
    protection: ProtectionState | None,
    rates: Mapping[str, str],
) -> dict[str, float]:
    """Fill a row for each register group of each block; return values of formulas.

    Args:
        sheet: Empty.
        detail: Has the groups.
        summary: The results.
        protection: What is protected, if anything is.
        rates: Cells with the rate of a bit, by kind of storage.
    """
    add_head(sheet, GROUP_COLUMNS)
    guarded = _guarded(detail, protection)
    at = {name: chr(ord("A") + place) for place, name in enumerate(GROUP_COLUMNS)}
    lines = [
        _row(
            group, f"{line}", at, rates, guarded.get((group.block, group.register_class, group.kind)), summary
        )
        for line, group in enumerate(detail.groups, start=2)
    ]
    values = add_rows(sheet, lines)
    for place, name in enumerate(GROUP_COLUMNS, start=1):
        pattern = "0.00%" if "hare" in name else "0.00E+00" if "FIT" in name else None
        for row in range(2, sheet.max_row + 1):
            if pattern is not None:
                sheet.cell(row, place).number_format = pattern
    set_widths(sheet, (9, 15, 9, 9, 9, 9, 9, 10, 10, 10, 9, 9, 9, 10, 9, 9, 24, 10, 28))
    sheet.auto_filter.ref = f"A1:{at[GROUP_COLUMNS[-1]]}{sheet.max_row}"
    return values


def _row(
    group: GroupShare,
    line: str,
    at: Mapping[str, str],
    rates: Mapping[str, str],
    guarded: tuple[str, int] | None,
    summary: Summary,
) -> list[Cell]:
    raw, bits = group.fit_raw, group.bits
    storage = next((own for own in summary.storage if own.kind == group.kind and own.bits), None)
    rate = storage.fit_raw / storage.bits if storage is not None else None
    follows = rate is not None and abs(rate * bits - raw) <= _ROUNDING * max(raw, rate * bits)
    found: dict[str, Cell] = dict.fromkeys(GROUP_COLUMNS)
    found |= {
        "Block": group.block,
        "Register group": group.register_class,
        "Kind": group.kind,
        "Registers": group.registers,
        "Bits": bits,
        "FIT of a bit": Formula(rates[group.kind], rate) if follows and group.kind in rates else raw / bits,
        "Raw FIT": Formula(f"{at['Bits']}{line}*{at['FIT of a bit']}{line}", raw),
        "Injections": group.injections,
        "Dangerous": group.events,
        "Source of figure": f"injection, {group.events} of {group.injections}; limits of this row alone",
    }
    if guarded is not None:
        found["Safety mechanisms"], found["Protected bits"] = guarded
    else:
        found["Safety mechanisms"], found["Protected bits"] = "none", 0
    if group.injections and raw:
        estimate, lo, hi = (own / raw if own is not None else 0.0 for own in group.fit)
        shares = ("Dangerous share", "Share, lower limit", "Share, upper limit")
        fits = ("Dangerous FIT", "FIT, lower limit", "FIT, upper limit")
        for share, fit, value in zip(shares, fits, (estimate, lo, hi), strict=True):
            found[share] = value
            found[fit] = Formula(f"{at['Raw FIT']}{line}*{at[share]}{line}", raw * value)
        found["Safe share"] = Formula(f"1-{at['Dangerous share']}{line}", 1.0 - estimate)
    else:
        found["Source of figure"] = "nothing was injected here: not known, which is not zero"
    return [found[name] for name in GROUP_COLUMNS]


def _guarded(
    detail: Detail, protection: ProtectionState | None
) -> dict[tuple[str, str, str], tuple[str, int]]:
    """Return mechanisms and protected bits by block, register class and kind."""
    if protection is None or protection.plan.result != "optimal":
        return {}
    found: dict[tuple[str, str, str], dict[str, int]] = {}
    for group in protection.plan.groups:
        for part in group.parts:
            for row, bits in _covered(detail, part):
                own = found.setdefault((row.block, row.register_class, row.kind), {})
                own[group.option_title] = own.get(group.option_title, 0) + bits
    return {
        key: (", ".join(f"{title} ({count:,} bits)" for title, count in own.items()), sum(own.values()))
        for key, own in found.items()
    }


def _covered(detail: Detail, part: str) -> Iterator[tuple[RegisterRow, int]]:
    """Yield registers and how many bits of them a part of a protected unit names: some, all, a module's."""
    ranged = _RANGE.fullmatch(part)
    for row in detail.registers:
        if row.path == part or row.path.startswith(f"{part}.") or row.block == part:
            yield row, row.bits
        elif ranged is not None and row.path == ranged[1]:
            last = int(ranged[2])
            yield row, last - int(ranged[3] or last) + 1


def fill_history(sheet: Worksheet, summary: Summary, protection: ProtectionState | None) -> None:
    """Fill what the figures went through, the oldest first; whoever changes the sheets goes on below."""
    add_head(sheet, _HISTORY)
    made = summary.provenance
    rows: list[Sequence[Cell]] = []
    for look in summary.sampling.looks[:-1] if summary.sampling is not None else ():
        limits = f"[{numbers.fit(look.fit_lo)}, {numbers.fit(look.fit_hi)}]"
        looked = f"Looked at {look.injections:,} injections: {numbers.fit(look.fit)} {limits} FIT; went on"
        rows.append((None, looked, None))
    what = "Predicted, nothing injected" if summary.predicted else f"{summary.total.injections:,} injections"
    rows.append((made.finished, f"Results by resil {made.resil}, seed {made.seed}: {what}; budget "
                                f"{summary.verdict.result}", made.hashes.get("campaign")))  # fmt: skip
    if protection is not None:
        plan = protection.plan
        said = f"Protection {plan.name} for {plan.target}: {plan.result}. {confirmation_line(protection)}"
        rows.append((None, said.strip(), plan.choice_digest))
    rows.append((None, "This workbook: figures above are those of the run; whoever changes a rate, share or "
                       "coverage in it notes that below", None))  # fmt: skip
    add_rows(sheet, rows)
    set_widths(sheet, (22, 90, 40, 18, 18))
