# SPDX-License-Identifier: Apache-2.0
"""What faults in gates of a protected design do, as lines for a person."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap as wrapped

from resil.record.interval import RecordedInterval
from resil.record.mechanism_faults import CLASSES, EscapedFault, LatentFaults, MechanismFaults, PinFaults
from resil.record.numbers import percent, percent_range
from resil.reports.table import Column, Table

_TITLES = {
    "hazardous": "hazardous",
    "detected": "detected",
    "false_alarm": "false alarm",
    "corrected": "corrected",
    "quiet": "quiet",
}


# Pairs that are hazardous, by the second fault.
_SORTS = ("with a pin", "with an upset", "with a pulse")


def mechanism_faults_text(found: MechanismFaults, width: int | None) -> str:
    """Return all of it as text."""
    head = (
        f"{found.target}, {found.input}: {found.whole.simulated:,} of {found.whole.faults:,} pins of "
        f"{found.whole.cells:,} cells held at 0 or 1; hazardous: {', '.join(found.hazardous_outcomes)}"
    )
    rows = (found.whole, *found.blocks, *(own for own in found.mechanisms if own.faults))
    keys = ["all cells", *(row.name for row in found.blocks), *(_mechanism(own) for own in found.mechanisms)]
    parts = [_lines(head, width), _pins(keys, rows, width)]
    parts += [
        _lines(f"hazardous in {own.place}, where others are detected: {own.pin}: {own.seen}", width)
        for own in _escaped(found)[:3]
    ]
    parts.append(_latent(found.latent, width))
    share = f"of quiet faults of mechanisms {_range(found.latent_share)} count as latent"
    parts.append(_lines(share, width))
    parts += [
        _lines(f"{pair.kind}: {pair.first}, then {pair.second}: {pair.seen}", width)
        for pair in found.examples[:3]
    ]
    parts += [_lines(f"note: {note}", width) for note in found.notes]
    return "\n\n".join(parts) + "\n"


def _escaped(found: MechanismFaults) -> list[EscapedFault]:
    """Return those in places where something is detected: elsewhere nobody expects that."""
    guarded = {row.name for row in (*found.blocks, *found.mechanisms) if row.counts.get("detected")}
    return [own for own in found.escaped if own.place in guarded]


def _lines(text: str, width: int | None) -> str:
    return text if width is None else "\n".join(wrapped(text, width))


def _mechanism(row: PinFaults) -> str:
    return "mechanisms" if row.name == "all" else f"  {row.name}"


def _pins(keys: Sequence[str], rows: Sequence[PinFaults], width: int | None) -> str:
    columns = (
        Column("where", numeric=False),
        *map(Column, ("faults", "held", *(_TITLES[name] for name in CLASSES), "coverage")),
    )
    cells = tuple(
        (
            key,
            f"{row.faults:,}",
            f"{row.simulated:,}",
            *(f"{row.counts.get(name, 0):,}" for name in CLASSES),
            _range(row.coverage),
        )
        for key, row in zip(keys, rows, strict=True)
    )
    return Table("permanent faults of pins, by themselves", columns, cells, keys=1).text(width).rstrip()


def _latent(rows: Sequence[LatentFaults], width: int | None) -> str:
    names = ("quiet", "latent", "safe", "open", "pairs", *_SORTS, "share of pairs")
    columns = (Column("mechanism", numeric=False), *map(Column, names))
    cells = tuple(
        (
            row.kind,
            *(f"{count:,}" for count in (row.quiet, row.latent, row.safe, row.open, row.pairs)),
            *(f"{count:,}" for count in (row.hazardous_held, row.hazardous_upsets, row.hazardous_pulses)),
            _range(row.share),
        )
        for row in rows
    )
    return (
        Table("quiet faults of mechanisms, and pairs that are hazardous", columns, cells, keys=1)
        .text(width)
        .rstrip()
    )


def _range(interval: RecordedInterval) -> str:
    if interval.estimate is None:
        return "-"
    return f"{percent(interval.estimate)} {percent_range(interval)}"
