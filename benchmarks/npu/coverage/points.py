# SPDX-License-Identifier: Apache-2.0
"""Points of the RTL that simulations pass or not, those that are left out, and figures by block."""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

BENCH = "bench"
TOP = "npu"
KINDS = ("line", "toggle")
_EXCLUSIONS = Path(__file__).with_name("exclusions.toml")
_FIELD = re.compile(r"\x01([^\x02]+)\x02([^\x01]*)")


@dataclass(frozen=True, order=True)
class Point:
    """Something that a simulation passes or not.

    Attributes:
        file: Source file, from the RTL's folder on.
        line: Line in it.
        column: Column, so that two points of a line differ.
        kind: "line" or "toggle".
        name: What it is: a branch of the code, or a bit of a signal and the direction in which it changes.
    """

    file: str
    line: int
    column: int
    kind: str
    name: str

    @property
    def block(self) -> str:
        """Folder of the file, or "npu" for the top."""
        return Path(self.file).parent.name or TOP


@dataclass(frozen=True)
class Exclusion:
    """Points that are not counted.

    Attributes:
        file: Pattern that the whole path of the file matches, from the RTL's folder on.
        kind: Of the points.
        points: Pattern that the whole name of the point matches; for lines, the text of the source line.
        reason: Why no run can pass them, or why they are counted elsewhere.
    """

    file: re.Pattern[str]
    kind: str
    points: re.Pattern[str]
    reason: str

    def takes(self, point: Point, text: str) -> bool:
        """Whether it is one of these; `text` is the point's line of the source."""
        named = text.strip() if self.kind == "line" else point.name
        return (
            point.kind == self.kind
            and self.file.fullmatch(point.file) is not None
            and self.points.fullmatch(named) is not None
        )


def read_exclusions() -> list[Exclusion]:
    """Return what `exclusions.toml` leaves out."""
    entries = tomllib.loads(_EXCLUSIONS.read_text(encoding="utf-8"))["exclusion"]
    return [
        Exclusion(re.compile(e["file"]), e["kind"], re.compile(e["points"]), e["reason"]) for e in entries
    ]


def read_counts(file: Path) -> dict[str, int]:
    """Return the counts of a coverage file, by Verilator's name of each point."""
    entries = (line[3:].rpartition("' ") for line in file.read_text(encoding="latin-1").splitlines()[1:])
    return {key: int(count) for key, _, count in entries}


def by_point(counts: Mapping[str, int]) -> Counter[Point]:
    """Return the counts of points; those of all instances of a module are one point."""
    points: Counter[Point] = Counter()
    for key, count in counts.items():
        fields = dict(_FIELD.findall(key))
        kind = "toggle" if "toggle" in fields["page"] else "line"
        _, found, file = fields["f"].rpartition("/rtl/")
        if found:
            points[Point(file, int(fields["l"]), int(fields.get("n", 0)), kind, fields.get("o", ""))] += count
    return points


@dataclass(frozen=True)
class Figures:
    """What was reached.

    Attributes:
        blocks: By block, then "total": by kind, the points that were passed and all that count.
        missing: Points that count and were not passed.
        excluded: By reason: points left out, and how many of them a run passed all the same.
    """

    blocks: dict[str, dict[str, tuple[int, int]]]
    missing: list[Point]
    excluded: dict[str, tuple[int, int]]


def figures(points: Mapping[Point, int], exclusions: Sequence[Exclusion], rtl: Path) -> Figures:
    """Return the figures of all points of the NPU; the bench around it does not count."""
    texts: dict[str, list[str]] = {}
    tally: dict[str, Counter[tuple[str, bool]]] = defaultdict(Counter)
    left_out: dict[str, Counter[bool]] = {exclusion.reason: Counter() for exclusion in exclusions}
    missing = []
    for point, count in points.items():
        if point.block == BENCH:
            continue
        lines = texts.setdefault(point.file, _lines(rtl / point.file))
        text = lines[point.line - 1] if point.line <= len(lines) else ""
        found = next((e for e in exclusions if e.takes(point, text)), None)
        if found is not None:
            left_out[found.reason][count > 0] += 1
            continue
        for name in (point.block, "total"):
            tally[name][point.kind, count > 0] += 1
        if not count:
            missing.append(point)
    blocks = {
        name: {
            kind: (tally[name][kind, True], tally[name][kind, True] + tally[name][kind, False])
            for kind in KINDS
        }
        for name in sorted(tally, key=lambda name: (name == "total", name))
    }
    excluded = {reason: (sum(c.values()), c[True]) for reason, c in left_out.items()}
    return Figures(blocks, sorted(missing), excluded)


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
