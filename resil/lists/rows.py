# SPDX-License-Identifier: Apache-2.0
"""Fault lists as files: read and written in this one place, as CSV, Parquet, or a fault a line.

A row has `site`, `type` and `time`, and may have `input`, `status`, `bits` and `weight`. The columns are open
for further types: what strikes logic has a pin as its site.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from resil.errors import ResilError
from resil.files import read_parquet, write_file, write_text
from resil.record.csv_cells import csv_text
from resil.record.listed import STATUSES
from resil.rtl_harness.plain_file import listed_lines, read_cell

# What types are called here, and elsewhere.
UPSET, SET, STUCK_0, STUCK_1, OPEN_0, OPEN_1, BRIDGE = TYPES = (
    *("upset", "set", "stuck_at_0", "stuck_at_1"),
    *("open_0", "open_1", "bridge"),
)
# Those that strike at a time; the others are permanent.
TIMED = (UPSET, SET)
_ALIKE = {
    **{name: name for name in TYPES},
    **{name: UPSET for name in ("seu", "flip", "bit_flip", "bitflip", "transient")},
    **{name: SET for name in ("pulse", "glitch", "single_event_transient")},
    **{name: STUCK_0 for name in ("sa0", "stuck-at-0", "stuck_0", "s-a-0")},
    **{name: STUCK_1 for name in ("sa1", "stuck-at-1", "stuck_1", "s-a-1")},
    **{name: OPEN_0 for name in ("stuck_open_0", "stuck-open-0", "sop0")},
    **{name: OPEN_1 for name in ("stuck_open_1", "stuck-open-1", "sop1")},
}
# What statuses are called elsewhere; the words of standard fault formats among them.
_STATUS_ALIKE = {
    **{name: name for name in STATUSES},
    **{"dd": "detected", "dangerous detected": "detected", "dangerous_detected": "detected"},
    **{"du": "observed", "dangerous undetected": "observed", "dangerous_undetected": "observed"},
    **{"not observed": "safe", "masked": "safe", "ut": "untestable", "uu": "untestable"},
    **{"functionally untestable": "functionally_untestable", "nc": "functionally_untestable"},
    **{"not controlled": "functionally_untestable", "na": "not_attempted", "not attempted": "not_attempted"},
}
# Columns of a line without a head, in their order.
PLACED = ("site", "type", "time", "input", "status")
# Those that are read; and those that resil writes beside them, which say nothing more of the fault.
_READ = (*PLACED, "bits", "weight")
_WRITTEN = (
    *("reason", "hazardous", "fit", "block", "injection"),
    *("origin", "outcome", "alarm", "alarm_cycle", "end_cycle"),
)
_SHOWN = 8
# Types that strike at a time, in words.
_OF = {UPSET: "upset", SET: "pulse"}


@dataclass(frozen=True)
class ListedFault:
    """A row of a fault list.

    Attributes:
        site: Name of the bit, as `resil sites --csv` lists it.
        type: "upset", "set" (a pulse), "stuck_at_0", "stuck_at_1", "open_0", "open_1" or "bridge".
        time: Number of the edge of the clock, from 0: after reset, or in the window of a recording, which may
            begin in reset. 0 of a permanent fault.
        input: Label of the input; -1 for the first.
        status: What another tool says came of it; "" in a list that is to be injected.
        bits: Bits that an upset flips: that of the site, and those next to it.
        weight: Faults that it stands for, in any unit; None if the list has no weights.
    """

    site: str
    type: str = UPSET
    time: int = 0
    input: int = -1
    status: str = ""
    bits: int = 1
    weight: float | None = None

    @property
    def held(self) -> int | None:
        """What the bit is held at, the pin is open at, or 0 of a bridge; None of an upset or a pulse."""
        return {STUCK_0: 0, STUCK_1: 1, OPEN_0: 0, OPEN_1: 1, BRIDGE: 0}.get(self.type)


@dataclass(frozen=True)
class FaultList:
    """A fault list as it was read.

    Attributes:
        file: Where it was.
        rows: Its faults, in their order.
        unread: Columns that mean nothing to resil.
    """

    file: Path
    rows: tuple[ListedFault, ...]
    unread: tuple[str, ...] = ()

    @property
    def weighted(self) -> bool:
        """Whether its faults have weights."""
        return self.rows[0].weight is not None


def read_list(file: Path, *, with_status: bool = False) -> FaultList:
    """Read a fault list; with `with_status` what came of each fault, too.

    Raises:
        ResilError: The file cannot be read, or rows are wrong: the first of them are all named.
    """
    rows: list[ListedFault] = []
    wrong: list[str] = []
    columns: dict[str, None] = {}
    for number, row in _rows(file):
        columns |= dict.fromkeys(row)
        try:
            rows.append(_fault(row, with_status))
        except ValueError as error:
            wrong.append(f"row {number}: {error}")
    twice = Counter((own.site, own.type, own.time, own.input, own.bits) for own in rows)
    wrong += [f"{key[0]}, {key[1]}, {key[2]}: is there {n} times" for key, n in twice.items() if n > 1]
    bare = sum(own.weight is None for own in rows)
    if 0 < bare < len(rows):
        wrong.append(
            f"weight: expected one in every row or in none, found {bare:,} of {len(rows):,} rows without"
        )
    require_none(file, wrong)
    if not rows:
        raise ResilError(f"{file}: expected at least one fault, found none; list faults", "LIST")
    return FaultList(file, tuple(rows), _unread(columns))


def require_none(file: Path, wrong: Sequence[str]) -> None:
    """Refuse a list of which something is wrong; the first of that are all named."""
    if wrong:
        more = f"\nand {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise ResilError(f"{file}: " + "\n".join(wrong[:_SHOWN]) + more + "\ncorrect the list", "LIST")


def _unread(columns: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that mean nothing here; one without a name has the numbers of rows."""
    return tuple(name for name in columns if name and name not in (*_READ, *_WRITTEN))


