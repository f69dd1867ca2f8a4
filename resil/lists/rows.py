# SPDX-License-Identifier: Apache-2.0
"""Fault lists as files: read and written in this one place, as CSV, Parquet, or a fault a line.

A row has `site`, `type` and `time`, and may have `input` and `status`. The columns are open for further
types: what strikes logic has a pin as its site.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from resil.errors import ResilError
from resil.files import read_parquet, write_file, write_text
from resil.record.listed import STATUSES
from resil.rtl_harness.plain_file import listed_lines

# What types are called here, and elsewhere.
UPSET, STUCK_0, STUCK_1, OPEN_0, OPEN_1, BRIDGE = TYPES = (
    *("upset", "stuck_at_0", "stuck_at_1"),
    *("open_0", "open_1", "bridge"),
)
_ALIKE = {
    **{name: name for name in TYPES},
    **{name: UPSET for name in ("seu", "flip", "bit_flip", "bitflip", "transient")},
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
}
_SHOWN = 8


@dataclass(frozen=True)
class ListedFault:
    """A row of a fault list.

    Attributes:
        site: Name of the bit, as `resil sites --csv` lists it.
        type: "upset", "stuck_at_0", "stuck_at_1", "open_0", "open_1" or "bridge".
        time: Cycle after reset; 0 of a permanent fault.
        input: Label of the input; -1 for the first.
        status: What another tool says came of it; "" in a list that is to be injected.
    """

    site: str
    type: str = UPSET
    time: int = 0
    input: int = -1
    status: str = ""

    @property
    def held(self) -> int | None:
        """What the bit is held at, the pin is open at, or 0 of a bridge; None of an upset."""
        return {STUCK_0: 0, STUCK_1: 1, OPEN_0: 0, OPEN_1: 1, BRIDGE: 0}.get(self.type)


def read_list(file: Path, *, with_status: bool = False) -> list[ListedFault]:
    """Read a fault list; with `with_status` what came of each fault, too.

    Raises:
        ResilError: The file cannot be read, or rows are wrong: the first of them are all named.
    """
    rows: list[ListedFault] = []
    wrong: list[str] = []
    for number, row in _rows(file):
        try:
            rows.append(_fault(row, with_status))
        except ValueError as error:
            wrong.append(f"row {number}: {error}")
    twice = Counter((own.site, own.type, own.time, own.input) for own in rows)
    wrong += [f"{key[0]}, {key[1]}, {key[2]}: is there {n} times" for key, n in twice.items() if n > 1]
    if wrong:
        more = f"\nand {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise ResilError(f"{file}: " + "\n".join(wrong[:_SHOWN]) + more + "\ncorrect the list", "LIST")
    if not rows:
        raise ResilError(f"{file}: expected at least one fault, found none; list faults", "LIST")
    return rows


def _rows(file: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    if file.suffix == ".parquet":
        for number, row in enumerate(read_parquet(file).to_pylist(), 1):
            yield number, {str(k).lower(): "" if v is None else str(v) for k, v in row.items()}
        return
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ResilError(
            f"{file}: expected a fault list, found none ({error}); correct the path", "LIST"
        ) from None
    lines = listed_lines(text)
    head = [name.strip().lower() for name in lines[0].split(",")] if lines else []
    if "site" in head:
        for number, row in enumerate(csv.DictReader(io.StringIO("\n".join([",".join(head), *lines[1:]]))), 1):
            yield number, {str(k): (v or "") if isinstance(v, str) else "" for k, v in row.items()}
        return
    names = [own.name for own in fields(ListedFault)]
    for number, line in enumerate(lines, 1):
        # What a list of resil says of a fault besides has its name before it.
        words = [word for word in line.replace(",", " ").split() if "=" not in word]
        if len(words) > len(names):
            raise ResilError(
                f"{file}: row {number}: expected {' '.join(names)}, found {line!r}; correct it", "LIST"
            )
        yield number, dict(zip(names, words, strict=False))


def _fault(row: Mapping[str, str], with_status: bool) -> ListedFault:
    site = row.get("site", "").strip()
    if not site:
        raise ValueError("expected a site, found none")
    kind = row.get("type", "").strip().lower() or UPSET
    if kind not in _ALIKE:
        raise ValueError(f"type: expected one of {', '.join(TYPES)}, found {kind!r}")
    type_ = _ALIKE[kind]
    time = row.get("time", "").strip()
    if type_ == UPSET and not time:
        raise ValueError("time: expected the cycle of the upset, found none")
    status = row.get("status", "").strip().lower()
    if with_status and status not in _STATUS_ALIKE:
        raise ValueError(f"status: expected one of {', '.join(STATUSES)}, found {status!r}")
    return ListedFault(
        site,
        type_,
        0 if type_ != UPSET else _number("time", time),
        _number("input", row["input"]) if row.get("input", "").strip() not in ("", "-1") else -1,
        _STATUS_ALIKE[status] if with_status else "",
    )


def _number(name: str, text: str) -> int:
    if not text.strip().isdecimal():
        raise ValueError(f"{name}: expected a number from 0 on, found {text!r}")
    return int(text)


def write_rows(file: Path, columns: Mapping[str, Sequence[str | int | float]]) -> None:
    """Write a list with what came of it: columns of one length, by the file's suffix.

    CSV, Parquet, or, with another suffix, a fault a line: the columns of `ListedFault`, then those that are
    not empty as `name=value`.
    """
    if file.suffix == ".parquet":
        write_file(
            file, lambda path: pq.write_table(pa.table({k: list(v) for k, v in columns.items()}), path)
        )
        return
    if file.suffix != ".csv":
        places = {name: place for place, name in enumerate(columns)}
        first = [places[own.name] for own in fields(ListedFault)]
        others = [(name, place) for name, place in places.items() if place not in first]
        write_text(
            file, "".join(f"{_line(row, first, others)}\n" for row in zip(*columns.values(), strict=True))
        )
        return
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    table.writerows(zip(*columns.values(), strict=True))
    write_text(file, text.getvalue())


def _line(row: tuple[str | int | float, ...], first: Sequence[int], others: Sequence[tuple[str, int]]) -> str:
    given = (f"{name}={str(row[place]).replace(' ', '_')}" for name, place in others if row[place] != "")
    return " ".join([*(str(row[place]) for place in first), *given])