def _rows(file: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    if file.suffix == ".parquet":
        for number, row in enumerate(read_parquet(file).to_pylist(), 1):
            yield number, {str(k).strip().lower(): "" if v is None else str(v) for k, v in row.items()}
        return
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ResilError(
            f"{file}: expected a fault list, found none ({error}); correct the path", "LIST"
        ) from None
    lines = listed_lines(text)
    head = _head(lines[0]) if lines else []
    if "site" in head:
        for number, cells in enumerate(csv.reader(lines[1:], skipinitialspace=True), 1):
            if len(cells) > len(head):
                raise ResilError(
                    f"{file}: row {number}: expected no more columns than the head has, {len(head)}, found "
                    f"{len(cells)}; correct it",
                    "LIST",
                )
            yield number, {**dict.fromkeys(head, ""), **dict(zip(head, map(read_cell, cells), strict=False))}
        return
    for number, line in enumerate(lines, 1):
        # What a list of resil says of a fault besides has its name before it.
        words, named = [], {}
        for word in line.replace(",", " ").split():
            name, is_named, value = word.partition("=")
            if is_named:
                named[name.lower()] = value
            else:
                words.append(word)
        if len(words) > len(PLACED):
            raise ResilError(
                f"{file}: row {number}: expected {' '.join(PLACED)}, found {line!r}; correct it", "LIST"
            )
        yield number, {**named, **dict(zip(PLACED, words, strict=False))}


def _head(line: str) -> list[str]:
    """Return the columns of a head, or the words of a line that is none; names may be quoted."""
    cells = next(csv.reader([line], skipinitialspace=True), [])
    return [name.strip().lower() for name in cells]


def _fault(row: Mapping[str, str], with_status: bool) -> ListedFault:
    site = row.get("site", "").strip()
    if not site:
        raise ValueError("expected a site, found none")
    kind = row.get("type", "").strip().lower() or _untyped(row)
    if kind not in _ALIKE:
        raise ValueError(f"type: expected one of {', '.join(TYPES)}, found {kind!r}")
    type_ = _ALIKE[kind]
    time = row.get("time", "").strip()
    if type_ in TIMED and not time:
        raise ValueError(f"time: expected the cycle of the {_OF[type_]}, found none")
    bits = _number("bits", row.get("bits", "").strip() or "1", least=1)
    if type_ != UPSET and bits > 1:
        raise ValueError(f"bits: expected 1 of a {_OF.get(type_, 'permanent fault')}, found {bits}")
    status = row.get("status", "").strip().lower()
    if with_status and status not in _STATUS_ALIKE:
        raise ValueError(f"status: expected one of {', '.join(STATUSES)}, found {status!r}")
    return ListedFault(
        site,
        type_,
        _number("time", time) if type_ in TIMED else 0,
        _number("input", row["input"]) if row.get("input", "").strip() not in ("", "-1") else -1,
        _STATUS_ALIKE[status] if with_status else "",
        bits,
        _weight(row.get("weight", "").strip()),
    )


def _untyped(row: Mapping[str, str]) -> str:
    """Return the type of a row that names none: an upset, unless another column names another type."""
    for name in _unread(row):
        found = row[name].strip().lower()
        if found.startswith("stuck") or _ALIKE.get(found, UPSET) != UPSET:
            raise ValueError(
                f"type: expected a column of this name, found {row[name].strip()!r} in the column {name!r}; "
                "name that column type"
            )
    return UPSET


def _number(name: str, text: str, least: int = 0) -> int:
    if not text.strip().isdecimal() or int(text) < least:
        raise ValueError(f"{name}: expected a number from {least} on, found {text!r}")
    return int(text)


def _weight(text: str) -> float | None:
    if not text:
        return None
    try:
        found = float(text)
    except ValueError:
        found = nan
    if not 0.0 < found < inf:
        raise ValueError(f"weight: expected a number above 0, found {text!r}")
    return found


def write_rows(file: Path, columns: Mapping[str, Sequence[str | int | float]]) -> None:
    """Write a list with what came of it: columns of one length, by the file's suffix.

    CSV, Parquet, or, with another suffix, a fault a line: the columns of `PLACED`, then those that are not
    empty as `name=value`.
    """
    if file.suffix == ".parquet":
        write_file(
            file, lambda path: pq.write_table(pa.table({k: list(v) for k, v in columns.items()}), path)
        )
        return
    if file.suffix != ".csv":
        places = {name: place for place, name in enumerate(columns)}
        first = [places[name] for name in PLACED]
        others = [(name, place) for name, place in places.items() if place not in first]
        write_text(
            file, "".join(f"{_line(row, first, others)}\n" for row in zip(*columns.values(), strict=True))
        )
        return
    write_text(file, csv_text(tuple(columns), zip(*columns.values(), strict=True)))


def _line(row: tuple[str | int | float, ...], first: Sequence[int], others: Sequence[tuple[str, int]]) -> str:
    given = (f"{name}={str(row[place]).replace(' ', '_')}" for name, place in others if row[place] != "")
    return " ".join([*(str(row[place]) for place in first), *given])
